#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <voussoir/backends/cuda/jit_cache.hpp>

namespace voussoir::cuda {
namespace {

namespace fs = std::filesystem;

/// A folder that is gone afterwards.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("voussoir_jit_cache_" + std::to_string(getpid()));
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }
};

CompileRequest request() {
  return {"#include <a.hpp>\n", {{"a.hpp", "int a;"}, {"b.hpp", ""}}, {"--std=c++20"}, "kernel<A>", true};
}

CompiledKernel kernel() {
  return {"_Z6kernel",
          std::string("\x7f"
                      "ELF\0\n\n binary \0 code",
                      22),
          {}};
}

TEST(JitCache, KeyDependsOnEverythingThatACubinIsMadeOf) {
  const std::string key = cache_key(request(), "13.0", "0.1.0");
  EXPECT_EQ(key.size(), 32u);
  EXPECT_EQ(key, cache_key(request(), "13.0", "0.1.0"));
  EXPECT_NE(key, cache_key(request(), "13.1", "0.1.0"));
  EXPECT_NE(key, cache_key(request(), "13.0", "0.1.1"));
  const auto differs = [&](auto change) {
    CompileRequest other = request();
    change(other);
    return cache_key(other, "13.0", "0.1.0") != key;
  };
  EXPECT_TRUE(differs([](CompileRequest& r) { r.text += " "; }));
  EXPECT_TRUE(differs([](CompileRequest& r) { r.expression = "kernel<B>"; }));
  EXPECT_TRUE(differs([](CompileRequest& r) { r.machine_code = false; }));
  EXPECT_TRUE(differs([](CompileRequest& r) { r.options.push_back("--gpu-architecture=sm_90"); }));
  EXPECT_TRUE(differs([](CompileRequest& r) { r.headers[0].text = "int b;"; }));
  // The same letters, cut elsewhere.
  EXPECT_TRUE(differs([](CompileRequest& r) {
    r.headers[0].name = "a.hp";
    r.headers[0].text = "pint a;";
  }));
}

// By another program, from the definition of FNV-1a with 128 bits. A hash that changed from one process or machine to
// the next would keep kernels that nobody finds again.
TEST(JitCache, KeyIsTheSameInEveryProcess) {
  EXPECT_EQ(cache_key(request(), "13.0", "0.1.0"), "7464b9bf62d45825f01d77321db3bddb");
}

TEST(JitCache, KeepsAKernelAndGivesItBack) {
  const Folder folder;
  JitCache cache(folder.path / "deeper");
  CompiledKernel found;
  EXPECT_FALSE(cache.read("abc", found));
  cache.write("abc", kernel());
  ASSERT_TRUE(cache.read("abc", found)) << cache.trouble();
  EXPECT_EQ(found.name, kernel().name);
  EXPECT_EQ(found.code, kernel().code);
  EXPECT_FALSE(cache.read("abd", found));
  EXPECT_EQ(cache.trouble(), "");
  // Nothing but the file itself is left behind.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path / "deeper"), fs::directory_iterator()), 1);
  // Another process finds it.
  JitCache again(folder.path / "deeper");
  EXPECT_TRUE(again.read("abc", found));
}

TEST(JitCache, DamagedFilesAreMadeAnew) {
  const Folder folder;
  JitCache cache(folder.path);
  cache.write("abc", kernel());
  const fs::path file = folder.path / "abc.kernel";
  const auto size = fs::file_size(file);
  CompiledKernel found;

  fs::resize_file(file, size - 1);  // as a full disk would leave it
  EXPECT_FALSE(cache.read("abc", found));
  EXPECT_NE(cache.trouble().find("abc.kernel"), std::string::npos);
  for (const char* text : {"", "\n", "voussoir kernel 1\n", "voussoir kernel 1\nabc\n", "something else"}) {
    std::ofstream(file, std::ios::trunc) << text;
    EXPECT_FALSE(cache.read("abc", found)) << text;
  }
  cache.write("abc", kernel());
  EXPECT_TRUE(cache.read("abc", found));
  fs::copy_file(file, folder.path / "abd.kernel");  // a kernel under another one's name
  EXPECT_FALSE(cache.read("abd", found));
}

TEST(JitCache, AFolderThatCannotBeWrittenIsNoError) {
  const Folder folder;
  fs::create_directories(folder.path);
  std::ofstream(folder.path / "file") << "no folder";
  JitCache cache(folder.path / "file" / "cache");
  cache.write("abc", kernel());
  CompiledKernel found;
  EXPECT_FALSE(cache.read("abc", found));
  EXPECT_NE(cache.trouble().find("cannot be kept"), std::string::npos) << cache.trouble();

  JitCache nowhere({}, "no home");
  nowhere.write("abc", kernel());
  EXPECT_FALSE(nowhere.read("abc", found));
  EXPECT_EQ(nowhere.trouble(), "no home");
}

/// Sets an environment variable, or takes it away, until the end of the scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* old = std::getenv(name);
    had_ = old != nullptr;
    old_ = old ? old : "";
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Variable() { had_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  bool had_ = false;
  std::string old_;
};

TEST(JitCache, FolderFollowsTheEnvironment) {
  const Variable home("HOME", "/home/somebody");
  const Variable xdg("XDG_CACHE_HOME", nullptr);
  const Variable own("VOUSSOIR_CACHE_DIR", nullptr);
  EXPECT_EQ(JitCache::user_folder(), "/home/somebody/.cache/voussoir");
  {
    const Variable set("XDG_CACHE_HOME", "/var/cache/somebody");
    EXPECT_EQ(JitCache::user_folder(), "/var/cache/somebody/voussoir");
    const Variable chosen("VOUSSOIR_CACHE_DIR", "/scratch/kernels");
    EXPECT_EQ(JitCache::user_folder(), "/scratch/kernels");
  }
  {
    const Variable relative("XDG_CACHE_HOME", "not/absolute");  // to be ignored, says its specification
    EXPECT_EQ(JitCache::user_folder(), "/home/somebody/.cache/voussoir");
  }
  const Variable none("HOME", nullptr);
  EXPECT_EQ(JitCache::user_folder(), "");
}

}  // namespace
}  // namespace voussoir::cuda
