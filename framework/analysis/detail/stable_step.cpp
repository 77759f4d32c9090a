#include <voussoir/framework/analysis/detail/stable_step.hpp>

#include <cmath>
#include <limits>
#include <numeric>

#include <voussoir/backends/lanczos_matrix.hpp>
#include <voussoir/backends/splitmix64.hpp>
#include <voussoir/framework/analysis/process_group.hpp>

namespace voussoir::detail {
namespace {

constexpr std::size_t fewest_products = 12, most_products = 80;
constexpr double wanted_bound = 0.01;  // of the bound of the error of ω², relative

/// A vector that is the same for all backends, with a part of every mode.
Vector random_start(const AnalysisModel& model) {
  std::vector<double> values(static_cast<std::size_t>(model.equation_count()));
  std::vector<std::int64_t> numbers(values.size());
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  if (ProcessGroup* const group = ProcessGroup::of(model)) numbers = group->whole_numbers(model);
  for (std::size_t e = 0; e < values.size(); ++e)
    values[e] = symmetric_unit(splitmix64((static_cast<std::uint64_t>(numbers[e]) + 1) * splitmix_increment));
  Vector x = model.make_vector();
  x.from_host(values);
  model.backend().clear_constrained(model.device_model(), x);
  return x;
}

/// The largest eigenvalue of the Lanczos matrix, and the last entry of its eigenvector of norm 1.
struct TopPair {
  double value, last;
};
TopPair top_pair(const LanczosMatrix& matrix) {
  const double value = matrix.eigenvalue(matrix.diagonal.size() - 1);
  // From the first entry on by the rows of T s = θ s. Growth of this recurrence is the decay of the true entries
  // reversed: it is stable for the largest eigenvalue as long as entries decay, and too large a last entry is safe.
  double before = 0, now = 1, sum = 1;
  for (std::size_t i = 0; i + 1 < matrix.diagonal.size(); ++i) {
    const double side = std::sqrt(matrix.side_squared[i]);
    const double left = i > 0 ? std::sqrt(matrix.side_squared[i - 1]) : 0.0;
    const double next = ((value - matrix.diagonal[i]) * now - left * before) / side;
    before = now;
    now = next;
    sum += now * now;
  }
  return {value, std::abs(now) / std::sqrt(sum)};
}

}  // namespace

StableStep::StableStep(const AnalysisModel& model, Vector scaling) : model_(model), scaling_(std::move(scaling)) {
  if (!model.device_model().symmetric())
    throw Error(ErrorCode::unavailable,
                "the stable step of elements whose tangents are not symmetric cannot be estimated; give a step, and "
                "switch its check off");
  tangent_ =
      model.backend().make_element_operator(model.device_model(), ElementProduct::matrix_free, OperatorEquations::all);
}

double largest_eigenvalue(const AnalysisModel& model, const Vector& scaling, const MatrixProduct& apply,
                          int& products) {
  Backend& backend = model.backend();
  Vector now = random_start(model), before = model.make_vector(), scaled = model.make_vector(),
         next = model.make_vector();
  backend.fill(before, 0.0);
  const auto norm = [&](const Vector& x) {
    return ProcessGroup::of(model) ? std::sqrt(product_of_unknowns(model, x, x)) : backend.norm(x);
  };
  const double length = norm(now);
  if (length == 0) return 0;
  backend.scale(1 / length, now);
  LanczosMatrix matrix;
  double side = 0, largest = 0;
  while (matrix.diagonal.size() < most_products) {
    // next = M^-1/2 A M^-1/2 now
    backend.multiply(scaling, now, scaled);
    apply(scaled, next);
    assemble_forces(model, next);
    ++products;
    backend.multiply(scaling, next, scaled);
    const double middle = product_of_unknowns(model, now, scaled);
    if (!std::isfinite(middle))
      throw Error(ErrorCode::not_finite, "the stable step could not be estimated: the tangent is not finite");
    if (!matrix.diagonal.empty()) matrix.side_squared.push_back(side * side);
    matrix.diagonal.push_back(middle);
    backend.axpy(-middle, now, scaled);
    if (side != 0) backend.axpy(-side, before, scaled);
    side = norm(scaled);
    const TopPair top = top_pair(matrix);
    const double error = side * top.last;
    largest = top.value + error;
    if (side <= 1e-12 * std::abs(top.value) ||
        (matrix.diagonal.size() >= fewest_products && error <= wanted_bound * top.value))
      break;
    std::swap(before, now);
    std::swap(now, scaled);
    backend.scale(1 / side, now);
  }
  return largest;
}

double StableStep::limit(const AnalysisState& state, const ElementState& elements) {
  Backend& backend = model_.backend();
  const auto factors = model_.batch_factors(state.case_factors);
  MatrixTerms terms;
  terms.batch_factors = factors;
  model_.translating([&] { backend.assemble(model_.device_model(), elements, terms, *tangent_); });
  const double largest = largest_eigenvalue(
      model_, scaling_, [&](const Vector& x, Vector& y) { model_.translating([&] { tangent_->apply(x, y); }); },
      products_);
  return largest > 0 ? 2 / std::sqrt(largest) : std::numeric_limits<double>::infinity();
}

double damped_limit(double limit, double rate) {
  if (rate == 0) return limit;
  if (std::isinf(limit)) return 2 / rate;
  // h² ω² + 2 h c = 4 with ω = 2 / limit
  const double frequency = 2 / limit;
  return 4 / (rate + std::sqrt(rate * rate + 4 * frequency * frequency));
}

}  // namespace voussoir::detail
