#include <voussoir/framework/io/deck/detail/parse/expression.hpp>

#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/deck/detail/parse/card.hpp>
#include <voussoir/framework/io/deck/detail/parse/fields.hpp>

namespace voussoir::deck::expression {
namespace {

using Whole = std::int64_t;
constexpr int deepest = 100;  // brackets within brackets
constexpr std::size_t longest_text = 4096;

[[noreturn]] void fail(const std::string& text, ErrorCode code = ErrorCode::bad_input) { throw Error(code, text); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

double real(const Value& value) {
  if (const Whole* whole = std::get_if<Whole>(&value)) return static_cast<double>(*whole);
  if (const double* number = std::get_if<double>(&value)) return *number;
  fail("a string cannot be used in arithmetic");
}

bool whole(const Value& a) { return std::holds_alternative<Whole>(a); }

Value finite(double value, std::string_view what) {
  if (!std::isfinite(value)) fail(std::string(what) + " has no finite value");
  return value;
}

/// Whole numbers stay whole where nothing is lost.
Value combine(char op, const Value& a, const Value& b) {
  if (op == '+' && std::holds_alternative<std::string>(a) && std::holds_alternative<std::string>(b)) {
    std::string joined = std::get<std::string>(a) + std::get<std::string>(b);
    if (joined.size() > longest_text) fail("a string is longer than " + std::to_string(longest_text) + " letters");
    return joined;
  }
  if (whole(a) && whole(b)) {
    const Whole x = std::get<Whole>(a), y = std::get<Whole>(b);
    Whole result = 0;
    const bool overflow = op == '+'   ? __builtin_add_overflow(x, y, &result)
                          : op == '-' ? __builtin_sub_overflow(x, y, &result)
                                      : __builtin_mul_overflow(x, y, &result);
    if (overflow) fail("an integer is too large");
    return result;
  }
  const double x = real(a), y = real(b);
  return finite(op == '+' ? x + y : op == '-' ? x - y : x * y, "the result");
}

Value floor_divide(const Value& a, const Value& b) {
  if (real(b) == 0) fail("division by zero");
  if (!whole(a) || !whole(b)) return finite(std::floor(real(a) / real(b)), "the quotient");
  const Whole x = std::get<Whole>(a), y = std::get<Whole>(b);
  if (y == -1) return combine('-', Whole{0}, a);
  return x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0);
}

Value remainder(const Value& a, const Value& b) {
  if (real(b) == 0) fail("division by zero");
  if (!whole(a) || !whole(b)) return finite(real(a) - real(b) * std::floor(real(a) / real(b)), "the remainder");
  if (std::get<Whole>(b) == -1) return Whole{0};
  return combine('-', a, combine('*', floor_divide(a, b), b));
}

Value divide(const Value& a, const Value& b) {
  if (real(b) == 0) fail("division by zero");
  if (!whole(a) || !whole(b)) return finite(real(a) / real(b), "the quotient");
  const Whole x = std::get<Whole>(a), y = std::get<Whole>(b);
  if (y != -1 && x % y != 0)
    fail("the quotient " + std::to_string(x) + "/" + std::to_string(y) +
         " of integers has different meanings in different versions of Abaqus: write " + std::to_string(x) + "./" +
         std::to_string(y) + " for the exact quotient or " + std::to_string(x) + "//" + std::to_string(y) +
         " for the integer part");
  return floor_divide(a, b);
}

Value power(const Value& a, const Value& b) {
  if (whole(a) && whole(b) && std::get<Whole>(b) >= 0) {
    const double size = std::pow(std::abs(real(a)), real(b));
    if (size < 9e15) {  // exact in a double, and so is every product on the way
      Whole result = 1;
      const Whole base = std::get<Whole>(a);
      if (base == 0 || base == 1 || base == -1)
        return std::get<Whole>(b) == 0 ? Whole{1} : base == -1 && std::get<Whole>(b) % 2 == 0 ? Whole{1} : base;
      for (Whole i = 0; i < std::get<Whole>(b); ++i) result *= base;
      return result;
    }
  }
  return finite(std::pow(real(a), real(b)), "the power");
}

class Reader {
 public:
  Reader(std::string_view text, const Names& names) : text_(text), names_(names) {}

  Value all() {
    const Value value = sum();
    blanks();
    if (at_ != text_.size()) fail("the expression at " + in_quotes(text_.substr(at_)) + " cannot be read");
    return value;
  }

