#pragma once
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <voussoir/backends/error.hpp>

// A JSON document that knows where each of its values stands, so that whatever is wrong with a value can be told with
// file, line and pointer: "job.json:12, /loads/0/pressure".

namespace voussoir::job {

/// One value of a document. Copies share the document.
class Json {
 public:
  /// Reads a document; `name` stands for the file in messages. Wrong syntax, a key that is given twice and absurdly
  /// deep nesting are an Error with file, line and column.
  static Json parse(std::string_view text, const std::string& name);

  bool is_list() const;
  bool is_text() const;
  bool is_number() const;
  bool is_object() const;

  // --- objects: an Error where the value is none ---------------------------------------------------------------------
  std::vector<std::pair<std::string, Json>> members() const;
  bool has(std::string_view key) const;
  /// An Error says that the key is missing.
  Json at(std::string_view key) const;
  /// Any key but these (and "comment") is an Error with the key that is most alike.
  void allow(const std::vector<std::string>& keys) const;

  /// The values of a list, or one value that stands for a list of one.
  std::vector<Json> items() const;

  // --- values: an Error where the value is of another kind -----------------------------------------------------------
  double number() const;
  double positive() const;
  /// A text that is not empty.
  const std::string& text() const;
  /// Two or three numbers; a third that is missing is zero.
  std::array<double, 3> vector() const;
  /// One of these words; else an Error with the word that is most alike.
  const std::string& choice(const std::vector<std::string>& words) const;

  /// "job.json:12, /loads/0/pressure"
  std::string where() const;
  /// Throws Error (bad_input) with where().
  [[noreturn]] void fail(const std::string& text) const;
  /// Whether an Error says already where in this document it arose.
  bool tells_place(const Error& error) const;
  /// Does something with the value; an Error is told with where() in front, unless it knows a place of its own.
  template <class Work>
  auto doing(Work work) const {
    try {
      return work();
    } catch (const Error& error) {
      if (tells_place(error)) throw;
      throw Error(error.code(), error.what(), where());
    }
  }

 private:
  struct Node;
  struct Document;
  struct Builder;
  Json(std::shared_ptr<const Document> document, const Node* node) : document_(std::move(document)), node_(node) {}
  const Node* find(std::string_view key) const;
  [[noreturn]] void fail_kind(const char* wanted) const;

  std::shared_ptr<const Document> document_;
  const Node* node_;
};

/// "'a', 'b', 'c'", at most twenty of them.
std::string list_names(const std::vector<std::string>& names);
/// " did you mean 'x'?", or " known are …" where none is near.
std::string suggest(std::string_view wrong, const std::vector<std::string>& names);

}  // namespace voussoir::job
