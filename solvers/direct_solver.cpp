#include <voussoir/solvers/direct_solver.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/model/unrestrained_unknowns.hpp>
#include <voussoir/solvers/direct/acceptance.hpp>
#include <voussoir/solvers/direct/detail/guards.hpp>
#include <voussoir/solvers/direct/equation_names.hpp>
#include <voussoir/solvers/direct/host_system.hpp>
#include <voussoir/solvers/direct/lu.hpp>
#include <voussoir/solvers/soe/envelope_soe.hpp>

namespace voussoir {
namespace {

// A pivot this small against its diagonal may belong to a motion that nothing resists, or to a soft one: a stiff part
// on a weak spring, the tip of a slender cantilever. Pivots alone cannot tell; Factorization looks at energies.
constexpr double suspicious_pivot = 1e-6;

/// Whether some diagonal entry is left over from a cancellation, so that pivots cannot be judged by it.
bool is_left_over(const LinearSOE& soe, const std::vector<double>& sizes) {
  if (sizes.empty()) return false;
  const AnalysisModel& model = soe.model();
  BlockDiagonal diagonal = model.backend().block_diagonal(*soe.sparse_matrix(), 1);
  for (int d = 0; d < model.backend().devices(); ++d) {
    const auto values = diagonal.blocks[d].read_host();
    const auto first = static_cast<std::size_t>(diagonal.layout->first(d));
    for (std::size_t i = 0; i < values.size() && first + i < sizes.size(); ++i)
      if (model.is_free(static_cast<std::int32_t>(first + i)) &&
          std::abs(values[i]) <= suspicious_pivot * sizes[first + i])
        return true;
  }
  return false;
}

/// Adds a correction to a solution. Returns how far it moves the solution: ‖correction‖ / ‖solution‖, the largest of
/// all columns.
double add_correction(std::vector<double>& x, const std::vector<double>& correction, int columns) {
  std::vector<double> moved(columns, 0.0), norm(columns, 0.0);  // sums of squares, of numbers of any size
  double largest_x = 0;
  for (const double v : x) largest_x = std::max(largest_x, std::abs(v));
  const int unit = largest_x > 0 && std::isfinite(largest_x) ? -std::ilogb(largest_x) : 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] += correction[i];
    const double shift = std::ldexp(correction[i], unit), place = std::ldexp(x[i], unit);
    moved[i % columns] += shift * shift;
    norm[i % columns] += place * place;
  }
  double largest = 0;
  for (int c = 0; c < columns; ++c)
    if (moved[c] > 0) largest = std::max(largest, std::sqrt(moved[c] / norm[c]));
  return largest;
}

}  // namespace

struct DirectSolver::Kept {
  const LinearSOE* soe = nullptr;
  std::uint64_t version = 0;
  std::unique_ptr<Factorization> sparse;
  DirectMethod sparse_method = DirectMethod::automatic;
  std::unique_ptr<LuFactorization> lu;
  BandLdlt band;
  ProfileLdlt profile;
  enum class Kind { sparse, lu, band, profile } kind = Kind::sparse;
  std::vector<std::int32_t> place;     // of each equation among those solved for, or −1
  std::vector<std::int32_t> equation;  // the other way round
  std::vector<double> null_vectors;    // as long as `equation` each
  std::string text, why;
  std::size_t bytes = 0;

  /// Numbers the equations that are solved for: the free ones, or all.
  void number(const AnalysisModel& model, bool all);
  /// Factorises a matrix that is not symmetric.
  void factorise_whole(const LinearSOE& soe, DirectMethod method, const DirectOptions& options);
  /// From right-hand sides of all equations to solutions of all equations, zero where nothing is solved for.
  std::vector<double> eliminate(std::vector<double> values, int columns);
  /// The null vectors as motions of all equations.
  std::vector<std::vector<double>> free_motions(std::size_t equations) const;
};

void DirectSolver::Kept::number(const AnalysisModel& model, bool all) {
  equation.clear();
  for (std::int32_t e = 0; e < model.equation_count(); ++e) {
    place[e] = all || model.is_free(e) ? static_cast<std::int32_t>(equation.size()) : -1;
    if (place[e] >= 0) equation.push_back(e);
  }
}

void DirectSolver::Kept::factorise_whole(const LinearSOE& soe, DirectMethod method, const DirectOptions& options) {
  number(soe.model(), false);
  kind = Kind::lu;
  sparse.reset();
  if (!lu) lu = LuFactorization::make(method, options);
  lu->factorise(whole_rows(soe.sparse_matrix()->to_host(), place));
  const auto& s = lu->statistics();
  text = "direct, LU by " + s.method + " (" + s.ordering + ")";
  why = "the matrix is not symmetric";
  bytes = static_cast<std::size_t>(s.memory_mb * 1e6);
}

