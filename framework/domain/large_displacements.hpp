#pragma once
#include <string>

#include <voussoir/framework/domain/element_type.hpp>

namespace voussoir {

/// Whether elements of a type are those of large displacements: "finite_solid.hex20", "plastic_finite_solid.hex8".
inline bool has_large_displacements(const ElementType& type) {
  const std::string& name = type.name();
  return name.substr(0, name.find('.')).ends_with("finite_solid");
}

}  // namespace voussoir
