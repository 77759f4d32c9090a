#pragma once
#include <new>
#include <stdexcept>
#include <string>

#include <voussoir/backends/error.hpp>

// What the direct methods throw, in words that reach the user.

namespace voussoir::detail {

/// Throws Error{out_of_memory} that says what asked for how much. `bytes` 0: how much is not known.
[[noreturn]] void throw_out_of_memory(double bytes, const std::string& what);

/// Throws Error{out_of_memory} where this process may not take so many bytes more (see available_host_memory()). For
/// work of libraries that crash, or try again for ever, when memory ends: what they need is estimated and asked for
/// first.
void require_room(double bytes, const std::string& what);

/// Runs `work`; a failure to allocate becomes Error{out_of_memory} that names `what` and the bytes asked for.
template <class Work>
auto allocating(double bytes, const char* what, Work&& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(bytes, what);
  } catch (const std::length_error&) {  // more than a vector can ever hold
    throw_out_of_memory(bytes, what);
  }
}

}  // namespace voussoir::detail
