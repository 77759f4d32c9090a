#pragma once
#include <cstdint>
#include <string>

#include <voussoir/framework/domain/element_block.hpp>

namespace voussoir {

/// The value of a parameter of one element of a block, at its lowest temperature; `otherwise` if its elements have no
/// parameter of this name. `parameters` are those of the block.
double block_parameter(const ElementBlock& block, const ElementBlock::Parameters& parameters, const std::string& name,
                       std::int32_t element, double otherwise);

}  // namespace voussoir
