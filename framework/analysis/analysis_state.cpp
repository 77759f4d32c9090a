#include <voussoir/framework/analysis/analysis_state.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/detail/element_history.hpp>

namespace voussoir {

StateValues StateValues::clone() const {
  StateValues copy;
  copy.unknowns = unknowns.clone();
  copy.rate = rate.clone();
  copy.second_rate = second_rate.clone();
  copy.loads = loads.clone();
  copy.time = time;
  copy.time_step = time_step;
  copy.case_factors = case_factors;
  copy.prescribed_factor = prescribed_factor;
  copy.temperature = temperature;
  copy.history = history;
  return copy;
}

namespace {

/// Copies a vector into the memory of another where that fits.
void assign(Backend& backend, const Vector& from, Vector& to) {
  if (from.layout() && from.layout() == to.layout() && from.columns() == to.columns())
    backend.copy(from, to);
  else
    to = from.clone();
}

void assign(Backend& backend, const StateValues& from, StateValues& to) {
  assign(backend, from.unknowns, to.unknowns);
  assign(backend, from.rate, to.rate);
  assign(backend, from.second_rate, to.second_rate);
  assign(backend, from.loads, to.loads);
  to.time = from.time;
  to.time_step = from.time_step;
  to.case_factors = from.case_factors;
  to.prescribed_factor = from.prescribed_factor;
  to.temperature = from.temperature;
  to.history = from.history;
}

}  // namespace

ElementState AnalysisState::elements() const {
  ElementState state;
  if (unknowns.layout()) state.unknowns = &unknowns;
  state.temperature = temperature;
  state.history = history;
  state.time = time;
  state.time_step = time_step;
  state.prescribed_factor = prescribed_factor;
  return state;
}

AnalysisState AnalysisState::clone() const {
  AnalysisState copy;
  static_cast<StateValues&>(copy) = StateValues::clone();
  copy.name = name;
  if (committed_) copy.committed_ = std::make_unique<StateValues>(committed_->clone());
  return copy;
}

void AnalysisState::commit(const AnalysisModel& model) {
  if (!unknowns.layout())
    throw Error(ErrorCode::misuse, "a state without unknowns cannot be committed; begin a step first");
  if (model.has_history())
    history = model.translating([&] { return model.backend().history(model.device_model(), elements()); });
  if (!committed_) committed_ = std::make_unique<StateValues>();
  assign(model.backend(), *this, *committed_);
}

const StateValues& AnalysisState::committed() const {
  if (!committed_) throw Error(ErrorCode::misuse, "nothing has been committed yet; call commit() first");
  return *committed_;
}

void AnalysisState::revert(const AnalysisModel& model) { assign(model.backend(), committed(), *this); }

namespace {

/// Compares quantities of two states; keeps the text of the first that differs.
class Comparison {
 public:
  explicit Comparison(double tolerance) : tolerance_(tolerance) {}

  /// `where(i)` names the place of number i.
  template <class Where>
  void numbers(const std::string& what, const std::vector<double>& a, const std::vector<double>& b,
               const Where& where) {
    if (!text.empty()) return;
    if (a.size() != b.size()) {
      text = what + ": " + std::to_string(a.size()) + " and " + std::to_string(b.size()) + " numbers";
      return;
    }
    double size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) size = std::max({size, std::abs(a[i]), std::abs(b[i])});
    for (std::size_t i = 0; i < a.size(); ++i) {
      const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) ||
                        (tolerance_ > 0 && std::abs(a[i] - b[i]) <= tolerance_ * size);
      if (same) continue;
      text = what + " differ at " + where(i) + ": " + short_number(a[i], 17) + " and " + short_number(b[i], 17);
      return;
    }
  }
  void number(const std::string& what, double a, double b) {
    numbers(what, {a}, {b}, [](std::size_t) { return std::string("the state"); });
  }

  std::string text;

 private:
  double tolerance_;
};

std::vector<double> to_host(const Vector& x) { return x.layout() ? x.to_host() : std::vector<double>(); }

}  // namespace

std::string difference(const AnalysisModel& model, const AnalysisState& a, const AnalysisState& b, double tolerance) {
  Comparison compare(tolerance);
  const auto at_equation = [&](std::size_t e) { return model.equation_label(static_cast<std::int32_t>(e)); };
  compare.numbers("unknowns", to_host(a.unknowns), to_host(b.unknowns), at_equation);
  compare.numbers("rates", to_host(a.rate), to_host(b.rate), at_equation);
  compare.numbers("second rates", to_host(a.second_rate), to_host(b.second_rate), at_equation);
  compare.numbers("loads", to_host(a.loads), to_host(b.loads), at_equation);
  compare.number("times", a.time, b.time);
  compare.number("time steps", a.time_step, b.time_step);
  compare.number("factors of prescribed values", a.prescribed_factor, b.prescribed_factor);
  compare.numbers("factors of load cases", a.case_factors, b.case_factors,
                  [&](std::size_t c) { return "load case '" + model.domain().load_case(c).name() + "'"; });
  compare.numbers("temperatures", detail::nodal_numbers(model, a.temperature.get()),
                  detail::nodal_numbers(model, b.temperature.get()),
                  [&](std::size_t k) { return model.domain().node_label(model.numbered_nodes()[k]); });
  for (std::size_t batch = 0; batch < model.batches().size(); ++batch) {
    const int number = static_cast<int>(batch);
    const int count = model.device_model().part(0).batches[batch].program->history_count();
    if (count == 0) continue;
    compare.numbers("histories", detail::history_numbers(model, number, a.history.get()),
                    detail::history_numbers(model, number, b.history.get()), [&](std::size_t i) {
                      const auto element = static_cast<std::int32_t>(i / static_cast<std::size_t>(count));
                      return model.domain().element_label(model.element_of(number, element));
                    });
  }
  return compare.text;
}

}  // namespace voussoir