// Columns are brought near 1 by a power of two, which is exact: libraries take sums of squares that must not overflow.
std::vector<double> DirectSolver::Kept::eliminate(std::vector<double> values, int columns) {
  const std::size_t size = equation.size();
  std::vector<double> packed(size * columns);  // column by column
  std::vector<int> power(static_cast<std::size_t>(columns), 0);
  for (std::size_t k = 0; k < size; ++k)
    for (int c = 0; c < columns; ++c)
      packed[c * size + k] = values[static_cast<std::size_t>(equation[k]) * columns + c];
  for (int c = 0; c < columns; ++c) {
    double largest = 0;
    for (std::size_t k = 0; k < size; ++k) largest = std::max(largest, std::abs(packed[c * size + k]));
    if (!(largest > 0) || !std::isfinite(largest)) continue;
    power[static_cast<std::size_t>(c)] = std::ilogb(largest);
    for (std::size_t k = 0; k < size; ++k)
      packed[c * size + k] = std::ldexp(packed[c * size + k], -power[static_cast<std::size_t>(c)]);
  }
  if (size > 0) switch (kind) {
      case Kind::sparse:
        sparse->solve(packed, columns);
        break;
      case Kind::lu:
        lu->solve(packed, columns);
        break;
      case Kind::band:
        band.solve(packed, columns);
        break;
      case Kind::profile:
        profile.solve(packed, columns);
        break;
    }
  std::fill(values.begin(), values.end(), 0.0);
  for (std::size_t k = 0; k < size; ++k)
    for (int c = 0; c < columns; ++c)
      values[static_cast<std::size_t>(equation[k]) * columns + c] =
          std::ldexp(packed[c * size + k], power[static_cast<std::size_t>(c)]);
  return values;
}

std::vector<std::vector<double>> DirectSolver::Kept::free_motions(std::size_t equations) const {
  std::vector<std::vector<double>> motions;
  const std::size_t size = equation.size();
  for (std::size_t first = 0; first < null_vectors.size(); first += size) {
    std::vector<double>& motion = motions.emplace_back(equations, 0.0);
    for (std::size_t k = 0; k < size; ++k) motion[equation[k]] = null_vectors[first + k];
  }
  return motions;
}

DirectSolver::DirectSolver(DirectMethod method, const DirectOptions& options)
    : method_(method), options_(options), kept_(std::make_unique<Kept>()) {}
DirectSolver::~DirectSolver() = default;

std::string DirectSolver::name() const {
  return method_ == DirectMethod::automatic ? "direct" : std::string("direct:") + to_string(method_);
}

