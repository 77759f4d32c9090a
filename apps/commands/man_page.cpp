#include <fmt/core.h>

#include <string>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/command_tree.hpp>
#include <voussoir/apps/exit_code.hpp>
#include <voussoir/backends/version.hpp>

// The manual page voussoir(1) in man(7)'s language, made of the command tree. `voussoir man` prints it; the build
// installs what it prints.

namespace voussoir::app {
namespace {

/// Plain text for troff: what it would take for commands is escaped, what is not ASCII is named by its number.
std::string escaped(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool line_start = i == 0 || text[i - 1] == '\n';
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (line_start && (c == '.' || c == '\'')) {
      result += std::string("\\&") + text[i];
    } else if (c >= 0xC0) {
      const int length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
      unsigned code = c & (0xFFu >> (length + 1));
      for (int k = 1; k < length && i + static_cast<std::size_t>(k) < text.size(); ++k)
        code = code << 6 | (static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]) & 0x3Fu);
      result += fmt::format("\\[u{:04X}]", code);
      i += static_cast<std::size_t>(length);
      continue;
    } else {
      result += text[i];
    }
    ++i;
  }
  return result;
}

std::string option_heading(const OptionInfo& option) {
  std::string text;
  for (const auto& name : option.names) text += (text.empty() ? "" : ", ") + ("\\fB" + escaped(name) + "\\fR");
  if (option.takes_value && !option.is_argument) text += " \\fI" + escaped(option.value) + "\\fR";
  return text;
}

void add_options(const CommandInfo& command, std::string& page) {
  for (const OptionInfo& option : command.options) {
    page += ".TP\n" + option_heading(option) + "\n" + escaped(option.text);
    if (!option.default_text.empty()) page += " (default: " + escaped(option.default_text) + ")";
    page += ".\n";
  }
}

/// A footer: "Examples:" and lines that are indented stay as they are typed, the rest are sentences.
void add_footer(const std::string& footer, std::string& page) {
  bool typed = false, fresh = true;
  std::size_t begin = 0;
  while (begin <= footer.size()) {
    std::size_t end = footer.find('\n', begin);
    if (end == std::string::npos) end = footer.size();
    const std::string line = footer.substr(begin, end - begin);
    begin = end + 1;
    const bool indented = line.starts_with("  ");
    if (typed != indented && !(line.empty() && typed)) page += indented ? ".PP\n.nf\n" : ".fi\n";
    if (!line.empty()) {
      if (!indented && (typed || fresh)) page += ".PP\n";
      page += escaped(line) + "\n";
      typed = indented;
      fresh = false;
    } else if (!typed) {
      fresh = true;
    }
  }
  if (typed) page += ".fi\n";
}

std::string man_page(const CommandInfo& program) {
  std::string page = fmt::format(
      ".TH VOUSSOIR 1 2026-11-15 \"voussoir {}\" \"User Commands\"\n"
      ".SH NAME\nvoussoir \\- finite elements, from decks and meshes to results\n.SH SYNOPSIS\n",
      version());
  const auto all = all_commands(program);
  for (const auto& [path, info] : all) {
    const CommandInfo& command = *info;
    if (info != all.front().command) page += ".br\n";
    page += ".B voussoir " + escaped(path) + "\n";
    for (const OptionInfo& option : command.options)
      if (option.is_argument)
        page += fmt::format("\\fI{}\\fR{}\n", escaped(option.names.front()), option.many ? " ..." : "");
    if (command.options.size() > 1) page += "[\\fIoptions\\fR]\n";
  }
  page += ".SH DESCRIPTION\n" + escaped(program.text) + "\n";
  page += ".SH OPTIONS\n";
  add_options(program, page);
  page += ".SH COMMANDS\n";
  for (const auto& [path, command] : all) {
    page += ".SS voussoir " + escaped(path) + "\n" + escaped(command->text) + ".\n";
    add_options(*command, page);
    if (!command->footer.empty()) add_footer(command->footer, page);
  }
  page += ".SH EXIT STATUS\nWith several files, the largest of their codes.\n";
  for (const ExitCodeText& code : exit_codes())
    page += fmt::format(".TP\n.B {}\n{}.\n", static_cast<int>(code.code), escaped(code.text));
  page +=
      ".SH ENVIRONMENT\n"
      ".TP\n.B NO_COLOR\nSet to anything: no colours.\n"
      ".TP\n.B OMP_NUM_THREADS\nNumber of threads of the backend openmp, unless given explicitly.\n"
      ".TP\n.B VOUSSOIR_PLUGIN_PATH\nFolders, separated by colons, that are searched first for backend plugins.\n"
      ".SH FILES\n"
      ".TP\n.I NAME.inp\nAn Abaqus or CalculiX deck.\n"
      ".TP\n.I NAME.json\nA job file: a Gmsh mesh with materials, supports and loads.\n"
      ".TP\n.I NAME.vtu, NAME.pvd\nResults for ParaView.\n"
      ".TP\n.I NAME.frd\nResults for CalculiX GraphiX, PrePoMax and FreeCAD (with \\-\\-frd).\n"
      ".TP\n.I NAME.dat, NAME_*.csv\nTables requested by the deck, in CalculiX\\(aqs layout and as comma\\-separated "
      "values.\n"
      ".TP\n.I NAME.results.json\nBackend, solver, sizes, times, extremes, reactions.\n"
      ".PP\nResult files are written atomically and never replace existing files unless \\fB\\-\\-force\\fR is given.\n"
      ".SH SEE ALSO\nThe project\\(aqs folder docs: decks.md, job\\-file.md, results.md, command\\-line.md.\n";
  return page;
}

}  // namespace

void add_man_command(CLI::App& program) {
  CLI::App* man = program.add_subcommand("man", "Print the manual page; `voussoir man | man -l -` shows it");
  man->callback([&program] { fmt::print("{}", man_page(command_tree(program))); });
}

}  // namespace voussoir::app
