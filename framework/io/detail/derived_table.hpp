#pragma once
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <voussoir/framework/domain/material.hpp>

// Numbers of a material that follow from others. Elements interpolate every number linearly between the rows of its
// table, but what is derived from numbers that are linear in temperature is not linear itself.

namespace voussoir {

/// The table of `value` over temperature, where what it is derived from is linear between `knots` (ascending) and
/// constant beyond them. Rows are added between the knots until linear interpolation is within 10⁻⁷ of `value`.
std::vector<std::pair<double, double>> derived_table(const std::vector<double>& knots,
                                                     const std::function<double(double temperature)>& value);

/// The material with the shear modulus E/(2(1 + ν)) that beams need, where it gives E and ν and no shear modulus.
std::shared_ptr<const Material> with_shear_modulus(std::shared_ptr<const Material> material);

}  // namespace voussoir
