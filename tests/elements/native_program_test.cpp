#include <gtest/gtest.h>
#include <voussoir/elements/native_program.hpp>
#include <voussoir/elements/structural/truss.hpp>

#include <cmath>
#include <limits>

#include "element_run.hpp"

namespace voussoir {
namespace {

using testing::ElementRun;

/// Nothing but what is required: two nodes, one unknown each, one parameter, and x as the element's health.
struct Minimal {
  static constexpr int nodes = 2, components = 1;
  static constexpr const char* unknowns[] = {"q"};
  static constexpr const char* parameters[] = {"k"};
  template <class R>
  VSR_FN static R tangent(const ElementInput<R, 2, 1, 1>& e, R* upper) {
    R k;
    e.parameters_at(R(0.0), &k);
    upper[0] = k;
    upper[1] = -k;
    upper[2] = R(2.0) * k;
    return e.x[1][0] - e.x[0][0];
  }
};

/// A mass of a line with three nodes, for the default lumping.
struct WithMass : Minimal {
  static constexpr int nodes = 3;
  template <class R>
  VSR_FN static R tangent(const ElementInput<R, 3, 1, 1>&, R* upper) {
    for (int i = 0; i < 6; ++i) upper[i] = R(0.0);
    return R(1.0);
  }
  template <class R>
  VSR_FN static R mass(const ElementInput<R, 3, 1, 1>&, R* upper) {
    // Quadratic line of length 30: ∫ Nₐ N_b = (4, −1, 2; 4, 2; 16), middle node last.
    const double m[6] = {4, -1, 2, 4, 2, 16};
    for (int i = 0; i < 6; ++i) upper[i] = R(m[i]);
    return R(1.0);
  }
};

/// Branches on its arguments, so it must be computed one element at a time.
struct Branching {
  static constexpr int nodes = 1, components = 1, parameter_count = 0;
  static constexpr const char* unknowns[] = {"q"};
  static constexpr bool scalar = true;
  static double tangent(const ElementInput<double, 1, 1, 0>& e, double* upper) {
    upper[0] = e.u[0] > 0 ? 2 : 1;
    return 1;
  }
};

/// A load.
struct Push {
  static constexpr int nodes = 1, components = 2;
  static constexpr const char* unknowns[] = {"a", "b"};
  static constexpr const char* parameters[] = {"f"};
  static constexpr bool has_tangent = false;
  template <class R>
  VSR_FN static R residual(const ElementInput<R, 1, 2, 1>& e, R* r) {
    R f;
    e.parameters_at(e.temperature[0], &f);
    r[0] = -f;
    r[1] = R(1.0) / (f - R(7.0));
    return R(1.0);
  }
};

// What the compiler must refuse.
struct NoTangent {
  static constexpr int nodes = 2, components = 1;
  static constexpr const char* unknowns[] = {"q"};
};
struct WrongNames {
  static constexpr int nodes = 2, components = 2;
  static constexpr const char* unknowns[] = {"q"};
  template <class R>
  static R tangent(const ElementInput<R, 2, 2, 0>&, R*);
};
struct NoSizes {
  static constexpr const char* unknowns[] = {"q"};
};
struct NoFlux {
  static constexpr const char* name = "no_flux";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"q"};
};
static_assert(ElementKernel<Minimal> && ElementKernel<Branching> && ElementKernel<Push> && ElementKernel<Truss>);
static_assert(!ElementKernel<NoTangent> && !ElementKernel<WrongNames> && !ElementKernel<NoSizes>);
static_assert(!PointKernel<NoFlux>);

std::array<double, 3> at(double x) { return {x, 0, 0}; }

TEST(NativeProgram, LastGroupMayBePartlyFilledAndRecordsDiffer) {
  for (const int count : {1, 2, 3, 4, 5, 7, 8, 9, 17}) {
    ElementRun run("truss");
    for (int e = 0; e < count; ++e) run.add({at(0), at(2.0 + e)}, {{"young", 10.0 * (1 + e % 3)}, {"area", 0.5}});
    for (int e = 0; e < count; ++e)
      EXPECT_NEAR(run.tangent(e)(0, 0), 10.0 * (1 + e % 3) * 0.5 / (2.0 + e), 1e-14) << count << " " << e;
    EXPECT_EQ(run.status.fault, ElementFault::none);
  }
}

TEST(NativeProgram, SayWhatTheKernelIs) {
  const NativeProgram<Minimal> program("minimal");
  EXPECT_EQ(program.name(), "minimal");
  EXPECT_EQ(program.route(), Route::native);
  EXPECT_EQ(program.nodes(), 2);
  EXPECT_EQ(program.dofs(), 2);
  EXPECT_EQ(program.matrix_entries(), 3);
  EXPECT_EQ(program.parameter_names()[0], "k");
  EXPECT_TRUE(program.has_tangent());
  EXPECT_FALSE(program.has_mass());
  EXPECT_FALSE(program.takes_body_load());
  EXPECT_EQ(program.points(), 0);
  EXPECT_TRUE(program.extrapolation().empty());
  EXPECT_EQ(program.source(), nullptr);
  EXPECT_EQ(program.lanes(), pack_width);
  EXPECT_EQ(NativeProgram<Branching>("b").lanes(), 1);
}

TEST(NativeProgram, DefaultsFollowFromTheTangent) {
  const NativeProgram<Minimal> program("minimal");
  ElementRun run(program);
  run.add({at(0), at(1)}, {{"k", 3}});
  run.unknowns(0)[0] = 2;
  run.unknowns(0)[1] = 5;
  const Eigen::VectorXd r = run.residual();
  EXPECT_DOUBLE_EQ(r[0], 3 * 2 - 3 * 5);
  EXPECT_DOUBLE_EQ(r[1], -3 * 2 + 6 * 5);
  const ElementView view = run.view();
  const double direction[2] = {1, -1};
  std::vector<double> out(2 * program.lanes());
  EXPECT_EQ(program.action(view, direction, 0, 1, out.data()).fault, ElementFault::none);
  EXPECT_DOUBLE_EQ(out[0], 6);
  EXPECT_DOUBLE_EQ(out[program.lanes()], -9);
  EXPECT_EQ(run.mass(MassKind::consistent).norm(), 0);
}

TEST(NativeProgram, ColumnsAreTakenTogether) {
  // With an action for columns, with an action for one, and with a tangent alone.
  const NativeProgram<Minimal> minimal("minimal");
  for (const ElementProgram* program :
       {static_cast<const ElementProgram*>(&minimal), &ElementLibrary::instance().find("truss").program(),
        &ElementLibrary::instance().find("heat.tet4").program()}) {
    SCOPED_TRACE(program->name());
    ASSERT_GE(program->action_columns(), 3);
    ElementRun run(*program);
    const int lanes = program->lanes(), count = 2 * lanes + 1, dofs = program->dofs(), columns = 3;
    for (int e = 0; e < count; ++e) {
      std::vector<std::array<double, 3>> x{at(0), at(1.0 + e)};
      if (program->nodes() == 4) x = {at(0), at(1.0 + e), {0, 1, 0}, {0, 0.5, 1}};
      run.add(x, {{"k", 3.0 + e}, {"young", 2}, {"area", 1}, {"conductivity", 4}});
    }
    const ElementView view = run.view();
    const int unknowns = count * dofs, room = 3 * lanes * dofs;
    std::vector<double> block(unknowns * columns), together(room * columns), one(unknowns), alone(room);
    for (int i = 0; i < unknowns * columns; ++i) block[i] = std::sin(1.0 + i);
    EXPECT_EQ(program->actions(view, block.data(), columns, 0, count, together.data()).fault, ElementFault::none);
    for (int w = 0; w < columns; ++w) {
      for (int i = 0; i < unknowns; ++i) one[i] = block[i * columns + w];
      EXPECT_EQ(program->action(view, one.data(), 0, count, alone.data()).fault, ElementFault::none);
      for (int e = 0; e < count; ++e)
        for (int i = 0; i < dofs; ++i)
          ASSERT_NEAR(together[(e / lanes * dofs * columns + i * columns + w) * lanes + e % lanes],
                      alone[(e / lanes * dofs + i) * lanes + e % lanes], 1e-13 * (4 + e))
              << "element " << e << ", unknown " << i << ", column " << w;
    }
  }
}

TEST(NativeProgram, UnknownsThatAreMissingAreZero) {
  const NativeProgram<Minimal> program("minimal");
  ElementRun run(program);
  run.add({at(0), at(1)}, {{"k", 3}});
  run.unknowns(0)[0] = 2;
  ElementView view = run.view();
  view.unknowns = nullptr;
  std::vector<double> out(2 * program.lanes(), 1.0);
  program.residual(view, 0, 1, out.data());
  EXPECT_EQ(out[0], 0);
}

TEST(NativeProgram, LumpingKeepsTheMass) {
  const NativeProgram<WithMass> program("with_mass");
  ElementRun run(program);
  run.add({at(0), at(2), at(1)}, {{"k", 1}});
  const Eigen::MatrixXd m = run.mass(MassKind::lumped);
  // HRZ: the diagonal 4, 4, 16 scaled from 24 to the whole mass 30.
  EXPECT_DOUBLE_EQ(m(0, 0), 5);
  EXPECT_DOUBLE_EQ(m(1, 1), 5);
  EXPECT_DOUBLE_EQ(m(2, 2), 20);
  EXPECT_EQ(m(0, 1), 0);
  EXPECT_DOUBLE_EQ(run.mass(MassKind::consistent)(0, 2), 2);
}

TEST(NativeProgram, RunsBeginAnywhereAtAGroupAndCountFaultsFromTheBatch) {
  const NativeProgram<Minimal> program("minimal");
  ElementRun run(program);
  const int lanes = program.lanes(), count = 3 * lanes + 1;
  for (int e = 0; e < count; ++e) run.add({at(0), at(e == lanes + 2 || e == 2 * lanes ? -1 : 1)}, {{"k", 1.0 + e}});
  const ElementView view = run.view();
  std::vector<double> out(3 * 3 * lanes, -1.0);
  const ElementStatus status = program.tangent(view, lanes, 2 * lanes + 1, out.data());
  EXPECT_EQ(status.fault, ElementFault::inverted);
  EXPECT_EQ(status.element, lanes + 2);
  EXPECT_EQ(out[0], 1.0 + lanes);                  // element `lanes` comes first
  EXPECT_EQ(out[2 * 3 * lanes], 1.0 + 3 * lanes);  // and the last group holds one element
  EXPECT_EQ(program.tangent(view, 0, lanes, out.data()).fault, ElementFault::none);
  EXPECT_EQ(program.tangent(view, 0, 0, out.data()).fault, ElementFault::none);
}

TEST(NativeProgram, FindsHealthThatIsNotANumber) {
  const NativeProgram<Minimal> program("minimal");
  ElementRun run(program);
  run.add({at(0), at(1)}, {{"k", 1}});
  run.add({at(0), at(std::numeric_limits<double>::quiet_NaN())}, {{"k", 1}});
  run.tangent();
  EXPECT_EQ(run.status.fault, ElementFault::inverted);
  EXPECT_EQ(run.status.element, 1);
}

TEST(NativeProgram, FindsResultsThatAreNotFinite) {
  const NativeProgram<Push> program("push");
  ElementRun run(program);
  for (const double f : {1.0, 2.0, 7.0, 3.0, 7.0, 1.0}) run.add({at(0)}, {{"f", f}});
  run.residual();
  EXPECT_EQ(run.status.fault, ElementFault::not_finite);
  EXPECT_EQ(run.status.element, 2);
}

TEST(NativeProgram, LoadsHaveNoTangent) {
  const NativeProgram<Push> program("push");
  EXPECT_FALSE(program.has_tangent());
  ElementRun run(program);
  run.add({at(0)}, {{"f", 3}});
  EXPECT_EQ(run.tangent().norm(), 0);
  EXPECT_EQ(run.residual()[0], -3);
}

TEST(NativeProgram, ScalarKernelsBranchPerElement) {
  const NativeProgram<Branching> program("branching");
  ElementRun run(program);
  run.add({at(0)}, {});
  run.add({at(0)}, {});
  run.unknowns(1)[0] = 1;
  EXPECT_EQ(run.tangent(0)(0, 0), 1);
  EXPECT_EQ(run.tangent(1)(0, 0), 2);
}

TEST(NativeProgram, TablesOverTemperatureAreLinearAndConstantBeyond) {
  const double expected[][2] = {{0, 100}, {20, 100}, {60, 150}, {100, 200}, {200, 180}, {300, 160}, {900, 160}};
  for (const auto& [temperature, young] : expected) {
    ElementRun run("truss");
    run.add({at(0), at(1)}, {});
    run.set_table({20, 100, 1, 0, 0, /**/ 100, 200, 1, 0, 0, /**/ 300, 160, 1, 0, 0}, 3);
    run.set_temperature(temperature, 20);
    EXPECT_NEAR(run.tangent()(0, 0), young, 1e-12) << temperature;
  }
}

TEST(NativeProgram, MemoryNeedNotBeAligned) {
  const ElementProgram& program = ElementLibrary::instance().find("truss").program();
  ElementRun run(program);
  for (int e = 0; e < 2 * program.lanes(); ++e) run.add({at(0), at(1.0 + e)}, {{"young", 1}, {"area", 1}});
  const ElementView view = run.view();
  const int size = program.matrix_entries() * 2 * program.lanes();
  std::vector<double> one(size + 8), two(size + 8);
  for (int shift = 0; shift < 8; ++shift) {
    program.tangent(view, 0, 2 * program.lanes(), one.data());
    program.tangent(view, 0, 2 * program.lanes(), two.data() + shift);
    for (int i = 0; i < size; ++i) ASSERT_EQ(one[i], two[i + shift]);
  }
}

TEST(NativeProgram, NodesMayHaveFurtherUnknownsBehindTheirs) {
  // A truss whose second node belongs to a beam as well: unknowns of the nodes begin at 0 and 3, and 6 follow there.
  const ElementProgram& program = ElementLibrary::instance().find("truss").program();
  const std::int32_t nodes[2] = {1, 0}, first[2] = {0, 6};
  const double x[6] = {1, 0, 0, 0, 0, 0}, u[9] = {0.5, 0, 0, 9, 9, 9, 0.25, 0, 0}, p[5] = {0, 4, 1, 0, 0};
  ElementView view;
  view.element_count = 1;
  view.nodes = nodes;
  view.coordinates = x;
  view.unknowns = u;
  view.first_unknown = first;
  view.parameters = p;
  std::vector<double> out(6 * program.lanes());
  program.residual(view, 0, 1, out.data());
  EXPECT_DOUBLE_EQ(out[3 * program.lanes()], 4 * (0.5 - 0.25));
}

TEST(NativeProgram, MissingParametersAreReported) {
  const ElementProgram& program = ElementLibrary::instance().find("truss").program();
  ElementRun run(program);
  run.add({at(0), at(1)}, {});
  ElementView view = run.view();
  view.parameters = nullptr;
  std::vector<double> out(6 * program.lanes());
  EXPECT_EQ(program.residual(view, 0, 1, out.data()).fault, ElementFault::bad_parameter);
}

}  // namespace
}  // namespace voussoir
