#include <voussoir/backends/abi.hpp>
#include <voussoir/backends/detail/loading.hpp>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace voussoir::detail {
namespace {

/// Reads parts of a file; those that lie outside of it are missing.
class FileParts {
 public:
  explicit FileParts(const std::filesystem::path& path) : file_(path, std::ios::binary) {
    file_.seekg(0, std::ios::end);
    size_ = file_ ? static_cast<std::uint64_t>(file_.tellg()) : 0;
  }
  std::optional<std::string> bytes(std::uint64_t begin, std::uint64_t count) {
    if (begin > size_ || count > size_ - begin) return std::nullopt;
    std::string text(count, '\0');
    file_.seekg(static_cast<std::streamoff>(begin));
    if (!file_.read(text.data(), static_cast<std::streamsize>(count))) return std::nullopt;
    return text;
  }
  template <class T>
  std::optional<T> object(std::uint64_t begin) {
    const auto raw = bytes(begin, sizeof(T));
    if (!raw) return std::nullopt;
    T value;
    std::memcpy(&value, raw->data(), sizeof(T));
    return value;
  }

 private:
  std::ifstream file_;
  std::uint64_t size_ = 0;
};

/// The ABI numbers in a library's file, one for each object file that registers something; empty where there are none,
/// nothing where the file is no shared library of this machine.
std::optional<std::vector<std::int32_t>> abi_numbers(const std::filesystem::path& path) {
  FileParts file(path);
  const auto header = file.object<ElfW(Ehdr)>(0);
  constexpr unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != own_class ||
      header->e_type != ET_DYN || header->e_shentsize != sizeof(ElfW(Shdr)))
    return std::nullopt;
  const auto section = [&](std::uint64_t index) {
    return file.object<ElfW(Shdr)>(header->e_shoff + index * sizeof(ElfW(Shdr)));
  };
  const auto names = section(header->e_shstrndx);
  const auto text = names ? file.bytes(names->sh_offset, names->sh_size) : std::nullopt;
  std::vector<std::int32_t> numbers;
  for (unsigned i = 0; text && i < header->e_shnum; ++i) {
    const auto s = section(i);
    if (!s || s->sh_name >= text->size() || s->sh_type != SHT_PROGBITS) continue;
    if (std::string_view(text->c_str() + s->sh_name) != VSR_ABI_SECTION) continue;
    const auto raw = file.bytes(s->sh_offset, s->sh_size);
    if (!raw) return std::nullopt;
    numbers.resize(raw->size() / sizeof(std::int32_t));
    std::memcpy(numbers.data(), raw->data(), numbers.size() * sizeof(std::int32_t));
  }
  return numbers;
}

void check_abi(const std::string& path) {
  const auto numbers = abi_numbers(path);
  if (!numbers)
    throw Error(ErrorCode::unavailable,
                "this is not a shared library for this machine; build one with "
                "voussoir_add_plugin() or as a SHARED or MODULE library",
                path);
  if (numbers->empty())
    throw Error(ErrorCode::unavailable,
                "the library registers nothing for Voussoir: none of its sources has a VSR_REGISTER or "
                "VSR_REGISTER_ELEMENT line",
                path);
  for (const std::int32_t number : *numbers)
    if (number != abi_number)
      throw Error(ErrorCode::unavailable,
                  "the library was compiled with Voussoir headers of ABI " + std::to_string(number) +
                      ", but this program has ABI " + std::to_string(abi_number) +
                      "; compile it again with the headers of this version",
                  path);
}

thread_local Loading* innermost = nullptr;

}  // namespace

Loading::Loading(std::string path, bool replaces) : path_(std::move(path)), replaces_(replaces), outer_(innermost) {
  innermost = this;
}
Loading::~Loading() { innermost = outer_; }
Loading* Loading::current() { return innermost; }

void Loading::add(std::string what, std::function<void()> take_back) {
  registered_.push_back(std::move(what));
  take_back_.push_back(std::move(take_back));
}

void Loading::fail(const Error& error) {
  if (!error_) error_ = error;
}

void Loading::take_back() {
  for (; !take_back_.empty(); take_back_.pop_back()) take_back_.back()();
  registered_.clear();
}

std::string registration_origin() { return innermost ? innermost->path() : "this program"; }

std::recursive_mutex& loading_mutex() {
  static std::recursive_mutex* const mutex = new std::recursive_mutex;
  return *mutex;
}

std::vector<std::string> load_registrations(const std::string& path, bool replaces) {
  const std::lock_guard lock(loading_mutex());
  check_abi(path);
  Loading loading(path, replaces);
  // Local: what two libraries call alike stays apart. Now: a missing function shows here, not in the middle of a run.
  // The handle is never closed, since what the library registered may be in use until the end.
  if (!dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    const char* const reason = dlerror();
    loading.take_back();
    throw Error(ErrorCode::unavailable,
                std::string("the library cannot be loaded: ") + (reason ? reason : "the loader gave no reason") +
                    "; install what it needs, or build it again on this machine",
                path);
  }
  if (loading.error()) {
    const Error error = *loading.error();
    loading.take_back();
    throw Error(error.code(), error.what(), path);
  }
  if (loading.registered().empty())
    throw Error(ErrorCode::bad_input,
                "the library was loaded but registered nothing here: it was loaded by this process before, or it is "
                "linked with another copy of libvoussoir.so",
                path);
  return loading.registered();
}

}  // namespace voussoir::detail
