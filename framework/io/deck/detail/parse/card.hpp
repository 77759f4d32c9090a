#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/io/deck/detail/deck.hpp>

namespace voussoir::deck {

/// Something in a deck that is not supported, as opposed to something that is wrong. The parser reads on, so that all
/// of it can be listed.
class Unsupported : public Error {
 public:
  using Error::Error;
};

/// A keyword line: *KEYWORD, PARAMETER, PARAMETER=VALUE, … A reader asks for the parameters that it knows; done() then
/// refuses those that were not queried, so that nothing that an author wrote is silently ignored.
class Card {
 public:
  Card(std::string_view text, Place place, const std::vector<std::string>& files);

  Place place() const { return place_; }
  /// "SOLIDSECTION": without blanks, as blanks mean nothing in keywords.
  const std::string& key() const { return key_; }
  /// "*SOLID SECTION", for messages.
  const std::string& name() const { return name_; }
  void set_name(std::string_view name) { name_ = "*" + std::string(name); }

  /// Whether a parameter is there; PARAMETER=NO counts as absent.
  bool flag(std::string_view parameter);
  /// A name in upper case; empty where the parameter is absent.
  std::string value(std::string_view parameter);
  /// The same for a parameter that must be there; `example` shows how.
  std::string required(std::string_view parameter, std::string_view example);
  /// The value with its original case.
  std::string verbatim(std::string_view parameter);
  double number(std::string_view parameter, double otherwise);
  /// One of several words, each of which may be shortened to its first letters (at least `least`) or be longer than
  /// it need be; the whole word is returned, the first one where the parameter is absent.
  std::string choice(std::string_view parameter, std::initializer_list<std::string_view> words, std::size_t least = 3);
  /// An Error where this parameter is there: it is known and would change the answer.
  void refuse(std::string_view parameter, std::string_view why);
  /// Parameters that cannot change the answer.
  void ignore(std::initializer_list<std::string_view> parameters);
  /// To be called when all parameters have been asked for.
  void done();

  [[noreturn]] void fail(ErrorCode code, const std::string& text) const;
  /// The same for what is not supported: Unsupported.
  [[noreturn]] void fail_unsupported(ErrorCode code, const std::string& text) const;

 private:
  struct Parameter {
    std::string key, shown, value, verbatim;
    bool has_value = false, used = false;
  };
  Parameter* find(std::string_view parameter);

  Place place_;
  const std::vector<std::string>& files_;
  std::string key_, name_;
  std::vector<Parameter> parameters_;
  std::vector<std::string> known_;
};

/// Whether a keyword line that ends with a comma goes on in the next line, which has no star. Abaqus lets it go on,
/// CalculiX does not, and many decks have such a comma before their data: what looks like parameters (NAME=VALUE, or a
/// word like GENERATE) goes on, everything else is data.
bool continues_keyword(std::string_view keyword_line, std::string_view next);

/// "; did you mean 'X'?" for the name that is spelt most like a wrong one; empty where none is near.
std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& names, std::string_view mark = "");

}  // namespace voussoir::deck
