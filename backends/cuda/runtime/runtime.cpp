#include <voussoir/backends/cuda/runtime/runtime.hpp>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#if defined(VSR_CUDA_EMULATED)

namespace voussoir::cuda {

namespace {
double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
}  // namespace

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw Error(ErrorCode::device, std::string(what) + " failed in the emulation of CUDA");
}

DriverFacts driver_facts() { return {2, 13000, 13000, {}}; }
DeviceFacts device_facts(int) {
  return {"emulated on the CPU", 9, 0, 2, emulation::total_bytes(), std::size_t{1} << 20, std::size_t{227} << 10};
}
void set_device(int) {}
int current_device() { return 0; }
void restore_device(int) noexcept {}
bool has_code(const void*) { return true; }
void copy_between(void* to, int, const void* from, int, std::size_t bytes, cudaStream_t stream) {
  copy_async(to, from, bytes, stream);
}
bool enable_peer_access(int, int) { return true; }
cudaStream_t make_stream(int) { return nullptr; }
void destroy_stream(int, cudaStream_t) noexcept {}
void synchronize(cudaStream_t) {}
void copy_async(void* to, const void* from, std::size_t bytes, cudaStream_t) {
  if (bytes > 0) std::memmove(to, from, bytes);
}
void fill_bytes_async(void* to, int byte, std::size_t bytes, cudaStream_t) {
  if (bytes > 0) std::memset(to, byte, bytes);
}
void wait_for(cudaStream_t, cudaStream_t) {}

DeviceTimer::DeviceTimer(cudaStream_t stream) : stream_(stream) {}
DeviceTimer::~DeviceTimer() = default;
void DeviceTimer::start() { host_start_ = now(); }
double DeviceTimer::stop() { return now() - host_start_; }

StreamMark::~StreamMark() = default;
void StreamMark::set(cudaStream_t) {}
void StreamMark::wait() const {}

RecordedWork::~RecordedWork() = default;
bool RecordedWork::begin(cudaStream_t) { return false; }
bool RecordedWork::end(cudaStream_t, bool) { return false; }
void RecordedWork::replay(cudaStream_t) const {}

namespace detail {
std::int64_t most_blocks_together(const void*, int, std::size_t) { return 1; }  // blocks follow each other
}  // namespace detail

std::string KernelModule::unavailable() { return "the emulation of CUDA has no run-time compiler"; }
KernelModule::KernelModule(const std::string&, const std::string&) {
  throw Error(ErrorCode::unavailable, unavailable());
}
KernelModule::~KernelModule() = default;
void KernelModule::start(const Grid&, cudaStream_t, void**) const {}

}  // namespace voussoir::cuda

#else

namespace voussoir::cuda {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  throw Error(ErrorCode::device, std::string(what) + " failed on the GPU: " + cudaGetErrorString(status) + " (" +
                                     cudaGetErrorName(status) + ")");
}

DriverFacts driver_facts() {
  DriverFacts facts;
  (void)cudaDriverGetVersion(&facts.driver);
  (void)cudaRuntimeGetVersion(&facts.runtime);
  const auto version = [](int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); };
  if (facts.driver == 0) {
    facts.reason = "there is no NVIDIA driver on this machine";
    (void)cudaGetLastError();
    return facts;
  }
  const cudaError_t status = cudaGetDeviceCount(&facts.devices);
  if (status == cudaErrorInsufficientDriver)
    facts.reason = "the NVIDIA driver offers CUDA " + version(facts.driver) + ", but CUDA " + version(facts.runtime) +
                   " is needed; install a newer driver";
  else if (status == cudaErrorNoDevice || (status == cudaSuccess && facts.devices == 0))
    facts.reason = "the NVIDIA driver sees no GPU (is CUDA_VISIBLE_DEVICES empty?)";
  else if (status != cudaSuccess)
    facts.reason = std::string("the NVIDIA driver failed: ") + cudaGetErrorString(status);
  if (!facts.reason.empty()) facts.devices = 0;
  (void)cudaGetLastError();
  return facts;
}

