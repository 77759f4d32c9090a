// Element types in a library of their own: the program with and without its file.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

namespace fs = std::filesystem;

const char* const extra_elements = VSR_TEST_EXTRA_ELEMENTS;

/// The cantilever of cantilever_deck(), made of wood.
std::string wooden_deck() {
  std::string deck = cantilever_deck(4, 1, 1);
  const std::size_t begin = deck.find("*ELASTIC"), end = deck.find('*', begin + 1);
  return deck.replace(begin, end - begin,
                      "*ELASTIC, TYPE=ENGINEERING CONSTANTS\n12000, 900, 500, 0.4, 0.45, 0.3, 700, 650\n60\n");
}

/// A copy of the program and its library, without the file of the extra elements.
fs::path incomplete_program() {
  const fs::path built = fs::path(VSR_TEST_PROGRAM).parent_path();
  fs::path folder = fresh_folder("incomplete");
  fs::copy_file(VSR_TEST_PROGRAM, folder / "voussoir");
  for (const auto& file : fs::directory_iterator(built))
    if (file.path().filename().string().starts_with("libvoussoir.so")) fs::copy(file.path(), folder);
  return folder;
}

TEST(ExtraElements, AreLoadedWhereAModelHasThem) {
  RunSettings settings;
  settings.folder = fresh_folder("extra");
  write_text(settings.folder / "wood.inp", wooden_deck());
  const Outcome outcome = run_program({"run", "wood.inp", "--json"}, settings);
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["status"], "finished") << outcome.out;
}

TEST(ExtraElements, AMissingFileIsNamedWithTheFoldersWhereItWasSearchedFor) {
  RunSettings settings;
  settings.folder = incomplete_program();
  settings.program = settings.folder / "voussoir";
  write_text(settings.folder / "wood.inp", wooden_deck());
  write_text(settings.folder / "steel.inp", cantilever_deck(4, 1, 1));
  const Outcome wood = run_program({"run", "wood.inp"}, settings);
  EXPECT_NE(wood.code, 0);
  for (const std::string& part :
       {std::string("element type 'orthotropic_solid.hex8"), std::string(" needs ") + extra_elements,
        "searched " + fs::canonical(settings.folder).string(), std::string("`make program`")})
    EXPECT_TRUE(contains(wood.error, part)) << part << "\n" << wood.error;
  EXPECT_TRUE(contains(run_program({"info", "--elements"}, settings).error,
                       std::string("the list of all element types needs ") + extra_elements));

  // All else works.
  const Outcome steel = run_program({"run", "steel.inp"}, settings);
  EXPECT_EQ(steel.code, 0) << steel.error;
  const auto count = [](const Outcome& outcome) { return nlohmann::json::parse(outcome.out)["element_type_count"]; };
  EXPECT_EQ(count(run_program({"info", "--json"}, settings)), count(run_program({"info", "--json", "--elements"})));

  // The file may be in a folder of its own.
  settings.environment = {"VOUSSOIR_PLUGIN_PATH=" + fs::path(VSR_TEST_PROGRAM).parent_path().string()};
  const Outcome found = run_program({"run", "wood.inp"}, settings);
  EXPECT_EQ(found.code, 0) << found.error;
}

TEST(ExtraElements, AFileThatIsNoLibraryIsRefused) {
  RunSettings settings;
  settings.folder = incomplete_program();
  settings.program = settings.folder / "voussoir";
  write_text(settings.folder / extra_elements, "not a library");
  write_text(settings.folder / "wood.inp", wooden_deck());
  const Outcome wood = run_program({"run", "wood.inp"}, settings);
  EXPECT_NE(wood.code, 0);
  EXPECT_TRUE(contains(wood.error, extra_elements) && contains(wood.error, "not a shared library")) << wood.error;
}

}  // namespace
}  // namespace voussoir::testing
