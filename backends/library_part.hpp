#pragma once
#include <string>

namespace voussoir {

/// Loads a part of Voussoir that is a file of its own beside libvoussoir.so, and whose static objects register entries
/// of registries. Loading it again has no effect; several threads may do so at once. A file that is missing, or that
/// does not belong to this version, is an Error (unavailable); `what` is the thing that needs the part, and the
/// beginning of the message.
void load_part(const std::string& file, const std::string& what);

}  // namespace voussoir
