#pragma once
#include <string>

#include <voussoir/framework/io/deck/detail/build/build.hpp>

namespace voussoir::deck {

/// Whether steps of the deck have NLGEOM. Errors for what a deck with NLGEOM may not have.
bool find_large_displacements(const Build& build);
/// The element type of large displacements that an element card means, given its type of small ones.
std::string large_type(const Build& build, const ElementMeaning& meaning, const std::string& type, Place place);

}  // namespace voussoir::deck
