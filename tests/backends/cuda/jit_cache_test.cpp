#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <voussoir/backends/cuda/programs/jit_cache.hpp>
#include <voussoir/backends/cuda/programs/sha256.hpp>

namespace voussoir::cuda {
namespace {

namespace fs = std::filesystem;

/// A folder that is gone afterwards.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("voussoir_jit_cache_" + std::to_string(getpid()));
  Folder() { fs::remove_all(path); }
  explicit Folder(fs::path other) : path(std::move(other)) { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }
};

CompileRequest request() {
  return {"#include <a.hpp>\n", {{"a.hpp", "int a;"}, {"b.hpp", ""}}, {"--std=c++20"}, "kernel<A>", true};
}

CompiledKernel kernel() {
  return {"_Z6kernel",
          std::string("\x7f"
                      "ELF\0\n\n binary \0 code",
                      21),
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
  // Nothing but the file itself and the secret is left behind.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path / "deeper"), fs::directory_iterator()), 2);
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
  for (const char* text : {"", "\n", "voussoir kernel 2\n", "voussoir kernel 2\nabc\n", "something else"}) {
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
  EXPECT_NE(cache.trouble().find("cannot be cached"), std::string::npos) << cache.trouble();

  JitCache nowhere({}, "no home");
  nowhere.write("abc", kernel());
  EXPECT_FALSE(nowhere.read("abc", found));
  EXPECT_EQ(nowhere.trouble(), "no home");
}

// The vectors of FIPS 180-4's examples, and of RFC 4231 (cases 1, 2 and 6).
TEST(JitCache, CodesAreThoseOfTheStandards) {
  EXPECT_EQ(hexadecimal(Sha256().add("abc").digest()),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hexadecimal(Sha256().digest()), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hexadecimal(Sha256().add("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").digest()),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(message_code(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(message_code("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(message_code(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(JitCache, AFileThatTheCacheDidNotWriteIsNotUsed) {
  const Folder folder, other{fs::temp_directory_path() / ("voussoir_jit_other_" + std::to_string(getpid()))};
  JitCache cache(folder.path), stranger(other.path);
  cache.write("abc", kernel());
  stranger.write("abc", kernel());
  // The same content under the same name, but made with another secret.
  fs::copy_file(other.path / "abc.kernel", folder.path / "abc.kernel", fs::copy_options::overwrite_existing);
  CompiledKernel found;
  EXPECT_FALSE(cache.read("abc", found));
  EXPECT_NE(cache.trouble().find("not written by this cache"), std::string::npos) << cache.trouble();
  // A link to a good file.
  cache.write("abc", kernel());
  fs::rename(folder.path / "abc.kernel", folder.path / "aside");
  fs::create_symlink("aside", folder.path / "abc.kernel");
  EXPECT_FALSE(cache.read("abc", found));
  EXPECT_NE(cache.trouble().find("is a link"), std::string::npos) << cache.trouble();
  // Writing replaces the link, and not what it leads to.
  std::ofstream(folder.path / "aside", std::ios::trunc) << "precious";
  cache.write("abc", kernel());
  EXPECT_TRUE(cache.read("abc", found));
  EXPECT_EQ(fs::file_size(folder.path / "aside"), 8u);
  // A secret that others may have changed is none.
  fs::permissions(folder.path / "secret", fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(cache.read("abc", found));
}

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(JitCache, ASecretThatOthersCouldReadIsReplaced) {
  const Folder folder;
  JitCache cache(folder.path);
  const fs::path secret = folder.path / "secret";
  const fs::perms own = fs::perms::owner_read | fs::perms::owner_write;
  CompiledKernel found;
  for (const fs::perms others : {fs::perms::group_read, fs::perms::others_read, fs::perms::group_exec}) {
    cache.write("abc", kernel());
    const std::string before = content_of(secret);
    fs::permissions(secret, others, fs::perm_options::add);
    EXPECT_FALSE(cache.read("abc", found));
    EXPECT_NE(cache.trouble().find("can be read by others"), std::string::npos) << cache.trouble();
    cache.write("abd", kernel());
    EXPECT_EQ(fs::status(secret).permissions(), own);
    EXPECT_NE(content_of(secret), before);
    EXPECT_TRUE(cache.read("abd", found));
    EXPECT_FALSE(cache.read("abc", found));  // made with the secret that was no longer one
  }
  // One that was cut short is replaced as well.
  fs::resize_file(secret, 5);
  EXPECT_FALSE(cache.read("abd", found));
  cache.write("abd", kernel());
  EXPECT_TRUE(cache.read("abd", found));
}

TEST(JitCache, FoldersAndFilesThatOthersCanWriteToAreNotUsed) {
  const Folder folder;
  JitCache cache(folder.path);
  cache.write("abc", kernel());
  CompiledKernel found;
  EXPECT_EQ(fs::status(folder.path).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(folder.path / "secret").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(folder.path / "abc.kernel").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  for (const fs::path& path : {folder.path, folder.path / "abc.kernel"})
    for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
      fs::permissions(path, others, fs::perm_options::add);
      EXPECT_FALSE(cache.read("abc", found)) << path;
      EXPECT_NE(cache.trouble().find("writable by others"), std::string::npos) << cache.trouble();
      fs::permissions(path, others, fs::perm_options::remove);
      EXPECT_TRUE(cache.read("abc", found)) << path;
    }
  if (::geteuid() == 0) {  // only root can give files away
    for (const fs::path& path : {folder.path, folder.path / "abc.kernel", folder.path / "secret"}) {
      ASSERT_EQ(::chown(path.c_str(), 12345, static_cast<gid_t>(-1)), 0);
      EXPECT_FALSE(cache.read("abc", found)) << path;
      ASSERT_EQ(::chown(path.c_str(), 0, static_cast<gid_t>(-1)), 0);
    }
    EXPECT_TRUE(cache.read("abc", found));
  }
}

TEST(JitCache, AFolderThatIsNotAbsoluteKeepsNothing) {
  JitCache cache("relative/kernels");
  cache.write("abc", kernel());
  EXPECT_FALSE(fs::exists("relative"));
  EXPECT_NE(cache.trouble().find("not absolute"), std::string::npos) << cache.trouble();
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
