#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/command_tree.hpp>

// Scripts that let a shell complete commands, options, choices and file names. They are made of the command tree, so
// they know every option there is.

namespace voussoir::app {
namespace {

constexpr const char* model_endings = "inp|json";

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> command_names(const CommandInfo& program) {
  std::vector<std::string> names;
  for (const CommandInfo& command : program.commands) names.push_back(command.name);
  return names;
}

/// In single quotes for any of the shells.
std::string single_quoted(const std::string& text) {
  std::string result = "'";
  for (char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c == '\n' ? ' ' : c);
  return result + "'";
}

std::vector<std::string> option_names(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const OptionInfo& option : command.options)
    if (!option.is_argument)
      for (const auto& name : option.names) names.push_back(name);
  return names;
}

/// What the arguments of a command may be.
std::vector<std::string> argument_choices(const CommandInfo& command) {
  for (const OptionInfo& option : command.options)
    if (option.is_argument && !option.choices.empty()) return option.choices;
  return {};
}

bool takes_files(const CommandInfo& command) {
  for (const OptionInfo& option : command.options)
    if (option.is_argument && option.values == OptionInfo::Values::file) return true;
  return false;
}

/// Lines of a shell that make `command` the whole path where a command has commands of its own.
std::string bash_paths(const CommandInfo& program) {
  std::string text;
  for (const CommandInfo& command : program.commands)
    if (!command.commands.empty())
      for (const CommandInfo& below : command.commands)
        text += fmt::format("  [[ $command == {0} && ${{words[2]}} == {1} && $at -gt 2 ]] && command='{0} {1}'\n",
                            command.name, below.name);
  return text;
}

std::string bash_values(const OptionInfo& option) {
  if (!option.choices.empty())
    return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))", joined(option.choices));
  if (option.values == OptionInfo::Values::folder) return "COMPREPLY=($(compgen -d -- \"$word\"))";
  if (option.values == OptionInfo::Values::file) return "COMPREPLY=($(compgen -f -- \"$word\"))";
  return ":";
}

std::string bash_script(const CommandInfo& program) {
  std::string text = fmt::format(R"(# bash completion for voussoir; made by `voussoir completion bash`.
# Use it now:      source <(voussoir completion bash)
# Keep it:         voussoir completion bash > ~/.local/share/bash-completion/completions/voussoir
_voussoir() {{
  local words=("${{COMP_WORDS[@]}}") at=$COMP_CWORD
  local word=${{words[at]}} before=${{words[at-1]}}
  # The colons of openmp:2 and direct:mumps are word breaks for bash: put such words together again.
  if declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref -n : -c word -p before -w words -i at
  fi
  local command=${{words[1]}}
{}  COMPREPLY=()
  if [[ $at -eq 1 ]]; then
    COMPREPLY=($(compgen -W '{} {}' -- "$word"))
    return
  fi
  case "$command $before" in
)",
                                 bash_paths(program), joined(command_names(program)), joined(option_names(program)));
  for (const auto& [path, command] : all_commands(program))
    for (const OptionInfo& option : command->options) {
      if (option.is_argument || !option.takes_value) continue;
      for (const auto& name : option.names)
        text += fmt::format(
            "    '{} {}')\n      {}\n"
            "      declare -F __ltrim_colon_completions >/dev/null && __ltrim_colon_completions \"$word\"\n"
            "      return ;;\n",
            path, name, bash_values(option));
    }
  text += "  esac\n  case \"$command\" in\n";
  for (const auto& [path, command] : all_commands(program)) {
    text += fmt::format("    '{}')\n", path);
    text += fmt::format("      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W '{}' -- \"$word\")); return; fi\n",
                        joined(option_names(*command)));
    std::vector<std::string> words = argument_choices(*command);
    for (const std::string& name : command_names(*command)) words.push_back(name);
    if (!words.empty()) text += fmt::format("      COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n", joined(words));
    if (takes_files(*command))
      text += fmt::format(
          "      local IFS=$'\\n'\n      compopt -o filenames 2>/dev/null\n"
          "      COMPREPLY=($(compgen -f -- \"$word\" | while read -r file; do\n"
          "        [[ -d $file || $file =~ \\.({})$ ]] && echo \"$file\"; done))\n",
          model_endings);
    text += "      ;;\n";
  }
  return text + "  esac\n}\ncomplete -F _voussoir voussoir\n";
}

/// Text within the brackets of _arguments.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (char c : text) {
    if (c == '[' || c == ']' || c == ':') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string zsh_action(const OptionInfo& option) {
  if (!option.choices.empty()) {
    std::string words;
    for (const auto& choice : option.choices) words += (words.empty() ? "" : " ") + zsh_text(choice);
    return "(" + words + ")";
  }
  if (option.values == OptionInfo::Values::folder) return "_files -/";
  if (option.values == OptionInfo::Values::file)
    return option.is_argument ? fmt::format("_files -g \"*.({})(-.)\"", model_endings) : "_files";
  return " ";
}

void add_zsh_list(const std::vector<CommandInfo>& commands, std::string& text) {
  for (const CommandInfo& command : commands)
    text += fmt::format("      {}\n", single_quoted(zsh_text(command.name) + ":" + command.text));
}

std::string zsh_script(const CommandInfo& program) {
  std::string text =
      "#compdef voussoir\n"
      "# zsh completion for voussoir; made by `voussoir completion zsh`.\n"
      "# Install it: voussoir completion zsh > a folder of $fpath, as _voussoir\n"
      "_voussoir() {\n  local -a commands\n  if (( CURRENT == 2 )); then\n    commands=(\n";
  add_zsh_list(program.commands, text);
  text +=
      "    )\n    _describe command commands\n    _arguments '--help[Show help]' '--version[Show the version]'\n"
      "    return\n  fi\n  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n";
  for (const CommandInfo& command : program.commands) {
    if (command.commands.empty()) continue;
    text += fmt::format("  if [[ $command == {} ]]; then\n    if (( CURRENT == 2 )); then\n      commands=(\n",
                        command.name);
    add_zsh_list(command.commands, text);
    text +=
        "      )\n      _describe command commands\n      return\n    fi\n    command=\"$command $words[2]\"\n"
        "    shift words\n    (( CURRENT-- ))\n  fi\n";
  }
  text += "  case $command in\n";
  for (const auto& [path, command] : all_commands(program)) {
    text += fmt::format("    {})\n      _arguments", single_quoted(path));
    for (const OptionInfo& option : command->options) {
      if (option.is_argument) {
        text += " \\\n        " + single_quoted(fmt::format("{}:{}:{}", option.many ? "*" : "",
                                                            zsh_text(option.names.front()), zsh_action(option)));
        continue;
      }
      for (const auto& name : option.names)
        text +=
            " \\\n        " + single_quoted(fmt::format(
                                  "{}[{}]{}", name, zsh_text(option.text),
                                  option.takes_value ? fmt::format(":value:{}", zsh_action(option)) : std::string()));
    }
    text += "\n      ;;\n";
  }
  return text + "  esac\n}\n_voussoir \"$@\"\n";
}

/// When a completion of fish applies: after all words of a path, and before any of the words that may follow.
std::string fish_condition(const std::string& path, const CommandInfo& command, bool for_commands) {
  std::string text;
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find(' ', begin), path.size());
    text += (text.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + path.substr(begin, end - begin));
    begin = end + 1;
  }
  if (for_commands) text += "; and not __fish_seen_subcommand_from " + joined(command_names(command));
  return "complete -c voussoir -n " + single_quoted(text);
}

