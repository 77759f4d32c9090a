#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <voussoir/backends/abi.hpp>
#include <voussoir/backends/user_library.hpp>
#include <voussoir/framework/domain/element_type.hpp>
#include <voussoir/solvers/registries.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

std::string plugin(const std::string& name) { return VSR_TEST_PLUGIN_DIR "/lib" + name + ".so"; }

TEST(UserLibrary, AddsWhatItRegistersWithItsPath) {
  const UserLibrary library = load_library(plugin("user_extras"));
  const std::string path = std::filesystem::canonical(plugin("user_extras")).string();
  EXPECT_EQ(library.path, path);
  EXPECT_EQ(library.registered,
            (std::vector<std::string>{"preconditioner 'jacobi-twin'", "element type 'extras_bar'"}));
  EXPECT_EQ(preconditioners().origin("jacobi-twin"), path);
  EXPECT_EQ(ElementLibrary::instance().origin("extras_bar"), path);
  EXPECT_EQ(ElementLibrary::instance().origin("solid.hex8"), "built in");
  EXPECT_EQ(make_solver("cg+jacobi-twin")->name(), "cg+jacobi");
  const auto names = solver_names();
  EXPECT_TRUE(std::find(names.begin(), names.end(), "cg+jacobi-twin") != names.end());
  // Once more changes nothing.
  EXPECT_EQ(load_library(plugin("user_extras")).registered, library.registered);
  const auto all = loaded_libraries();
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [&](const UserLibrary& l) { return l.path == path; }), 1);
}

TEST(UserLibrary, NamesThatAreTakenAreReplacedOnlyWhereAsked) {
  const std::string first = load_library(plugin("user_extras")).path;
  const ElementType& old = ElementLibrary::instance().find("extras_bar");
  expect_error(ErrorCode::bad_input, {"libuser_extras2.so", "'jacobi-twin'", "twice", first},
               [] { load_library(plugin("user_extras2")); });
  EXPECT_EQ(preconditioners().origin("jacobi-twin"), first);
  // The library is in the process already and cannot be loaded a second time, so a copy is.
  const auto copy = testing::scratch_file("libuser_extras3.so");
  std::filesystem::copy_file(plugin("user_extras2"), copy);
  const UserLibrary second = load_library(copy, NameClash::replace);
  EXPECT_EQ(preconditioners().origin("jacobi-twin"), second.path);
  EXPECT_EQ(ElementLibrary::instance().origin("extras_bar"), second.path);
  EXPECT_NE(&ElementLibrary::instance().find("extras_bar"), &old);
  EXPECT_EQ(old.program().nodes(), 2) << "a model that uses the old type keeps it";
  // The file under a loaded path has changed.
  std::filesystem::last_write_time(copy, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  expect_error(ErrorCode::misuse, {"libuser_extras3.so", "has changed", "another name"},
               [&] { load_library(copy, NameClash::replace); });
}

TEST(UserLibrary, ThatFailsLeavesNothingBehind) {
  expect_error(ErrorCode::bad_input,
               {"libuser_clash.so", "preconditioner 'amg'", "first built in", "then by " VSR_TEST_PLUGIN_DIR},
               [] { load_library(plugin("user_clash")); });
  EXPECT_EQ(preconditioners().find_if("clash-first"), nullptr);
  EXPECT_EQ(preconditioners().origin("amg"), "built in");
}

TEST(UserLibrary, OfAnotherAbiIsRefusedBeforeItsCodeRuns) {
  expect_error(ErrorCode::unavailable,
               {"libuser_old.so", "ABI 1", "has ABI " + std::to_string(abi_number), "compile it again"},
               [] { load_library(plugin("user_old")); });
}

TEST(UserLibrary, ThatCannotBeLoadedSaysWhy) {
  expect_error(ErrorCode::io, {"no_such.so", "No such file"}, [] { load_library(plugin("no_such")); });
  expect_error(ErrorCode::io, {"not a file"}, [] { load_library(VSR_TEST_PLUGIN_DIR); });
  expect_error(ErrorCode::unavailable, {"libuser_needy.so", "voussoir_test_missing_function"},
               [] { load_library(plugin("user_needy")); });
  expect_error(ErrorCode::bad_input, {"libuser_silent.so", "registered nothing"},
               [] { load_library(plugin("user_silent")); });
  expect_error(ErrorCode::unavailable, {"libvoussoir_mutelibrary.so", "VSR_REGISTER"},
               [] { load_library(plugin("voussoir_mutelibrary")); });
  const std::vector<std::string> texts{"", "#!/bin/sh\n",
                                       "\x7f"
                                       "ELF",
                                       std::string(4000, '\xff')};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto file = testing::scratch_file("text" + std::to_string(i) + ".so");
    std::ofstream(file) << texts[i];
    expect_error(ErrorCode::unavailable, {"not a shared library"}, [&] { load_library(file); });
  }
  // A library that was cut off at any place is refused.
  std::ifstream whole(plugin("user_old"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(whole)), {});
  for (std::size_t part = 1; part < 16; ++part) {
    const auto file = testing::scratch_file("part" + std::to_string(part) + ".so");
    std::ofstream(file, std::ios::binary) << bytes.substr(0, part * bytes.size() / 16);
    EXPECT_THROW(load_library(file), Error);
  }
}

}  // namespace
}  // namespace voussoir
