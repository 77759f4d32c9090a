#include <fmt/core.h>

#include <algorithm>

#include <voussoir/apps/bench/workloads.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/backends/library_part.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>

// Elements as users write them, beside the library's own: the same law with less and less of what makes it fast, laws
// that the library does not have, and how long they take when they are used for the first time.

namespace voussoir::app {
namespace {

/// Loads the elements that are measured.
void load_elements() { load_part("libvoussoir-bench-elements.so", "the workload user-element"); }

/// What is measured of an element type, with the targets for Model H.
struct UserElement {
  std::string what, type;
  double assemble_target = 0, product_target = 0, residual_target = 0;
};

/// A material with everything that the laws name.
std::shared_ptr<const Material> body() {
  auto material = std::make_shared<Material>("body");
  for (const auto& [name, value] : {std::pair{"young", 210e9},
                                    {"poisson", 0.3},
                                    {"density", 7850.0},
                                    {"expansion", 0.0},
                                    {"thermal_strain", 1.2e-5},
                                    {"conductivity", 50.0}})
    material->set(name, value);
  return material;
}

std::unique_ptr<Domain> make_cube(const std::string& type, int size) {
  auto domain = make_box(type, {size, size, size});
  domain->block(std::size_t{0}).set_material(body());
  return domain;
}

/// The tangent times x by differences of residuals, for a law that nothing else is known of.
double tangent_difference(const BenchModel& model, const Vector& u, const std::vector<double>& x,
                          const std::vector<double>& product) {
  Backend& backend = model.backend();
  const auto residual = [&](double step) {
    std::vector<double> moved = u.to_host();
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += step * x[i];
    const Vector state = model.vector(moved);
    Vector r = model.analysis_model().make_vector();
    backend.fill(r, 0);
    backend.residual(model.device(), state, {}, false, r);
    return r.to_host();
  };
  const double step = 1e-6;
  const std::vector<double> ahead = residual(step), behind = residual(-step);
  std::vector<double> slope(product.size());
  for (std::size_t i = 0; i < slope.size(); ++i)
    slope[i] =
        model.analysis_model().is_free(static_cast<std::int32_t>(i)) ? (ahead[i] - behind[i]) / (2 * step) : product[i];
  return relative_difference(product, slope);
}

void element_rows(BenchRig& rig, const UserElement& element, int size, bool model_h) {
  const auto target = [&](double seconds) { return model_h ? rig.target(seconds) : 0; };
  const auto label = [&](const char* routine) { return fmt::format("{}: {}", element.what, routine); };
  BenchModel model(rig.open(), make_cube(element.type, size));
  Backend& backend = model.backend();
  // Small against the cells, so that no element turns inside out.
  std::vector<double> displaced = model.rough(11);
  for (double& number : displaced) number *= 0.02 / size;
  const Vector u = model.vector(displaced);
  const std::vector<double> x = model.rough(3);
  const Vector from = model.vector(x);
  Vector to = model.analysis_model().make_vector();
  const std::string route = fmt::format("{} route", to_string(backend.route(model.program())));
  std::vector<double> product;

  rig.row(label("integrate + assemble"), [&](BenchRow& row) {
    const Stopwatch watch;
    auto matrix = backend.make_matrix(model.device(), model.components());
    const double pattern = watch.seconds();
    backend.assemble(model.device(), u, {}, *matrix);
    backend.wait();
    const double first = watch.seconds() - pattern;
    row.seconds = rig.measure(backend, [&] { backend.assemble(model.device(), u, {}, *matrix); });
    matrix->apply(from, to);
    product = to.to_host();
    row.difference = tangent_difference(model, u, x, product);
    row.tolerance = 1e-6;
    row.target = target(element.assemble_target);
    row.floor = rig.floor(static_cast<double>(matrix->bytes()) + model.geometry_bytes());
    row.note =
        fmt::format("{}, {:.0f} M elements/s, {:.2f} s at first", route, model.elements() / row.seconds * 1e-6, first);
    row.figures.emplace_back("first_use_seconds", first);
  });
  rig.row(label("product, nothing stored"), [&](BenchRow& row) {
    auto matrix = backend.make_element_operator(model.device(), ElementProduct::matrix_free);
    backend.assemble(model.device(), u, {}, *matrix);
    row.seconds = rig.measure(backend, [&] { matrix->apply(from, to); });
    if (!product.empty()) row.difference = relative_difference(to.to_host(), product);
    row.tolerance = 1e-11;
    row.target = target(element.product_target);
    row.floor = rig.floor(model.geometry_bytes() + 2 * model.vector_bytes(),
                          flops_per_point * model.program().points() * model.elements());
    row.note = fmt::format("{:.2f} G unknowns/s", model.equations() / row.seconds * 1e-9);
  });
  if (model.program().point_numbers() > 0)
    rig.row(label("product, tangents at points"), [&](BenchRow& row) {
      auto matrix = backend.make_element_operator(model.device(), ElementProduct::points);
      const double stored = rig.measure(backend, [&] { backend.assemble(model.device(), u, {}, *matrix); });
      row.seconds = rig.measure(backend, [&] { matrix->apply(from, to); });
      if (!product.empty()) row.difference = relative_difference(to.to_host(), product);
      row.tolerance = 1e-11;
      row.floor = rig.floor(8.0 * model.program().point_numbers() * model.elements() + 2 * model.vector_bytes());
      row.note =
          fmt::format("{} numbers per element, stored in {:.2f} ms", model.program().point_numbers(), stored * 1e3);
      row.figures.emplace_back("store_seconds", stored);
    });
  rig.row(label("residual"), [&](BenchRow& row) {
    Vector r = model.analysis_model().make_vector();
    backend.fill(r, 0);
    row.seconds = rig.measure(backend, [&] { backend.residual(model.device(), u, {}, false, r); });
    row.target = target(element.residual_target);
    row.floor = rig.floor(model.geometry_bytes() + 2 * model.vector_bytes(),
                          flops_per_point * model.program().points() * model.elements());
  });
}

}  // namespace

void bench_user_element(BenchRig& rig) {
  load_elements();
  const int n = rig.setup().size, third = std::max(1, 3 * n / 7), half = std::max(1, n / 2);
  rig.table().begin("user-element",
                    "the library's elements and those of users; tangents are checked by differences of residuals");
  const std::vector<UserElement> cubes{
      {"the library's solid", "solid.hex8.full", 0.8e-3, 0.125e-3, 0},
      {"as tuned as that", "tuned_solid.hex8", 0, 0, 0},
      {"linear, prepare, dflux", "prepared_solid.hex8", 1.7e-3, 0.16e-3, 0},
      {"flux and dflux", "tutorial_solid.hex8", 1.7e-3, 0.16e-3, 0},
      {"flux alone", "flux_solid.hex8", 1.7e-3, 0.16e-3, 0},
      {"St Venant–Kirchhoff, flux and dflux", "svk_solid.hex8", 3.0e-3, 0.30e-3, 0.25e-3},
      {"the same, flux alone", "svk_flux.hex8", 3.0e-3, 0.30e-3, 0.25e-3},
      {"the same, energy alone", "svk_energy.hex8", 4.5e-3, 0.45e-3, 0.375e-3},
      {"four unknowns, not symmetric", "thermo_elastic_solid.hex8", 0, 0, 0}};
  for (const UserElement& element : cubes) element_rows(rig, element, n, true);
  for (const UserElement& element :
       {UserElement{"Tet10, the library's solid", "solid.tet10"}, UserElement{"Tet10, flux alone", "flux_solid.tet10"},
        UserElement{"Tet10, St Venant–Kirchhoff", "svk_solid.tet10"}})
    element_rows(rig, element, third, false);
  for (const UserElement& element :
       {UserElement{"Hex20, the library's solid", "solid.hex20"}, UserElement{"Hex20, flux alone", "flux_solid.hex20"}})
    element_rows(rig, element, half, false);
}

}  // namespace voussoir::app
