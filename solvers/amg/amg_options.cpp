#include <voussoir/solvers/amg/amg_options.hpp>

#include <charconv>
#include <string_view>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

constexpr const char* known =
    "k-cycle, v-cycle, single, full, chebyshev, fsai, block-jacobi, l1-jacobi, dense, direct, steps=N, basis=N, "
    "ratio=X, threshold=X, coarsest=N, levels=N";

[[noreturn]] void refuse(std::string_view word, const std::string& why) {
  throw Error(ErrorCode::bad_input, why, "amg setting '" + std::string(word) + "'");
}

template <class Number>
Number number_of(std::string_view word, std::string_view text, Number least, Number most) {
  Number value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) refuse(word, "what follows '=' must be a number");
  if (!(value >= least && value <= most))
    refuse(word, "must be between " + std::to_string(least) + " and " + std::to_string(most));
  return value;
}

bool take_word(std::string_view word, AmgOptions& o) {
  if (word == "k-cycle")
    o.cycle = AmgOptions::Cycle::k;
  else if (word == "v-cycle")
    o.cycle = AmgOptions::Cycle::v;
  else if (word == "single")
    o.numbers = AmgOptions::Numbers::single;
  else if (word == "full")
    o.numbers = AmgOptions::Numbers::full;
  else if (word == "chebyshev")
    o.smoother = AmgOptions::Smoother::chebyshev;
  else if (word == "fsai")
    o.smoother = AmgOptions::Smoother::fsai;
  else if (word == "block-jacobi")
    o.smoother = AmgOptions::Smoother::block_jacobi;
  else if (word == "l1-jacobi")
    o.smoother = AmgOptions::Smoother::l1_jacobi;
  else if (word == "dense")
    o.coarsest = AmgOptions::Coarsest::dense;
  else if (word == "direct")
    o.coarsest = AmgOptions::Coarsest::direct;
  else
    return false;
  return true;
}

bool take_setting(std::string_view word, AmgOptions& o) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = word.substr(0, equals), text = word.substr(equals + 1);
  if (name == "steps")
    o.smoothing_steps = number_of(word, text, 1, 20);
  else if (name == "basis")
    o.basis_steps = number_of(word, text, 1, 2);
  else if (name == "ratio")
    o.smoothing_ratio = number_of(word, text, 2.0, 1000.0);
  else if (name == "threshold")
    o.threshold = number_of(word, text, 0.0, 0.9);
  else if (name == "coarsest")
    o.coarsest_rows = number_of(word, text, 1, 20000);
  else if (name == "levels")
    o.most_levels = number_of(word, text, 1, 50);
  else
    return false;
  return true;
}

std::string plain(double x) {
  char text[32];
  const auto [end, fault] = std::to_chars(text, text + sizeof text, x);
  return fault == std::errc() ? std::string(text, end) : std::to_string(x);
}

}  // namespace

AmgOptions AmgOptions::parse(const std::string& text) {
  AmgOptions options;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    if (!take_word(word, options) && !take_setting(word, options))
      refuse(word, std::string("is not known; there are ") + known);
  }
  return options;
}

std::string AmgOptions::suffix() const {
  const AmgOptions usual;
  std::string text;
  const auto add = [&](const std::string& word) { text += (text.empty() ? ":" : ",") + word; };
  if (cycle == Cycle::k) add("k-cycle");
  if (numbers == Numbers::single) add("single");
  if (numbers == Numbers::full) add("full");
  if (smoother == Smoother::chebyshev) add("chebyshev");
  if (smoother == Smoother::fsai) add("fsai");
  if (smoother == Smoother::block_jacobi) add("block-jacobi");
  if (smoother == Smoother::l1_jacobi) add("l1-jacobi");
  if (coarsest == Coarsest::dense) add("dense");
  if (coarsest == Coarsest::direct) add("direct");
  if (smoothing_steps != usual.smoothing_steps) add("steps=" + std::to_string(smoothing_steps));
  if (basis_steps != usual.basis_steps) add("basis=" + std::to_string(basis_steps));
  if (smoothing_ratio != usual.smoothing_ratio) add("ratio=" + plain(smoothing_ratio));
  if (threshold != usual.threshold) add("threshold=" + plain(threshold));
  if (coarsest_rows != usual.coarsest_rows) add("coarsest=" + std::to_string(coarsest_rows));
  if (most_levels != usual.most_levels) add("levels=" + std::to_string(most_levels));
  return text;
}

}  // namespace voussoir
