#pragma once
#include <string>
#include <vector>

namespace voussoir::app {

/// Refuses, as Error (io), an output that is one of the files to be read, even with --force, and two outputs that are
/// one file. Empty names stand for nothing.
void check_outputs(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

}  // namespace voussoir::app
