#include <voussoir/framework/grid/heat_analysis.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <voussoir/backends/grid_stock.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/backends/spelling.hpp>
#include <voussoir/backends/stencil_services.hpp>
#include <voussoir/framework/grid/detail/layered_material.hpp>
#include <voussoir/framework/grid/detail/line_sweeps.hpp>
#include <voussoir/framework/grid/detail/side_values.hpp>
#include <voussoir/framework/grid/grid_library.hpp>

namespace voussoir {
namespace {

constexpr std::pair<HeatScheme, const char*> scheme_names[] = {{HeatScheme::douglas, "douglas"},
                                                               {HeatScheme::peaceman_rachford, "peaceman-rachford"},
                                                               {HeatScheme::explicit_euler, "explicit"},
                                                               {HeatScheme::long_vectors, "long-vectors"}};

void check_material(const Grid& grid, const HeatMaterial& material) {
  const auto positive = [](double value, const char* what) {
    if (!(value > 0) || !std::isfinite(value))
      throw Error(ErrorCode::bad_input,
                  std::string("the ") + what + " is " + exact_number(value) + "; it must be greater than zero");
  };
  for (int a = 0; a < grid.dimensions(); ++a)
    positive(material.conductivity[static_cast<std::size_t>(a)], "conductivity");
  positive(material.density, "density");
  positive(material.specific_heat, "specific heat");
}

void check_long_vectors(const Grid& grid, const HeatMaterial& material) {
  const auto refuse = [](const std::string& why) {
    throw Error(ErrorCode::bad_input,
                "the scheme long-vectors is for square plates with fixed temperatures at all "
                "sides: " +
                    why + "; use the scheme explicit");
  };
  if (grid.dimensions() != 2) refuse("the grid has " + std::to_string(grid.dimensions()) + " dimensions");
  if (grid.nodes(0) != grid.nodes(1)) refuse("the numbers of nodes along x and y differ");
  if (std::abs(grid.spacing(0) - grid.spacing(1)) > 1e-12 * grid.spacing(0)) refuse("the distances of nodes differ");
  if (material.conductivity[0] != material.conductivity[1]) refuse("the conductivities differ");
  for (int s = 0; s < 4; ++s)
    if (grid.side(s).kind != SideKind::prescribed || !grid.side(s).value.steady())
      refuse(std::string("side ") + side_name(s) + " has no fixed temperature");
}

/// `limit` is the largest step of explicit schemes.
void check_options(const Grid& grid, double limit, const GridHeatOptions& options) {
  if (!(options.time_step > 0) || !std::isfinite(options.time_step))
    throw Error(ErrorCode::bad_input,
                "the time step is " + exact_number(options.time_step) + "; it must be greater than zero");
  if (!std::isfinite(options.start_time)) throw Error(ErrorCode::bad_input, "the start time is not finite");
  if (options.scheme == HeatScheme::peaceman_rachford && grid.dimensions() != 2)
    throw Error(ErrorCode::bad_input, "the scheme peaceman-rachford is for two dimensions, and the grid has " +
                                          std::to_string(grid.dimensions()) + "; use the scheme douglas");
  if ((options.scheme == HeatScheme::explicit_euler || options.scheme == HeatScheme::long_vectors) &&
      options.time_step > limit * (1 + 1e-12))
    throw Error(ErrorCode::bad_input, "the time step " + short_number(options.time_step, 6) +
                                          " is larger than explicit schemes allow for this grid and material, " +
                                          short_number(limit, 6) +
                                          "; use a smaller step, or the scheme douglas, which has no limit");
}

void check_one_material(const Grid& grid, const HeatMaterial& material, const GridHeatOptions& options) {
  check_material(grid, material);
  if (options.scheme == HeatScheme::long_vectors) check_long_vectors(grid, material);
  check_options(grid, GridHeatAnalysis::explicit_limit(grid, material), options);
}

void check_several_materials(const Grid& grid, const GridMaterials& materials, const GridHeatOptions& options) {
  bool same = materials.grid().dimensions() == grid.dimensions();
  for (int a = 0; same && a < grid.dimensions(); ++a) same = materials.grid().nodes(a) == grid.nodes(a);
  if (!same)
    throw Error(ErrorCode::bad_input, "the materials are those of another grid, of " +
                                          std::to_string(materials.size()) + " nodes, and this one has " +
                                          std::to_string(grid.node_count()) + ", or other numbers along its axes");
  if (options.scheme == HeatScheme::long_vectors)
    throw Error(ErrorCode::bad_input,
                "the scheme long-vectors is for one material; use the scheme explicit with several");
  check_options(grid, detail::layered_explicit_limit(grid, materials), options);
}

/// Heat per time that enters through flux sides: Σ over their nodes of value · factor(side, node) · weight, times the
/// volume of a cell over the distance of nodes. The factor is what the heat flow was divided by.
template <class Factor>
double heat_through_flux_sides(const Grid& grid, const detail::AllSides& values, Factor&& factor) {
  double total = 0;
  for (int s = 0; s < 2 * grid.dimensions(); ++s) {
    if (grid.side(s).kind != SideKind::flux) continue;
    const detail::SideValues& side = values[static_cast<std::size_t>(s)];
    if (side.zero()) continue;
    const int first = s / 2 == 0 ? 1 : 0, second = s / 2 == 2 ? 1 : 2;
    const auto weight = [&](int axis, int at) {
      if (axis >= grid.dimensions() || grid.is_periodic(axis)) return 1.0;
      const int end = at == 0 ? 2 * axis : at == grid.nodes(axis) - 1 ? 2 * axis + 1 : -1;
      return end < 0 ? 1.0 : grid.side(end).kind == SideKind::prescribed ? 0.0 : 0.5;
    };
    double sum = 0;
    for (int b = 0; b < grid.nodes(second); ++b)
      for (int a = 0; a < grid.nodes(first); ++a) {
        const std::size_t n =
            static_cast<std::size_t>(a) + static_cast<std::size_t>(grid.nodes(first)) * static_cast<std::size_t>(b);
        sum += weight(first, a) * weight(second, b) * side.at(n) * factor(s, n);
      }
    total += sum * grid.cell_volume() / grid.spacing(s / 2);
  }
  return total;
}

}  // namespace

const char* to_string(HeatScheme scheme) {
  for (const auto& [value, name] : scheme_names)
    if (value == scheme) return name;
  return "unknown";
}

std::vector<std::string> heat_scheme_names() {
  std::vector<std::string> names;
  for (const auto& [value, name] : scheme_names) names.emplace_back(name);
  return names;
}

HeatScheme heat_scheme(const std::string& name) {
  for (const auto& [value, known] : scheme_names)
    if (name == known) return value;
  const std::string near = nearest_name(name, heat_scheme_names());
  throw Error(ErrorCode::bad_input, "there is no scheme '" + name + "'" +
                                        (near.empty() ? "; there are douglas, peaceman-rachford, explicit, long-vectors"
                                                      : "; did you mean '" + near + "'?"));
}

/// Values of the sides at the current time and at the next one, and their memory on the devices.
struct GridHeatAnalysis::Sides {
  detail::AllSides now, next, change;
  GridSides at_now, at_next, stage;
  bool steady = true;    ///< no side changes with time
  bool changes = false;  ///< `change` is not zero
  double flux_now = 0, flux_next = 0;
};

struct GridHeatAnalysis::LongVectors {
  std::unique_ptr<LongVectorHeat> vectors;
};

GridHeatAnalysis::GridHeatAnalysis(Grid grid, HeatMaterial material, GridHeatOptions options,
                                   std::shared_ptr<Backend> backend)
    : space_((check_one_material(grid, material, options),
              std::make_shared<const GridSpace>(std::move(grid), std::move(backend)))),
      material_(material),
      options_(options),
      temperature_(space_),
      other_(space_),
      sources_(space_),
      sides_(std::make_unique<Sides>()) {
  make_sides();
  if (options.scheme == HeatScheme::douglas || options.scheme == HeatScheme::peaceman_rachford) {
    std::array<double, 3> weight{0, 0, 0};
    for (int a = 0; a < space_->grid().dimensions(); ++a)
      weight[static_cast<std::size_t>(a)] = 0.5 * options.time_step * material.diffusivity(a);
    sweeps_ = std::make_unique<detail::LineSweeps>(space_, weight, options.time_step);
  }
}

GridHeatAnalysis::GridHeatAnalysis(Grid grid, GridMaterials materials, GridHeatOptions options,
                                   std::shared_ptr<Backend> backend)
    : space_((check_several_materials(grid, materials, options),
              std::make_shared<const GridSpace>(std::move(grid), std::move(backend)))),
      options_(options),
      temperature_(space_),
      other_(space_),
      sources_(space_),
      sides_(std::make_unique<Sides>()) {
  make_sides();
  const bool implicit = options.scheme != HeatScheme::explicit_euler;
  layered_ =
      std::make_unique<detail::LayeredMaterial>(space_, std::move(materials), implicit ? 0.5 * options.time_step : 0.0);
  if (implicit) sweeps_ = std::make_unique<detail::LineSweeps>(space_, *layered_, options.time_step);
}

void GridHeatAnalysis::make_sides() {
  const Grid& own = space_->grid();
  for (GridSides* each : {&sides_->at_now, &sides_->at_next, &sides_->stage}) *each = GridSides(own.shape());
  for (int s = 0; s < 2 * own.dimensions(); ++s) sides_->steady = sides_->steady && own.side(s).value.steady();
}

GridHeatAnalysis::~GridHeatAnalysis() = default;

double GridHeatAnalysis::explicit_limit(const Grid& grid, const HeatMaterial& material) {
  double sum = 0;
  for (int a = 0; a < grid.dimensions(); ++a) sum += material.diffusivity(a) / (grid.spacing(a) * grid.spacing(a));
  return 1 / (2 * sum);
}

double GridHeatAnalysis::explicit_limit(const Grid& grid, const GridMaterials& materials) {
  return detail::layered_explicit_limit(grid, materials);
}

/// Values of the sides as differences need them: heat flows over conductivities, or with several materials over
/// capacities.
detail::AllSides GridHeatAnalysis::sides_at(double time) const {
  return layered_ ? detail::evaluate_sides(grid(), layered_->materials(), time)
                  : detail::evaluate_sides(grid(), material_.conductivity, time);
}

/// Diffusivities along the axes. Those of several materials are in the coefficients of differences, so that 1 is left.
std::array<double, 3> GridHeatAnalysis::rates() const {
  std::array<double, 3> all{0, 0, 0};
  for (int a = 0; a < grid().dimensions(); ++a)
    all[static_cast<std::size_t>(a)] = layered_ ? 1.0 : material_.diffusivity(a);
  return all;
}

double GridHeatAnalysis::heat_of_flux_sides(const detail::AllSides& values) const {
  return heat_through_flux_sides(grid(), values, [&](int side, std::size_t n) {
    return layered_ ? layered_->materials().capacity(detail::node_on_side(grid(), side, n))
                    : material_.conductivity[static_cast<std::size_t>(side / 2)];
  });
}

double GridHeatAnalysis::content() {
  return layered_ ? layered_->content(temperature_) : material_.capacity() * temperature_.integral();
}

void GridHeatAnalysis::add_source(double step, const Vector& rate, Vector& to) {
  if (layered_)
    layered_->add_source(step, rate, to);
  else
    space_->backend().axpy(step / material_.capacity(), rate, to);
}

void GridHeatAnalysis::begin() {
  if (begun_) return;
  begun_ = true;
  Sides& sides = *sides_;
  sides.now = sides_at(time());
  detail::put_sides(*space_, sides.now, sides.at_now);
  detail::put_sides(*space_, sides.now, sides.at_next);
  sides.next = sides.now;
  sides.flux_now = sides.flux_next = heat_of_flux_sides(sides.now);
  space_->services().set_prescribed(space_->layout(), sides.at_now, -1, temperature_.vector());
  if (step_ == 0) initial_content_ = content();
}

/// Moves the sides on by a step: what was next is now.
void GridHeatAnalysis::next_sides() {
  Sides& sides = *sides_;
  if (sides.steady) return;
  sides.now = std::move(sides.next);
  detail::put_sides(*space_, sides.now, sides.at_now);
  sides.flux_now = sides.flux_next;
  sides.next = sides_at(time_of(step_ + 1));
  detail::put_sides(*space_, sides.next, sides.at_next);
  sides.change = detail::combine_sides(1, sides.next, -1, sides.now);
  sides.changes = true;
  sides.flux_next = heat_of_flux_sides(sides.next);
}

void GridHeatAnalysis::diffuse(const Vector& from, const std::array<double, 3>& rate, double from_field, double factor,
                               const GridSides& sides, Vector& to) {
  if (layered_) {
    bool first = true;
    for (int a = 0; a < grid().dimensions(); ++a) {
      if (rate[static_cast<std::size_t>(a)] == 0) continue;
      layered_->diffuse(a, from, first ? from_field : 0, factor, first ? 0 : 1, sides, to);
      space_->services().add_slopes(space_->layout(), sides, a, 2 * factor / grid().spacing(a), to);
      first = false;
    }
    return;
  }
  GridDiffusionParameters parameters;
  std::copy(rate.begin(), rate.end(), parameters.rate);
  GridArguments arguments;
  arguments.fields[0] = &from;
  arguments.from_field = from_field;
  arguments.factor = factor;
  arguments.parameters = &parameters;
  space_->services().apply(GridLibrary::instance().find("grid.diffusion"), space_->layout(), sides, arguments, to);
}

const Vector* GridHeatAnalysis::source_rate() {
  if (sources_.empty()) return nullptr;
  const double middle = time_of(step_) + 0.5 * options_.time_step;
  const bool implicit = sweeps_ != nullptr;
  return &sources_.evaluate(sides_->at_now, implicit ? middle : time(), temperature_.vector());
}

void GridHeatAnalysis::count_heat(double flux_now, double flux_next) {
  const double step = options_.time_step;
  if (!sources_.empty()) from_sources_ += step * grid().cell_volume() * sources_.weighted_sum();
  through_flux_sides_ += step * (sweeps_ ? 0.5 * (flux_now + flux_next) : flux_now);
}

void GridHeatAnalysis::step() {
  begin();
  next_sides();
  switch (options_.scheme) {
    case HeatScheme::douglas:
      step_douglas();
      break;
    case HeatScheme::peaceman_rachford:
      step_peaceman_rachford();
      break;
    case HeatScheme::explicit_euler:
      step_explicit();
      break;
    case HeatScheme::long_vectors:
      step_long_vectors();
      break;
  }
  count_heat(sides_->flux_now, sides_->flux_next);
  ++step_;
}

void GridHeatAnalysis::step_douglas() {
  // (1 − τ/2 A_1) d_1 = τ (A u + b + f),  (1 − τ/2 A_j) d_j = d_{j−1},  u ← u + d_s: the sum of all stages of the
  // scheme, written for the change of the field. Sides of d_j: docs/grids.md.
  Sides& sides = *sides_;
  const double step = options_.time_step;
  const int dimensions = grid().dimensions();
  const std::array<double, 3> rate = rates();
  Vector& u = temperature_.vector();
  Vector& d = other_.vector();
  diffuse(u, rate, 0, step, sides.at_now, d);
  if (const Vector* source = source_rate()) add_source(step, *source, d);
  for (int axis = 0; axis < dimensions; ++axis) {
    if (sides.changes) {
      detail::StageCorrection later;
      if (layered_) later.materials = &layered_->materials();
      for (int a = axis + 1; a < dimensions; ++a)
        later.factor[static_cast<std::size_t>(a)] = 0.5 * step * rate[static_cast<std::size_t>(a)];
      detail::AllSides stage;
      for (const int s : {2 * axis, 2 * axis + 1})
        stage[static_cast<std::size_t>(s)] = detail::intermediate_side(grid(), s, sides.change, later);
      detail::put_sides(*space_, stage, sides.stage);
      space_->services().set_prescribed(space_->layout(), sides.stage, axis, d);
      space_->services().add_slopes(space_->layout(), sides.stage, axis,
                                    step * rate[static_cast<std::size_t>(axis)] / grid().spacing(axis), d);
    }
    sweeps_->solve(axis, d);
  }
  space_->backend().axpy(1, d, u);
  if (sides.changes) space_->services().set_prescribed(space_->layout(), sides.at_next, -1, u);
}

void GridHeatAnalysis::step_peaceman_rachford() {
  // (1 − τ/2 A_x) v = (1 + τ/2 A_y) u + τ/2 f,  (1 − τ/2 A_y) u' = (1 + τ/2 A_x) v + τ/2 f. At the sides across x,
  // v = u + ½ (d − τ/2 A_y d) with d = u' − u.
  Sides& sides = *sides_;
  const double step = options_.time_step, half = 0.5 * step;
  const double kx = rates()[0], ky = rates()[1];
  GridServices& services = space_->services();
  const GridLayout& layout = space_->layout();
  Vector& u = temperature_.vector();
  Vector& v = other_.vector();
  detail::AllSides middle = sides.now;
  if (sides.changes) {
    const detail::StageCorrection later{{0, half * ky, 0}, layered_ ? &layered_->materials() : nullptr};
    detail::AllSides stage;
    for (const int s : {0, 1})
      stage[static_cast<std::size_t>(s)] = detail::intermediate_side(grid(), s, sides.change, later);
    middle = detail::combine_sides(1, sides.now, 0.5, stage);
  }
  detail::put_sides(*space_, middle, sides.stage);

  const Vector* source = source_rate();
  diffuse(u, {0, ky, 0}, 1, half, sides.at_now, v);
  if (source) add_source(half, *source, v);
  services.set_prescribed(layout, sides.stage, 0, v);
  services.add_slopes(layout, sides.stage, 0, step * kx / grid().spacing(0), v);
  sweeps_->solve(0, v);

  diffuse(v, {kx, 0, 0}, 1, half, sides.stage, u);
  if (source) add_source(half, *source, u);
  const GridSides& next = sides.changes ? sides.at_next : sides.at_now;
  services.set_prescribed(layout, next, 1, u);
  services.add_slopes(layout, next, 1, step * ky / grid().spacing(1), u);
  sweeps_->solve(1, u);
  services.set_prescribed(layout, next, -1, u);
}

void GridHeatAnalysis::step_explicit() {
  diffuse(temperature_.vector(), rates(), 1, options_.time_step, sides_->at_now, other_.vector());
  if (const Vector* source = source_rate()) add_source(options_.time_step, *source, other_.vector());
  if (sides_->changes) space_->services().set_prescribed(space_->layout(), sides_->at_next, -1, other_.vector());
  std::swap(temperature_, other_);
}

void GridHeatAnalysis::step_long_vectors() {
  if (!sources_.empty())
    throw Error(ErrorCode::bad_input, "the scheme long-vectors has no sources; use the scheme explicit");
  if (!long_vectors_) {
    long_vectors_ = std::make_unique<LongVectors>();
    const double h = grid().spacing(0);
    long_vectors_->vectors = space_->backend().service<StencilServices>().make_long_vectors(
        grid().nodes(0) - 2, options_.time_step * material_.diffusivity(0) / (h * h), temperature_.to_host());
  }
  long_vectors_->vectors->steps(1);
}

void GridHeatAnalysis::check() {
  if (long_vectors_) {
    std::vector<double> values(static_cast<std::size_t>(grid().node_count()));
    long_vectors_->vectors->read(values);
    temperature_.from_host(values);
  }
  if (sweeps_) sweeps_->check();
  temperature_.summary();
}

bool GridHeatAnalysis::run(std::int64_t steps, const std::function<bool()>& observer) {
  bool go_on = true;
  for (std::int64_t s = 0; s < steps && go_on; ++s) {
    step();
    if (observer) go_on = observer();
  }
  check();
  return go_on;
}

HeatBalance GridHeatAnalysis::balance() {
  begin();
  check();
  HeatBalance balance;
  balance.content = content();
  balance.initial_content = initial_content_;
  balance.from_sources = from_sources_;
  balance.through_flux_sides = through_flux_sides_;
  return balance;
}

GridHeatState GridHeatAnalysis::state() {
  begin();
  check();
  return {step_, initial_content_, from_sources_, through_flux_sides_, temperature_.to_host()};
}

void GridHeatAnalysis::restore(const GridHeatState& state) {
  if (state.step < 0) throw Error(ErrorCode::bad_input, "a state cannot have " + std::to_string(state.step) + " steps");
  temperature_.from_host(state.temperature);
  temperature_.summary();
  step_ = state.step;
  initial_content_ = state.initial_content;
  from_sources_ = state.from_sources;
  through_flux_sides_ = state.through_flux_sides;
  begun_ = false;
  sides_->changes = false;
  long_vectors_.reset();
}

}  // namespace voussoir
