#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <voussoir/solvers/static_problem.hpp>

namespace voussoir::testing {

/// Every method of domain decomposition, as a solver.
inline const std::vector<std::string>& decomposition_methods() {
  static const std::vector<std::string> methods{"cg+asm",  "cg+asm2", "gmres+ras", "gmres+ras2", "cg+msm",
                                                "cg+msm2", "cg+bddc", "cg+nn",     "schur",      "feti-dp"};
  return methods;
}

inline StepResult solved(const Domain& domain, const std::string& solver, const std::string& backend = "openmp:2",
                         double residual = 1e-11) {
  StaticOptions options;
  options.backend = backend;
  options.solver = solver;
  options.relative_tolerance = residual;
  options.max_iterations = 3000;
  return make_static_analysis(domain, options)->run().front();
}

inline void expect_close(const NodalField& a, const NodalField& b, double tolerance) {
  ASSERT_EQ(a.values.size(), b.values.size());
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (std::isnan(b.values[i])) continue;
    largest = std::max(largest, std::abs(b.values[i]));
    apart = std::max(apart, std::abs(a.values[i] - b.values[i]));
    if (std::isnan(a.values[i])) apart = HUGE_VAL;
  }
  EXPECT_GT(largest, 0);
  EXPECT_LE(apart, tolerance * largest);
}

/// All methods on all numbers of parts against the direct solver: unknowns, and reactions to ten times the tolerance.
inline void expect_right_by_all(const Domain& domain, std::initializer_list<int> parts, const std::string& more = {},
                                double tolerance = 1e-8, double residual = 1e-11) {
  const StepResult direct = solved(domain, "direct");
  for (const std::string& method : decomposition_methods())
    for (const int p : parts) {
      SCOPED_TRACE(method + ", " + std::to_string(p) + " parts");
      const StepResult result = solved(domain, method + ":parts=" + std::to_string(p) + more, "openmp:2", residual);
      expect_close(result.unknowns, direct.unknowns, tolerance);
      expect_close(result.reactions, direct.reactions, 10 * tolerance);
    }
}

}  // namespace voussoir::testing
