#include <voussoir/backends/element_matrix_source.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <limits>
#include <utility>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/detail/projection_parts.hpp>

namespace voussoir {

namespace {

constexpr auto lanes = static_cast<std::size_t>(element_matrix_lanes);

std::int32_t whole_groups(std::int32_t elements) {
  return (elements + element_matrix_lanes - 1) / element_matrix_lanes;
}

/// Elements of a group of about so many bytes.
std::int32_t elements_in(std::size_t bytes, int entries) {
  const std::size_t block = lanes * sizeof(double) * static_cast<std::size_t>(entries);
  const std::size_t most = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max() / 2) / lanes;
  return static_cast<std::int32_t>(std::clamp<std::size_t>(bytes / block, 1, most) * lanes);
}

std::size_t group_numbers(std::int32_t elements, int entries) {
  return static_cast<std::size_t>(whole_groups(elements)) * lanes * static_cast<std::size_t>(entries);
}

/// What a batch contributes.
struct Factors {
  double stiffness = 0, mass = 0;
  bool empty() const { return stiffness == 0 && mass == 0; }
};

Factors factors_of(const DeviceModel& model, const MatrixTerms& terms, int batch) {
  const ElementProgram& program = *model.part(0).batches[static_cast<std::size_t>(batch)].program;
  Factors factors;
  if (detail::described_elements(model, batch) == 0) return factors;
  if (program.has_tangent()) factors.stiffness = terms.stiffness_of(batch);
  if (program.has_mass()) factors.mass = terms.mass_of(batch);
  if (!factors.empty() && !program.symmetric())
    throw Error(ErrorCode::unavailable, "matrices of element type '" + program.name() +
                                            "' are not symmetric, and only symmetric ones can be kept apart; use an "
                                            "operator of the model");
  return factors;
}

/// Integrates the matrices of one batch on the host.
class BatchIntegration {
 public:
  BatchIntegration(const DeviceModel& model, const ElementState& state, const MatrixTerms& terms, int batch)
      : model_(model), batch_(batch), kind_(terms.mass_kind), factors_(factors_of(model, terms, batch)) {
    if (factors_.empty()) return;
    for (int d = 0; d < model.devices(); ++d) {
      views_.push_back(model.host_view(d, batch, state));
      numbers_.push_back(detail::counted_by_description(model, d, batch));
    }
  }
  const ElementProgram& program() const { return *model_.part(0).batches[static_cast<std::size_t>(batch_)].program; }
  int entries() const { return factors_.empty() ? 0 : program().matrix_entries(); }

  /// Elements first … first + count of the description, to `out` in the layout of an ElementMatrixGroup.
  void run(std::int32_t first, std::int32_t count, double* out) const {
    std::exception_ptr failure;  // of the lowest group
    std::int32_t failed = std::numeric_limits<std::int32_t>::max();
    const std::int32_t groups = whole_groups(count);
    const bool alone = program().route() == Route::host;  // users' functions need not be ready for several threads
#pragma omp parallel for schedule(static) if (!alone)
    for (std::int32_t g = 0; g < groups; ++g) {
      const std::int32_t from = g * element_matrix_lanes;
      try {
        run_group(first + from, std::min(element_matrix_lanes, count - from),
                  out + static_cast<std::size_t>(from) * static_cast<std::size_t>(entries()));
      } catch (...) {
#pragma omp critical(voussoir_element_matrix_source)
        if (g < failed) {
          failed = g;
          failure = std::current_exception();
        }
      }
    }
    if (failure) std::rethrow_exception(failure);
  }

 private:
  /// The device that counts an element of the description, and its number there.
  std::pair<int, std::int32_t> find(std::int32_t element) const {
    for (std::size_t d = 0; d < numbers_.size(); ++d) {
      const std::int32_t own = numbers_[d].empty() ? element : numbers_[d][static_cast<std::size_t>(element)];
      if (own >= 0) return {static_cast<int>(d), own};
    }
    throw Error(ErrorCode::internal, "element " + std::to_string(element) + " is on no device");
  }

