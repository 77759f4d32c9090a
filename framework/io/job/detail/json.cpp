#include <voussoir/framework/io/job/detail/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_set>

#include <nlohmann/json.hpp>
#include <voussoir/backends/spelling.hpp>

namespace voussoir::job {

struct Json::Node {
  enum class Kind { null, boolean, number, text, list, object } kind = Kind::null;
  double number = 0;
  std::string text;
  std::vector<std::string> keys;                // of an object
  std::vector<std::unique_ptr<Node>> children;  // of an object or a list
  const Node* parent = nullptr;
  std::size_t place = 0;   // among the parent's children
  std::size_t offset = 0;  // in the text
};

struct Json::Document {
  std::string name;
  std::vector<std::size_t> line_starts{0};
  Node root;

  std::size_t line(std::size_t offset) const {
    return static_cast<std::size_t>(std::upper_bound(line_starts.begin(), line_starts.end(), offset) -
                                    line_starts.begin());
  }
  /// "job.json:3:14"
  std::string place(std::size_t offset) const {
    const std::size_t l = line(offset);
    return name + ":" + std::to_string(l) + ":" + std::to_string(offset - line_starts[l - 1] + 1);
  }
};

namespace {

/// Tells the outside how far the parser has read: its events come without a place.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

constexpr std::size_t deepest = 40;

}  // namespace

/// Makes a document of the parser's events.
struct Json::Builder {
  std::string_view text;
  Document& document;
  const char* reached;
  std::vector<Node*> open;  // lists and objects that are not closed yet
  std::vector<std::unordered_set<std::string>> seen;
  std::vector<std::size_t> key_offset;  // of each open object: its last key

  std::size_t offset() const {
    // A number is known to end when the character behind it was read: step back over that.
    std::size_t at = std::min(static_cast<std::size_t>(reached - text.data()), text.size());
    while (at > 0 && (text[at - 1] == '\n' || text[at - 1] == '\r' || text[at - 1] == ' ' || text[at - 1] == '\t'))
      --at;
    return at > 0 ? at - 1 : 0;
  }
  Node& add(Node::Kind kind) {
    if (open.empty()) {
      document.root.kind = kind;
      return document.root;
    }
    Node& parent = *open.back();
    Node& node = *parent.children.emplace_back(std::make_unique<Node>());
    node.kind = kind;
    node.parent = &parent;
    node.place = parent.children.size() - 1;
    node.offset = parent.kind == Node::Kind::object ? key_offset.back() : offset();
    return node;
  }
  bool begin(Node::Kind kind) {
    if (open.size() >= deepest)
      throw Error(ErrorCode::bad_input, "lists and objects are nested too deeply for a job", document.place(offset()));
    open.push_back(&add(kind));
    seen.emplace_back();
    key_offset.push_back(offset());
    return true;
  }
  bool end() {
    open.pop_back();
    seen.pop_back();
    key_offset.pop_back();
    return true;
  }
  bool value(double number) {
    add(Node::Kind::number).number = number;
    return true;
  }

