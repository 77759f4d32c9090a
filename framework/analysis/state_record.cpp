#include <voussoir/framework/analysis/state_record.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <istream>
#include <ostream>
#include <span>
#include <type_traits>

#include <voussoir/framework/analysis/detail/saved_numbers.hpp>
#include <voussoir/framework/detail/fnv_hash.hpp>

// Records as bytes: a header (mark, version, length), the contents, and a checksum. Numbers are little-endian.

namespace voussoir {
namespace {

constexpr char mark[8] = {'V', 'S', 'R', 'S', 'T', 'A', 'T', 'E'};
constexpr std::uint32_t version = 2;

static_assert(std::endian::native == std::endian::little, "states are written as the machine keeps them");

class Writer {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void put(const std::string& text) {
    put(static_cast<std::uint64_t>(text.size()));
    bytes_ += text;
  }
  void put(const std::vector<double>& numbers) {
    put(static_cast<std::uint64_t>(numbers.size()));
    bytes_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const char> bytes) : bytes_(bytes) {}
  template <class T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }
  std::string text() {
    const std::size_t size = length(1);
    return std::string(take(size), size);
  }
  std::vector<double> numbers() {
    const std::size_t size = length(sizeof(double));
    std::vector<double> values(size);
    if (size > 0) std::memcpy(values.data(), take(size * sizeof(double)), size * sizeof(double));
    return values;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  /// A count of things of so many bytes each, which are there.
  std::size_t length(std::size_t each) {
    const auto count = get<std::uint64_t>();
    if (count > (bytes_.size() - at_) / each) detail::refuse_damaged_state("a length leads past its end");
    return static_cast<std::size_t>(count);
  }
  const char* take(std::size_t size) {
    if (size > bytes_.size() - at_) detail::refuse_damaged_state("it ends too early");
    at_ += size;
    return bytes_.data() + at_ - size;
  }

  std::span<const char> bytes_;
  std::size_t at_ = 0;
};

void put_model(const StateRecord& record, Writer& out) {
  out.put(static_cast<std::uint8_t>(record.model.has_value()));
  if (!record.model) return;
  out.put(static_cast<std::uint64_t>(record.model->unknown_names.size()));
  for (const auto& name : record.model->unknown_names) out.put(name);
  out.put(static_cast<std::uint64_t>(record.model->node_count));
  out.put(record.model->fingerprint);
}

void get_model(Reader& in, StateRecord& record) {
  if (in.get<std::uint8_t>() == 0) return;
  StateRecord::Model& model = record.model.emplace();
  for (auto count = in.get<std::uint64_t>(); count > 0; --count) model.unknown_names.push_back(in.text());
  model.node_count = static_cast<std::int64_t>(in.get<std::uint64_t>());
  model.fingerprint = in.get<std::uint64_t>();
}

}  // namespace

void write_record(const StateRecord& record, std::ostream& to) {
  Writer out;
  put_model(record, out);
  out.put(record.name);
  out.put(record.time);
  out.put(record.time_step);
  out.put(record.prescribed_factor);
  out.put(static_cast<std::uint64_t>(record.case_factors.size()));
  for (const auto& [name, factor] : record.case_factors) {
    out.put(name);
    out.put(factor);
  }
  for (const StateRecord::Numbers& vector : record.vectors) {
    out.put(static_cast<std::uint8_t>(vector.are_shares));
    out.put(vector.values);
  }
  out.put(record.temperature);
  out.put(static_cast<std::uint64_t>(record.history.size()));
  for (const StateRecord::History& history : record.history) {
    out.put(history.block);
    out.put(history.type);
    out.put(history.numbers);
  }

  Writer header;
  header.put(version);
  header.put(static_cast<std::uint64_t>(out.bytes().size()));
  Writer footer;
  footer.put(detail::fnv_hash(out.bytes()));
  to.write(mark, sizeof(mark));
  for (const Writer* part : {&header, &out, &footer})
    to.write(part->bytes().data(), static_cast<std::streamsize>(part->bytes().size()));
  to.flush();
  if (!to) throw Error(ErrorCode::io, "a state could not be written; check the space and the permissions");
}

StateRecord read_record(std::istream& from) {
  constexpr std::size_t header_size = sizeof(mark) + sizeof(version) + sizeof(std::uint64_t);
  std::string header(header_size, '\0');
  from.read(header.data(), static_cast<std::streamsize>(header.size()));
  if (from.gcount() != static_cast<std::streamsize>(header.size()) || std::memcmp(header.data(), mark, sizeof(mark)))
    detail::refuse_state("these bytes are not a state of Voussoir");
  Reader head({header.data() + sizeof(mark), header.size() - sizeof(mark)});
  if (const auto found = head.get<std::uint32_t>(); found != version)
    detail::refuse_state("it has version " + std::to_string(found) + " of the format, and this program reads version " +
                         std::to_string(version));
  const auto size = head.get<std::uint64_t>();
  // Read piece by piece: a damaged length must not ask for all memory.
  std::string bytes;
  constexpr std::size_t piece = std::size_t{1} << 20;
  while (bytes.size() < size) {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(piece, size - bytes.size()));
    const std::size_t before = bytes.size();
    bytes.resize(before + wanted);
    from.read(bytes.data() + before, static_cast<std::streamsize>(wanted));
    if (from.gcount() != static_cast<std::streamsize>(wanted)) detail::refuse_damaged_state("it ends too early");
  }
  std::uint64_t sum = 0;
  from.read(reinterpret_cast<char*>(&sum), sizeof(sum));
  if (from.gcount() != sizeof(sum)) detail::refuse_damaged_state("it ends too early");
  if (sum != detail::fnv_hash(bytes)) detail::refuse_damaged_state("its checksum does not agree with its contents");

  Reader in(bytes);
  StateRecord record;
  get_model(in, record);
  record.name = in.text();
  record.time = in.get<double>();
  record.time_step = in.get<double>();
  record.prescribed_factor = in.get<double>();
  for (auto count = in.get<std::uint64_t>(); count > 0; --count) {
    std::string name = in.text();
    record.case_factors.emplace_back(std::move(name), in.get<double>());
  }
  for (StateRecord::Numbers& vector : record.vectors) {
    vector.are_shares = in.get<std::uint8_t>() != 0;
    vector.values = in.numbers();
  }
  record.temperature = in.numbers();
  for (auto count = in.get<std::uint64_t>(); count > 0; --count) {
    StateRecord::History& history = record.history.emplace_back();
    history.block = in.text();
    history.type = in.text();
    history.numbers = in.numbers();
  }
  if (!in.at_end()) detail::refuse_damaged_state("there is more in it than a state");
  return record;
}

}  // namespace voussoir
