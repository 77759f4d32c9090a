#include <voussoir/solvers/amg/amg_options.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>

namespace voussoir {
namespace {

constexpr const char* known =
    "k-cycle, v-cycle, single, full, chebyshev, fsai, block-jacobi, l1-jacobi, dense, direct, steps=N, basis=N, "
    "ratio=X, threshold=X, coarsest=N, levels=N, gather=N";

[[noreturn]] void refuse(std::string_view word, const std::string& why) {
  throw Error(ErrorCode::bad_input, why, "amg setting '" + std::string(word) + "'");
}

template <class Number>
Number number_of(std::string_view word, std::string_view text, Number least, Number most) {
  Number value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = end == text.data() + text.size() && !text.empty();
  const bool too_large = fault == std::errc::result_out_of_range && whole;
  if (!too_large && (fault != std::errc() || !whole)) refuse(word, "what follows '=' must be a number");
  if (too_large || !(value >= least && value <= most))
    refuse(word, "must be between " + exact_number(static_cast<double>(least)) + " and " +
                     exact_number(static_cast<double>(most)));
  return value;
}

/// Takes a word by itself. Returns what it is about; empty where it is not known.
std::string_view take_word(std::string_view word, AmgOptions& o) {
  const auto is = [&](std::string_view known_word, auto& option, auto value) {
    if (word != known_word) return false;
    option = value;
    return true;
  };
  using Cycle = AmgOptions::Cycle;
  using Numbers = AmgOptions::Numbers;
  using Smoother = AmgOptions::Smoother;
  using Coarsest = AmgOptions::Coarsest;
  if (is("k-cycle", o.cycle, Cycle::k) || is("v-cycle", o.cycle, Cycle::v)) return "cycle";
  if (is("single", o.numbers, Numbers::single) || is("full", o.numbers, Numbers::full)) return "precision";
  if (is("chebyshev", o.smoother, Smoother::chebyshev) || is("fsai", o.smoother, Smoother::fsai) ||
      is("block-jacobi", o.smoother, Smoother::block_jacobi) || is("l1-jacobi", o.smoother, Smoother::l1_jacobi))
    return "smoother";
  if (is("dense", o.coarsest, Coarsest::dense) || is("direct", o.coarsest, Coarsest::direct)) return "coarsest level";
  return {};
}

/// The same for name=value.
std::string_view take_setting(std::string_view word, AmgOptions& o) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return {};
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
  else if (name == "gather")
    o.gathered_rows = number_of(word, text, 1, std::numeric_limits<int>::max());
  else
    return {};
  return name;
}

}  // namespace

AmgOptions AmgOptions::parse(const std::string& text) {
  AmgOptions options;
  std::vector<std::pair<std::string_view, std::string_view>> taken;  // what a word was about, and the word
  std::string_view rest = text;
  for (bool more = !text.empty(); more;) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) rest = rest.substr(comma + 1);
    std::string_view subject = take_word(word, options);
    if (subject.empty()) subject = take_setting(word, options);
    if (subject.empty()) refuse(word, std::string("is unknown; available are ") + known);
    const auto before = std::find_if(taken.begin(), taken.end(), [&](const auto& t) { return t.first == subject; });
    if (before != taken.end())
      refuse(word, "is about the " + std::string(subject) + ", as '" + std::string(before->second) +
                       "' is; give one of them");
    taken.emplace_back(subject, word);
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
  if (smoothing_ratio != usual.smoothing_ratio) add("ratio=" + exact_number(smoothing_ratio));
  if (threshold != usual.threshold) add("threshold=" + exact_number(threshold));
  if (coarsest_rows != usual.coarsest_rows) add("coarsest=" + std::to_string(coarsest_rows));
  if (most_levels != usual.most_levels) add("levels=" + std::to_string(most_levels));
  if (gathered_rows != usual.gathered_rows) add("gather=" + std::to_string(gathered_rows));
  return text;
}

}  // namespace voussoir