DeviceFacts device_facts(int ordinal) {
  cudaDeviceProp p;
  check(cudaGetDeviceProperties(&p, ordinal), "querying device properties");
  DeviceFacts facts;
  facts.name = p.name;
  facts.major = p.major;
  facts.minor = p.minor;
  facts.multiprocessors = p.multiProcessorCount;
  facts.l2_bytes = static_cast<std::size_t>(p.l2CacheSize);
  facts.shared_bytes_per_block = p.sharedMemPerBlockOptin;
  facts.total_bytes = p.totalGlobalMem;  // what is free only a context can tell, which takes memory itself
  return facts;
}

void set_device(int ordinal) { check(cudaSetDevice(ordinal), "choosing a device"); }
int current_device() {
  int ordinal = 0;
  check(cudaGetDevice(&ordinal), "querying the current device");
  return ordinal;
}
void restore_device(int ordinal) noexcept { (void)cudaSetDevice(ordinal); }
bool has_code(const void* kernel) {
  cudaFuncAttributes attributes;
  const bool there = cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess;
  (void)cudaGetLastError();
  return there;
}
void copy_between(void* to, int to_ordinal, const void* from, int from_ordinal, std::size_t bytes,
                  cudaStream_t stream) {
  if (bytes > 0) check(cudaMemcpyPeerAsync(to, to_ordinal, from, from_ordinal, bytes, stream), "a copy between GPUs");
}

bool enable_peer_access(int ordinal, int other) {
  if (ordinal == other) return true;
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, ordinal, other), "querying peer access");
  if (!can) return false;
  set_device(ordinal);
  const cudaError_t status = cudaDeviceEnablePeerAccess(other, 0);
  if (status == cudaSuccess || status == cudaErrorPeerAccessAlreadyEnabled) {
    (void)cudaGetLastError();
    return true;
  }
  (void)cudaGetLastError();
  return false;  // a GPU reaches a few others only: copies go through the host
}

cudaStream_t make_stream(int ordinal) {
  set_device(ordinal);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  return stream;
}
void destroy_stream(int ordinal, cudaStream_t stream) noexcept {
  (void)cudaSetDevice(ordinal);
  (void)cudaStreamDestroy(stream);
}
void synchronize(cudaStream_t stream) { check(cudaStreamSynchronize(stream), "work"); }
void copy_async(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  if (bytes > 0) check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "a copy");
}
void fill_bytes_async(void* to, int byte, std::size_t bytes, cudaStream_t stream) {
  if (bytes > 0) check(cudaMemsetAsync(to, byte, bytes, stream), "filling memory");
}
void wait_for(cudaStream_t waiting, cudaStream_t other) {
  if (waiting == other) return;
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  const cudaError_t recorded = cudaEventRecord(event, other);
  const cudaError_t waited = recorded == cudaSuccess ? cudaStreamWaitEvent(waiting, event, 0) : recorded;
  (void)cudaEventDestroy(event);  // takes effect once the event has passed
  check(waited, "waiting for another stream");
}

DeviceTimer::DeviceTimer(cudaStream_t stream) : stream_(stream) {
  check(cudaEventCreate(&start_), "making an event");
  check(cudaEventCreate(&stop_), "making an event");
}
DeviceTimer::~DeviceTimer() {
  (void)cudaEventDestroy(start_);
  (void)cudaEventDestroy(stop_);
}
void DeviceTimer::start() { check(cudaEventRecord(start_, stream_), "recording an event"); }
double DeviceTimer::stop() {
  check(cudaEventRecord(stop_, stream_), "recording an event");
  check(cudaEventSynchronize(stop_), "work");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start_, stop_), "reading a timer");
  return 1e-3 * milliseconds;
}

StreamMark::~StreamMark() {
  if (event_) (void)cudaEventDestroy(event_);
}
void StreamMark::set(cudaStream_t stream) {
  if (!event_) check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event");
  check(cudaEventRecord(event_, stream), "recording an event");
}
void StreamMark::wait() const {
  if (event_) check(cudaEventSynchronize(event_), "work");
}

RecordedWork::~RecordedWork() {
  if (executable_) (void)cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(executable_));
}
bool RecordedWork::begin(cudaStream_t stream) {
  const cudaError_t status = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  if (status != cudaSuccess) (void)cudaGetLastError();
  return status == cudaSuccess;
}
bool RecordedWork::end(cudaStream_t stream, bool keep) {
  cudaGraph_t graph = nullptr;
  cudaError_t status = cudaStreamEndCapture(stream, &graph);
  if (status == cudaSuccess && keep) {
    cudaGraphExec_t executable = nullptr;
    status = cudaGraphInstantiate(&executable, graph, 0);
    if (status == cudaSuccess) {
      if (executable_) (void)cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(executable_));
      executable_ = executable;
    }
  }
  if (graph) (void)cudaGraphDestroy(graph);
  (void)cudaGetLastError();
  return keep && status == cudaSuccess;
}
void RecordedWork::replay(cudaStream_t stream) const {
  check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(executable_), stream), "replaying work");
}

