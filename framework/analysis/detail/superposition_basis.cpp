#include <voussoir/framework/analysis/detail/superposition_basis.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/detail/base_motion.hpp>
#include <voussoir/framework/analysis/integrator.hpp>
#include <voussoir/framework/model/free_motion.hpp>

namespace voussoir::detail {
namespace {

constexpr const char* place_name = "mode superposition";

[[noreturn]] void refuse(const std::string& text, const std::string& where = place_name) {
  throw Error(ErrorCode::bad_input, text, where);
}

/// K or M of all blocks on all equations, prescribed and dependent ones included.
std::unique_ptr<ElementOperator> block_operator(const AnalysisModel& model, double stiffness, double mass,
                                                MassKind kind) {
  std::vector<double> factors;
  for (const BatchOrigin& origin : model.batches()) factors.push_back(origin.kind == BatchOrigin::Kind::block ? 1 : 0);
  MatrixTerms terms;
  terms.stiffness = stiffness;
  terms.mass = mass;
  terms.mass_kind = kind;
  terms.batch_factors = factors;
  auto made =
      model.backend().make_element_operator(model.device_model(), ElementProduct::matrix_free, OperatorEquations::all);
  model.translating([&] { model.backend().assemble(model.device_model(), ElementState{}, terms, *made); });
  return made;
}

/// A hash of the bits of some numbers, in their order (Fowler, Noll and Vo's, a word at a time). Never 0.
std::uint64_t fingerprint_of(std::span<const double> values, std::uint64_t hash) {
  for (const double value : values) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x100000001b3u;
    hash ^= hash >> 32;
  }
  return hash == 0 ? 1 : hash;
}

}  // namespace

SuperpositionBasis::SuperpositionBasis(const AnalysisModel& model, const ModeSet& modes, MassKind mass)
    : model_(model), serial_(model.serial()), mass_kind_(mass), total_mass_(modes.total_mass) {
  check_model();
  mass_ = block_operator(model, 0, 1, mass);
  take_shapes(modes);
  check_modes(modes);
  for (int m = 0; m < modes.count(); ++m) {
    const EigenMode& mode = modes.report.modes[static_cast<std::size_t>(m)];
    omegas_.push_back(mode.free || mode.eigenvalue <= 0 ? 0 : std::sqrt(mode.eigenvalue));
    if (omegas_.back() == 0 && free_.empty()) free_ = "mode " + std::to_string(m + 1) + " is a free motion";
  }
  if (free_.empty())
    if (const auto motions = find_free_motions(model); !motions.empty()) free_ = motions.front().text;
}

void SuperpositionBasis::check_unchanged() const {
  if (model_.serial() != serial_ || model_.domain_revision() != model_.domain().revision())
    throw Error(
        ErrorCode::misuse,
        "the model or its domain has changed since the modes were taken; solve for modes again and make another "
        "ModeSuperposition",
        place_name);
}

void SuperpositionBasis::check_model() const {
  const Domain& domain = model_.domain();
  if (!model_.constraints().springs.empty())
    refuse("constraints by penalty are not covered; use the constraints 'transformation'");
  if (!model_.is_linear() || model_.has_history())
    refuse("an element is not linear or remembers its past; modes describe linear models alone");
  for (std::int32_t e = 0; e < model_.equation_count(); ++e)
    if (model_.is_prescribed(e) && model_.constraints().value[static_cast<std::size_t>(e)] != 0)
      refuse(
          "prescribed values other than zero are not covered: supports rest, or move with the base as one body; "
          "prescribe 0",
          model_.equation_label(e));
  for (const AffineDependency& d : model_.constraints().dependent)
    if (d.constant != 0)
      refuse("an equation or an oblique support has a constant other than zero, which is not covered; set it to 0",
             model_.equation_label(d.equation));
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    if (const auto& material = domain.block(b).material(); material && material->damping() != RayleighDamping{})
      refuse(
          "the material has damping of its own, which mode superposition does not use; remove it there, and give it as "
          "damping of the modes: *MODAL DAMPING, RAYLEIGH in a deck, the key 'damping' of a step in a job file, "
          "ModalDamping::rayleigh() or composite() in C++",
          "material '" + material->name() + "'");
}

