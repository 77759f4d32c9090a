#pragma once
#include <cstddef>
#include <exception>

namespace voussoir::detail {

/// Calls work(i) for i < count, on all threads if `parallel`. An exception of any call is thrown after the loop.
template <class Work>
void for_each_index(std::size_t count, bool parallel, const Work& work) {
  std::exception_ptr failure;
#pragma omp parallel for schedule(dynamic, 1) if (parallel)
  for (std::size_t i = 0; i < count; ++i) {
    try {
      work(i);
    } catch (...) {
#pragma omp critical(voussoir_for_each_index)
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace voussoir::detail
