#pragma once
#include <cstdint>
#include <memory>

#include <voussoir/backends/memory.hpp>

namespace voussoir::cuda {

/// Equal matrices of a batch, by columns.
struct BatchedMatrix {
  double* first = nullptr;
  std::int64_t stride = 0;  ///< distance of columns
  std::int64_t apart = 0;   ///< distance of matrices
};

/// Products of all matrices of a batch: by cuBLAS where the machine has it (VOUSSOIR_CUDA_CUBLAS=0 turns it off), else
/// by a kernel for the tensor cores.
class BatchedProducts {
 public:
  explicit BatchedProducts(std::shared_ptr<DeviceMemory> memory);
  ~BatchedProducts();
  BatchedProducts(const BatchedProducts&) = delete;
  BatchedProducts& operator=(const BatchedProducts&) = delete;

  /// C = A Bᵀ (or C −= A Bᵀ) with C of m × n, A of m × k and B of n × k numbers, all multiples of 64.
  enum class To { set, subtract };
  void multiply(To how, const BatchedMatrix& c, const BatchedMatrix& a, const BatchedMatrix& b, std::int64_t m,
                std::int64_t n, std::int64_t k, std::int64_t count) const;
  bool by_vendor() const { return vendor_ != nullptr; }

 private:
  struct Vendor;
  std::shared_ptr<DeviceMemory> memory_;
  std::unique_ptr<Vendor> vendor_;
};

}  // namespace voussoir::cuda