/// Shapes are M-orthonormal and have their eigenvalues, or they belong to another model.
void SuperpositionBasis::check_modes(const ModeSet& modes) const {
  Backend& backend = model_.backend();
  const auto stiffness = block_operator(model_, 1, 0, mass_kind_);
  double scale = 0;
  for (int m = 0; m < modes.count(); ++m) scale = std::max(scale, modes.eigenvalue(m));
  constexpr int at_once = 8;  // columns: few for memory, several because each product reads all shapes
  for (int first = 0; first < modes.count(); first += at_once) {
    const int count = std::min(at_once, modes.count() - first);
    Vector columns = model_.make_vector(count), image = model_.make_vector(count);
    backend.copy_columns(shapes_, first, count, columns, 0);
    mass_times(columns, image);
    std::vector<double> products(static_cast<std::size_t>(modes.count() * count));
    backend.block_dot(shapes_, image, products);
    model_.translating([&] { stiffness->apply(columns, image); });
    std::vector<double> quotients(static_cast<std::size_t>(count));
    backend.column_dots(columns, image, quotients);
    for (int c = 0; c < count; ++c) {
      const std::string where = "mode " + std::to_string(first + c + 1);
      for (int k = 0; k < modes.count(); ++k)
        if (!(std::abs(products[static_cast<std::size_t>(k * count + c)] - (k == first + c ? 1 : 0)) <= 1e-6))
          refuse(
              "the shapes are not orthonormal with the mass matrix of this model: they belong to another model, or to "
              "another form of the mass matrix (consistent or lumped)",
              where);
      const EigenMode& mode = modes.report.modes[static_cast<std::size_t>(first + c)];
      const double allowed = mode.free ? 1e-6 * std::max(scale, 1e-300) + std::abs(mode.eigenvalue)
                                       : std::max(1e-5, 100 * mode.rounding) * mode.eigenvalue;
      if (scale > 0 && !(std::abs(quotients[static_cast<std::size_t>(c)] - mode.eigenvalue) <= allowed))
        refuse("the shape does not have its eigenvalue with the stiffness matrix of this model: it belongs to another",
               where);
    }
  }
}

void SuperpositionBasis::take_shapes(const ModeSet& modes) {
  if (modes.count() == 0) refuse("there are no modes to superpose");
  if (static_cast<int>(modes.report.modes.size()) != modes.count())
    refuse("the set of modes does not have an eigenvalue for each shape");
  if (!modes.report.converged)
    refuse(
        "the eigen-solver did not reach its tolerance for all modes; solve with more iterations or a larger "
        "tolerance");
  if (modes.report.completeness == Completeness::incomplete) incomplete_ = modes.report.statement;
  const auto& names = model_.unknown_names();
  const std::size_t width = names.size(), columns = static_cast<std::size_t>(modes.count());
  const std::size_t size = static_cast<std::size_t>(model_.domain().node_count()) * width;
  for (const NodalField& shape : modes.shapes)
    if (shape.components != names || shape.values.size() != size)
      refuse("the modes are those of another model: their nodes or unknowns differ");
  std::vector<double> values(static_cast<std::size_t>(model_.equation_count()) * columns);
  for (std::int32_t e = 0; e < model_.equation_count(); ++e) {
    const auto at = model_.place(e);
    const std::size_t place = static_cast<std::size_t>(at.node) * width + static_cast<std::size_t>(at.component);
    for (std::size_t m = 0; m < columns; ++m) {
      const double value = modes.shapes[m].values[place];
      if (!std::isfinite(value))
        refuse("mode " + std::to_string(m + 1) + " has no value here; the modes are those of another model",
               model_.equation_label(e));
      values[static_cast<std::size_t>(e) * columns + m] = value;
    }
  }
  shapes_ = model_.make_vector(modes.count());
  shapes_.from_host(values);
  std::vector<double> eigenvalues;
  for (int m = 0; m < modes.count(); ++m) eigenvalues.push_back(modes.eigenvalue(m));
  fingerprint_ = fingerprint_of(values, fingerprint_of(eigenvalues, 0xcbf29ce484222325u));
}

void SuperpositionBasis::mass_times(const Vector& x, Vector& y) const {
  model_.translating([&] { mass_->apply(x, y); });
}

