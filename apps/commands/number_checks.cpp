#include <voussoir/apps/commands/number_checks.hpp>

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <string>

namespace voussoir::app {
namespace {

/// Reads all of a text as a number.
template <class Number>
bool read(const std::string& text, Number& number) {
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, number);
  return error == std::errc() && end == last;
}

template <class Number, class Good>
CLI::Validator must_be(std::string what, Good good) {
  return {[what = std::move(what), good](std::string& text) {
            Number number{};
            return read(text, number) && good(number) ? std::string() : fmt::format("must be {}, not '{}'", what, text);
          },
          ""};
}

}  // namespace

CLI::Validator above_zero() {
  return must_be<double>("a number above 0", [](double x) { return x > 0 && std::isfinite(x); });
}

CLI::Validator number_between(double least, double greatest) {
  return must_be<double>(fmt::format("a number from {:g} to {:g}", least, greatest),
                         [=](double x) { return x >= least && x <= greatest; });
}

CLI::Validator whole_number_between(long long least, long long greatest) {
  return must_be<long long>(fmt::format("an integer from {} to {}", least, greatest),
                            [=](long long x) { return x >= least && x <= greatest; });
}

}  // namespace voussoir::app
