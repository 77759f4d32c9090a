#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

// *PARAMETER: numbers and texts with names, that stand for them between < and >.

namespace voussoir::deck {
namespace {

/// What stands before a # that is not within quotes.
std::string_view without_comment(std::string_view line) {
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quote != '\0')
      quote = line[i] == quote ? '\0' : quote;
    else if (line[i] == '\'' || line[i] == '"')
      quote = line[i];
    else if (line[i] == '#')
      return trimmed(line.substr(0, i));
  }
  return trimmed(line);
}

bool is_name(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && (i == 0 || c < '0' || c > '9')) return false;
  }
  return !text.empty() && text.size() <= 256;
}

}  // namespace

void Parser::read_parameter(Card& card) {
  card.ignore({"INDEPENDENT", "DEPENDENT"});
  card.refuse("TABLE", "write the numbers themselves");
  card.refuse("PARAMETER CHECK", "write the numbers themselves");
  card.done();
  std::string statement;
  while (const auto line = lines_.data()) {
    statement += without_comment(*line);
    if (statement.ends_with('\\')) {  // goes on in the next line
      statement.back() = ' ';
      if (statement.size() > 100'000) fail("*PARAMETER: this statement is too long");
      continue;
    }
    const std::string text = std::move(statement);
    statement.clear();
    if (text.empty()) continue;
    const std::size_t equals = text.find('=');
    const std::string name(trimmed(std::string_view(text).substr(0, equals)));
    if (equals == text.npos || !is_name(name))
      fail("*PARAMETER: each line is NAME = EXPRESSION, not " + in_quotes(text));
    try {
      const expression::Value value = expression::evaluate(std::string_view(text).substr(equals + 1), parameters_);
      parameters_[name] = value;
      lines_.set_parameter(name, expression::text_of(value));
    } catch (const Error& error) {
      fail("*PARAMETER " + in_quotes(name) + ": " + error.text(), lines_.place(), error.code());
    }
  }
  if (!statement.empty()) fail("*PARAMETER: the last statement is continued with \\, but nothing follows");
}

}  // namespace voussoir::deck
