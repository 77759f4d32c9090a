#include <voussoir/solvers/eigen/detail/shifted_factor.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/framework/model/unrestrained_unknowns.hpp>
#include <voussoir/solvers/direct/detail/guards.hpp>
#include <voussoir/solvers/direct/equation_names.hpp>
#include <voussoir/solvers/direct/host_system.hpp>

namespace voussoir::detail {

ShiftedFactor::ShiftedFactor(const EigenProblem& problem) : problem_(problem) {
  const AnalysisModel& model = problem.model();
  place_.assign(static_cast<std::size_t>(model.equation_count()), -1);
  for (std::int32_t e = 0; e < model.equation_count(); ++e)
    if (model.is_free(e)) {
      place_[static_cast<std::size_t>(e)] = static_cast<std::int32_t>(equation_.size());
      equation_.push_back(e);
    }
  allocating(static_cast<double>(problem.stiffness().bytes()), "the matrices on the host", [&] {
    matrix_ = upper_triangle(problem.stiffness().to_host(), place_);
    stiffness_ = matrix_.value;
    SymmetricCsr mass = upper_triangle(problem.mass().to_host(), place_);
    if (!same_pattern(matrix_, mass))
      throw Error(ErrorCode::internal, "the patterns of the stiffness matrix and the mass matrix differ");
    mass_ = std::move(mass.value);
  });
  if (!model.constraints().dependent.empty()) {
    const std::vector<double> sizes = stiffness_handed_on(model);
    for (const std::int32_t e : equation_) sizes_.push_back(sizes[static_cast<std::size_t>(e)]);
  }
  DirectOptions options;
  options.threads = model.backend().threads();
  factor_ = Factorization::make(DirectMethod::automatic, options);
}

ShiftedFactor::~ShiftedFactor() = default;

void ShiftedFactor::factorise(double shift) {
  if (is_factorised_ && shift == shift_) return;
  is_factorised_ = false;
  for (std::size_t k = 0; k < matrix_.value.size(); ++k) matrix_.value[k] = stiffness_[k] - shift * mass_[k];
  const auto label = [&](std::int64_t k) {
    return problem_.model().equation_label(equation_[static_cast<std::size_t>(k)]);
  };
  // Without a shift, motions that nothing resists are looked for. With one there are none but where it meets a mode.
  naming_equations(label, [&] {
    if (shift == 0)
      factor_->factorise(matrix_, sizes_);
    else
      factor_->factorise_indefinite(matrix_);
  });
  if (shift != 0) check_stability();
  shift_ = shift;
  is_factorised_ = true;
  ++count_;
}

// An indefinite matrix can have tiny pivots, after which a method that does not pivot has neither solutions nor
// inertia.
void ShiftedFactor::check_stability() {
  std::vector<double> b(equation_.size()), x, ax(equation_.size());
  for (std::size_t k = 0; k < b.size(); ++k)
    b[k] = (k % 2 ? 1.0 : -1.0) * (1 + static_cast<double>(k * 7919 % 101) / 101);
  x = b;
  factor_->solve(x);
  multiply(matrix_, x, ax);
  double rest = 0, size = 0, load = 0;
  for (std::size_t k = 0; k < b.size(); ++k) {
    rest = std::max(rest, std::abs(b[k] - ax[k]));
    size = std::max(size, std::abs(x[k]));
    load = std::max(load, std::abs(b[k]));
  }
  if (!(rest <= 1e-10 * (infinity_norm(matrix_) * size + load)))
    throw Error(ErrorCode::singular,
                "the factorisation of K - sM is not stable at this shift; use a build with the direct method mumps");
}

Inertia ShiftedFactor::inertia() const { return factor_->inertia(); }

std::string ShiftedFactor::method() const {
  return factor_->statistics().method + " (" + factor_->statistics().ordering + ")";
}

Vector ShiftedFactor::null_space() const {
  if (factor_->null_pivots().empty()) return {};
  const std::size_t n = equation_.size(), count = factor_->null_pivots().size();
  const std::vector<double> found = factor_->null_space();
  std::vector<double> values(place_.size() * count, 0.0);
  for (std::size_t c = 0; c < count; ++c)
    for (std::size_t k = 0; k < n; ++k) values[static_cast<std::size_t>(equation_[k]) * count + c] = found[c * n + k];
  Vector motions = problem_.model().make_vector(static_cast<int>(count));
  motions.from_host(values);
  return motions;
}

void ShiftedFactor::solve(const Vector& b, Vector& x) {
  const std::size_t n = equation_.size(), columns = static_cast<std::size_t>(b.columns());
  allocating(2.0 * sizeof(double) * static_cast<double>(place_.size() * columns), "right-hand sides", [&] {
    std::vector<double> values = b.to_host(), packed(n * columns);
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t c = 0; c < columns; ++c)
        packed[c * n + k] = values[static_cast<std::size_t>(equation_[k]) * columns + c];
    factor_->solve(packed, b.columns());
    std::fill(values.begin(), values.end(), 0.0);
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t c = 0; c < columns; ++c)
        values[static_cast<std::size_t>(equation_[k]) * columns + c] = packed[c * n + k];
    x.from_host(values);
  });
  solves_ += b.columns();
}

ShiftedFactor::Count ShiftedFactor::count_below(double value) {
  // A shift that meets a mode has a zero pivot, whose sign says nothing.
  double step = 1e-9;
  for (int attempt = 0; attempt < 6; ++attempt, step *= 10) {
    try {
      factorise(value);
      return {inertia().negative, value};
    } catch (const Error& error) {
      if (error.code() != ErrorCode::singular) throw;
    }
    value *= 1 + step;
  }
  throw Error(ErrorCode::singular,
              "the Sturm count failed: K - sM is singular at every shift that was tried; use another number of modes");
}

}  // namespace voussoir::detail
