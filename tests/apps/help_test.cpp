// Help, completion, man page and info: they know every command and option, and the shells and man read them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

bool has_tool(const std::string& name) { return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0; }

std::vector<std::string> commands() {
  return {"run",           "check",      "plan",      "modal",     "heat",       "mesh",  "mesh box",
          "mesh cylinder", "mesh plate", "mesh pump", "partition", "study",      "solve", "reduce",
          "demo",          "info",       "bench",     "help",      "completion", "man"};
}

/// The options that the help of a command shows.
std::set<std::string> options_of(const std::string& command) {
  std::set<std::string> options;
  std::vector<std::string> arguments;
  std::istringstream words(command);
  for (std::string word; words >> word;) arguments.push_back(word);
  arguments.push_back("--help");
  std::istringstream lines(run_program(arguments).out);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find_first_not_of(' ');
    if (first == std::string::npos || first == 0 || line[first] != '-') continue;
    std::istringstream names(line.substr(first, line.find(' ', first) - first));
    for (std::string name; std::getline(names, name, ',');) options.insert(name);
  }
  return options;
}

TEST(Help, TeachesAndTellsExitCodes) {
  const Outcome help = run_program({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const std::string& command : commands()) {
    if (contains(command, " ")) continue;
    EXPECT_TRUE(contains(help.out, "  " + command + " ")) << command;
  }
  for (const char* word : {"Exit codes", "130", "voussoir run box.inp", "ParaView"})
    EXPECT_TRUE(contains(help.out, word)) << word;
  EXPECT_EQ(run_program({"help"}).out, help.out);
  EXPECT_EQ(run_program({"help", "run"}).out, run_program({"run", "--help"}).out);
  EXPECT_EQ(run_program({"help", "mesh", "box"}).out, run_program({"mesh", "box", "--help"}).out);
  for (const char* command : {"run", "check", "info", "completion"}) {
    const Outcome own = run_program({command, "--help"});
    EXPECT_EQ(own.code, 0);
    EXPECT_TRUE(contains(own.out, "Examples")) << command;
  }
  // Pages of the documentation are named by where they are.
  const std::string page = VSR_TEST_SOURCE_DIR "/docs/multigrid.md";
  EXPECT_TRUE(contains(run_program({"run", "--help"}).out, page));
  EXPECT_TRUE(contains(run_program({"help", "run"}).out, page));
  const Outcome unknown = run_program({"help", "nonsense"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(contains(unknown.error, "run, check")) << unknown.error;
  const Outcome wrong = run_program({});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(contains(wrong.error, "There are the commands run, check")) << wrong.error;
}

TEST(Help, ManPageAndCompletionsKnowEveryOption) {
  const std::string page = run_program({"man"}).out;
  std::string plain;  // without the backslashes before hyphens
  for (char c : page)
    if (c != '\\') plain += c;
  std::vector<std::string> scripts;
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = run_program({"completion", shell});
    ASSERT_EQ(outcome.code, 0);
    scripts.push_back(outcome.out);
  }
  for (const std::string& command : commands()) {
    EXPECT_TRUE(contains(plain, ".SS voussoir " + command + "\n")) << command;
    const auto options = options_of(command);
    EXPECT_TRUE(options.contains("--help")) << command;
    // The section of this command alone.
    const auto begin = plain.find(".SS voussoir " + command + "\n");
    const std::string section = plain.substr(begin, plain.find("\n.S", begin + 4) - begin);
    for (const std::string& option : options) {
      EXPECT_TRUE(contains(section, "fB" + option + "fR")) << command << " " << option;
      EXPECT_TRUE(contains(scripts[0], option)) << command << " " << option;
      EXPECT_TRUE(contains(scripts[1], option)) << command << " " << option;
      if (option.starts_with("--")) {
        EXPECT_TRUE(contains(scripts[2], "-l " + option.substr(2))) << command << " " << option;
      }
    }
  }
}

TEST(Help, ManReadsThePage) {
  const auto folder = fresh_folder("man");
  write_text(folder / "voussoir.1", run_program({"man"}).out);
  const std::string file = "'" + (folder / "voussoir.1").string() + "'";
  if (has_tool("mandoc")) {
    const std::string log = "'" + (folder / "lint").string() + "'";
    EXPECT_EQ(std::system(("mandoc -T lint -W warning " + file + " > " + log + " 2>&1").c_str()), 0)
        << read_text(folder / "lint");
  } else if (has_tool("man")) {
    EXPECT_EQ(std::system(("man --warnings -E UTF-8 -l -Tutf8 -Z " + file + " > /dev/null").c_str()), 0);
  } else {
    GTEST_SKIP() << "neither mandoc nor man is here";
  }
}

TEST(Completion, BashCompletesCommandsOptionsChoicesAndFiles) {
  if (!has_tool("bash")) GTEST_SKIP() << "bash is not here";
  const auto folder = fresh_folder("completion");
  write_text(folder / "script", run_program({"completion", "bash"}).out);
  for (const char* name : {"beam.inp", "beam.json", "beam.txt"}) write_text(folder / name, "");
  const auto complete = [&](const std::string& words, int at) {
    const std::string command = "cd '" + folder.string() + "' && bash -c '. ./script; COMP_WORDS=(" + words +
                                "); COMP_CWORD=" + std::to_string(at) + "; _voussoir; echo \"${COMPREPLY[@]}\"' > out";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return read_text(folder / "out");
  };
  EXPECT_EQ(complete("voussoir ch", 1), "check\n");
  EXPECT_TRUE(contains(complete("voussoir run --to", 2), "--tolerance"));
  EXPECT_TRUE(contains(complete("voussoir run --solver dir", 3), "direct:mumps"));
  EXPECT_EQ(complete("voussoir run --dialect a", 3), "abaqus\n");
  const std::string files = complete("voussoir run be", 2);
  EXPECT_TRUE(contains(files, "beam.inp") && contains(files, "beam.json") && !contains(files, "beam.txt")) << files;
  EXPECT_EQ(complete("voussoir completion z", 2), "zsh\n");
  EXPECT_EQ(complete("voussoir mesh cyl", 2), "cylinder\n");
  EXPECT_EQ(complete("voussoir mesh box --young", 3), "--young\n");
  EXPECT_EQ(complete("voussoir mesh plate --type quad8.", 4), "quad8.reduced\n");
  EXPECT_EQ(run_program({"completion", "csh"}).code, 2);
}

TEST(Completion, OtherShellsAcceptTheirScripts) {
  const auto folder = fresh_folder("completion_other");
  int tested = 0;
  for (const char* shell : {"zsh", "fish"}) {
    if (!has_tool(shell)) continue;
    ++tested;
    write_text(folder / shell, run_program({"completion", shell}).out);
    EXPECT_EQ(std::system((std::string(shell) + " -n '" + (folder / shell).string() + "'").c_str()), 0) << shell;
  }
  if (tested == 0) GTEST_SKIP() << "neither zsh nor fish is here";
}

TEST(Info, TellsTheSameToPeopleAndScripts) {
  Outcome text = run_program({"info"});
  text.out += run_program({"info", "--decks"}).out;
  EXPECT_EQ(text.code, 0);
  for (const char* word : {"openmp", "cuda", "C3D8R", "solid.hex8.reduced", "reads", "processor", ".msh"})
    EXPECT_TRUE(contains(text.out, word)) << word;
  const Outcome document = run_program({"info", "--json", "--elements", "--decks"});
  const auto json = nlohmann::json::parse(document.out);
  EXPECT_TRUE(contains(run_program({"--version"}).out, json["version"].get<std::string>()));
  EXPECT_EQ(json["element_types"].size(), json["element_type_count"].get<std::size_t>());
  const auto& backends = json["backends"];
  EXPECT_TRUE(std::any_of(backends.begin(), backends.end(),
                          [](const auto& b) { return b["name"] == "openmp" && b["usable"] == true; }));
  for (const auto& b : backends) EXPECT_FALSE(b["reason"].get<std::string>().empty()) << b["name"];
  EXPECT_GT(json["deck_elements"].size(), 30u);
}

}  // namespace
}  // namespace voussoir::testing
