#pragma once
#include <memory>
#include <string>

#include <voussoir/framework/domain/domain.hpp>

namespace voussoir::detail {

/// A cube (for plane types a square) of n cells per side, of steel, held at one side and loaded at the other: the model
/// that calibrate() measures with.
std::unique_ptr<Domain> make_sample_box(const std::string& type, int n);

}  // namespace voussoir::detail