 private:
  void blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool take(std::string_view word) {
    blanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  Value sum() {
    if (++depth_ > deepest) fail("more than " + std::to_string(deepest) + " nested parentheses");
    Value value = product();
    for (;;) {
      if (take("+"))
        value = combine('+', value, product());
      else if (take("-"))
        value = combine('-', value, product());
      else
        break;
    }
    --depth_;
    return value;
  }

  Value product() {
    Value value = sign();
    for (;;) {
      blanks();
      if (peek() == '*' && peek(1) == '*') return value;
      if (take("//"))
        value = floor_divide(value, sign());
      else if (take("*"))
        value = combine('*', value, sign());
      else if (take("/"))
        value = divide(value, sign());
      else if (take("%"))
        value = remainder(value, sign());
      else
        return value;
    }
  }

  Value sign() {
    bool negative = false;
    for (;; blanks()) {
      if (take("-"))
        negative = !negative;
      else if (!take("+"))
        break;
    }
    Value value = raised();
    return negative ? combine('-', Whole{0}, value) : value;
  }

  Value raised() {
    const Value base = atom();
    if (!take("**")) return base;
    if (++depth_ > deepest) fail("more than " + std::to_string(deepest) + " powers of powers");
    const Value exponent = sign();  // −1 in 2**-1, and powers from the right
    --depth_;
    return power(base, exponent);
  }

  Value atom() {
    blanks();
    const char c = peek();
    if (c == '(') {
      ++at_;
      Value value = sum();
      if (!take(")")) fail("a parenthesis is not closed");
      return value;
    }
    if (c == '\'' || c == '"') {
      const std::size_t end = text_.find(c, at_ + 1);
      if (end == text_.npos) fail("a string is not closed by a quotation mark");
      Value value = std::string(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return value;
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (is_letter(c)) return name();
    if (c == '\0') fail("the expression is incomplete");
    fail("the expression at " + in_quotes(text_.substr(at_)) + " cannot be read");
  }

  Value number() {
    std::size_t end = at_;
    bool is_whole = true;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    if (end < text_.size() && text_[end] == '.') {
      is_whole = false;
      for (++end; end < text_.size() && is_digit(text_[end]);) ++end;
    }
    if (end < text_.size() && std::string_view("eEdD").find(text_[end]) != std::string_view::npos) {
      std::size_t digits = end + 1;
      if (digits < text_.size() && (text_[digits] == '+' || text_[digits] == '-')) ++digits;
      if (digits < text_.size() && is_digit(text_[digits])) {
        is_whole = false;
        for (end = digits; end < text_.size() && is_digit(text_[end]);) ++end;
      }
    }
    const std::string_view digits = text_.substr(at_, end - at_);
    at_ = end;
    Whole integer = 0;
    double value = 0;
    if (is_whole) {
      if (read_integer(digits, integer) != NumberFault::none) fail("the number " + in_quotes(digits) + " is too large");
      return integer;
    }
    if (read_real(digits, value) != NumberFault::none) fail(in_quotes(digits) + " is not a number");
    return value;
  }

  Value name() {
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    blanks();
    if (peek() == '(') {
      ++at_;
      std::vector<Value> arguments;
      if (!take(")")) {
        do {
          arguments.push_back(sum());
        } while (take(","));
        if (!take(")")) fail("the parenthesis after " + in_quotes(word) + " is not closed");
      }
      return call(word, arguments);
    }
    if (const auto found = names_.find(word); found != names_.end()) return found->second;
    if (word == "pi") return std::numbers::pi;
    std::vector<std::string> known;
    for (const auto& [known_name, value] : names_) known.push_back(known_name);
    fail("there is no parameter " + in_quotes(word) + " before this line" + did_you_mean(word, known),
         ErrorCode::not_found);
  }

  static Value call(std::string_view name, const std::vector<Value>& arguments) {
    struct Function {
      std::string_view name;
      double (*value)(double);
    };
    static constexpr Function functions[] = {
        {"acos", [](double x) { return std::acos(x); }},   {"asin", [](double x) { return std::asin(x); }},
        {"atan", [](double x) { return std::atan(x); }},   {"cos", [](double x) { return std::cos(x); }},
        {"cosh", [](double x) { return std::cosh(x); }},   {"exp", [](double x) { return std::exp(x); }},
        {"log", [](double x) { return std::log(x); }},     {"log10", [](double x) { return std::log10(x); }},
        {"sin", [](double x) { return std::sin(x); }},     {"sinh", [](double x) { return std::sinh(x); }},
        {"sqrt", [](double x) { return std::sqrt(x); }},   {"tan", [](double x) { return std::tan(x); }},
        {"tanh", [](double x) { return std::tanh(x); }},   {"float", [](double x) { return x; }},
        {"ceil", [](double x) { return std::ceil(x); }},   {"floor", [](double x) { return std::floor(x); }},
        {"round", [](double x) { return std::round(x); }},
    };
    const std::string label = std::string(name) + "()";
    const auto need = [&](std::size_t count) {
      if (arguments.size() != count)
        fail(label + " takes " + std::to_string(count) + (count == 1 ? " number" : " numbers") + ", not " +
             std::to_string(arguments.size()));
    };
    for (const Function& function : functions)
      if (function.name == name) {
        need(1);
        return finite(function.value(real(arguments[0])), label);
      }
    if (name == "int") {
      need(1);
      if (whole(arguments[0])) return arguments[0];
      const double value = std::trunc(real(arguments[0]));
      if (std::abs(value) > 9e15) fail("int(): the number is too large");
      return static_cast<Whole>(value);
    }
    if (name == "abs") {
      need(1);
      return real(arguments[0]) < 0 ? combine('-', Whole{0}, arguments[0]) : arguments[0];
    }
    if (name == "pow") {
      need(2);
      return power(arguments[0], arguments[1]);
    }
    if (name == "atan2") {
      need(2);
      return finite(std::atan2(real(arguments[0]), real(arguments[1])), label);
    }
    if (name == "min" || name == "max") {
      if (arguments.empty()) fail(label + " needs numbers");
      Value best = arguments[0];
      for (const Value& value : arguments)
        if (name == "min" ? real(value) < real(best) : real(value) > real(best)) best = value;
      real(best);
      return best;
    }
    fail("there is no function " + in_quotes(name) +
             "; there are abs, acos, asin, atan, atan2, ceil, cos, cosh, exp, float, floor, int, log, log10, max, min, "
             "pow, round, sin, sinh, sqrt, tan, tanh",
         ErrorCode::not_found);
  }

  std::string_view text_;
  const Names& names_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Value evaluate(std::string_view text, const Names& names) { return Reader(text, names).all(); }

std::string text_of(const Value& value) {
  if (const Whole* number = std::get_if<Whole>(&value)) return std::to_string(*number);
  if (const std::string* text = std::get_if<std::string>(&value)) return *text;
  // The shortest digits that mean this number, with a point: it is no whole one.
  const std::string text = exact_number(std::get<double>(value));
  return text.find_first_of(".e") == text.npos ? text + "." : text;
}

}  // namespace voussoir::deck::expression