namespace detail {

namespace {

cudaFuncAttributes attributes_of(const void* kernel) {
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, kernel), "querying kernel properties");
  return attributes;
}

/// Whether a kernel that is launched early may be started so: whether its code for the current device is of a kind in
/// which after_earlier_work() waits, and nobody wants kernels one by one. (CUDA before 12.3 cannot record such starts.)
bool may_start_early(const void* kernel) {
  static const bool one_by_one = [] {
    const char* value = std::getenv("VOUSSOIR_CUDA_ONE_BY_ONE");
    return value && *value && std::strcmp(value, "0") != 0;
  }();
  if (CUDART_VERSION < 12030 || one_by_one) return false;
  static std::mutex guard;
  static std::map<std::pair<int, const void*>, bool> known;
  const std::lock_guard<std::mutex> lock(guard);
  const auto [place, is_new] = known.try_emplace({current_device(), kernel}, false);
  if (is_new) place->second = attributes_of(kernel).ptxVersion >= 90;
  return place->second;
}

void raise_shared_memory(const void* kernel, std::size_t bytes) {
  if (bytes > (std::size_t{48} << 10))
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
          "raising the limit of shared memory");
}

}  // namespace

void launch_pointers(const void* kernel, const Grid& grid, cudaStream_t stream, void** arguments) {
  raise_shared_memory(kernel, grid.shared_bytes);
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(grid.blocks));
  config.blockDim = dim3(static_cast<unsigned>(grid.threads));
  config.dynamicSmemBytes = grid.shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  if (grid.start == Start::early && may_start_early(kernel)) {
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.numAttrs = 1;
  } else if (grid.start == Start::together) {
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.numAttrs = 1;
  }
  check(cudaLaunchKernelExC(&config, kernel, arguments), "starting a kernel");
}

std::int64_t most_blocks_together(const void* kernel, int threads, std::size_t shared_bytes) {
  const auto ask = [device = current_device()](cudaDeviceAttr what) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, what, device), "querying device properties");
    return value;
  };
  if (!ask(cudaDevAttrCooperativeLaunch) || shared_bytes + attributes_of(kernel).sharedSizeBytes >
                                                static_cast<std::size_t>(ask(cudaDevAttrMaxSharedMemoryPerBlockOptin)))
    return 0;
  raise_shared_memory(kernel, shared_bytes);
  int each = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared_bytes),
        "querying kernel properties");
  return std::int64_t{ask(cudaDevAttrMultiProcessorCount)} * each;
}

}  // namespace detail

#if CUDART_VERSION >= 12080

std::string KernelModule::unavailable() { return {}; }
KernelModule::KernelModule(const std::string& code, const std::string& kernel) {
  cudaLibrary_t library = nullptr;
  check(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "loading a kernel that was compiled at run time");
  cudaKernel_t found = nullptr;
  const cudaError_t status = cudaLibraryGetKernel(&found, library, kernel.c_str());
  if (status != cudaSuccess) (void)cudaLibraryUnload(library);
  check(status, "finding a kernel that was compiled at run time");
  library_ = library;
  kernel_ = found;
}
KernelModule::~KernelModule() {
  if (library_) (void)cudaLibraryUnload(static_cast<cudaLibrary_t>(library_));
}
void KernelModule::start(const Grid& grid, cudaStream_t stream, void** arguments) const {
  detail::launch_pointers(kernel_, grid, stream, arguments);
}

#else

std::string KernelModule::unavailable() {
  return "the CUDA backend was built with a CUDA before 12.8, which loads no kernels at run time";
}
KernelModule::KernelModule(const std::string&, const std::string&) {
  throw Error(ErrorCode::unavailable, unavailable());
}
KernelModule::~KernelModule() = default;
void KernelModule::start(const Grid&, cudaStream_t, void**) const {}

#endif

}  // namespace voussoir::cuda

#endif