  void run_group(std::int32_t first, std::int32_t count, double* out) const {
    const int pack = program().lanes();
    const auto entries = static_cast<std::size_t>(this->entries()), width = static_cast<std::size_t>(pack);
    std::vector<double> values(entries * width), mass(factors_.mass != 0 ? values.size() : 0);
    std::pair<int, std::int32_t> have{-1, -1};
    if (count < element_matrix_lanes) std::fill_n(out, entries * lanes, 0.0);
    for (std::int32_t e = 0; e < count; ++e) {
      const auto [device, own] = find(first + e);
      const std::pair<int, std::int32_t> wanted{device, own / pack * pack};
      if (have != wanted) compute(wanted.first, wanted.second, values, mass);
      have = wanted;
      const auto lane = static_cast<std::size_t>(own % pack);
      for (std::size_t k = 0; k < entries; ++k) out[k * lanes + static_cast<std::size_t>(e)] = values[k * width + lane];
    }
  }

  /// stiffness · K + mass · M of one pack of elements.
  void compute(int device, std::int32_t first, std::vector<double>& values, std::vector<double>& mass) const {
    const ElementView& view = views_[static_cast<std::size_t>(device)];
    const int count = std::min(program().lanes(), view.element_count - first);
    ElementStatus status;
    if (factors_.stiffness != 0)
      status.merge(program().tangent(view, first, count, values.data()));
    else
      std::fill(values.begin(), values.end(), 0.0);
    if (factors_.mass != 0) status.merge(program().mass(view, kind_, first, count, mass.data()));
    if (status.fault != ElementFault::none) {
      const ElementBatch& batch = model_.part(device).batches[static_cast<std::size_t>(batch_)];
      throw ElementError(status.fault, batch.description, batch.origin_of(status.element));
    }
    for (double& value : values) value *= factors_.stiffness;
    for (std::size_t k = 0; k < mass.size(); ++k) values[k] += factors_.mass * mass[k];
  }

  const DeviceModel& model_;
  int batch_;
  MassKind kind_;
  Factors factors_;
  std::vector<ElementView> views_;
  std::vector<std::vector<std::int32_t>> numbers_;
};

void require_terms(Backend& backend, const DeviceModel& model, const ElementState& state, const MatrixTerms& terms) {
  detail::require_factors(terms, model.batch_count(), "element matrices");
  detail::require_state(model, state, "element matrices");
  if (state.unknowns) backend.exchange(*state.unknowns);
}

// ---- The file ----

constexpr char magic[8] = {'V', 'S', 'R', 'E', 'L', 'M', 'A', 'T'};
constexpr std::uint32_t file_version = 1, order_mark = 0x01020304;
/// Values begin at a multiple of this, so that a mapped file has aligned numbers.
constexpr std::size_t alignment = 4096;

struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t order;  ///< order_mark as the writing machine stores it
  std::uint32_t lanes;
  std::uint32_t batches;
};
struct FileBatch {
  std::uint64_t elements;
  std::uint64_t entries;  ///< of a matrix; 0: the batch contributes nothing
};

std::size_t values_begin(std::size_t batches) {
  return (sizeof(FileHeader) + batches * sizeof(FileBatch) + alignment - 1) / alignment * alignment;
}

[[noreturn]] void fail(const std::string& path, const std::string& text) { throw Error(ErrorCode::io, text, path); }
[[noreturn]] void fail_by_system(const std::string& path, const std::string& text) {
  fail(path, text + ": " + std::strerror(errno));
}

/// A file in the making, which is removed unless it is finished.
class NewFile {
 public:
  explicit NewFile(std::string path)
      : path_(std::move(path)), temporary_(path_ + "." + std::to_string(::getpid()) + ".part") {
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ < 0) fail_by_system(path_, "the file cannot be written");
  }
  ~NewFile() {
    if (file_ >= 0) ::close(file_);
    if (!finished_) ::unlink(temporary_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(const void* data, std::size_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t done = ::write(file_, from, std::min(bytes, std::size_t{1} << 30));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) fail_by_system(path_, "element matrices cannot be written");
      from += done;
      bytes -= static_cast<std::size_t>(done);
    }
  }
  void finish() {
    const int file = std::exchange(file_, -1);
    if (::fsync(file) != 0 || ::close(file) != 0) fail_by_system(path_, "element matrices cannot be written");
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_by_system(path_, "the file cannot be given its name");
    finished_ = true;
  }

 private:
  std::string path_, temporary_;
  int file_ = -1;
  bool finished_ = false;
};

}  // namespace

// ---- In memory ----

