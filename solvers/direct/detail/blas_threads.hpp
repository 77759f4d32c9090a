#pragma once

namespace voussoir::detail {

/// While it lives, OpenBLAS works with so many threads; 0 leaves the number as it is. Another BLAS is left alone.
///
/// OpenBLAS retries a failed allocation forever, so each thread gets its memory here, while there is some.
/// Throws Error{out_of_memory} where there is not.
class BlasThreads {
 public:
  explicit BlasThreads(int wanted);
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

 private:
  int before_ = 0;
};

}  // namespace voussoir::detail
