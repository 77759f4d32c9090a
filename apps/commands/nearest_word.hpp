#pragma once
#include <string>
#include <vector>

namespace voussoir::app {

/// Of some words the one that a mistyped word may mean: at most two letters are wrong, missing, too many or swapped
/// with their neighbour, and fewer than half of them. Empty where none is so near.
std::string nearest_word(const std::string& wrong, const std::vector<std::string>& words);

/// "there is no command 'rnu'; did you mean 'run'?", or with all words where none is near.
std::string no_such_command(const std::string& wrong, const std::vector<std::string>& words);

}  // namespace voussoir::app
