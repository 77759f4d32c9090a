#pragma once
#include <pthread.h>

#include <cstddef>

namespace voussoir {

/// The address space in bytes that OpenBLAS takes for each thread, its stack included. OpenBLAS retries a failed
/// allocation forever, so those who limit memory look for room first.
inline double blas_bytes_per_thread() {
#if defined(__x86_64__)
  constexpr double buffer = 136e6;  // OpenBLAS' BUFFER_SIZE, 32 << 22 for the larger kernels
#else
  constexpr double buffer = 36e6;  // 32 << 20
#endif
  pthread_attr_t attributes;
  std::size_t stack = 8 << 20;
  if (::pthread_attr_init(&attributes) == 0) {
    ::pthread_attr_getstacksize(&attributes, &stack);
    ::pthread_attr_destroy(&attributes);
  }
  return buffer + static_cast<double>(stack);
}

}  // namespace voussoir
