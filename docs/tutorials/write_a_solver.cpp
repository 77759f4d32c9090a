// Loads the library of write_a_solver_library.cpp and uses what it registers by name, as the command line does.
//
//   write_a_solver PATH/libwrite_a_solver_library.so

#include <cmath>
#include <cstdio>
#include <voussoir/backends/user_library.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/partitioners.hpp>
#include <voussoir/solvers/registries.hpp>
#include <voussoir/voussoir.hpp>

using namespace voussoir;

namespace {

int failures = 0;

void expect(bool fact, const char* what) {
  std::printf("%s: %s\n", fact ? "yes" : "NO ", what);
  failures += !fact;
}

/// How far the end of a cantilever goes down, and how the solver got there.
StepResult solve(const std::string& solver, const std::string& backend) {
  Domain domain;
  BoxMesh beam;
  beam.cells = {12, 3, 3};
  beam.upper = {4, 1, 1};
  add_box_mesh(domain, beam).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3));
  domain.prescribe("xmin", "all");
  domain.add_load_case("tip").traction("xmax", {0, 0, -1e6});
  StaticOptions options;
  options.backend = backend;
  options.solver = solver;
  StepResult result = make_static_analysis(domain, options)->run().front();
  std::printf("  %-16s %-9s uz = %.6e m, %4d iterations, true residual %.1e\n", solver.c_str(), backend.c_str(),
              result.unknowns.largest("uz").value, result.report.iterations, result.report.true_residual);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::printf("usage: write_a_solver LIBRARY\n");
    return 2;
  }
  const UserLibrary library = load_library(argv[1]);
  for (const std::string& what : library.registered) std::printf("registered %s\n", what.c_str());

  const double uz = solve("direct", "openmp").unknowns.largest("uz").value;
  const auto agrees = [&](const StepResult& result) {
    return std::abs(result.unknowns.largest("uz").value / uz - 1) < 1e-5 && result.report.true_residual < 1.1e-8;
  };
  const StepResult plain = solve("cg+block-jacobi", "openmp"), neumann = solve("cg+neumann:4", "openmp");
  expect(agrees(neumann), "CG with our preconditioner finds the direct solver's answer");
  expect(neumann.report.iterations < plain.report.iterations, "and needs fewer iterations than with block Jacobi");
  expect(agrees(solve("cg+neumann:4", "debug:2")), "on two devices too");
  expect(agrees(solve("descent+amg", "openmp")), "our solver works with the preconditioners of the library");
  expect(preconditioners().origin("neumann") == library.path, "the registry knows where it comes from");

  Domain box;
  BoxMesh mesh;
  mesh.cells = {8, 2, 2};
  add_box_mesh(box, mesh);
  const Partition slabs = DomainPartitioner(box).partition(*make_partitioner("slabs"), 4);
  expect(slabs.element_count(0) == 8 && slabs.interface_nodes().size() == 27,
         "our partitioner, found by name, cuts 8 x 2 x 2 elements along three planes of 9 nodes");

  try {
    make_solver("cg+neuman");
    expect(false, "a misspelt name is refused");
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    expect(std::string(error.what()).find("did you mean 'neumann'?") != std::string::npos,
           "and the right one proposed");
  }
  return failures;
}
