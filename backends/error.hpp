#pragma once
#include <stdexcept>
#include <string>

namespace voussoir {

/// The kind of error, for programs; the text is for users.
enum class ErrorCode {
  bad_input,      ///< the model or an argument is wrong
  misuse,         ///< the library was called in a way that it does not allow
  not_found,      ///< a name, a set, an element type or a backend that does not exist
  unavailable,    ///< a backend or a dependency that this machine or this build lacks
  singular,       ///< the model is under-constrained, or has no stiffness somewhere
  not_converged,  ///< an iteration did not reach its tolerance
  cancelled,      ///< stopped by the user
  inverted,       ///< an element is inverted
  not_finite,     ///< a NaN or an infinity appeared
  out_of_memory,  ///< the device or the host is out of memory
  device,         ///< a device failed
  io,             ///< a file cannot be read or written
  internal        ///< an internal error: please report it
};

/// The only exception type of the library. `where()` names the location: file and line of a deck, or
/// element, node and degree of freedom in the user's numbering. The text says what to do.
class Error : public std::runtime_error {
 public:
  /// `what()` is "where: text".
  Error(ErrorCode code, const std::string& text, const std::string& where = {})
      : std::runtime_error(where.empty() ? text : where + ": " + text), code_(code), text_(text), where_(where) {}

  ErrorCode code() const noexcept { return code_; }             ///< the kind of error
  const std::string& text() const noexcept { return text_; }    ///< what is wrong and what to do
  const std::string& where() const noexcept { return where_; }  ///< the location; may be empty

 private:
  ErrorCode code_;
  std::string text_;
  std::string where_;
};

}  // namespace voussoir
