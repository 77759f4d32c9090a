#include <voussoir/engines/petsc/backend_cg.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/engines/petsc/calls.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>

namespace voussoir::petsc {
namespace {

/// Iterations between two questions whether somebody wants to stop.
constexpr int question_interval = 10;

}  // namespace

BackendCg::BackendCg(PetscEngine& engine, const SystemShare& share)
    : engine_(engine), interface_(engine.communicator(), share), free_(share.free) {
  const std::size_t size = share.number.size();
  std::vector<double> diagonal = masked(share.diagonal);
  interface_.add_in(diagonal);
  agree(engine_.processes(), [&] {
    if (size == 0) return;
    const auto* const product = share.product.target<PartProduct>();
    if (!product || !share.backend)
      throw Error(ErrorCode::unavailable,
                  "the method backend-cg needs products of the backend; use --engine petsc:jacobi");
    std::vector<double> inverse(size, 0.0), counted(size, 0.0);
    for (std::size_t e = 0; e < size; ++e) {
      if (!free_[e]) continue;
      inverse[e] = diagonal[e] != 0 ? 1 / diagonal[e] : 1;
      counted[e] = interface_.represents()[e];
    }
    const auto room = [&] { return Vector(product->from->layout()); };
    part_.emplace(Part{share.backend, *product, room(), room(), room(), room(), room(), room()});
    part_->inverse.from_host(inverse);
    part_->counted.from_host(counted);
  });
}

std::vector<double> BackendCg::masked(std::span<const double> values) const {
  std::vector<double> result(free_.size(), 0.0);
  for (std::size_t e = 0; e < result.size(); ++e)
    if (free_[e]) result[e] = values[e];
  return result;
}

/// This process's share of a scalar product.
double BackendCg::dot(const Vector& a, const Vector& b) const { return part_ ? part_->backend->dot(a, b) : 0.0; }

/// Replaces the numbers of shared equations by their sums. Nothing is copied from or to a GPU where there are none.
void BackendCg::add_interface(Vector& vector) {
  const std::vector<std::int32_t>& equations = interface_.equations();
  std::vector<double> values(equations.size());
  const auto visit = [&](const auto& each) {
    if (equations.empty()) return;
    const Layout& layout = *vector.layout();
    std::size_t k = 0;
    for (int d = 0; d < layout.devices(); ++d) {
      const std::int64_t first = layout.first(d), end = first + layout.owned(d);
      if (k == equations.size() || equations[k] >= end) continue;
      const std::span<double> own = vector.part(d).update_host();
      for (; k < equations.size() && equations[k] < end; ++k)
        each(own[static_cast<std::size_t>(equations[k] - first)], values[k]);
    }
  };
  visit([](const double& own, double& value) { value = own; });
  interface_.add(values);
  visit([](double& own, const double& value) { own = value; });
}

void BackendCg::multiply(const Vector& from, Vector& to) { part_->product.matrix().apply(from, to); }

/// r = b − A x, with values of free equations only where they count.
void BackendCg::set_residual(std::span<const double> load, bool with_x) {
  if (!part_) {
    Vector none;
    add_interface(none);
    return;
  }
  part_->r.from_host(load);
  if (with_x) {
    multiply(part_->x, part_->q());
    part_->backend->axpy(-1.0, part_->q(), part_->r);
  }
  add_interface(part_->r);
}

/// The largest binary exponent of the numbers of all processes; 0 if all numbers are 0.
int BackendCg::common_magnitude(std::span<const double> values) {
  constexpr std::int64_t none = -100000;
  std::int64_t most = none;
  for (const double value : values)
    if (value != 0 && std::isfinite(value)) most = std::max<std::int64_t>(most, std::ilogb(value));
  most = engine_.processes().maximum(most);
  return most == none ? 0 : static_cast<int>(most);
}

double BackendCg::residual_norm() {
  double square = 0;
  if (part_) {
    part_->backend->multiply(part_->counted, part_->r, part_->counted_r);
    square = dot(part_->counted_r, part_->r);
  }
  engine_.processes().sum({&square, 1});
  return std::sqrt(square);
}

bool BackendCg::asks_to_stop(const Request& request, int iteration, double relative) {
  if (iteration % question_interval != 0) return false;
  bool stops = false;
  VSR_PETSC(engine_.ask_to_stop(request.progress, iteration, relative, stops));
  return stops;
}

void BackendCg::iterate(double load_norm, const Request& request, SolveReport& report) {
  Part* const own = part_ ? &*part_ : nullptr;
  Vector none;
  double before = 0;  // r·z of the iteration before
  for (int iteration = 0;; ++iteration) {
    std::array<double, 2> sums{};  // r·z and r·r
    if (own) {
      own->backend->multiply(own->inverse, own->r, own->z);
      own->backend->multiply(own->counted, own->r, own->counted_r);
      sums = {dot(own->counted_r, own->z), dot(own->counted_r, own->r)};
    }
    engine_.processes().sum(sums);
    const double relative = std::sqrt(sums[1]) / load_norm;
    report.history.push_back(relative);
    report.iterations = iteration;
    if (!std::isfinite(relative)) {
      report.reason = "the residual is not finite";
      return;
    }
    if (relative <= request.relative_tolerance) {
      report.converged = true;
      report.reason = "converged";
      return;
    }
    if (iteration == request.max_iterations) {
      report.reason = "the limit of " + std::to_string(request.max_iterations) + " iterations was reached";
      return;
    }
    if (asks_to_stop(request, iteration, relative))
      throw SharedError(Error(ErrorCode::cancelled, "cancelled while the system was solved"), 0);
    double energy = 0;
    if (own) {
      if (iteration == 0)
        own->backend->copy(own->z, own->p());
      else
        own->backend->axpby(1.0, own->z, sums[0] / before, own->p());
      multiply(own->p(), own->q());
      energy = dot(own->p(), own->q());
    }
    engine_.processes().sum({&energy, 1});
    if (!(energy > 0) || !(sums[0] > 0)) {
      report.not_positive_definite = true;
      report.reason = "the matrix is not positive definite";
      return;
    }
    add_interface(own ? own->q() : none);
    if (own) own->backend->cg_update(sums[0] / energy, own->p(), own->q(), own->x, own->r);
    before = sums[0];
  }
}

SolveReport BackendCg::solve(std::span<const double> b, std::span<double> x, const Request& request) {
  const Stopwatch watch;
  SolveReport report;
  // Squares of very small and very large loads would leave the range of numbers.
  std::vector<double> load = masked(b), start = masked(x);
  const int magnitude = common_magnitude(load);
  for (std::vector<double>* const values : {&load, &start})
    for (double& value : *values) value = std::ldexp(value, -magnitude);
  if (part_) part_->x.from_host(request.starts_from_x ? start : std::vector<double>(load.size(), 0.0));
  set_residual(load, false);
  const double load_norm = residual_norm();
  if (load_norm > 0) {
    if (request.starts_from_x) set_residual(load, true);
    iterate(load_norm, request, report);
    set_residual(load, true);
    report.true_residual = residual_norm() / load_norm;
  } else {
    if (part_) part_->backend->fill(part_->x, 0.0);
    report.converged = load_norm == 0;
    report.true_residual = load_norm;
    report.reason = report.converged ? "the load is zero" : "the load is not finite";
  }
  // Backends round differently: the process that represents an equation decides.
  std::vector<double> solution = part_ ? masked(part_->x.to_host()) : std::vector<double>();
  for (std::size_t e = 0; e < solution.size(); ++e)
    solution[e] = interface_.represents()[e] ? std::ldexp(solution[e], magnitude) : 0.0;
  interface_.add_in(solution);
  std::copy(solution.begin(), solution.end(), x.begin());
  report.solve_seconds = watch.seconds();
  return report;
}

}  // namespace voussoir::petsc
