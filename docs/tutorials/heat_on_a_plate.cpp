// The program of heat_on_a_plate.md: heat on a periodic plate, sweep by sweep, by the ready analysis, and with kernels
// of our own. Fails where the numbers contradict each other.

#include <voussoir/backends/grid_stock.hpp>
#include <voussoir/backends/sweep_services.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/grid/grid_library.hpp>
#include <voussoir/framework/io/picture/grid_picture.hpp>
#include <voussoir/solvers/cost/calibration.hpp>
#include <voussoir/solvers/cost/pyramid_height.hpp>
#include <voussoir/solvers/cost/pyramid_plot.hpp>
#include <voussoir/voussoir.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>

#include "heat_on_a_plate_elements.hpp"

using namespace voussoir;

namespace {

constexpr int nodes = 128;
constexpr double diffusivity = 0.02, time_step = 0.01;
constexpr int steps = 50;

double start(const GridPosition& x) {
  return std::sin(2 * std::numbers::pi * x[0]) * std::sin(4 * std::numbers::pi * x[1]);
}

/// A plan for (1 − τ/2 A) v = f on periodic lines: one matrix for all of them, factored once.
std::unique_ptr<SweepPlan> periodic_lines(Backend& backend, double spacing) {
  const double r = 0.5 * time_step * diffusivity / (spacing * spacing);
  const std::vector<double> side(nodes, -r), middle(nodes, 1 + 2 * r);
  const Array<double> lower(backend.memory(0), std::span(side)), diagonal(backend.memory(0), std::span(middle)),
      upper(backend.memory(0), std::span(side));
  SweepOptions options;
  options.periodic = true;
  return backend.service<SweepServices>().prepare(SweepCoefficients<double>{lower, diagonal, upper}, nodes, options);
}

/// to = from + τ/2 A from, with the second difference along one axis.
void half_explicit(const GridSpace& space, const GridSides& sides, int axis, const Vector& from, Vector& to) {
  GridDiffusionParameters parameters{{0, 0, 0}};
  parameters.rate[axis] = diffusivity;
  GridArguments arguments;
  arguments.fields[0] = &from;
  arguments.from_field = 1;
  arguments.factor = 0.5 * time_step;
  arguments.parameters = &parameters;
  space.services().apply(GridLibrary::instance().find("grid.diffusion"), space.layout(), sides, arguments, to);
}

/// Iterations on a block in host memory that crosses a small device memory slab by slab.
struct StreamedBlock {
  StencilProblem problem;
  std::vector<double> u, f;
  std::unique_ptr<StencilIteration<double>> iteration;

  StreamedBlock(StencilServices& stencils, const StencilProblem& block, double budget, const HeightChoice& choice)
      : problem(block), u(static_cast<std::size_t>(block.size())), f(u.size(), 1.0) {
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = std::sin(static_cast<double>(i));
    StencilOptions options;
    options.height = choice.height;
    options.slab = choice.slab;
    options.device_bytes = static_cast<std::size_t>(budget);
    iteration = stencils.stream_jacobi(problem, u, f, options);
  }
};

/// Chooses the height of pyramids by the cost model, draws why, and checks that the height changes no bit.
bool choose_height_of_pyramids(const std::shared_ptr<Backend>& backend) {
  auto& stencils = backend->service<StencilServices>();
  StencilProblem block;  // a stack of 96 plates, whose steady temperature is wanted
  block.nodes = {96, 96, 96};
  const double budget = 24.0 * static_cast<double>(block.size()) / 4;
  CalibrationOptions how;
  how.elements = how.solvers = false;
  how.largest_bytes = 3e7;
  const CostModel model(calibrate(backend, how));
  const PyramidJob job = make_pyramid_job(stencils, block, true, 8, budget, backend->devices());
  constexpr int largest = 9;
  const auto choice = model.choose_height(job, largest);
  if (!choice) return false;

  std::vector<std::pair<int, double>> measured;
  for (const int h : {1, 2, 3, 4, 5, 6, 7, 9}) {
    const auto with = model.choose_slab(job, h);
    if (!with) return false;
    StreamedBlock run(stencils, block, budget, *with);
    const std::vector<double> weights(static_cast<std::size_t>(h), 1.0);
    double least = 1e300;
    for (int repetition = 0; repetition < 4; ++repetition) {
      const Stopwatch watch;
      run.iteration->iterate(weights);
      backend->wait();
      least = std::min(least, watch.seconds() / h);
    }
    measured.emplace_back(h, least);
    std::printf("h = %d: %.2f ms per iteration predicted, %.2f measured%s\n", h, 1e3 * with->seconds, 1e3 * least,
                h == choice->height ? ", chosen" : "");
    if (with->seconds < choice->seconds * (1 - 1e-12)) return false;  // the choice is not the minimum
  }
  std::ofstream("heat_on_a_plate_height.svg") << pyramid_plot(model, job, largest, measured);

  StreamedBlock high(stencils, block, budget, *choice), low(stencils, block, budget, *model.choose_slab(job, 1));
  const std::vector<double> twelve(12, 1.0);
  high.iteration->iterate(twelve);
  low.iteration->iterate(twelve);
  backend->wait();
  return high.u == low.u;
}

}  // namespace

