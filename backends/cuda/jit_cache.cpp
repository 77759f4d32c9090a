#include <voussoir/backends/cuda/jit_cache.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

namespace voussoir::cuda {

namespace fs = std::filesystem;

namespace {

/// The hash of Fowler, Noll and Vo (1a) with 128 bits: no two kernels of one user will ever meet by chance.
class Hash {
 public:
  Hash& add(std::string_view text) {
    for (const char c : text) step(static_cast<unsigned char>(c));
    // The length keeps "ab" + "c" and "a" + "bc" apart.
    for (std::uint64_t size = text.size(), i = 0; i < 8; ++i, size >>= 8) step(static_cast<unsigned char>(size));
    return *this;
  }
  std::string hex() const {
    static constexpr const char* digits = "0123456789abcdef";
    std::string text;
    for (int shift = 124; shift >= 0; shift -= 4) text += digits[static_cast<unsigned>(state_ >> shift) & 15u];
    return text;
  }

 private:
  __extension__ using Word = unsigned __int128;
  static constexpr Word word(std::uint64_t high, std::uint64_t low) { return Word(high) << 64 | low; }
  void step(unsigned char byte) {
    state_ ^= byte;
    state_ *= word(0x0000000001000000, 0x000000000000013b);
  }
  Word state_ = word(0x6c62272e07bb0142, 0x62b821756295c58d);
};

constexpr std::string_view first_line = "voussoir kernel 1";

std::string content_hash(const CompiledKernel& kernel) { return Hash().add(kernel.name).add(kernel.code).hex(); }

/// Takes the text up to the end of a line off the front.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == text.npos) return std::exchange(text, {});
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

std::string absolute_folder(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value == '/' ? value : "";
}

}  // namespace

std::string cache_key(const CompileRequest& request, const std::string& compiler_version,
                      const std::string& library_version) {
  Hash hash;
  hash.add(library_version).add(compiler_version).add(request.text).add(request.expression);
  hash.add(request.machine_code ? "machine code" : "ptx");
  for (const std::string& option : request.options) hash.add(option);
  for (const NamedText& header : request.headers) hash.add(header.name).add(header.text);
  return hash.hex();
}

JitCache::JitCache(fs::path folder, std::string trouble) : folder_(std::move(folder)), trouble_(std::move(trouble)) {}

fs::path JitCache::user_folder() {
  if (const char* chosen = std::getenv("VOUSSOIR_CACHE_DIR"); chosen && *chosen) return chosen;
  if (const std::string folder = absolute_folder("XDG_CACHE_HOME"); !folder.empty())
    return fs::path(folder) / "voussoir";
  if (const std::string home = absolute_folder("HOME"); !home.empty()) return fs::path(home) / ".cache" / "voussoir";
  return {};
}

JitCache& JitCache::of_user() {
  // Never destroyed: programs that outlive static destruction may still ask.
  static JitCache* const cache = [] {
    fs::path folder = user_folder();
    const bool nowhere = folder.empty();
    return new JitCache(std::move(folder),
                        nowhere ? "there is no home folder; set VOUSSOIR_CACHE_DIR to keep compiled kernels" : "");
  }();
  return *cache;
}

bool JitCache::read(const std::string& key, CompiledKernel& kernel) {
  if (folder_.empty()) return false;
  const fs::path path = folder_ / (key + ".kernel");
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  std::string_view rest = whole;
  const bool known = take_line(rest) == first_line && take_line(rest) == key;
  const std::string_view hash = take_line(rest);
  CompiledKernel found;
  found.name = take_line(rest);
  found.code = rest;
  if (!known || found.code.empty() || hash != content_hash(found)) {
    note(path.string() + " is damaged; it is made anew");
    return false;
  }
  kernel = std::move(found);
  return true;
}

void JitCache::write(const std::string& key, const CompiledKernel& kernel) {
  if (folder_.empty()) return;
  static std::atomic<unsigned> counter{0};
  std::error_code error;
  fs::create_directories(folder_, error);
  const fs::path path = folder_ / (key + ".kernel");
  fs::path temporary = path;
  temporary += "." + std::to_string(getpid()) + "." + std::to_string(counter++) + ".tmp";
  bool written = false;
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << first_line << '\n' << key << '\n' << content_hash(kernel) << '\n' << kernel.name << '\n' << kernel.code;
    file.close();
    written = file.good();
  }
  if (written) {
    fs::rename(temporary, path, error);
    written = !error;
  }
  if (written) return;
  fs::remove(temporary, error);
  note("compiled kernels cannot be kept in " + folder_.string());
}

std::string JitCache::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void JitCache::note(const std::string& trouble) {
  const std::lock_guard lock(mutex_);
  trouble_ = trouble;
}

}  // namespace voussoir::cuda
