#pragma once
#include <voussoir/framework/io/job/detail/sections.hpp>

// Sections that name a registered element type, as a rule one of a user's library, instead of a physics.

namespace voussoir::job {

/// The section of "element": the group, the parameters by name, and what follows from the registered types.
Section read_own_section(const Json& json, const Groups& groups, const Materials& materials);

/// The type of such a section for a shape; an Error of the section where there is none.
std::string own_element_type(const Section& section, const std::string& shape);

}  // namespace voussoir::job
