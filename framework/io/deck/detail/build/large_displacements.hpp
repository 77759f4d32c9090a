#pragma once
#include <string>

#include <voussoir/framework/io/deck/detail/build/build.hpp>

namespace voussoir::deck {

/// The first section of a material with *PLASTIC, if the deck has structural steps; null if there is none.
const SectionCard* find_plastic_section(const Build& build);
/// Whether steps of the deck have large displacements: by NLGEOM, or because a material is plastic and steps are
/// explicit. Errors for what a deck with large displacements may not have.
bool find_large_displacements(Build& build);
/// The element type of large displacements that an element card means, given its type of small ones.
std::string large_type(const Build& build, const ElementMeaning& meaning, const std::string& type,
                       const SectionCard& section, Place place);
/// Error if the section's material is plastic and elements of this type, of small displacements, cannot be.
void require_plastic_type(const Build& build, const ElementMeaning& meaning, const std::string& type,
                          const SectionCard& section, Place place);

}  // namespace voussoir::deck
