#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/eigen/eigen_solvers.hpp>

namespace voussoir::test {

inline constexpr double pi = 3.14159265358979323846;

inline std::shared_ptr<Material> dense_material(double young, double poisson, double density) {
  return std::make_shared<IsotropicMaterial>("m" + std::to_string(density), young, poisson, density);
}

/// A box whose sets begin with its name.
inline void add_box(Domain& d, const std::string& name, std::array<int, 3> cells, std::array<double, 3> lower,
                    std::array<double, 3> upper, const std::shared_ptr<Material>& material,
                    const std::string& type = "solid.hex8") {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = cells;
  mesh.lower = lower;
  mesh.upper = upper;
  mesh.block = name;
  mesh.set_prefix = name + "_";
  add_box_mesh(d, mesh).set_material(material);
}

inline ModeSet modes_of(const Domain& d, int count, const std::string& solver = "auto",
                        const std::string& backend = "openmp:2", EigenRequest request = {},
                        MassKind mass = MassKind::consistent) {
  ModalOptions options;
  options.backend = backend;
  options.solver = solver;
  options.mass = mass;
  request.modes = count;
  return make_modal_analysis(d, options)->solve(request);
}

/// What every set of modes has to be: exact, orthonormal, complete.
inline void expect_sound(const ModeSet& modes, double tolerance = 1e-8) {
  EXPECT_TRUE(modes.report.converged) << modes.report.solver;
  EXPECT_EQ(modes.report.completeness, Completeness::verified) << modes.report.statement;
  EXPECT_TRUE(modes.report.statement.starts_with("verified: ")) << modes.report.statement;
  EXPECT_LT(modes.report.orthogonality, 1e-11);
  for (const EigenMode& mode : modes.report.modes) EXPECT_LE(mode.residual, std::max(tolerance, mode.rounding));
  for (int m = 1; m < modes.count(); ++m)
    EXPECT_LE(modes.eigenvalue(m - 1),
              modes.eigenvalue(m) * (1 + std::max(1e-12, modes.report.modes[static_cast<std::size_t>(m)].rounding)))
        << m;
}

inline int free_modes(const ModeSet& modes) {
  int count = 0;
  for (const EigenMode& mode : modes.report.modes) count += mode.free;
  return count;
}

}  // namespace voussoir::test
