#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

// The commands and options of the program as data, read from the parser itself: help, shell completion and man page
// are made of it, so that none of them can be out of date.

namespace voussoir::app {

/// One option or argument.
struct OptionInfo {
  std::vector<std::string> names;  ///< "--backend", "-v"; for an argument its placeholder alone, "FILE"
  bool is_argument = false;
  bool takes_value = false;
  bool required = false;
  bool many = false;                 ///< may be given several values
  std::string value;                 ///< what stands for the value: "DIR", "N", "auto|direct|…"
  std::vector<std::string> choices;  ///< values to propose; others may be allowed
  enum class Values { other, file, folder } values = Values::other;
  std::string text;          ///< what it does
  std::string default_text;  ///< empty: none
  std::string group;
};

/// One command; the first of a tree is the program itself.
struct CommandInfo {
  std::string name;
  std::string text;
  std::string footer;
  std::vector<OptionInfo> options;  ///< arguments first
  std::vector<CommandInfo> commands;
};

/// Everything but what is hidden.
CommandInfo command_tree(const CLI::App& program);

/// A command and the words that lead to it: "mesh box".
struct CommandPath {
  std::string path;
  const CommandInfo* command;
};
/// Every command below a program, those of commands behind them.
std::vector<CommandPath> all_commands(const CommandInfo& program);

}  // namespace voussoir::app
