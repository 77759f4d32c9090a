#include <voussoir/backends/cuda/sweeps/vendor_sweeps.hpp>

#include <voussoir/backends/cuda/runtime/cusparse_library.hpp>

// The peer in benchmarks: the same systems solved by cuSPARSE.

namespace voussoir::cuda {

#if !defined(VSR_HAS_CUSPARSE)

std::vector<VendorSweep> make_vendor_sweeps(const SweepShape&, const VendorArrays&,
                                            const std::shared_ptr<DeviceMemory>&) {
  return {};
}

#else

namespace {

/// The functions of cuSPARSE for tridiagonal batches.
struct SweepFunctions {
  decltype(&cusparseDgtsv2StridedBatch_bufferSizeExt) strided_room = nullptr;
  decltype(&cusparseDgtsv2StridedBatch) strided = nullptr;
  decltype(&cusparseDgtsvInterleavedBatch_bufferSizeExt) interleaved_room = nullptr;
  decltype(&cusparseDgtsvInterleavedBatch) interleaved = nullptr;
  bool found = false;
};

const SweepFunctions& sweep_functions() {
  static const SweepFunctions all = [] {
    SweepFunctions f;
    const CusparseLibrary& library = CusparseLibrary::instance();
    f.found = library.found() && library.take(f.strided_room, "cusparseDgtsv2StridedBatch_bufferSizeExt") &&
              library.take(f.strided, "cusparseDgtsv2StridedBatch") &&
              library.take(f.interleaved_room, "cusparseDgtsvInterleavedBatch_bufferSizeExt") &&
              library.take(f.interleaved, "cusparseDgtsvInterleavedBatch");
    return f;
  }();
  return all;
}

void check_vendor(cusparseStatus_t status) { CusparseLibrary::instance().check(status, "solving a tridiagonal batch"); }

/// A handle of the library and room for its work, shared by the copies of a solve function.
struct VendorState {
  explicit VendorState(const std::shared_ptr<DeviceMemory>& m) : memory(m), handle(*m) {}

  std::shared_ptr<DeviceMemory> memory;
  CusparseHandle handle;
  Array<unsigned char> room;
};

}  // namespace

std::vector<VendorSweep> make_vendor_sweeps(const SweepShape& shape, const VendorArrays& arrays,
                                            const std::shared_ptr<DeviceMemory>& memory) {
  const SweepFunctions& library = sweep_functions();
  const bool strided = shape == SweepShape::contiguous(shape.length, shape.systems());
  const bool interleaved = shape == SweepShape::interleaved(shape.length, shape.systems());
  if (!library.found || (!strided && !interleaved) || shape.unknowns() > (std::int64_t{1} << 31) - 1) return {};
  const int n = static_cast<int>(shape.length), systems = static_cast<int>(shape.systems());
  const auto state = std::make_shared<VendorState>(memory);
  std::size_t bytes = 0;
  {
    const DeviceSection section(*memory);
    const double *l = arrays.lower.read_device(), *d = arrays.diagonal.read_device(), *u = arrays.upper.read_device(),
                 *x = arrays.x.read_device();
    check_vendor(strided ? library.strided_room(state->handle, n, l, d, u, x, systems, n, &bytes)
                         : library.interleaved_room(state->handle, 0, n, l, d, u, x, systems, &bytes));
  }
  state->room = Array<unsigned char>(memory, bytes);
  const auto solve = [state, arrays, strided, n, systems, &library] {
    const DeviceSection section(*state->memory);
    double *l = arrays.lower.update_device(), *d = arrays.diagonal.update_device(), *u = arrays.upper.update_device(),
           *x = arrays.x.update_device();
    unsigned char* room = state->room.write_device();
    check_vendor(strided ? library.strided(state->handle, n, l, d, u, x, systems, n, room)
                         : library.interleaved(state->handle, 0, n, l, d, u, x, systems, room));
  };
  return {{strided ? "cuSPARSE gtsv2StridedBatch" : "cuSPARSE gtsvInterleavedBatch", solve}};
}

#endif

}  // namespace voussoir::cuda
