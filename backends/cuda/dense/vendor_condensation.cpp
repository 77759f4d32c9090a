#include <voussoir/backends/cuda/dense/cuda_condensation.hpp>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/runtime/cublas_library.hpp>

#if defined(VSR_HAS_CUBLAS) && __has_include(<cusolverDn.h>)
#define VSR_HAS_CUSOLVER 1
#include <cusolverDn.h>
#endif

// The peer in benchmarks: each part by Cholesky's factorisation of cuSOLVER, and by cuBLAS for the rest. Nothing but a
// benchmark asks for it.

namespace voussoir::cuda {

#if !defined(VSR_HAS_CUSOLVER)

std::vector<VendorCondensation> make_vendor_condensations(Backend&, std::span<const PartSystem>) { return {}; }

#else

namespace {

/// The functions that are used here.
struct VendorFunctions {
  decltype(&cusolverDnCreate) create = nullptr;
  decltype(&cusolverDnDestroy) destroy = nullptr;
  decltype(&cusolverDnSetStream) set_stream = nullptr;
  decltype(&cusolverDnDpotrf_bufferSize) room = nullptr;
  decltype(&cusolverDnDpotrf) factorise = nullptr;
  decltype(&cublasDtrsm_v2) solve = nullptr;
  decltype(&cublasDsyrk_v2) update = nullptr;
  bool found = false;
};

VendorFunctions load_functions() {
  VendorFunctions all;
  const CublasLibrary& cublas = CublasLibrary::instance();
  if (!cublas.found()) return all;
  const std::string numbered = "libcusolver.so." + std::to_string(CUSOLVER_VER_MAJOR);
  void* library = nullptr;
  for (const std::string& name : {numbered, std::string("libcusolver.so"), "/usr/local/cuda/lib64/" + numbered})
    if (!library) library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto take = [&](auto& function, const char* name) {
    function = library ? reinterpret_cast<std::remove_reference_t<decltype(function)> >(dlsym(library, name)) : nullptr;
    return function != nullptr;
  };
  all.found = take(all.create, "cusolverDnCreate") && take(all.destroy, "cusolverDnDestroy") &&
              take(all.set_stream, "cusolverDnSetStream") && take(all.room, "cusolverDnDpotrf_bufferSize") &&
              take(all.factorise, "cusolverDnDpotrf") && cublas.take(all.solve, "cublasDtrsm_v2") &&
              cublas.take(all.update, "cublasDsyrk_v2");
  return all;
}

/// Dense matrices of all parts, the lower triangles by columns, and a copy of each that is eliminated.
class VendorParts {
 public:
  VendorParts(const std::shared_ptr<DeviceMemory>& memory, std::span<const PartSystem> systems,
              const VendorFunctions& functions)
      : memory_(memory), cublas_(CublasHandle::of(memory)), functions_(functions) {
    const DeviceSection section(*memory_);
    check(functions_.create(&solver_), "starting");
    check(functions_.set_stream(solver_, stream_of(memory_)), "choosing a stream");
    int room = 0;
    for (const PartSystem& system : systems) {
      const std::int64_t n = std::int64_t{system.interior} + system.boundary;
      Part& part = parts_.emplace_back(system.interior, static_cast<int>(n),
                                       Array<double>(memory_, static_cast<std::size_t>(n * n)),
                                       Array<double>(memory_, static_cast<std::size_t>(n * n)));
      const auto values = part.matrix.write_host();
      std::fill(values.begin(), values.end(), 0.0);
      for (std::int64_t i = 0; i < n; ++i)
        for (auto k = static_cast<std::size_t>(system.row_start[static_cast<std::size_t>(i)]);
             k < static_cast<std::size_t>(system.row_start[static_cast<std::size_t>(i) + 1]); ++k) {
          const std::int64_t j = system.column[k];
          values[static_cast<std::size_t>(std::min(i, j) * n + std::max(i, j))] = system.value[k];
        }
      part.matrix.drop_host_mirror();
      int own = 0;
      check(functions_.room(solver_, CUBLAS_FILL_MODE_LOWER, part.interior, part.work.write_device(),
                            static_cast<int>(n), &own),
            "asking for room");
      room = std::max(room, own);
    }
    room_ = Array<double>(memory_, static_cast<std::size_t>(room));
    info_ = Array<int>(memory_, std::size_t{1});
  }
  ~VendorParts() {
    restore_device(cuda_memory(memory_).ordinal());
    (void)functions_.destroy(solver_);
  }
  VendorParts(const VendorParts&) = delete;
  VendorParts& operator=(const VendorParts&) = delete;

  void run() {
    const DeviceSection section(*memory_);
    const CublasLibrary& library = CublasLibrary::instance();
    const double one = 1, minus = -1;
    for (Part& part : parts_) {
      double* const a = part.work.write_device();
      copy_async(a, part.matrix.read_device(), part.work.bytes(), stream_of(memory_));
      const int n = part.size, i = part.interior, b = n - i;
      if (i == 0) continue;
      check(functions_.factorise(solver_, CUBLAS_FILL_MODE_LOWER, i, a, n, room_.write_device(),
                                 static_cast<int>(room_.size()), info_.write_device()),
            "a factorisation");
      if (b == 0) continue;
      library.check(functions_.solve(*cublas_, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T,
                                     CUBLAS_DIAG_NON_UNIT, b, i, &one, a, n, a + i, n),
                    "a triangular solve");
      double* const complement = a + static_cast<std::int64_t>(i) * n + i;
      library.check(
          functions_.update(*cublas_, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, b, i, &minus, a + i, n, &one, complement, n),
          "an update");
    }
  }

  std::vector<double> complement(int number) const {
    const Part& part = parts_[static_cast<std::size_t>(number)];
    const auto a = part.work.read_host();
    const auto n = static_cast<std::size_t>(part.size), i = static_cast<std::size_t>(part.interior), b = n - i;
    std::vector<double> dense(b * b);
    for (std::size_t r = 0; r < b; ++r)
      for (std::size_t c = 0; c <= r; ++c) dense[r * b + c] = dense[c * b + r] = a[(i + c) * n + i + r];
    return dense;
  }

 private:
  struct Part {
    int interior, size;
    Array<double> matrix, work;
  };
  static void check(cusolverStatus_t status, const char* what) {
    if (status != CUSOLVER_STATUS_SUCCESS)
      throw Error(ErrorCode::device,
                  std::string("cuSOLVER: ") + what + " failed with status " + std::to_string(static_cast<int>(status)));
  }

  std::shared_ptr<DeviceMemory> memory_;
  std::shared_ptr<CublasHandle> cublas_;
  const VendorFunctions& functions_;
  cusolverDnHandle_t solver_ = nullptr;
  std::vector<Part> parts_;
  Array<double> room_;
  Array<int> info_;
};

}  // namespace

std::vector<VendorCondensation> make_vendor_condensations(Backend& backend, std::span<const PartSystem> systems) {
  static const VendorFunctions functions = load_functions();
  if (!functions.found) return {};
  const auto parts = std::make_shared<VendorParts>(backend.memory(0), systems, functions);
  return {{"cuSOLVER potrf, cuBLAS trsm and syrk", [parts] { parts->run(); },
           [parts](int part) { return parts->complement(part); }}};
}

#endif

}  // namespace voussoir::cuda
