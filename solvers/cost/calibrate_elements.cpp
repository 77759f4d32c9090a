#include <array>

#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/framework/model/analysis_model.hpp>
#include <voussoir/solvers/cost/detail/calibrator.hpp>
#include <voussoir/solvers/cost/detail/sample_box.hpp>

// Rates of what is done with elements: patterns, integration, assembly, products.

namespace voussoir::detail {
namespace {

/// An element type and the numbers of cells per side at which it is measured, ascending.
struct TypeSizes {
  std::string type;
  std::vector<int> sizes;
  bool sparse_rows = false;  ///< whether products with single entries are measured with this type
};

std::vector<TypeSizes> measured_types(const Calibrator& c) {
  if (c.options().quick) return {{"solid.hex8.full", {4, 10}, true}, {"plane_stress.quad4", {10, 40}}};
  std::vector<TypeSizes> all{{"solid.hex8.full", {6, 14, 26, 40}, true},
                             {"solid.hex8", {6, 20}},
                             {"solid.hex20", {3, 8, 14}},
                             {"solid.tet4", {6, 22}},
                             {"solid.tet10", {4, 12}},
                             {"plane_stress.quad4", {30, 240}},
                             {"plane_stress.quad8", {20, 140}},
                             {"heat.hex8", {8, 36}}};
  if (!c.on_host()) all.front().sizes.push_back(72);  // fills a GPU
  return all;
}

/// The measurements of one type, size by size: each model is made once for all operations.
struct TypeSamples {
  std::vector<CostSample> pattern, integrate, assemble, bsr, csr, element, matrix_free;
};

void measure_stored(const Calibrator& c, const AnalysisModel& model, double elements, bool sparse_rows,
                    TypeSamples& all) {
  Backend& backend = *c.backend();
  const DeviceModel& device = model.device_model();
  const int block = device.uniform_components();
  std::unique_ptr<SparseMatrix> matrix;
  double seconds = 0;
  CostSample pattern;
  for (int run = 0; run < 3; ++run) {
    matrix.reset();
    const Stopwatch watch;
    matrix = backend.make_matrix(device, block);
    backend.wait();
    seconds = run == 0 ? watch.seconds() : std::min(seconds, watch.seconds());
  }
  const double vectors = 16.0 * static_cast<double>(model.equation_count());
  const auto bytes = static_cast<double>(matrix->bytes());
  all.pattern.push_back({elements, bytes, seconds, 0});
  all.assemble.push_back(c.measure(elements, bytes, [&] { backend.assemble(device, nullptr, {}, *matrix); }));
  Vector x = model.make_vector(), y = model.make_vector();
  backend.fill(x, 0.37);
  const double numbers = static_cast<double>(matrix->stored_blocks()) * block * block;
  all.bsr.push_back(c.measure(numbers, bytes + vectors, [&] { matrix->apply(x, y); }));
  if (!sparse_rows) return;
  matrix = backend.make_matrix(device, 1);
  backend.assemble(device, nullptr, {}, *matrix);
  all.csr.push_back(c.measure(static_cast<double>(matrix->stored_blocks()),
                              static_cast<double>(matrix->bytes()) + vectors, [&] { matrix->apply(x, y); }));
}

void measure_by_elements(const Calibrator& c, const AnalysisModel& model, double elements, TypeSamples& all) {
  Backend& backend = *c.backend();
  const DeviceModel& device = model.device_model();
  Vector x = model.make_vector(), y = model.make_vector();
  backend.fill(x, 0.37);
  const double vectors = 16.0 * static_cast<double>(model.equation_count());
  for (const auto product : {ElementProduct::gather, ElementProduct::matrix_free}) {
    const auto matrix = backend.make_element_operator(device, product);
    backend.assemble(device, nullptr, {}, *matrix);
    const double bytes = static_cast<double>(matrix->bytes()) + vectors;
    if (product == ElementProduct::gather) {
      all.integrate.push_back(c.measure(elements, bytes, [&] { backend.assemble(device, nullptr, {}, *matrix); }));
      all.element.push_back(c.measure(elements, bytes, [&] { matrix->apply(x, y); }));
    } else {
      all.matrix_free.push_back(c.measure(elements, bytes, [&] { matrix->apply(x, y); }));
    }
  }
}

TypeSamples measure_type(Calibrator& c, const TypeSizes& what, ElementClass& type) {
  TypeSamples all;
  for (const int n : what.sizes) {
    const auto domain = make_sample_box(what.type, n);
    const AnalysisModel model(*domain, c.backend(), TransformationHandler(), PlainNumberer());
    const ElementProgram& program = domain->block(std::size_t{0}).type().program();
    type = {what.type, program.nodes(), program.points(), model.device_model().uniform_components()};
    const auto elements = static_cast<double>(domain->element_count());
    measure_stored(c, model, elements, what.sparse_rows, all);
    measure_by_elements(c, model, elements, all);
  }
  return all;
}

}  // namespace

void calibrate_elements(Calibrator& c) {
  for (const TypeSizes& what : measured_types(c))
    c.group("elements: " + what.type, [&] {
      ElementClass type;
      TypeSamples all = measure_type(c, what, type);
      // A second look at the first attempt's numbers is a whole new measurement of the type.
      int uses = 0;
      const auto take = [&](const std::string& name, std::vector<CostSample> TypeSamples::*which) {
        uses = 0;
        c.add(name, [&] {
          if (uses++ > 0) all = measure_type(c, what, type);
          return all.*which;
        });
      };
      take(operations::of_type("pattern", what.type), &TypeSamples::pattern);
      take(operations::of_type("integrate", what.type), &TypeSamples::integrate);
      take(operations::of_type("assemble", what.type), &TypeSamples::assemble);
      take(operations::of_type("product element", what.type), &TypeSamples::element);
      take(operations::of_type("product matrix-free", what.type), &TypeSamples::matrix_free);
      if (!c.profile().find(operations::bsr(type.components)))
        take(operations::bsr(type.components), &TypeSamples::bsr);
      if (what.sparse_rows) take(std::string(operations::csr), &TypeSamples::csr);
      c.profile().element_types.push_back(type);
    });
}

}  // namespace voussoir::detail