Vector SuperpositionBasis::zeros() const {
  Vector x = model_.make_vector();
  model_.backend().fill(x, 0.0);
  return x;
}

Vector SuperpositionBasis::combination(std::span<const double> coefficients) const {
  Vector y = zeros();
  model_.backend().block_axpy(shapes_, coefficients, y);
  return y;
}

Vector SuperpositionBasis::shape(int mode) const {
  Vector y = model_.make_vector();
  model_.backend().copy_columns(shapes_, mode, 1, y, 0);
  return y;
}

Vector SuperpositionBasis::rigid_motion(int direction) const { return detail::rigid_motion(model_, direction); }

void SuperpositionBasis::note(const std::string& text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(text);
}

Vector SuperpositionBasis::force(const LoadPattern& pattern) const {
  Backend& backend = model_.backend();
  Vector f = zeros();
  if (pattern.direction >= 0) {
    mass_times(rigid_motion(pattern.direction), f);
    backend.scale(-1.0, f);
    return f;
  }
  std::vector<double> cases(model_.domain().load_case_count(), 0.0);
  cases[static_cast<std::size_t>(pattern.load_case)] = 1;
  auto factors = model_.batch_factors(cases);
  for (std::size_t b = 0; b < factors.size(); ++b)
    if (model_.batches()[b].kind != BatchOrigin::Kind::surface_load) factors[b] = 0;
  model_.translating([&] { backend.residual(model_.device_model(), ElementState{}, factors, false, f); });
  backend.scale(-1.0, f);
  model_.add_loads(cases, ElementState{}, f);
  return f;
}

int SuperpositionBasis::add(LoadPattern pattern) {
  check_unchanged();
  pattern.modal.resize(omegas_.size());
  model_.backend().block_dot(shapes_, force(pattern), pattern.modal);
  for (const double p : pattern.modal)
    if (!std::isfinite(p)) throw Error(ErrorCode::not_finite, "a load is not finite", pattern.label);
  patterns_.push_back(std::move(pattern));
  return static_cast<int>(patterns_.size()) - 1;
}

int SuperpositionBasis::pattern_of_case(const std::string& name) {
  const Domain& domain = model_.domain();
  const LoadCase& wanted = domain.load_case(name);  // throws for a name that does not exist
  int index = 0;
  while (&domain.load_case(static_cast<std::size_t>(index)) != &wanted) ++index;
  for (std::size_t p = 0; p < patterns_.size(); ++p)
    if (patterns_[p].load_case == index) return static_cast<int>(p);
  const std::string where = "load case '" + name + "'";
  if (!wanted.temperatures().empty())
    refuse("temperatures are not covered by mode superposition; put them into a load case of their own", where);
  std::vector<double> none(domain.load_case_count(), 0.0), this_one = none;
  this_one[static_cast<std::size_t>(index)] = 1;
  if (!model_.same_matrix(none, this_one))
    refuse("a surface load of this load case changes the stiffness, which the modes do not have", where);
  LoadPattern pattern;
  pattern.label = where;
  pattern.load_case = index;
  return add(std::move(pattern));
}

int SuperpositionBasis::pattern_of_direction(const std::string& name) {
  const int direction = base_direction(name);
  for (std::size_t p = 0; p < patterns_.size(); ++p)
    if (patterns_[p].direction == direction) return static_cast<int>(p);
  for (const std::string& text : check_follows_base(model_, direction, rigid_motion(direction))) note(text);
  LoadPattern pattern;
  pattern.label = std::string("base acceleration ") + (direction < 3 ? "along " + name : "about " + name.substr(1));
  pattern.direction = direction;
  return add(std::move(pattern));
}

void SuperpositionBasis::set_solver(std::shared_ptr<LinearSOE> soe, std::shared_ptr<Solver> solver) {
  if (!soe || !solver) throw Error(ErrorCode::misuse, "the static correction needs an SOE and a solver", place_name);
  soe_ = std::move(soe);
  solver_ = std::move(solver);
}

std::string SuperpositionBasis::no_statics() const {
  if (!free_.empty()) return "the model has no static response, since " + free_;
  if (!solver_) return "there is no solver for the static response; set one by set_solver()";
  return {};
}