ElementMatrixStore::ElementMatrixStore(Backend& backend, const DeviceModel& model, const ElementState& state,
                                       const MatrixTerms& terms, std::size_t group_bytes)
    : memory_(backend.memory(0)) {
  require_terms(backend, model, state, terms);
  try {
    for (int b = 0; b < model.batch_count(); ++b) {
      const BatchIntegration integration(model, state, terms, b);
      if (integration.entries() == 0) continue;
      const std::int32_t total = detail::described_elements(model, b),
                         piece = elements_in(group_bytes, integration.entries());
      for (std::int32_t first = 0; first < total; first += piece) {
        ElementMatrixGroup group{b, first, std::min(piece, total - first), integration.entries(), nullptr, true};
        const std::size_t bytes = sizeof(double) * group_numbers(group.count, group.entries);
        groups_.reserve(groups_.size() + 1);
        auto* values = static_cast<double*>(memory_->allocate_host(bytes));
        group.values = values;
        groups_.push_back(group);
        memory_->lend_to_host(values, bytes, DeviceMemory::Intent::write, true);
        integration.run(first, group.count, values);
      }
    }
  } catch (...) {
    release();
    throw;
  }
}

ElementMatrixStore::~ElementMatrixStore() { release(); }

void ElementMatrixStore::release() noexcept {
  for (const ElementMatrixGroup& group : groups_)
    memory_->release_host(const_cast<double*>(group.values),
                          sizeof(double) * group_numbers(group.count, group.entries));
  groups_.clear();
}

bool ElementMatrixStore::next(ElementMatrixGroup& group) {
  if (next_ >= groups_.size()) return false;
  group = groups_[next_++];
  return true;
}

std::int64_t ElementMatrixStore::largest_group_bytes() const {
  std::size_t most = 0;
  for (const ElementMatrixGroup& group : groups_)
    most = std::max(most, sizeof(double) * group_numbers(group.count, group.entries));
  return static_cast<std::int64_t>(most);
}

std::size_t ElementMatrixStore::bytes() const {
  std::size_t total = 0;
  for (const ElementMatrixGroup& group : groups_) total += sizeof(double) * group_numbers(group.count, group.entries);
  return total;
}

// ---- In a file ----

ElementMatrixFile::ElementMatrixFile(std::string path, std::size_t group_bytes) : path_(std::move(path)) {
  try {
    map();
  } catch (...) {
    close();
    throw;
  }
  for (Batch& batch : batches_) batch.in_group = batch.entries > 0 ? elements_in(group_bytes, batch.entries) : 0;
}

ElementMatrixFile::~ElementMatrixFile() { close(); }

void ElementMatrixFile::close() noexcept {
  if (mapped_) ::munmap(mapped_, size_);
  if (file_ >= 0) ::close(file_);
}

void ElementMatrixFile::map() {
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) fail_by_system(path_, "the file cannot be read");
  struct stat facts = {};
  if (::fstat(file_, &facts) != 0) fail_by_system(path_, "the file cannot be read");
  if (!S_ISREG(facts.st_mode)) fail(path_, "this is not a regular file");
  size_ = static_cast<std::size_t>(facts.st_size);
  if (size_ < sizeof(FileHeader)) fail(path_, "this is not a file of element matrices: it is too short");
  mapped_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file_, 0);
  if (mapped_ == MAP_FAILED) {
    mapped_ = nullptr;
    fail_by_system(path_, "the file cannot be mapped into memory");
  }
  FileHeader header = {};
  std::memcpy(&header, mapped_, sizeof header);
  if (std::memcmp(header.magic, magic, sizeof magic) != 0) fail(path_, "this is not a file of element matrices");
  if (header.order != order_mark) fail(path_, "the file was written on a machine with another order of bytes");
  if (header.version != file_version || header.lanes != lanes)
    fail(path_, "the file has version " + std::to_string(header.version) + " of the format, and this program reads " +
                    std::to_string(file_version) + "; write it again");
  if (header.batches > (size_ - sizeof(FileHeader)) / sizeof(FileBatch))
    fail(path_, "the file is damaged: its table of batches does not end");
  std::size_t offset = values_begin(header.batches);
  for (std::size_t b = 0; b < header.batches; ++b) {
    FileBatch batch = {};
    std::memcpy(&batch, static_cast<const char*>(mapped_) + sizeof(FileHeader) + b * sizeof batch, sizeof batch);
    constexpr std::uint64_t most_entries = std::uint64_t{1} << 28, most_elements = INT32_MAX;
    if (batch.entries > most_entries || batch.elements > most_elements)
      fail(path_, "the file is damaged: batch " + std::to_string(b) + " has impossible sizes");
    // Neither product can overflow: 2^28 · 2^5 · 2^3 · 2^27 is beyond 2^63, so the count of groups is checked first.
    const std::size_t block = lanes * sizeof(double) * batch.entries;
    const std::size_t groups = batch.entries > 0 ? (batch.elements + lanes - 1) / lanes : 0;
    if (groups > 0 && (offset > size_ || groups > (size_ - offset) / block))
      fail(path_, "the file is too short for the matrices that its header announces; write it again");
    batches_.push_back({static_cast<std::int64_t>(batch.elements), static_cast<int>(batch.entries), offset, 0});
    offset += groups * block;
  }
  if (offset != size_)
    fail(path_, "the file has " + std::to_string(size_) + " bytes where its header implies " + std::to_string(offset) +
                    "; write it again");
  ::madvise(mapped_, size_, MADV_SEQUENTIAL);
}

