#include <voussoir/backends/plugin.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/scratch_folder.hpp"

namespace voussoir {
namespace {

/// Plugins are looked for in the folder of the tests' plugins, behind one that does not exist.
class PluginTest : public ::testing::Test {
 protected:
  void SetUp() override { setenv("VOUSSOIR_PLUGIN_PATH", "/no/such/folder::" VSR_TEST_PLUGIN_DIR, 1); }
  void TearDown() override { unsetenv("VOUSSOIR_PLUGIN_PATH"); }

  static void expect_refusal(const std::string& specification, ErrorCode code, const std::vector<std::string>& parts) {
    try {
      Backend::open(specification);
      ADD_FAILURE() << specification << " was opened";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      for (const std::string& part : parts)
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << "'" << part << "' in: " << error.what();
    }
  }
};

TEST_F(PluginTest, AGoodOneOpensAndWorks) {
  const auto backend = Backend::open("goodplugin");
  EXPECT_EQ(backend->name(), "goodplugin");
  EXPECT_EQ(Backend::open("goodplugin:0,1")->name(), "goodplugin:0,1") << "the argument reaches the plugin";

  Vector x(std::make_shared<const Layout>(std::vector{backend->memory(0)}, std::vector<std::int64_t>{0, 3},
                                          std::vector<std::vector<std::int64_t>>(1)));
  backend->fill(x, 2);
  backend->scale(3, x);
  EXPECT_EQ(x.to_host(), (std::vector<double>{6, 6, 6}));
}

TEST_F(PluginTest, ErrorsOfThePluginComeThrough) {
  expect_refusal("goodplugin:broken", ErrorCode::device, {"the device made of air is broken"});
}

TEST_F(PluginTest, TooOldNamesFileAndNumbers) {
  expect_refusal("oldplugin", ErrorCode::unavailable,
                 {VSR_TEST_PLUGIN_DIR "/libvoussoir_oldplugin.so", "version 0.0.1", "too old",
                  "has plugin ABI " + std::to_string(backend_plugin_abi - 1),
                  "expects " + std::to_string(backend_plugin_abi), "rebuild or update the plugin"});
}

TEST_F(PluginTest, MissingSymbolIsNamed) {
  expect_refusal("mutelibrary", ErrorCode::unavailable,
                 {"libvoussoir_mutelibrary.so is not a Voussoir plugin", "voussoir_backend_plugin"});
}

TEST_F(PluginTest, NoDeviceSaysWhyAndWhatToDo) {
  expect_refusal("nodevice", ErrorCode::unavailable,
                 {"libvoussoir_nodevice.so finds no device", "the driver reports 0 devices", "use 'auto' or 'openmp'"});
}

TEST_F(PluginTest, MissingLibrarySaysWhereItWasLookedFor) {
  expect_refusal("missing", ErrorCode::not_found,
                 {"libvoussoir_missing.so not found", VSR_TEST_PLUGIN_DIR, "VOUSSOIR_PLUGIN_PATH"});
  const auto list = Backend::available();
  const auto cuda = std::find_if(list.begin(), list.end(), [](const auto& info) { return info.name == "cuda"; });
  ASSERT_NE(cuda, list.end());
  if (!cuda->usable) expect_refusal("cuda", ErrorCode::unavailable, {"backend 'cuda' is not available", cuda->reason});
}

TEST_F(PluginTest, AvailableFindsThemAll) {
  const auto list = Backend::available();
  const auto find = [&](const std::string& name) {
    const auto it = std::find_if(list.begin(), list.end(), [&](const auto& info) { return info.name == name; });
    return it == list.end() ? BackendInfo{"", false, "not listed"} : *it;
  };
  EXPECT_TRUE(find("goodplugin").usable);
  EXPECT_EQ(find("goodplugin").reason, "a device made of air");
  EXPECT_FALSE(find("nodevice").usable);
  EXPECT_EQ(find("nodevice").reason, "the driver reports 0 devices");
  EXPECT_FALSE(find("oldplugin").usable);
  EXPECT_NE(find("oldplugin").reason.find("too old"), std::string::npos);
  EXPECT_FALSE(find("mutelibrary").usable);
}

TEST_F(PluginTest, AutoFallsBackAndAnExplicitNameDoesNot) {
  // A plugin of the right name from an earlier time.
  const auto folder = testing::empty_scratch_folder("old_plugin");
  std::filesystem::copy_file(VSR_TEST_PLUGIN_DIR "/libvoussoir_oldplugin.so", folder / "libvoussoir_cuda.so",
                             std::filesystem::copy_options::overwrite_existing);
  setenv("VOUSSOIR_PLUGIN_PATH", folder.c_str(), 1);
  const auto backend = Backend::open("auto");
  EXPECT_EQ(backend->name(), "openmp");
  EXPECT_NE(backend->describe().find("libvoussoir_cuda.so (version 0.0.1) is too old"), std::string::npos)
      << backend->describe();
  expect_refusal("cuda:0", ErrorCode::unavailable, {"backend 'cuda:0' is not available", "too old"});
}

TEST_F(PluginTest, AFileThatIsNoLibraryIsNamed) {
  const auto folder = testing::empty_scratch_folder("garbage");
  std::ofstream(folder / "libvoussoir_garbage.so") << "not a library";
  setenv("VOUSSOIR_PLUGIN_PATH", folder.c_str(), 1);
  expect_refusal("garbage", ErrorCode::unavailable,
                 {(folder / "libvoussoir_garbage.so").string() + " cannot be loaded"});
}

TEST_F(PluginTest, ABackendOutlivesTheSearchPath) {
  const auto backend = Backend::open("goodplugin");
  unsetenv("VOUSSOIR_PLUGIN_PATH");
  EXPECT_THROW(Backend::open("goodplugin"), Error);
  EXPECT_EQ(backend->describe(), "goodplugin: a device made of air");
}

}  // namespace
}  // namespace voussoir
