#include <voussoir/partition/schwarz.hpp>

#include <algorithm>
#include <limits>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/geneo.hpp>
#include <voussoir/partition/part_threads.hpp>
#include <voussoir/partition/substructuring.hpp>

namespace voussoir {
namespace {

std::vector<std::int32_t> equations_of(const Decomposition& decomposition) {
  return {decomposition.equations().begin(), decomposition.equations().end()};
}

}  // namespace

SchwarzOperator::SchwarzOperator(const Decomposition& decomposition, const SymmetricCsr& matrix, const Options& options)
    : SchwarzOperator(decomposition, full_rows(matrix), &matrix, options) {}

SchwarzOperator::SchwarzOperator(const Decomposition& decomposition, const GeneralCsr& matrix, const Options& options)
    : SchwarzOperator(decomposition, full_rows(matrix), nullptr, options) {}

SchwarzOperator::SchwarzOperator(const Decomposition& decomposition, FullRows rows, const SymmetricCsr* symmetric,
                                 const Options& options)
    : HostOperator(decomposition.model().device_model().layout(), equations_of(decomposition)),
      options_(options),
      threads_(part_threads(decomposition.model().backend())),
      condition_bound_(std::numeric_limits<double>::quiet_NaN()),
      matrix_(std::move(rows)) {
  if (matrix_.size() != decomposition.size())
    throw Error(ErrorCode::misuse, "the matrix has " + std::to_string(matrix_.size()) +
                                       " unknowns, the decomposition " + std::to_string(decomposition.size()));
  std::vector<Overlap> sets(static_cast<std::size_t>(decomposition.parts()));
  for_each_part(decomposition.parts(), threads_, [&](int p) {
    sets[static_cast<std::size_t>(p)] = with_overlap(matrix_, decomposition.unknowns(p), options.overlap);
  });
  set_up_parts(decomposition, symmetric, sets);
  if (options.kind == SchwarzKind::restricted && is_flexible())
    throw Error(
        ErrorCode::bad_input,
        "what it does varies with the residual, which GMRES does not allow; use an exact solver, or asm with CG",
        "part solver '" + options.part_solver + "'");
  if (options.two_levels) set_up_coarse(decomposition, symmetric, sets);
  if (options.kind == SchwarzKind::multiplicative) columns_ = symmetric ? std::move(matrix_) : transposed(matrix_);
  matrix_ = FullRows();
}

void SchwarzOperator::set_up_parts(const Decomposition& decomposition, const SymmetricCsr* symmetric,
                                   std::span<const Overlap> sets) {
  maps_.resize(sets.size());
  for (std::size_t p = 0; p < sets.size(); ++p) solvers_.push_back(make_part_solver(options_.part_solver));
  if (!solvers_.empty() && !solvers_.front()->works_side_by_side()) threads_ = 1;
  if (!symmetric && !solvers_.empty() && !unsymmetric_part_solver(*solvers_.front()))
    throw Error(ErrorCode::bad_input,
                "it solves symmetric matrices, and those of these parts are not symmetric; use direct, direct:mumps, "
                "direct:eigen, gmres+block-jacobi or block-jacobi",
                "part solver '" + options_.part_solver + "'");
  for_each_part(decomposition.parts(), threads_, [&](int p) {
    const Overlap& set = sets[static_cast<std::size_t>(p)];
    PartSolver& solver = *solvers_[static_cast<std::size_t>(p)];
    std::vector<std::int32_t> equations;
    for (const std::int32_t u : set.unknowns)
      equations.push_back(decomposition.equations()[static_cast<std::size_t>(u)]);
    solver.describe(decomposition.model(), equations);
    const std::string where = "part " + std::to_string(p);
    const auto label = [&](std::int64_t i) {
      return decomposition.model().equation_label(equations[static_cast<std::size_t>(i)]);
    };
    if (symmetric)
      solver.set_up(submatrix(*symmetric, set.unknowns), where, label);
    else
      unsymmetric_part_solver(solver)->set_up_unsymmetric(submatrix(matrix_, set.unknowns), where, label);
    std::vector<double> weights;
    if (options_.kind == SchwarzKind::restricted)
      for (const std::int32_t u : set.unknowns) weights.push_back(decomposition.owner(u) == p ? 1.0 : 0.0);
    maps_[static_cast<std::size_t>(p)] = PartMap(set.unknowns, std::move(weights));
  });
}

void SchwarzOperator::set_up_coarse(const Decomposition& decomposition, const SymmetricCsr* symmetric,
                                    std::span<const Overlap> sets) {
  const auto weights = partition_of_unity(sets, options_.overlap, decomposition.size());
  if (options_.coarse == "rigid") {
    coarse_ = rigid_coarse_space(decomposition, sets, weights);
  } else if (options_.coarse == "geneo") {
    if (!symmetric)
      throw Error(ErrorCode::bad_input,
                  "the coarse space geneo comes from eigenproblems of symmetric matrices, and this matrix is not "
                  "symmetric; use coarse=rigid");
    if (!options_.neumann)
      throw Error(ErrorCode::misuse, "the coarse space geneo needs the Neumann matrices of overlapping sets");
    std::vector<std::vector<std::int32_t>> unknowns;
    for (const Overlap& set : sets) unknowns.push_back(set.unknowns);
    coarse_ = geneo_coarse_space(*symmetric, sets, weights, options_.neumann(unknowns), options_.threshold,
                                 part_threads(decomposition.model().backend()));
    if (options_.kind == SchwarzKind::additive) condition_bound_ = geneo_bound(matrix_, sets, options_.threshold);
  } else {
    throw Error(ErrorCode::not_found, "there is no coarse space '" + options_.coarse + "'; there are rigid and geneo");
  }
  if (symmetric)
    coarse_.set_up(matrix_);
  else
    coarse_.set_up_unsymmetric(matrix_);
}

bool SchwarzOperator::is_flexible() const {
  return std::any_of(solvers_.begin(), solvers_.end(), [](const auto& solver) { return solver->is_flexible(); });
}

std::vector<double> SchwarzOperator::solve_part(std::size_t part, std::span<const double> residual) const {
  std::vector<double> own(maps_[part].size());
  maps_[part].restrict(residual, own);
  solvers_[part]->solve(own);
  return own;
}

void SchwarzOperator::subtract_column(std::int32_t unknown, double change, std::vector<double>& residual) const {
  const auto at = static_cast<std::size_t>(unknown);
  for (auto k = columns_.row_start[at]; k < columns_.row_start[at + 1]; ++k)
    residual[static_cast<std::size_t>(columns_.column[static_cast<std::size_t>(k)])] -=
        columns_.value[static_cast<std::size_t>(k)] * change;
}

void SchwarzOperator::correct_part(std::size_t part, std::vector<double>& residual, std::span<double> z) const {
  const std::vector<double> own = solve_part(part, residual);
  maps_[part].extend_weighted(own, z);
  const auto unknowns = maps_[part].unknowns();
  for (std::size_t i = 0; i < unknowns.size(); ++i) subtract_column(unknowns[i], own[i], residual);
}

void SchwarzOperator::multiply_in_turn(std::span<const double> r, std::span<double> z) const {
  std::vector<double> residual(r.begin(), r.end());
  const auto coarse_step = [&] {
    if (coarse_.size() == 0) return;
    std::vector<double> change(residual.size(), 0.0);
    coarse_.correct(residual, change);
    for (std::size_t i = 0; i < change.size(); ++i) {
      z[i] += change[i];
      if (change[i] != 0) subtract_column(static_cast<std::int32_t>(i), change[i], residual);
    }
  };
  const std::size_t parts = maps_.size();
  coarse_step();
  for (std::size_t p = 0; p < parts; ++p) correct_part(p, residual, z);
  for (std::size_t p = parts - 1; p-- > 0;) correct_part(p, residual, z);
  coarse_step();
}

void SchwarzOperator::multiply(std::span<const double> x, std::span<double> y) const {
  std::fill(y.begin(), y.end(), 0.0);
  if (options_.kind == SchwarzKind::multiplicative) return multiply_in_turn(x, y);
  std::vector<std::vector<double>> own(maps_.size());
  for_each_part(static_cast<int>(maps_.size()), threads_,
                [&](int p) { own[static_cast<std::size_t>(p)] = solve_part(static_cast<std::size_t>(p), x); });
  for (std::size_t p = 0; p < maps_.size(); ++p) maps_[p].extend_weighted(own[p], y);
  coarse_.correct(x, y);
}

std::size_t SchwarzOperator::bytes() const {
  std::size_t sum = coarse_.bytes();
  for (const auto& solver : solvers_) sum += solver->bytes();
  for (const PartMap& map : maps_) sum += map.size() * sizeof(std::int32_t) + map.weights().size() * sizeof(double);
  return sum + columns_.value.size() * (sizeof(double) + sizeof(std::int32_t)) +
         columns_.row_start.size() * sizeof(std::int64_t);
}

std::size_t SchwarzOperator::largest_part() const {
  std::size_t largest = 0;
  for (const PartMap& map : maps_) largest = std::max(largest, map.size());
  return largest;
}

std::string SchwarzOperator::describe() const {
  const char* const kind = options_.kind == SchwarzKind::additive     ? "additive"
                           : options_.kind == SchwarzKind::restricted ? "restricted additive"
                                                                      : "multiplicative";
  return std::string(kind) + " Schwarz, " + std::to_string(maps_.size()) + " parts of up to " +
         std::to_string(largest_part()) + " unknowns, overlap " + std::to_string(options_.overlap) +
         (options_.part_solver == "direct" ? std::string() : ", parts by " + options_.part_solver) +
         (coarse_.size() > 0 ? (options_.coarse == "geneo" ? ", GenEO coarse space of " : ", coarse space of ") +
                                   std::to_string(coarse_.size())
                             : std::string());
}

SchwarzPreconditioner::SchwarzPreconditioner(std::string name, DecompositionOptions decomposition,
                                             SchwarzOperator::Options options)
    : name_(std::move(name)), choice_(std::move(decomposition)), options_(std::move(options)) {
  options_.overlap = choice_.overlap;
  options_.part_solver = choice_.part_solver;
  options_.coarse = choice_.coarse;
  options_.threshold = choice_.threshold;
  if (options_.two_levels && options_.coarse == "geneo") symmetric_option_ = ":coarse=geneo";
  if (options_.part_solver == "direct") return;
  const auto sample = make_part_solver(options_.part_solver);
  flexible_ = sample->is_flexible();
  if (symmetric_option_.empty() && !unsymmetric_part_solver(*sample))
    symmetric_option_ = ":solver=" + options_.part_solver;
}

void SchwarzPreconditioner::set_up(const LinearSOE& soe) {
  operator_.reset();
  decomposition_ = std::make_unique<Decomposition>(soe.model(), make_partition(soe.model(), choice_));
  const std::string where = "preconditioner '" + name_ + "'";
  if (!soe.model().device_model().symmetric()) {
    operator_ =
        std::make_unique<SchwarzOperator>(*decomposition_, assembled_rows(soe, *decomposition_, where), options_);
    return;
  }
  const SymmetricCsr matrix = assembled_matrix(soe, *decomposition_, where);
  if (options_.two_levels && options_.coarse == "geneo") {
    part_matrices_of(soe, *decomposition_, where);  // GenEO needs element matrices whose sum is that of the system
    options_.neumann = [&](std::span<const std::vector<std::int32_t>> sets) {
      return overlapping_neumann_at_rest(*decomposition_, sets);
    };
  }
  operator_ = std::make_unique<SchwarzOperator>(*decomposition_, matrix, options_);
}

}  // namespace voussoir
