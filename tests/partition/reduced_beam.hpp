#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/domain/generalised_node.hpp>
#include <voussoir/framework/domain/superelement_instance.hpp>
#include <voussoir/framework/io/superelement/reduced_part_file.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/reduce_part.hpp>
#include <voussoir/solvers/eigen/eigen_solvers.hpp>
#include <voussoir/solvers/static_problem.hpp>

// A beam whose parts are reduced, and how its solutions are compared.

namespace voussoir::testing {

inline constexpr double gravity[3] = {1.5, -0.5, -9.81};

/// A distorted cantilever with loads of several kinds; the first element of each cell column is cut off by `half()`.
inline void fill_beam(Domain& domain, bool clamped = true) {
  BoxMesh mesh;
  mesh.cells = {6, 2, 2};
  mesh.upper = {3, 1, 1};
  mesh.distortion = 0.1;
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e3, 0.3, 7.85e-3, 1.2e-5));
  if (clamped) domain.prescribe("xmin", "all");
  domain.add_load_case("push").nodal("xmax", "uz", -3.0).pressure("ymax", 2.0).traction("zmax", {0.5, 0, 0});
  domain.add_load_case("warm").temperature("xmax", 100.0);
  domain.add_load_case("weight").gravity("", {gravity[0], gravity[1], gravity[2]});
}

/// The part, written and read again.
inline std::shared_ptr<const ReducedPart> through_file(const ReducedPart& part) {
  return read_reduced_part_bytes(reduced_part_bytes(part), part.name + ".vsup");
}

/// Linear statics under the sum of these load cases.
inline StepResult solve(const Domain& domain, const std::vector<std::pair<std::string, double>>& cases,
                        const std::string& backend = "openmp", const std::string& solver = "direct") {
  StaticOptions options;
  options.backend = backend;
  options.solver = solver;
  auto analysis = make_static_analysis(domain, options);
  Step step{"step", {}, 1.0};
  for (const auto& [name, factor] : cases) step.load_cases[name] = factor;
  analysis->add_step(step);
  return analysis->run().at(0);
}

/// The lowest modes.
inline ModeSet modes_of(const Domain& domain, int count, const std::string& backend = "openmp") {
  ModalOptions options;
  options.backend = backend;
  options.solver = "lanczos";
  EigenRequest request;
  request.modes = count;
  return make_modal_analysis(domain, options)->solve(request);
}

/// Largest difference at the nodes that `some` has, over the largest value.
inline double difference(const Domain& domain, const NodalField& some, const Domain& whole, const NodalField& all) {
  double largest = 0, apart = 0;
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    if (is_generalised_node(domain, n)) continue;
    const std::int32_t other = whole.node_index(domain.node_id(n));
    for (int c = 0; c < some.width(); ++c) {
      if (std::isnan(some.at(n, c))) continue;
      apart = std::max(apart, std::abs(some.at(n, c) - all.at(other, some.components[static_cast<std::size_t>(c)])));
    }
  }
  for (const double v : all.values)
    if (!std::isnan(v)) largest = std::max(largest, std::abs(v));
  return apart / largest;
}

/// The message of the Error of this code that `work` has to throw.
inline std::string text_of_error(const std::function<void()>& work, ErrorCode code = ErrorCode::bad_input) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

/// A beam in two parts, and the model that consists of them.
struct TwoParts {
  explicit TwoParts(const ReduceOptions& options, bool clamped = true, const std::string& backend = "openmp") {
    fill_beam(whole, clamped);
    subdomains = make_subdomains(whole, DomainPartitioner(whole).partition(CoordinateBisection(), 2));
    for (const auto& subdomain : subdomains) {
      ReduceOptions own = options;
      own.name = "part" + std::to_string(subdomain->part());
      parts.push_back(through_file(reduce_part(*subdomain, Backend::open(backend), own)));
      SuperelementOptions placing;
      placing.add_nodes = true;
      instances.push_back(add_superelement(model, parts.back(), placing));
    }
    for (const char* name : {"push", "warm"}) {
      LoadCase& load = model.add_load_case(name);
      for (const auto& instance : instances) instance->apply(load, name);
    }
    model.add_load_case("weight").gravity("", {gravity[0], gravity[1], gravity[2]});
  }
  Domain whole, model;
  std::vector<std::unique_ptr<Subdomain>> subdomains;
  std::vector<std::shared_ptr<const ReducedPart>> parts;
  std::vector<std::shared_ptr<SuperelementInstance>> instances;
};

/// The beam whose end is a superelement with modes, under loads of both halves and their weight.
inline std::unique_ptr<Domain> beam_with_superelement() {
  Domain whole;
  fill_beam(whole);
  const auto halves = make_subdomains(whole, DomainPartitioner(whole).partition(CoordinateBisection(), 2));
  const bool first_is_clamped = !halves[0]->domain().prescribed().empty();
  ReduceOptions options;
  options.name = "end";
  options.modes = 5;
  const ReducedPart part = reduce_part(*halves[first_is_clamped ? 1 : 0], Backend::open("openmp"), options);
  auto domain = halves[first_is_clamped ? 0 : 1]->take_domain();
  const auto end = add_superelement(*domain, std::make_shared<const ReducedPart>(part));
  end->apply(domain->add_load_case("push on the end"), "push", 2);
  return domain;
}

}  // namespace voussoir::testing
