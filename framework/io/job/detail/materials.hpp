#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/framework/domain/material.hpp>
#include <voussoir/framework/io/job/detail/json.hpp>

namespace voussoir::job {

using Materials = std::map<std::string, std::shared_ptr<const Material>, std::less<>>;

/// Reads "materials": an object of materials by name. A number may be a table [[temperature, value], …].
Materials read_materials(const Json& json);

/// A property: a number, or a table [[temperature, value], …].
std::vector<std::pair<double, double>> read_property(const Json& json);

}  // namespace voussoir::job