  // --- what the parser calls -----------------------------------------------------------------------------------------
  bool null() {
    add(Node::Kind::null);
    return true;
  }
  bool boolean(bool) {
    add(Node::Kind::boolean);
    return true;
  }
  bool number_integer(std::int64_t number) { return value(static_cast<double>(number)); }
  bool number_unsigned(std::uint64_t number) { return value(static_cast<double>(number)); }
  bool number_float(double number, const std::string&) { return value(number); }
  bool string(std::string& string) {
    add(Node::Kind::text).text = std::move(string);
    return true;
  }
  bool binary(nlohmann::json::binary_t&) { return false; }  // no part of JSON's text
  bool start_object(std::size_t) { return begin(Node::Kind::object); }
  bool start_array(std::size_t) { return begin(Node::Kind::list); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool key(std::string& key) {
    if (!seen.back().insert(key).second)
      throw Error(ErrorCode::bad_input, "the key '" + key + "' is given twice; remove one of them",
                  document.place(offset()));
    open.back()->keys.push_back(key);
    key_offset.back() = offset();
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    // The library's sentence begins with its own number and place.
    std::string text = error.what();
    for (const char* mark : {"] ", "column ", ": "})
      if (const std::size_t at = text.find(mark); at != std::string::npos) text.erase(0, at + std::string(mark).size());
    throw Error(ErrorCode::bad_input, "this is not JSON: " + text, document.place(offset()));
  }
};

Json Json::parse(std::string_view text, const std::string& name) {
  auto document = std::make_shared<Document>();
  document->name = name;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') document->line_starts.push_back(i + 1);
  Builder builder{text, *document, text.data(), {}, {}, {}};
  nlohmann::json::sax_parse(CountingIterator(text.data(), &builder.reached),
                            CountingIterator(text.data() + text.size(), &builder.reached), &builder);
  return {document, &document->root};
}

bool Json::is_list() const { return node_->kind == Node::Kind::list; }
bool Json::is_text() const { return node_->kind == Node::Kind::text; }
bool Json::is_number() const { return node_->kind == Node::Kind::number; }
bool Json::is_object() const { return node_->kind == Node::Kind::object; }

std::vector<std::pair<std::string, Json>> Json::members() const {
  if (node_->kind != Node::Kind::object) fail_kind("an object {…}");
  std::vector<std::pair<std::string, Json>> all;
  for (std::size_t i = 0; i < node_->keys.size(); ++i)
    if (node_->keys[i] != "comment") all.emplace_back(node_->keys[i], Json(document_, node_->children[i].get()));
  return all;
}

const Json::Node* Json::find(std::string_view key) const {
  if (node_->kind != Node::Kind::object) fail_kind("an object {…}");
  const auto it = std::find(node_->keys.begin(), node_->keys.end(), key);
  return it == node_->keys.end() ? nullptr : node_->children[it - node_->keys.begin()].get();
}

bool Json::has(std::string_view key) const { return find(key) != nullptr; }

Json Json::at(std::string_view key) const {
  const Node* found = find(key);
  if (!found) fail("'" + std::string(key) + "' is missing");
  return {document_, found};
}

void Json::allow(const std::vector<std::string>& keys) const {
  for (const auto& [key, value] : members())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      value.fail("'" + key + "' is not valid here;" + suggest(key, keys));
}

std::vector<Json> Json::items() const {
  if (!is_list()) return {*this};
  std::vector<Json> all;
  for (const auto& child : node_->children) all.push_back({document_, child.get()});
  return all;
}

double Json::number() const {
  if (!is_number()) fail_kind("a number");
  return node_->number;
}

double Json::positive() const {
  if (!(number() > 0)) fail("must be greater than zero");
  return node_->number;
}

const std::string& Json::text() const {
  if (!is_text() || node_->text.empty()) fail_kind("a string in double quotes");
  return node_->text;
}

std::array<double, 3> Json::vector() const {
  if (!is_list() || node_->children.size() < 2 || node_->children.size() > 3)
    fail_kind("a list of two or three numbers");
  std::array<double, 3> v{0, 0, 0};
  const auto numbers = items();
  for (std::size_t i = 0; i < numbers.size(); ++i) v[i] = numbers[i].number();
  return v;
}

const std::string& Json::choice(const std::vector<std::string>& words) const {
  const std::string& word = text();
  if (std::find(words.begin(), words.end(), word) == words.end())
    fail("'" + word + "' is not valid here;" + suggest(word, words));
  return word;
}

std::string Json::where() const {
  std::string pointer;
  for (const Node* n = node_; n->parent; n = n->parent)
    pointer =
        "/" + (n->parent->kind == Node::Kind::object ? n->parent->keys[n->place] : std::to_string(n->place)) + pointer;
  return document_->name + ":" + std::to_string(document_->line(node_->offset)) +
         (pointer.empty() ? "" : ", " + pointer);
}

bool Json::tells_place(const Error& error) const { return error.where().starts_with(document_->name + ":"); }

void Json::fail(const std::string& text) const { throw Error(ErrorCode::bad_input, text, where()); }

void Json::fail_kind(const char* wanted) const {
  const char* const kinds[] = {"null", "true or false", "a number", "a string", "a list", "an object"};
  const bool empty = node_->kind == Node::Kind::text && node_->text.empty();
  fail(std::string(wanted) + " is expected here, not " +
       (empty ? "an empty string" : kinds[static_cast<int>(node_->kind)]));
}

std::string list_names(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 20; ++i) text += (i ? ", '" : "'") + names[i] + "'";
  return text + (names.size() > 20 ? ", …" : "");
}

std::string suggest(std::string_view wrong, const std::vector<std::string>& names) {
  const std::string near = nearest_name(wrong, names);
  return near.empty() ? " available are " + list_names(names) : " did you mean '" + near + "'?";
}

}  // namespace voussoir::job
