#include <voussoir/apps/commands/command_tree.hpp>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace voussoir::app {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// The words to choose from in "auto|openmp|openmp:N" or "TEXT:{a,b}". A word with a capital letter stands for
/// something else.
std::vector<std::string> choices_of(const std::string& value) {
  std::vector<std::string> words;
  const auto open = value.find('{'), close = value.find('}');
  if (open != std::string::npos && close != std::string::npos && open < close)
    words = split(value.substr(open + 1, close - open - 1), ',');
  else if (value.find('|') != std::string::npos)
    words = split(value, '|');
  std::erase_if(words, [](const std::string& word) {
    return word.empty() || std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isupper(c); });
  });
  return words;
}

OptionInfo read_option(const CLI::Option& option) {
  OptionInfo info;
  info.is_argument = option.get_positional();
  if (info.is_argument && option.get_lnames().empty() && option.get_snames().empty()) {
    info.names.push_back(option.get_name(true));
  } else {
    info.is_argument = false;
    for (const auto& name : option.get_snames()) info.names.push_back("-" + name);
    for (const auto& name : option.get_lnames()) info.names.push_back("--" + name);
  }
  info.takes_value = option.get_items_expected_max() > 0;
  info.many = option.get_items_expected_max() > 1;
  info.required = option.get_required();
  info.value = info.takes_value ? option.get_type_name() : "";
  info.choices = choices_of(info.value);
  const std::string kind = info.value.substr(0, info.value.find(':'));
  if (kind == "DIR")
    info.values = OptionInfo::Values::folder;
  else if (kind == "FILE" || kind == "PATH")
    info.values = OptionInfo::Values::file;
  info.text = option.get_description();
  info.default_text = info.takes_value ? option.get_default_str() : "";
  info.group = option.get_group();
  return info;
}

}  // namespace

CommandInfo command_tree(const CLI::App& program) {
  CommandInfo info;
  info.name = program.get_name();
  info.text = program.get_description();
  info.footer = program.get_footer();
  for (const CLI::Option* option : program.get_options())
    if (!option->get_group().empty()) info.options.push_back(read_option(*option));
  std::stable_sort(info.options.begin(), info.options.end(),
                   [](const OptionInfo& a, const OptionInfo& b) { return a.is_argument && !b.is_argument; });
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) info.commands.push_back(command_tree(*command));
  return info;
}

std::vector<CommandPath> all_commands(const CommandInfo& program) {
  std::vector<CommandPath> all;
  for (const CommandInfo& command : program.commands) {
    all.push_back({command.name, &command});
    for (const CommandPath& below : all_commands(command))
      all.push_back({command.name + " " + below.path, below.command});
  }
  return all;
}

}  // namespace voussoir::app
