#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include <voussoir/backends/error.hpp>

// Direct methods report equation numbers; these functions replace them by nodes and unknowns.

namespace voussoir {

/// `text` with each "equation N" replaced by `name`(N).
std::string rename_equations(const std::string& text, const std::function<std::string(std::int64_t)>& name);

/// Calls `work` and returns its result. In Errors that it throws, "equation N" is replaced by `name`(N).
template <class Work>
auto naming_equations(const std::function<std::string(std::int64_t)>& name, Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(error.code(), rename_equations(error.text(), name), rename_equations(error.where(), name));
  }
}

}  // namespace voussoir
