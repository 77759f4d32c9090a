#pragma once
#include <string>

namespace voussoir {

/// The text of a kernel file that EmbeddedKernelText registered, or null. The pointer stays valid until the program
/// ends.
const char* find_embedded_text(const std::string& file);

}  // namespace voussoir
