#include <voussoir/jobs/detail/heat_state.hpp>

#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <voussoir/framework/io/output_file.hpp>

namespace voussoir::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "states are written as the machine keeps them");

constexpr char heat_mark[8] = {'V', 'S', 'R', 'H', 'E', 'A', 'T', '1'};

/// FNV-1a, 64 bits (Fowler, Noll and Vo): notices damage, not malice.
std::uint64_t heat_checksum(std::string_view bytes) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211ull;
  return hash;
}

template <class T>
void put(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
void put_list(std::string& to, const T& list) {
  put(to, static_cast<std::uint64_t>(list.size()));
  to.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(typename T::value_type));
}

class HeatStateReader {
 public:
  HeatStateReader(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::bad_input, "the run cannot be resumed: " + why, path_);
  }
  template <class T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  template <class T>
  T list() {
    const auto count = get<std::uint64_t>();
    constexpr std::size_t each = sizeof(typename T::value_type);
    if (count > (bytes_.size() - at_) / each) refuse("the state is damaged");
    T values(static_cast<std::size_t>(count), typename T::value_type{});
    if (count > 0) std::memcpy(values.data(), take(values.size() * each), values.size() * each);
    return values;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  const char* take(std::size_t size) {
    if (size > bytes_.size() - at_) refuse("the state is damaged");
    at_ += size;
    return bytes_.data() + at_ - size;
  }
  std::string_view bytes_;
  const std::string& path_;
  std::size_t at_ = 0;
};

}  // namespace

void save_heat_state(const std::filesystem::path& path, const std::string& fingerprint, const HeatProgress& progress) {
  std::string bytes;
  bytes.reserve(progress.state.temperature.size() * sizeof(double) + 4096);
  put_list(bytes, fingerprint);
  put(bytes, progress.state.step);
  put(bytes, progress.state.initial_content);
  put(bytes, progress.state.from_sources);
  put(bytes, progress.state.through_flux_sides);
  put_list(bytes, progress.written);
  put_list(bytes, progress.history);
  put_list(bytes, progress.state.temperature);
  const std::uint64_t sum = heat_checksum(bytes);
  OutputFile file(path, true);
  file.write(heat_mark, sizeof heat_mark);
  file.write(&sum, sizeof sum);
  file.write(bytes);
  file.commit();
}

HeatProgress load_heat_state(const std::filesystem::path& path, const std::string& fingerprint) {
  const std::string name = path.string();
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(
        ErrorCode::io,
        std::string("there is no state to resume from: ") + std::strerror(errno) + "; run the job without --resume",
        name);
  const std::string all((std::istreambuf_iterator<char>(file)), {});
  if (file.bad()) throw Error(ErrorCode::io, "the state cannot be read", name);
  HeatStateReader head(all, name);
  if (all.size() < 16 || std::memcmp(all.data(), heat_mark, sizeof heat_mark) != 0)
    head.refuse("these bytes are not a state of a heat job");
  const std::string_view bytes = std::string_view(all).substr(16);
  std::uint64_t sum = 0;
  std::memcpy(&sum, all.data() + sizeof heat_mark, sizeof sum);
  if (sum != heat_checksum(bytes)) head.refuse("the state is damaged: its checksum does not agree with its contents");
  HeatStateReader in(bytes, name);
  if (in.list<std::string>() != fingerprint)
    in.refuse(
        "the state is that of another job: grid, sides, material, sources, initial field, points, scheme or time step "
        "differ; remove it, or run the job without --resume");
  HeatProgress progress;
  progress.state.step = in.get<std::int64_t>();
  progress.state.initial_content = in.get<double>();
  progress.state.from_sources = in.get<double>();
  progress.state.through_flux_sides = in.get<double>();
  progress.written = in.list<std::vector<std::int64_t>>();
  progress.history = in.list<std::vector<double>>();
  progress.state.temperature = in.list<std::vector<double>>();
  if (!in.at_end()) in.refuse("the state is damaged: the file is longer than a state");
  return progress;
}

}  // namespace voussoir::detail