void SuperpositionBasis::solve_statics(const std::vector<int>& patterns) {
  std::vector<int> wanted;
  for (const int p : patterns)
    if (!pattern(p).statics.layout() && std::find(wanted.begin(), wanted.end(), p) == wanted.end()) wanted.push_back(p);
  if (wanted.empty()) return;
  if (const std::string why = no_statics(); !why.empty())
    throw Error(ErrorCode::singular,
                why +
                    "; superpose without static correction: \"static_correction\": \"no\" in the step of a job file, "
                    "set_static_correction(false) in C++",
                "static correction");
  Backend& backend = model_.backend();
  const std::vector<double> none(model_.domain().load_case_count(), 0.0);
  const auto factors = model_.batch_factors(none);
  MatrixTerms terms;
  terms.batch_factors = factors;
  if (!soe_->has_model() || &soe_->model() != &model_) soe_->set_model(model_);
  model_.translating([&] { soe_->form(ElementState{}, terms); });
  const int columns = static_cast<int>(wanted.size());
  soe_->set_columns(columns);
  std::vector<Vector> forces;
  for (int c = 0; c < columns; ++c) {
    Vector& f = forces.emplace_back(force(pattern(wanted[static_cast<std::size_t>(c)])));
    Vector b = f.clone();
    backend.reduce_dependencies(model_.device_model(), b);
    backend.clear_constrained(model_.device_model(), b);
    backend.copy_columns(b, 0, 1, soe_->b(), c);
  }
  backend.fill(soe_->x(), 0.0);
  const SolveReport report = solver_->solve(*soe_);
  if (!report.free_motions.empty()) require_no_free_motion({describe_motion(model_, report.free_motions.front())});
  if (!report.converged)
    throw Error(report.not_positive_definite ? ErrorCode::singular : ErrorCode::not_converged,
                "the static response could not be solved for: " + report.reason, "static correction");
  for (int c = 0; c < columns; ++c) {
    LoadPattern& pattern = patterns_[static_cast<std::size_t>(wanted[static_cast<std::size_t>(c)])];
    Vector u = model_.make_vector();
    backend.copy_columns(soe_->x(), c, 1, u, 0);
    backend.clear_constrained(model_.device_model(), u);
    backend.expand_dependencies(model_.device_model(), u);
    pattern.static_energy = backend.dot(forces[static_cast<std::size_t>(c)], u);
    pattern.statics = std::move(u);
  }
}

std::vector<double> SuperpositionBasis::project(const NodalField& field, const std::string& what, double& whole) const {
  const auto& names = model_.unknown_names();
  const std::size_t width = names.size();
  if (field.components != names ||
      field.values.size() != static_cast<std::size_t>(model_.domain().node_count()) * width)
    refuse("the field is of another model: its nodes or unknowns differ", what);
  std::vector<double> values(static_cast<std::size_t>(model_.equation_count()));
  double largest = 0;
  for (std::int32_t e = 0; e < model_.equation_count(); ++e) {
    const auto at = model_.place(e);
    const double value =
        field.values[static_cast<std::size_t>(at.node) * width + static_cast<std::size_t>(at.component)];
    if (!std::isfinite(value)) refuse("the field has no value here", what + ", " + model_.equation_label(e));
    values[static_cast<std::size_t>(e)] = value;
    largest = std::max(largest, std::abs(value));
  }
  Vector given = model_.make_vector();
  given.from_host(values);
  // What does not satisfy the supports and equations is no motion relative to the base.
  Vector allowed = given.clone();
  model_.backend().clear_constrained(model_.device_model(), allowed);
  model_.backend().expand_dependencies(model_.device_model(), allowed);
  const std::vector<double> held = allowed.to_host();
  for (std::int32_t e = 0; e < model_.equation_count(); ++e)
    if (std::abs(values[static_cast<std::size_t>(e)] - held[static_cast<std::size_t>(e)]) > 1e-6 * largest)
      refuse("the field does not satisfy the supports or the equations of the model here",
             what + ", " + model_.equation_label(e));
  Vector inertia = model_.make_vector();
  mass_times(allowed, inertia);
  std::vector<double> q(omegas_.size());
  model_.backend().block_dot(shapes_, inertia, q);
  whole = model_.backend().dot(allowed, inertia);
  return q;
}

}  // namespace voussoir::detail