void ElementMatrixFile::rewind() {
  batch_ = 0;
  first_ = 0;
}

bool ElementMatrixFile::next(ElementMatrixGroup& group) {
  while (batch_ < batches_.size() && (batches_[batch_].entries == 0 || first_ >= batches_[batch_].elements)) {
    ++batch_;
    first_ = 0;
  }
  if (batch_ >= batches_.size()) return false;
  const Batch& batch = batches_[batch_];
  const auto count = static_cast<std::int32_t>(std::min<std::int64_t>(batch.in_group, batch.elements - first_));
  const char* begin = static_cast<const char*>(mapped_) + batch.offset +
                      sizeof(double) * static_cast<std::size_t>(first_) * static_cast<std::size_t>(batch.entries);
  group = {static_cast<int>(batch_),
           static_cast<std::int32_t>(first_),
           count,
           batch.entries,
           reinterpret_cast<const double*>(begin),
           false};
  first_ += count;
  return true;
}

std::int64_t ElementMatrixFile::largest_group_bytes() const {
  std::size_t most = 0;
  for (const Batch& batch : batches_) {
    const auto count = static_cast<std::int32_t>(std::min<std::int64_t>(batch.in_group, batch.elements));
    most = std::max(most, sizeof(double) * group_numbers(count, batch.entries));
  }
  return static_cast<std::int64_t>(most);
}

void write_element_matrices(Backend& backend, const DeviceModel& model, const ElementState& state,
                            const MatrixTerms& terms, const std::string& path) {
  require_terms(backend, model, state, terms);
  std::vector<FileBatch> table;
  for (int b = 0; b < model.batch_count(); ++b) {
    const Factors factors = factors_of(model, terms, b);
    const ElementProgram& program = *model.part(0).batches[static_cast<std::size_t>(b)].program;
    table.push_back({static_cast<std::uint64_t>(detail::described_elements(model, b)),
                     static_cast<std::uint64_t>(factors.empty() ? 0 : program.matrix_entries())});
  }
  FileHeader header = {};
  std::memcpy(header.magic, magic, sizeof magic);
  header.version = file_version;
  header.order = order_mark;
  header.lanes = lanes;
  header.batches = static_cast<std::uint32_t>(table.size());

  NewFile file(path);
  std::vector<char> front(values_begin(table.size()), 0);
  std::memcpy(front.data(), &header, sizeof header);
  if (!table.empty()) std::memcpy(front.data() + sizeof header, table.data(), table.size() * sizeof(FileBatch));
  file.write(front.data(), front.size());
  std::vector<double> values;
  for (int b = 0; b < model.batch_count(); ++b) {
    const BatchIntegration integration(model, state, terms, b);
    if (integration.entries() == 0) continue;
    const std::int32_t total = detail::described_elements(model, b),
                       piece = elements_in(element_matrix_group_bytes, integration.entries());
    for (std::int32_t first = 0; first < total; first += piece) {
      const std::int32_t count = std::min(piece, total - first);
      values.resize(group_numbers(count, integration.entries()));
      integration.run(first, count, values.data());
      file.write(values.data(), sizeof(double) * values.size());
    }
  }
  file.finish();
}

}  // namespace voussoir