void DirectSolver::factorise(const LinearSOE& soe) {
  Kept& h = *kept_;
  const AnalysisModel& model = soe.model();
  if (!soe.sparse_matrix())
    throw Error(ErrorCode::misuse, "a direct solver needs a stored matrix; the SOE '" + soe.name() +
                                       "' has none. Use csr, bsr, band or profile");
  h.soe = nullptr;  // until all of this has gone well
  h.place.assign(model.equation_count(), -1);
  h.equation.clear();
  h.null_vectors.clear();
  DirectOptions options = options_;
  if (options.threads == 0) options.threads = model.backend().threads();

  // Of what the stiffness was summed from; empty where no unknown depends on others.
  const std::vector<double> sizes =
      model.constraints().dependent.empty() ? std::vector<double>{} : stiffness_handed_on(model);
  const auto number = [&](bool all) { h.number(model, all); };
  const auto by_rows = [&](DirectMethod method) {
    number(false);
    h.kind = Kept::Kind::sparse;
    const SymmetricCsr a = upper_triangle(soe.sparse_matrix()->to_host(), h.place);
    if (!h.sparse || h.sparse_method != method || h.sparse->options().threads != options.threads)
      h.sparse = Factorization::make(method, options);
    h.sparse_method = method;
    std::vector<double> own_sizes;
    if (!sizes.empty())
      for (const std::int32_t e : h.equation) own_sizes.push_back(sizes[e]);
    h.sparse->factorise(a, own_sizes);
    if (!h.sparse->null_pivots().empty()) h.null_vectors = h.sparse->null_space();
    const auto& s = h.sparse->statistics();
    h.text = "direct, " + s.method + " (" + s.ordering + ")";
    h.why = s.why;
    h.bytes = static_cast<std::size_t>(s.memory_mb * 1e6);
  };
  // Within an envelope that the SOE stores, unless something in it must be looked at more closely.
  const auto by_envelope = [&](auto& ldlt, Kept::Kind kind, const auto& matrix, std::int64_t entries,
                               DirectMethod careful) {
    if (is_left_over(soe, sizes)) {
      by_rows(careful);
      return;
    }
    number(true);
    h.kind = kind;
    h.bytes = static_cast<std::size_t>(entries) * sizeof(double);
    h.sparse.reset();
    detail::allocating(static_cast<double>(h.bytes), "a factor",
                       [&] { ldlt.factorise(matrix, suspicious_pivot, options.threads); });
    if (ldlt.null_pivots().empty()) return;
    ldlt = {};
    by_rows(careful);
  };

  const auto label = [&](std::int64_t k) { return model.equation_label(h.equation[k]); };
  naming_equations(label, [&] {
    if (!model.device_model().symmetric()) {
      h.factorise_whole(soe, method_, options);
    } else if (const auto* band = dynamic_cast<const BandSOE*>(&soe)) {
      const BandMatrix& matrix = band->band();
      by_envelope(h.band, Kept::Kind::band, matrix, matrix.entries(), DirectMethod::band);
      h.text = "direct, band of half width " + std::to_string(matrix.half_bandwidth());
      h.why = "the SOE stores a band";
    } else if (const auto* profile = dynamic_cast<const ProfileSOE*>(&soe)) {
      const ProfileMatrix& matrix = profile->profile();
      by_envelope(h.profile, Kept::Kind::profile, matrix, matrix.entries(), DirectMethod::profile);
      h.text = "direct, profile of " + std::to_string(matrix.entries()) + " entries";
      h.why = "the SOE stores a profile";
    } else {
      by_rows(method_);
    }
  });
  h.soe = &soe;
  h.version = soe.version();
}

SolveReport DirectSolver::solve(LinearSOE& soe) {
  Kept& h = *kept_;
  const AnalysisModel& model = soe.model();
  SolveReport report;
  report.true_residual = std::numeric_limits<double>::quiet_NaN();  // as long as there is no solution
  const Stopwatch setting_up;
  if (h.soe != &soe || h.version != soe.version()) factorise(soe);
  report.setup_seconds = setting_up.seconds();
  report.solver = h.text;
  report.choice = h.why;
  report.memory_bytes = h.bytes;

  report.free_motions = h.free_motions(static_cast<std::size_t>(model.equation_count()));
  if (!report.free_motions.empty()) {
    const std::size_t count = report.free_motions.size();
    report.reason =
        "the matrix is singular: " + std::to_string(count) + (count == 1 ? " free motion" : " free motions");
    return report;
  }

  const Stopwatch solving;
  const int columns = soe.b().columns();
  const double bytes = 2.0 * sizeof(double) * columns * static_cast<double>(model.equation_count());
  detail::allocating(bytes, "right-hand sides", [&] {
    std::vector<double> x = h.eliminate(soe.b().to_host(), columns);
    soe.x().from_host(x);
    const auto refine = [&] {
      Vector rest = model.make_vector(columns);
      soe.matrix().apply(soe.x(), rest);
      model.backend().axpby(1.0, soe.b(), -1.0, rest);
      const double moved = add_correction(x, h.eliminate(rest.to_host(), columns), columns);
      soe.x().from_host(x);
      return moved;
    };
    const auto residual = [&] {
      report.column_residuals = column_residuals(soe);
      return largest_or_nan(report.column_residuals);
    };
    const Acceptance acceptance = check_solution(residual, refine);
    if (columns == 1) report.column_residuals.clear();
    report.true_residual = acceptance.residual;
    report.converged = acceptance.accepted;
  });
  report.solve_seconds = solving.seconds();
  report.reason = !report.converged ? "the matrix is too ill-conditioned for a direct solver"
                  : report.true_residual < small_residual
                      ? "factorised and solved"
                      : "factorised and solved to rounding accuracy: refinement hardly changes the solution";
  if (h.kind == Kept::Kind::sparse && h.sparse->inertia().negative > 0)
    report.note = "the matrix has " + std::to_string(h.sparse->inertia().negative) +
                  (h.sparse->inertia().negative == 1 ? " negative eigenvalue" : " negative eigenvalues");
  return report;
}

}  // namespace voussoir