int main() {
  Grid plate({nodes, nodes}, {1, 1});
  plate.periodic('x').periodic('y');

  // Peaceman and Rachford's scheme, sweep by sweep.
  const auto backend = Backend::open("openmp");
  const auto space = std::make_shared<const GridSpace>(plate, backend);
  GridField u(space), v(space);
  u.fill(start);
  const GridSides sides(plate.shape());
  auto& sweeps = backend->service<SweepServices>();
  const auto plan = periodic_lines(*backend, plate.spacing(0));
  for (int n = 0; n < steps; ++n) {
    half_explicit(*space, sides, 1, u.vector(), v.vector());  // v = (1 + τ/2 A_y) u
    Array<double>& rows = v.vector().part(0);
    sweeps.solve(*plan, SweepShape::x_lines(nodes, nodes), rows, rows);  // (1 − τ/2 A_x) v = v
    half_explicit(*space, sides, 0, v.vector(), u.vector());             // u = (1 + τ/2 A_x) v
    Array<double>& columns = u.vector().part(0);
    sweeps.solve(*plan, SweepShape::y_lines(nodes, nodes), columns, columns);  // (1 − τ/2 A_y) u = u
  }

  // The wave is an eigenfunction of the differences: each step multiplies it by a known factor.
  const double h = plate.spacing(0);
  double factor = 1;
  for (const int waves : {1, 2}) {
    const double z = -time_step * diffusivity * 4 * std::pow(std::sin(std::numbers::pi * waves * h) / h, 2);
    factor *= (1 + z / 2) / (1 - z / 2);
  }
  double worst = 0;
  const std::vector<double> by_hand = u.to_host();
  for (std::size_t i = 0; i < by_hand.size(); ++i)
    worst =
        std::max(worst, std::abs(by_hand[i] - std::pow(factor, steps) * start(plate.position(static_cast<int>(i)))));
  std::printf("sweep by sweep: largest error against the discrete solution %.1e\n", worst);
  if (worst > 1e-13) return 1;

  // The same by the ready analysis, with a torch that circles over the plate.
  HeatMaterial material;
  material.conductivity.fill(diffusivity);
  GridHeatAnalysis heat(plate, material, {HeatScheme::peaceman_rachford, time_step}, backend);
  heat.temperature().fill(start);
  heat.run(steps);
  const std::vector<double> ready = heat.temperature().to_host();
  worst = 0;
  for (std::size_t i = 0; i < ready.size(); ++i) worst = std::max(worst, std::abs(ready[i] - by_hand[i]));
  std::printf("GridHeatAnalysis: largest difference %.1e\n", worst);
  if (worst > 1e-13) return 1;

  GridHeatAnalysis circled(plate, material, {HeatScheme::peaceman_rachford, time_step}, backend);
  circled.sources().add(GridTerm::of<Torch>({40, 0.3, 0.03, 1}));
  circled.run(90);
  const HeatBalance balance = circled.balance();
  std::printf("torch: heat %.6f from sources, %.6f in the plate, defect %.1e\n", balance.from_sources, balance.content,
              balance.remainder());
  if (std::abs(balance.remainder()) > 1e-12 * balance.content) return 1;
  GridPictureOptions picture;
  picture.title = "A torch on a periodic plate";
  picture.subtitle = "Peaceman-Rachford, 128 × 128 nodes, time 0.9";
  picture.overwrite = true;
  write_grid_picture(plate, circled.temperature().to_host(), "heat_on_a_plate.png", picture);

  // An explicit scheme with a stencil of our own.
  ExplicitGridAnalysis drift(plate, 1e-3, backend);
  drift.add<Drift>({1.0, 1e-3});
  drift.field().fill(
      [](const GridPosition& x) { return std::exp(-100 * (std::pow(x[0] - 0.3, 2) + std::pow(x[1] - 0.5, 2))); });
  const double before = drift.field().integral();
  drift.run(400);
  const GridPosition top = plate.position(drift.field().summary().greatest_at);
  std::printf("drift: the top has moved from x = 0.3 to x = %.2f, its heat by %.1e\n", top[0],
              drift.field().integral() - before);
  if (std::abs(top[0] - 0.7) > 0.02 || std::abs(drift.field().integral() - before) > 1e-14) return 1;

  // A block that is larger than the memory of the device.
  return choose_height_of_pyramids(backend) ? 0 : 1;
}