std::string fish_script(const CommandInfo& program) {
  std::string text =
      "# fish completion for voussoir; made by `voussoir completion fish`.\n"
      "# Install it: voussoir completion fish > ~/.config/fish/completions/voussoir.fish\n"
      "complete -c voussoir -f\n";
  for (const OptionInfo& option : program.options)
    for (const auto& name : option.names)
      if (name.starts_with("--"))
        text += fmt::format("complete -c voussoir -n __fish_use_subcommand -l {} -d {}\n", name.substr(2),
                            single_quoted(option.text));
  for (const CommandInfo& command : program.commands)
    text += fmt::format("complete -c voussoir -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        single_quoted(command.text));
  for (const auto& [path, command] : all_commands(program)) {
    for (const CommandInfo& below : command->commands)
      text +=
          fmt::format("{} -a {} -d {}\n", fish_condition(path, *command, true), below.name, single_quoted(below.text));
    const std::string here = fish_condition(path, *command, false);
    for (const OptionInfo& option : command->options) {
      if (option.is_argument) {
        if (!option.choices.empty())
          text += fmt::format("{} -a {}\n", here, single_quoted(joined(option.choices)));
        else if (option.values == OptionInfo::Values::file)
          text += fmt::format("{} -k -a '(__fish_complete_suffix .inp .json)'\n", here);
        continue;
      }
      std::string line = here;
      for (const auto& name : option.names)
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (option.takes_value) {
        line += " -r";
        if (!option.choices.empty())
          line += " -a " + single_quoted(joined(option.choices));
        else if (option.values == OptionInfo::Values::folder)
          line += " -a '(__fish_complete_directories)'";
        else if (option.values == OptionInfo::Values::file)
          line += " -F";
      }
      text += line + " -d " + single_quoted(option.text) + "\n";
    }
  }
  return text;
}

constexpr const char* completion_examples =
    R"(Examples:
  source <(voussoir completion bash)       in ~/.bashrc
  voussoir completion zsh > _voussoir      in a folder of $fpath
  voussoir completion fish > ~/.config/fish/completions/voussoir.fish

An installed package has them in place already.)";

}  // namespace

void add_completion_command(CLI::App& program) {
  CLI::App* completion = program.add_subcommand("completion", "Print a shell completion script");
  auto shell = std::make_shared<std::string>();
  completion->add_option("SHELL", *shell, "The shell to print the script for")
      ->type_name("bash|zsh|fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""))
      ->required();
  completion->footer(completion_examples);
  completion->callback([shell, &program] {
    const CommandInfo tree = command_tree(program);
    const std::string script = *shell == "bash"  ? bash_script(tree)
                               : *shell == "zsh" ? zsh_script(tree)
                                                 : fish_script(tree);
    fmt::print("{}", script);
  });
}

}  // namespace voussoir::app
