#include <voussoir/backends/cuda/programs/jit_cache.hpp>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <voussoir/backends/cuda/programs/sha256.hpp>

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

constexpr std::string_view first_line = "voussoir kernel 2";
constexpr const char* secret_name = "secret";
constexpr std::size_t secret_size = 32;

/// A descriptor that is closed on every way out.
struct Descriptor {
  int value = -1;
  explicit Descriptor(int v) : value(v) {}
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

/// Whether the user owns it, and nobody else can change it.
bool belongs_to_user(const struct stat& status) {
  return status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// The whole of a plain file of the user's; nothing where it is not there, or is something else. `mode`: its access
/// rights.
bool read_own_file(int folder, const char* name, std::string& content, bool& foreign, mode_t* mode = nullptr) {
  foreign = false;
  const Descriptor file(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.value < 0) {
    foreign = errno != ENOENT;
    return false;
  }
  struct stat status {};
  foreign = ::fstat(file.value, &status) != 0 || !S_ISREG(status.st_mode) || !belongs_to_user(status);
  if (foreign) return false;
  if (mode) *mode = status.st_mode;
  content.resize(static_cast<std::size_t>(status.st_size));
  std::size_t at = 0;
  while (at < content.size()) {
    const ssize_t got = ::read(file.value, content.data() + at, content.size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    at += static_cast<std::size_t>(got);
  }
  content.resize(at);
  return true;
}

/// Writes a new file under a temporary name that nothing has, readable by the user alone, and then gives it its own.
/// `replace`: whether a file of that name may be there.
bool write_own_file(int folder, const std::string& name, std::string_view content, bool replace) {
  static std::atomic<unsigned> counter{0};
  const std::string temporary = name + "." + std::to_string(::getpid()) + "." + std::to_string(counter++) + ".tmp";
  bool written = false;
  {
    const Descriptor file(
        ::openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.value < 0) return false;
    while (!content.empty()) {
      const ssize_t put = ::write(file.value, content.data(), content.size());
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) break;
      content.remove_prefix(static_cast<std::size_t>(put));
    }
    written = content.empty();
  }
  if (written)
    written = replace ? ::renameat(folder, temporary.c_str(), folder, name.c_str()) == 0
                      : ::linkat(folder, temporary.c_str(), folder, name.c_str(), 0) == 0;
  if (!written || !replace) ::unlinkat(folder, temporary.c_str(), 0);
  return written;
}

/// What a file's code is made of: its key, so that a kernel is not taken for another one, and its content.
std::string code_of(std::string_view secret, const std::string& key, const CompiledKernel& kernel) {
  std::string message(first_line);
  for (const std::string& part : {key, kernel.name}) message += "\n" + std::to_string(part.size()) + " " + part;
  return message_code(secret, message + "\n" + kernel.code);
}

/// Takes the text up to the end of a line off the front.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == text.npos) return std::exchange(text, {});
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

std::string absolute_folder(const char* variable) {
  const char* value = ::secure_getenv(variable);
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
  if (const char* chosen = ::secure_getenv("VOUSSOIR_CACHE_DIR"); chosen && *chosen) return chosen;
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
                        nowhere ? "there is no home folder; set VOUSSOIR_CACHE_DIR to cache compiled kernels" : "");
  }();
  return *cache;
}

int JitCache::open_folder(bool create) {
  if (folder_.empty()) return -1;
  if (!folder_.is_absolute()) {
    note("compiled kernels are not cached: the folder '" + folder_.string() +
         "' is not absolute; set VOUSSOIR_CACHE_DIR to one that begins with '/'");
    return -1;
  }
  if (create) {
    std::error_code ignored;  // opening it tells
    fs::create_directories(folder_.parent_path(), ignored);
    ::mkdir(folder_.c_str(), 0700);
  }
  const int folder = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    if (create) note("compiled kernels cannot be cached in " + folder_.string());
    return -1;
  }
  struct stat status {};
  if (::fstat(folder, &status) == 0 && belongs_to_user(status)) return folder;
  ::close(folder);
  note("compiled kernels are not cached: the folder " + folder_.string() +
       " belongs to another user or is writable by others; make it writable by you alone (chmod go-w), or set "
       "VOUSSOIR_CACHE_DIR");
  return -1;
}

std::string JitCache::secret(int folder, bool create) {
  std::string found;
  bool foreign = false;
  mode_t mode = 0;
  // Who could read the secret could make the codes of files: such a secret is replaced, and all files with it.
  const auto read = [&] {
    return read_own_file(folder, secret_name, found, foreign, &mode) && (mode & (S_IRWXG | S_IRWXO)) == 0 &&
           found.size() == secret_size;
  };
  if (read()) return found;
  const bool replace = mode != 0;  // the user's own, but exposed or damaged
  if (!create || foreign) return {};
  std::string fresh(secret_size, '\0');
  if (::getrandom(fresh.data(), fresh.size(), 0) == static_cast<ssize_t>(fresh.size()))
    write_own_file(folder, secret_name, fresh, replace);  // of several processes the first one's is taken by all
  return read() ? found : std::string();
}

bool JitCache::read(const std::string& key, CompiledKernel& kernel) {
  const Descriptor folder(open_folder(false));
  if (folder.value < 0) return false;
  const std::string name = key + ".kernel";
  std::string whole;
  bool foreign = false;
  if (!read_own_file(folder.value, name.c_str(), whole, foreign)) {
    if (foreign)
      note((folder_ / name).string() + " is not used: it is a link, belongs to another user or is writable by others");
    return false;
  }
  std::string_view rest = whole;
  const bool known = take_line(rest) == first_line && take_line(rest) == key;
  const std::string_view code = take_line(rest);
  CompiledKernel found;
  found.name = take_line(rest);
  found.code = rest;
  const std::string own = secret(folder.value, false);
  if (own.empty()) {
    note("compiled kernels in " + folder_.string() + " are not used: the file '" + secret_name +
         "' in it is missing or damaged, is not yours, or can be read by others; they are compiled again");
    return false;
  }
  if (!known || found.code.empty() || code != code_of(own, key, found)) {
    note((folder_ / name).string() + " is corrupt, or was not written by this cache; it is compiled again");
    return false;
  }
  kernel = std::move(found);
  return true;
}

void JitCache::write(const std::string& key, const CompiledKernel& kernel) {
  const Descriptor folder(open_folder(true));
  if (folder.value < 0) return;
  const std::string own = secret(folder.value, true);
  if (own.empty()) {
    note("compiled kernels cannot be cached in " + folder_.string() + ": the file '" + secret_name +
         "' in it cannot be made or is not yours; remove it");
    return;
  }
  const std::string content =
      std::string(first_line) + '\n' + key + '\n' + code_of(own, key, kernel) + '\n' + kernel.name + '\n' + kernel.code;
  if (!write_own_file(folder.value, key + ".kernel", content, true))
    note("compiled kernels cannot be cached in " + folder_.string());
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
