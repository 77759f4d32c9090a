#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <voussoir/framework/analysis/integrator.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "backends_under_test.hpp"
#include "support/expect_error.hpp"
#include "support/registered_names.hpp"

namespace voussoir::conformance {
namespace {

using voussoir::testing::expect_error;

/// Two rows of bricks along x, one block each, whose elements have ids of their own and of which some are inside out.
/// Faults of the second block sit at the beginning of the numbering, those of the first at its end: devices that each
/// see a part find different ones first.
void build(Domain& d, const std::vector<int>& inverted_left, const std::vector<int>& inverted_right) {
  constexpr int cells = 12;
  for (int i = 0; i <= cells; ++i)
    for (int j = 0; j < 6; ++j) d.add_node(10 * (i + 1) + j, i, j % 3, j / 3);
  const char* names[] = {"left", "right"};
  for (int b = 0; b < 2; ++b) {
    auto& block = d.add_block(names[b], "solid.hex8");
    block.set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3));
    for (int i = 0; i < cells; ++i) {
      const Id a = 10 * (i + 1) + b, c = a + 10;
      const auto& bad = b == 0 ? inverted_left : inverted_right;
      const bool inverted = std::find(bad.begin(), bad.end(), i) != bad.end();
      const Id id = 1000 * (b + 1) + 7 * i;
      if (inverted)
        block.add(id, {a + 3, c + 3, c + 4, a + 4, a, c, c + 1, a + 1});
      else
        block.add(id, {a, c, c + 1, a + 1, a + 3, c + 3, c + 4, a + 4});
    }
  }
  d.add_node_set("wall", {10, 11, 12, 13, 14, 15});
  d.prescribe("wall", "all");
  d.add_node_set("end", {130});
  d.add_load_case("tip").nodal("end", "uz", 1);
}

struct Faults : ::testing::TestWithParam<std::string> {
  std::unique_ptr<StaticAnalysis> analysis(const Domain& d, const std::string& storage) const {
    StaticOptions options;
    options.solver = "cg+jacobi";
    options.storage = storage;
    auto a = make_static_analysis(d, Backend::open(GetParam()), options);
    a->set_free_motion_check(false);
    return a;
  }
};

TEST_P(Faults, TheLowestInvertedElementIsNamed) {
  Domain d;
  build(d, {9, 4, 11}, {});
  for (const std::string& storage : test::general_storages()) {
    SCOPED_TRACE(storage);
    expect_error(ErrorCode::inverted, {"element 1028 (block 'left', solid.hex8)", "inverted"},
                 [&] { analysis(d, storage)->run(); });
  }
}

TEST_P(Faults, TheFirstBlockComesFirst) {
  Domain d;
  build(d, {10}, {1});
  for (const std::string& storage : test::general_storages()) {
    SCOPED_TRACE(storage);
    expect_error(ErrorCode::inverted, {"element 1070 (block 'left', solid.hex8)"},
                 [&] { analysis(d, storage)->run(); });
  }
}

TEST_P(Faults, ResidualsLoadsAndRecoveryNameItToo) {
  Domain d;
  build(d, {8, 3}, {});
  const AnalysisModel model(d, Backend::open(GetParam()), TransformationHandler(), PlainNumberer());
  Vector u = model.make_vector(), r = model.make_vector();
  model.backend().fill(u, 0.001);
  model.backend().fill(r, 0);
  const std::vector<double> one(model.batches().size(), 1.0);
  const std::string name = "element 1021 (block 'left', solid.hex8)";
  expect_error(ErrorCode::inverted, {name},
               [&] { model.translating([&] { model.backend().residual(model.device_model(), u, one, false, r); }); });
  expect_error(ErrorCode::inverted, {name}, [&] {
    model.translating([&] { model.backend().body_load(model.device_model(), 0, {}, BodyLoad{{0, 0, -1}}, r); });
  });
  expect_error(ErrorCode::inverted, {name},
               [&] { model.translating([&] { return model.backend().recover(model.device_model(), 0, u); }); });
}

TEST_P(Faults, AMaterialThatIsNotANumberIsNamedByItsElement) {
  Domain d;
  build(d, {}, {});
  std::vector<double> young(12, 1000.0);
  young[11] = young[7] = std::numeric_limits<double>::quiet_NaN();
  d.block(1).set_per_element("young", young);
  for (const std::string& storage : test::general_storages()) {
    SCOPED_TRACE(storage);
    try {
      analysis(d, storage)->run();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::not_finite || error.code() == ErrorCode::bad_input) << error.what();
      EXPECT_NE(std::string(error.what()).find("element 2049 (block 'right', solid.hex8)"), std::string::npos)
          << error.what();
    }
  }
}

TEST_P(Faults, AnUnknownThatIsNotANumberIsFoundInTheResidual) {
  Domain d;
  build(d, {}, {});
  const AnalysisModel model(d, Backend::open(GetParam()), TransformationHandler(), PlainNumberer());
  std::vector<double> values(static_cast<std::size_t>(model.equation_count()), 0.0);
  values[model.equation(d.node_index(60), "uy")] = std::numeric_limits<double>::infinity();
  Vector u = model.make_vector(), r = model.make_vector();
  u.from_host(values);
  model.backend().fill(r, 0);
  const std::vector<double> one(model.batches().size(), 1.0);
  // Node 60 belongs to bricks 4 and 5 of the left row.
  expect_error(ErrorCode::not_finite, {"element 1028 "},
               [&] { model.translating([&] { model.backend().residual(model.device_model(), u, one, false, r); }); });
}

TEST_P(Faults, AfterAnErrorTheBackendGoesOn) {
  const auto backend = Backend::open(GetParam());
  Domain bad, good;
  build(bad, {2}, {});
  build(good, {}, {});
  StaticOptions options;
  options.solver = "cg+jacobi";
  EXPECT_THROW(make_static_analysis(bad, backend, options)->run(), Error);
  const auto results = make_static_analysis(good, backend, options)->run();
  EXPECT_NEAR(results[0].reaction_sum[2], -1, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Conformance, Faults, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace voussoir::conformance
