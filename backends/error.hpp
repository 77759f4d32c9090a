#pragma once
#include <stdexcept>
#include <string>

namespace voussoir {

/// What went wrong, for programs. People read the text.
enum class ErrorCode {
  bad_input,      ///< the model or an argument is wrong
  misuse,         ///< the library was called in an order or a way that it does not allow
  not_found,      ///< a name, a set, an element type or a backend that does not exist
  unavailable,    ///< a backend or a dependency that this machine or this build lacks
  singular,       ///< the model is not held, or has no stiffness somewhere
  not_converged,  ///< an iteration did not reach its tolerance
  cancelled,      ///< the user asked to stop
  inverted,       ///< an element is inside out
  not_finite,     ///< a NaN or an infinity appeared
  out_of_memory,  ///< a device or the host has too little memory
  device,         ///< a device failed
  io,             ///< a file cannot be read or written
  internal        ///< a promise inside the library was broken: please report it
};

/// The one exception of the library. `where()` names the place in the user's words: file and line of a deck, or
/// element, node and degree of freedom in the user's numbering. The text says what to do.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& text, const std::string& where = {})
      : std::runtime_error(where.empty() ? text : where + ": " + text), code_(code), text_(text), where_(where) {}

  ErrorCode code() const noexcept { return code_; }
  const std::string& text() const noexcept { return text_; }
  const std::string& where() const noexcept { return where_; }

 private:
  ErrorCode code_;
  std::string text_;
  std::string where_;
};

}  // namespace voussoir
