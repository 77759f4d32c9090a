#include <voussoir/partition/process/process_modes.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include <voussoir/framework/analysis/mode_parts.hpp>
#include <voussoir/framework/analysis/shape_result.hpp>
#include <voussoir/framework/domain/generalised_node.hpp>
#include <voussoir/framework/model/unrestrained_unknowns.hpp>
#include <voussoir/solvers/eigen/mode_counting.hpp>

namespace voussoir {
namespace {

std::vector<double> diagonal_of_host_matrix(const HostMatrix& m, std::size_t equations) {
  std::vector<double> diagonal(equations, 0.0);
  const auto s = static_cast<std::size_t>(m.block_size);
  for (std::size_t e = 0; e < equations; ++e)
    for (auto k = m.row_start[e / s]; k < m.row_start[e / s + 1]; ++k)
      if (static_cast<std::size_t>(m.column[static_cast<std::size_t>(k)]) == e / s)
        diagonal[e] = m.value[(static_cast<std::size_t>(k) * s + e % s) * s + e % s];
  return diagonal;
}

}  // namespace

ProcessModes::ProcessModes(const ProcessPart& part, std::size_t domain, Engine& engine,
                           std::shared_ptr<Backend> backend, const EngineSettings& settings)
    : ProcessAnalysis(part, domain, engine, std::move(backend)) {
  agree(processes_, [&] {
    auto* const eigen = dynamic_cast<EigenEngine*>(&engine);
    if (!eigen)
      throw Error(ErrorCode::unavailable,
                  "the engine '" + engine.name() + "' does not find natural modes; run without --engine");
    if (settings.storage != "auto")
      throw Error(ErrorCode::bad_input,
                  "natural modes on several processes need stored matrices in a format that the engine chooses; leave "
                  "out --storage");
    solver_ = eigen->make_eigen_solver(settings);
    solver_->progress = [this](int iteration, double residual) {
      return !observer || observer({"solve", since_start_.seconds(), iteration, residual});
    };
  });
}

ProcessModes::~ProcessModes() = default;

/// What EigenProblem refuses.
void ProcessModes::check_problem() {
  static const std::set<std::string> mechanical{"ux", "uy", "uz", "rx", "ry", "rz"};
  bool has_mass = false, symmetric = true;
  if (model_) {
    symmetric = model_->device_model().symmetric();
    const auto& batches = model_->device_model().part(0).batches;
    for (std::size_t b = 0; b < model_->batches().size(); ++b)
      has_mass = has_mass || (model_->batches()[b].kind == BatchOrigin::Kind::block && batches[b].program->has_mass());
  }
  has_mass = processes_.any(has_mass);
  symmetric = !processes_.any(!symmetric);
  agree(processes_, [&] {
    for (const std::string& name : part_.domains[domain_index_].unknown_names)
      if (!mechanical.contains(name))
        throw Error(
            ErrorCode::bad_input,
            "natural frequencies are those of displacements and rotations; this model has the unknown '" + name + "'");
    if (!symmetric)
      throw Error(ErrorCode::bad_input,
                  "an element has a tangent that is not symmetric; the eigen-solvers need symmetric matrices");
    if (!has_mass)
      throw Error(ErrorCode::bad_input,
                  "no element of the model can have a mass, so that it has no natural frequencies");
  });
}

EigenShare ProcessModes::form() {
  EigenShare share;
  share.stiffness = numbered_share();
  share.mass.row_start = {0};
  together("assemble", [&] {
    if (!model_) return;
    const std::vector<double> no_loads(domain_.load_case_count(), 0.0);
    const auto factors = model_->batch_factors(no_loads);
    const auto matrix = [&](double stiffness, double mass) {
      MatrixTerms terms;
      terms.stiffness = stiffness;
      terms.mass = mass;
      terms.mass_kind = MassKind::consistent;
      terms.batch_factors = factors;
      model_->translating([&] { soe_->form(ElementState{}, terms); });
      return soe_->sparse_matrix()->to_host();
    };
    share.stiffness.matrix = matrix(1, 0);
    share.mass = matrix(0, 1);
  });
  return share;
}

/// Numbers of local equations, summed over the parts that have them.
std::vector<double> ProcessModes::summed(const std::vector<double>& values) {
  NodalField field;
  if (model_) field.components = model_->unknown_names();
  const std::size_t width = field.components.size();
  field.values.assign(static_cast<std::size_t>(part_.node_count()) * width, std::numeric_limits<double>::quiet_NaN());
  const auto place_of_equation = [&](std::size_t e) {
    const auto place = model_->place(static_cast<std::int32_t>(e));
    return static_cast<std::size_t>(place.node) * width + static_cast<std::size_t>(place.component);
  };
  for (std::size_t e = 0; e < values.size(); ++e) field.values[place_of_equation(e)] = values[e];
  sum_shared_nodes(processes_, part_, domain_index_, field);
  std::vector<double> sums(values.size());
  for (std::size_t e = 0; e < values.size(); ++e) sums[e] = field.values[place_of_equation(e)];
  return sums;
}

/// Names unknowns without stiffness or with a wrong mass, and finds what is known of the whole problem.
void ProcessModes::look_at_diagonals(EigenShare& share) {
  const std::size_t equations = share.stiffness.number.size();
  std::vector<double> k(equations), m(equations), rounded(equations, 0.0);
  together("check masses", [&] {
    if (!model_) return;
    k = diagonal_of_host_matrix(share.stiffness.matrix, equations);
    m = diagonal_of_host_matrix(share.mass, equations);
    if (!model_->constraints().dependent.empty()) rounded = stiffness_handed_on(*model_);
  });
  share.diagonal = summed(k);
  const std::vector<double> mass = summed(m);
  share.scale = summed(rounded);
  // Each equation counts once: on the process that stores its row.
  std::array<double, 5> sums{};  // free, without mass, of the others the masses and their number, fillers
  double ratio = 0;
  agree(processes_, [&] {
    for (std::size_t e = 0; e < equations; ++e) {
      share.scale[e] = std::max(share.diagonal[e], lost_in_rounding / energy_lost_in_rounding * share.scale[e]);
      if (!share.stiffness.free[e]) continue;
      const auto where = [&] { return model_->equation_label(static_cast<std::int32_t>(e)); };
      if (!std::isfinite(mass[e]))
        throw Error(ErrorCode::not_finite, "the mass matrix has an entry that is not finite", where());
      if (mass[e] < 0)
        throw Error(ErrorCode::bad_input, "the mass is negative; check the density and the point masses", where());
      const bool own = share.stiffness.number[e] >= share.stiffness.first &&
                       share.stiffness.number[e] < share.stiffness.first + share.stiffness.owned;
      sums[0] += own;
      if (!(share.diagonal[e] > 0))
        throw Error(ErrorCode::singular,
                    mass[e] == 0
                        ? "this unknown has neither stiffness nor mass; prescribe it, or add an element that "
                          "has"
                        : "this unknown has a mass but no stiffness, so that it moves freely; prescribe it, or "
                          "add an element that resists it",
                    where());
      if (mass[e] == 0) {
        sums[1] += own;
        sums[4] += own && is_generalised_node(model_->domain(), model_->place(static_cast<std::int32_t>(e)).node);
        continue;
      }
      ratio = std::max(ratio, share.diagonal[e] / mass[e]);
      if (own) {
        sums[2] += mass[e];
        sums[3] += 1;
      }
    }
  });
  processes_.sum(sums);
  facts_.free_equations = std::llround(sums[0]);
  facts_.equations_without_mass = std::llround(sums[1]);
  facts_.fillers = std::llround(sums[4]);
  agree(processes_, [&] {
    if (facts_.free_equations == 0)
      throw Error(ErrorCode::bad_input, "every unknown of the model is prescribed, so that nothing can vibrate");
    if (!(sums[3] > 0))
      throw Error(ErrorCode::bad_input,
                  "no part that can move has a mass; give the materials a density (*DENSITY in a deck, \"density\" in "
                  "a job file)");
  });
  // Positive numbers have the order of their bits.
  std::int64_t bits = 0;
  static_assert(sizeof bits == sizeof ratio);
  std::copy_n(reinterpret_cast<const char*>(&ratio), sizeof ratio, reinterpret_cast<char*>(&bits));
  bits = processes_.maximum(bits);
  std::copy_n(reinterpret_cast<const char*>(&bits), sizeof ratio, reinterpret_cast<char*>(&ratio));
  facts_.largest_ratio = share.largest_ratio = ratio;
  share.mean_mass = sums[2] / sums[3];
}

ModeSet ProcessModes::solve(const EigenRequest& request) {
  prepare();
  check_problem();
  facts_ = {};
  facts_.possible_free_motions = possible_.count;
  facts_.others_possible = possible_.others_possible;
  const int dimension = static_cast<int>(processes_.maximum(largest_dimension(domain_)));
  facts_.affordable_equations = countable_equations(dimension);
  EigenShare share = form();
  look_at_diagonals(share);
  const Stopwatch watch;
  ModeSet set;
  solver_->set_system(std::move(share));
  set.report = find_process_modes(*solver_, facts_, request);
  if (const std::int64_t count = facts_.equations_without_mass - facts_.fillers; count > 0)
    note_once(set.report, massless_note(count));
  add_time("solve", watch.seconds());
  add_shapes(set);
  return set;
}

/// Shapes of the part, and participation factors and masses of the whole model: each part adds those of its elements.
void ProcessModes::add_shapes(ModeSet& set) {
  constexpr auto directions = static_cast<std::size_t>(ModeSet::directions);
  const std::size_t count = set.report.modes.size();
  const std::size_t equations = model_ ? static_cast<std::size_t>(model_->equation_count()) : 0;
  std::vector<double> values(equations * count), one(equations);
  for (std::size_t mode = 0; mode < count; ++mode) {
    solver_->shape(static_cast<int>(mode), one);
    for (std::size_t e = 0; e < equations; ++e) values[e * count + mode] = one[e];
  }
  std::vector<double> sums(directions * (count + 1), 0.0);
  together("recover", [&] {
    set.shapes.resize(count);
    set.modal_masses.assign(count, 0.0);  // until whole shapes are there
    if (!model_) return;
    const Vector motions = mode_rigid_motions(*model_);
    const Vector inertia = mode_rigid_inertia(*model_, MassKind::consistent, motions);
    backend_->column_dots(motions, inertia, std::span(sums).first(directions));
    if (count == 0) return;
    Vector vectors = model_->make_vector(static_cast<int>(count));
    vectors.from_host(values);
    const Vector all = modes_with_dependents(*model_, vectors);
    backend_->block_dot(all, inertia, std::span(sums).subspan(directions));
    set.shapes = nodal_shapes(*model_, all);
  });
  processes_.sum(sums);
  std::copy_n(sums.begin(), directions, set.total_mass.begin());
  set.participation.resize(count);
  for (std::size_t mode = 0; mode < count; ++mode)
    std::copy_n(sums.begin() + static_cast<std::ptrdiff_t>((mode + 1) * directions), directions,
                set.participation[mode].begin());
}

StepResult ProcessModes::result_of(const NodalField& shape, const std::string& step, bool recover) {
  StepResult result;
  together("recover", [&] {
    result.step = step;
    if (model_) result = result_of_shape(*model_, shape, step, recover);
  });
  complete_result(result);
  return result;
}

}  // namespace voussoir
