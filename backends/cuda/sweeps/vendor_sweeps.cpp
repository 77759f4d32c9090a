#include <voussoir/backends/cuda/sweeps/vendor_sweeps.hpp>

#if !defined(VSR_CUDA_EMULATED) && __has_include(<cusparse.h>)
#define VSR_HAS_CUSPARSE_SWEEPS 1
#include <cusparse.h>
#include <dlfcn.h>

#include <string>
#include <type_traits>

#include <voussoir/backends/cuda/runtime/memory.hpp>
#endif

// The peer in benchmarks: the same systems solved by cuSPARSE. The library is looked for when it is first asked for.

namespace voussoir::cuda {

#if !defined(VSR_HAS_CUSPARSE_SWEEPS)

std::vector<VendorSweep> make_vendor_sweeps(const SweepShape&, const VendorArrays&,
                                            const std::shared_ptr<DeviceMemory>&) {
  return {};
}

#else

namespace {

/// The functions of cuSPARSE that are used here; null where a version does not have them.
struct SweepLibrary {
  decltype(&cusparseCreate) create = nullptr;
  decltype(&cusparseDestroy) destroy = nullptr;
  decltype(&cusparseSetStream) set_stream = nullptr;
  decltype(&cusparseDgtsv2StridedBatch_bufferSizeExt) strided_room = nullptr;
  decltype(&cusparseDgtsv2StridedBatch) strided = nullptr;
  decltype(&cusparseDgtsvInterleavedBatch_bufferSizeExt) interleaved_room = nullptr;
  decltype(&cusparseDgtsvInterleavedBatch) interleaved = nullptr;
};

SweepLibrary load_sweep_library() {
  SweepLibrary all;
  void* library = nullptr;
  const std::string numbered = "libcusparse.so." + std::to_string(CUSPARSE_VER_MAJOR);
  for (const std::string& name : {numbered, std::string("libcusparse.so"), "/usr/local/cuda/lib64/" + numbered}) {
    library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library) break;
  }
  if (!library) return all;
  const auto take = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)> >(dlsym(library, name));
    return function != nullptr;
  };
  if (!take(all.destroy, "cusparseDestroy") || !take(all.set_stream, "cusparseSetStream") ||
      !take(all.strided_room, "cusparseDgtsv2StridedBatch_bufferSizeExt") ||
      !take(all.strided, "cusparseDgtsv2StridedBatch") ||
      !take(all.interleaved_room, "cusparseDgtsvInterleavedBatch_bufferSizeExt") ||
      !take(all.interleaved, "cusparseDgtsvInterleavedBatch"))
    return all;
  (void)take(all.create, "cusparseCreate");  // last: what has it has everything
  return all;
}

const SweepLibrary& sweep_library() {
  static const SweepLibrary all = load_sweep_library();
  return all;
}

void check_vendor(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw Error(ErrorCode::device, "cuSPARSE failed to solve a tridiagonal batch (status " +
                                       std::to_string(static_cast<int>(status)) + ")");
}

/// A handle of the library and room for its work, shared by the copies of a solve function.
struct VendorState {
  explicit VendorState(const std::shared_ptr<DeviceMemory>& m) : memory(m) {
    const DeviceSection section(*memory);
    check_vendor(sweep_library().create(&handle));
    check_vendor(sweep_library().set_stream(handle, stream_of(memory)));
  }
  ~VendorState() { (void)sweep_library().destroy(handle); }
  VendorState(const VendorState&) = delete;
  VendorState& operator=(const VendorState&) = delete;

  std::shared_ptr<DeviceMemory> memory;
  cusparseHandle_t handle = nullptr;
  Array<unsigned char> room;
};

}  // namespace

std::vector<VendorSweep> make_vendor_sweeps(const SweepShape& shape, const VendorArrays& arrays,
                                            const std::shared_ptr<DeviceMemory>& memory) {
  const SweepLibrary& library = sweep_library();
  const bool strided = shape == SweepShape::contiguous(shape.length, shape.systems());
  const bool interleaved = shape == SweepShape::interleaved(shape.length, shape.systems());
  if (!library.create || (!strided && !interleaved) || shape.unknowns() > (std::int64_t{1} << 31) - 1) return {};
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
