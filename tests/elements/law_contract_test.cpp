#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include <voussoir/elements/check_tangent.hpp>
#include <voussoir/elements/register.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/voussoir.hpp>

#include "support/expect_error.hpp"

// What users' laws may rely on, and what they are refused for.

namespace {

using voussoir::Mat;
using voussoir::Point;

/// Conduction that grows with temperature: k = k0 (1 + slope T), by the law and not by a table.
struct WarmConduction {
  static constexpr const char* name = "contract_warm";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"T"};
  static constexpr const char* parameters[] = {"k0", "slope"};
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    return (p[0] * (R(1.0) + p[1] * p.temperature)) * grad;
  }
  template <class R>
  VSR_FN static Mat<R, 1, 3> dflux(const Point<R>& p, const Mat<R, 1, 3>&, const Mat<R, 1, 3>& dgrad) {
    return flux(p, dgrad);
  }
};
VSR_REGISTER_ELEMENT(WarmConduction, Hex8);

/// The same, said to be linear: linear in the gradient, as the contract has it.
struct WarmLinear : WarmConduction {
  static constexpr const char* name = "contract_warm_linear";
  static constexpr bool linear = true;
};
VSR_REGISTER_ELEMENT(WarmLinear, Hex8);

/// An electric potential whose conductivity follows the temperature beside it.
struct WarmCurrent {
  static constexpr const char* name = "contract_warm_current";
  static constexpr int components = 2;
  static constexpr const char* unknowns[] = {"V", "T"};
  static constexpr const char* parameters[] = {"slope"};
  template <class R>
  VSR_FN static Mat<R, 2, 3> flux(const Point<R>& p, const Mat<R, 2, 3>& grad) {
    Mat<R, 2, 3> f = grad;
    for (int j = 0; j < 3; ++j) f(0, j) = (R(1.0) + p[0] * p.temperature) * grad(0, j);
    return f;
  }
  template <class R>
  VSR_FN static Mat<R, 2, 3> dflux(const Point<R>& p, const Mat<R, 2, 3>&, const Mat<R, 2, 3>& dgrad) {
    return flux(p, dgrad);
  }
};
VSR_REGISTER_ELEMENT(WarmCurrent, Hex8);

/// Ground water, with a part of the flow across the gradient where `turn` is not zero: the tangent is then unsymmetric.
struct TurnedSeepage {
  static constexpr const char* name = "contract_turned";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"head"};
  static constexpr const char* parameters[] = {"along", "turn"};
  static constexpr bool linear = true;
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& g) {
    return {{{p[0] * g(0, 0) + p[1] * g(0, 1), p[0] * g(0, 1) - p[1] * g(0, 0), p[0] * g(0, 2)}}};
  }
  template <class R>
  VSR_FN static Mat<R, 1, 3> dflux(const Point<R>& p, const Mat<R, 1, 3>&, const Mat<R, 1, 3>& dgrad) {
    return flux(p, dgrad);
  }
};
VSR_REGISTER_ELEMENT(TurnedSeepage, Hex8, Quad4);

/// Symmetric at rest, unsymmetric as soon as there is a gradient.
struct LateTurn : TurnedSeepage {
  static constexpr const char* name = "contract_late_turn";
  static constexpr bool linear = false;
  template <class R>
  VSR_FN static Mat<R, 1, 3> dflux(const Point<R>& p, const Mat<R, 1, 3>& grad, const Mat<R, 1, 3>& d) {
    const R turn = p[1] * grad(0, 0);
    return {{{p[0] * d(0, 0) + turn * d(0, 1), p[0] * d(0, 1) - turn * d(0, 0), p[0] * d(0, 2)}}};
  }
};
VSR_REGISTER_ELEMENT(LateTurn, Hex8);

struct ReadsTooFar : TurnedSeepage {
  static constexpr const char* name = "contract_reads_too_far";
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& g) {
    return p[5] * g;
  }
};
VSR_REGISTER_ELEMENT(ReadsTooFar, Hex8);

/// Reads a foreign number only at large gradients, or only where it is hot, or very far away.
template <int kind>
struct ReadsTooFarAtTimes : TurnedSeepage {
  static constexpr const char* name = kind == 0   ? "contract_far_when_strained"
                                      : kind == 1 ? "contract_far_when_hot"
                                                  : "contract_very_far";
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& g) {
    if constexpr (kind == 0) return select_less(R(50.0), abs(g(0, 0)), p[5], p[0]) * g;
    if constexpr (kind == 1) return select_less(R(400.0), p.temperature, p[5], p[0]) * g;
    return p[2000] * g;
  }
};
VSR_REGISTER_ELEMENT(ReadsTooFarAtTimes<0>, Hex8);
VSR_REGISTER_ELEMENT(ReadsTooFarAtTimes<1>, Hex8);
VSR_REGISTER_ELEMENT(ReadsTooFarAtTimes<2>, Hex8);

struct ReadsTooFarByBranches : TurnedSeepage {
  static constexpr const char* name = "contract_branches_too_far";
  static constexpr bool scalar = true;
  static Mat<double, 1, 3> dflux(const Point<double>& p, const Mat<double, 1, 3>&, const Mat<double, 1, 3>& d) {
    return (p.parameters[2] > 2 ? 2.0 : 1.0) * d;
  }
};
VSR_REGISTER_ELEMENT(ReadsTooFarByBranches, Hex8);

struct ReadsBefore : TurnedSeepage {
  static constexpr const char* name = "contract_reads_before";
  template <class R>
  VSR_FN static R density(const Point<R>& p) {
    return p.parameters[-1];
  }
};
VSR_REGISTER_ELEMENT(ReadsBefore, Hex8);

struct ReadsOfNone {
  static constexpr const char* name = "contract_reads_of_none";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"head"};
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& g) {
    return p[0] * g;
  }
  template <class R>
  VSR_FN static Mat<R, 1, 3> dflux(const Point<R>& p, const Mat<R, 1, 3>&, const Mat<R, 1, 3>& d) {
    return flux(p, d);
  }
};
VSR_REGISTER_ELEMENT(ReadsOfNone, Hex8);

struct WritesTooManyConstants : TurnedSeepage {
  static constexpr const char* name = "contract_writes_too_many";
  static constexpr int constants = 1;
  template <class R>
  VSR_FN static void prepare(const R* p, R* c) {
    c[0] = p[0];
    c[1] = p[1];
  }
};
VSR_REGISTER_ELEMENT(WritesTooManyConstants, Hex8);

struct ReadsTooManyConstants : TurnedSeepage {
  static constexpr const char* name = "contract_reads_too_many";
  static constexpr int constants = 1;
  template <class R>
  VSR_FN static void prepare(const R* p, R* c) {
    c[0] = p[0];
  }
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& g) {
    return p.constants[1] * g;
  }
};
VSR_REGISTER_ELEMENT(ReadsTooManyConstants, Hex8);

/// A plane element has the thickness behind its law's own parameters.
struct ReadsThickness : TurnedSeepage {
  static constexpr const char* name = "contract_reads_thickness";
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& g) {
    return (p[0] * p[2]) * g;
  }
  template <class R>
  VSR_FN static Mat<R, 1, 3> dflux(const Point<R>& p, const Mat<R, 1, 3>&, const Mat<R, 1, 3>& d) {
    return flux(p, d);
  }
};
VSR_REGISTER_ELEMENT(ReadsThickness, Quad4);

struct HidesTemperature : WarmConduction {
  static constexpr const char* name = "contract_hides_temperature";
  static constexpr bool linear = true, reads_temperature = false;
};
VSR_REGISTER_ELEMENT(HidesTemperature, Hex8);

}  // namespace

namespace voussoir {
namespace {

using testing::expect_error;

/// A bar of ten elements, 0 at its left end and `right` at its right end.
ElementBlock& bar(Domain& d, const std::string& type, const std::string& unknown, double right) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {10, 1, 1};
  mesh.upper = {1, 0.1, 0.1};
  ElementBlock& block = add_box_mesh(d, mesh);
  d.prescribe("xmin", unknown, 0);
  d.prescribe("xmax", unknown, right);
  return block;
}

StepResult solve(const Domain& d, const std::string& backend = "openmp") {
  StaticOptions options;
  options.backend = backend;
  return make_static_analysis(d, options)->run().front();
}

class TemperatureLaw : public ::testing::TestWithParam<std::string> {};

TEST_P(TemperatureLaw, SeesTheUnknownWithoutAnyTable) {
  // Kirchhoff: T + slope T²/2 is linear in x, and so it is at the nodes of these elements, exactly.
  const double slope = 0.03, total = 100 + slope * 100 * 100 / 2;
  for (const char* backend : {"openmp", "debug:2"})
    for (const double start : {0.0, 60.0}) {
      SCOPED_TRACE(backend);
      Domain d;
      bar(d, GetParam() + ".hex8", "T", 100).set_section("k0", 7).set_section("slope", slope);
      d.set_reference_temperature(start);  // where the iteration starts, and nothing else
      const StepResult r = solve(d, backend);
      EXPECT_GT(r.report.iterations, 2);
      for (std::int32_t n = 0; n < d.node_count(); ++n) {
        const double x = d.coordinates()[3 * n];
        EXPECT_NEAR(r.unknowns.at(n, "T"), (std::sqrt(1 + 2 * slope * total * x) - 1) / slope, 1e-6);
      }
      const double flow = sum_over(r.reactions, d, "xmax", "T");
      EXPECT_NEAR(flow, 7 * total * 0.01, 1e-6 * flow);
    }
}
INSTANTIATE_TEST_SUITE_P(Laws, TemperatureLaw, ::testing::Values("contract_warm", "contract_warm_linear"));

TEST(TemperatureLaws, SeeTheUnknownAmongOthers) {
  Domain d;
  bar(d, "contract_warm_current.hex8", "T", 100).set_section("slope", 0.03);
  d.prescribe("xmin", "V", 0);
  d.prescribe("xmax", "V", 1);
  const StepResult r = solve(d);
  for (std::int32_t n = 0; n < d.node_count(); ++n) {
    const double x = d.coordinates()[3 * n];
    EXPECT_NEAR(r.unknowns.at(n, "T"), 100 * x, 1e-7);
    EXPECT_NEAR(r.unknowns.at(n, "V"), std::log(1 + 3 * x) / std::log(4), 2e-3);  // ∫ dx / k
  }
  EXPECT_EQ(r.unknowns.name, "V_temperature");
}

TEST(TemperatureLaws, AreNotLinearUnlessTheySaySo) {
  const auto linear = [](const std::string& type) { return ElementLibrary::instance().find(type).program().linear(); };
  EXPECT_FALSE(linear("contract_warm.hex8"));
  EXPECT_FALSE(linear("contract_warm_linear.hex8"));
  EXPECT_TRUE(linear("heat.hex8"));
  EXPECT_TRUE(linear("convection.quad4"));
  EXPECT_TRUE(linear("contract_turned.hex8"));  // its unknown is no temperature
}

TEST(TemperatureLaws, LoadsOfTemperatureAreRefusedWhereItIsAnUnknown) {
  Domain d;
  bar(d, "contract_warm_current.hex8", "T", 100).set_section("slope", 0.03);
  d.add_load_case("warm").temperature("xmin", 5);
  expect_error(ErrorCode::bad_input, {"load case 'warm'", "prescribe 'T'"}, [&] { solve(d); });
}

TEST(UnsymmetricLaws, AreRefusedWhenAModelIsBuilt) {
  for (const char* backend : {"openmp", "debug:2"}) {
    Domain d;
    bar(d, "contract_turned.hex8", "head", 1).set_section("along", 1).set_section("turn", 0.01);
    expect_error(ErrorCode::misuse, {"element type 'contract_turned.hex8' is not symmetric", "dflux", "block 'box'"},
                 [&] { solve(d, backend); });
  }
  Domain plane;
  BoxMesh mesh;
  mesh.type = "contract_turned.quad4";
  add_box_mesh(plane, mesh).set_section("along", 1).set_section("turn", 1e-3);
  plane.prescribe("xmin", "head");
  expect_error(ErrorCode::misuse, {"is not symmetric"}, [&] { solve(plane); });
  // One element among many, and a table that is zero at the initial temperature.
  Domain one;
  ElementBlock& block = bar(one, "contract_turned.hex8", "head", 1).set_section("along", 1);
  std::vector<double> turn(static_cast<std::size_t>(block.size()), 0.0);
  turn[turn.size() / 3] = 0.5;
  block.set_per_element("turn", turn);
  expect_error(ErrorCode::misuse, {"is not symmetric"}, [&] { solve(one); });
  Domain warm;
  auto material = std::make_shared<Material>("warm");
  material->set("along", 1).set_table("turn", {{0, 0}, {100, 0.1}});
  bar(warm, "contract_turned.hex8", "head", 1).set_material(material);
  expect_error(ErrorCode::misuse, {"is not symmetric"}, [&] { solve(warm); });
  Domain late;
  bar(late, "contract_late_turn.hex8", "head", 1).set_section("along", 1).set_section("turn", 0.3);
  expect_error(ErrorCode::misuse, {"is not symmetric", "away from zero unknowns"}, [&] { solve(late); });
}

TEST(UnsymmetricLaws, AreAcceptedWhereTheyAreSymmetricToRounding) {
  for (const double turn : {0.0, 1e-14}) {
    Domain d;
    bar(d, "contract_turned.hex8", "head", 1).set_section("along", 1).set_section("turn", turn);
    EXPECT_NEAR(solve(d).unknowns.largest("head").value, 1, 1e-12);
  }
}

TEST(UnsymmetricLaws, OneElementOfManyIsFound) {
  Domain d;
  ElementBlock& block = bar(d, "contract_turned.hex8", "head", 1).set_section("along", 1);
  std::vector<double> turn(10, 0.0);
  turn.back() = 0.2;
  block.set_per_element("turn", turn);
  expect_error(ErrorCode::misuse, {"element 10", "is not symmetric"}, [&] { solve(d); });
}

TEST(UnsymmetricLaws, NoStockElementIsTakenForOneHoweverThinOrIncompressible) {
  const auto backend = Backend::open("openmp:1");
  int looked = 0;
  for (const ElementType* type : ElementLibrary::instance().all()) {
    const std::string& name = type->name();
    const auto names = type->program().recovered_names();
    const bool body = std::find(names.begin(), names.end(), "sxx") != names.end();
    if (name.starts_with("contract_") || name.starts_with("test_") || !body) continue;
    const bool flat = name.find("plane") != std::string::npos || name.find("axisymmetric") != std::string::npos;
    for (const double thin : {1.0, 1e-3, 1e-6}) {
      SCOPED_TRACE(name + ", " + std::to_string(thin));
      Domain d;
      BoxMesh mesh;
      mesh.type = name;
      mesh.cells = {2, 2, 2};
      mesh.lower = {1, 0, 0};
      mesh.upper = {2, 1, flat ? 0.0 : 1.0};
      mesh.map = [thin](double x, double y, double z) {
        return std::array<double, 3>{x + 0.1 * y * z, thin * (y + 0.2 * x * x), z + 0.05 * y};
      };
      if (flat)
        mesh.map = [thin](double x, double y, double) {
          return std::array<double, 3>{x + 0.1 * y, thin * (y + 0.2 * x * x), 0};
        };
      ElementBlock& block = add_box_mesh(d, mesh);
      for (const std::string& p : type->program().parameter_names()) {
        if (p.starts_with("axis") || p.starts_with("polar") || p == "large_strains") continue;
        block.set_section(p, p == "poisson" ? 0.49999 : p.starts_with("nu") ? 0.45 : p.starts_with("E") ? 1e9 : 3e8);
      }
      if (name.starts_with("polar")) block.set_orientation(Orientation::cylindrical({0, 0, 0}, {0, 0, 1}));
      EXPECT_NO_THROW(AnalysisModel(d, backend, TransformationHandler(), PlainNumberer()));
      ++looked;
    }
  }
  EXPECT_GT(looked, 3 * 40);
}

void expect_defect(const std::string& type, std::initializer_list<std::string> pieces) {
  SCOPED_TRACE(type);
  const ElementProgram& program = ElementLibrary::instance().find(type).program();
  for (const std::string& piece : pieces)
    EXPECT_NE(program.defect().find(piece), std::string::npos) << piece << " is not in: " << program.defect();
}

TEST(LawDefects, ForeignParametersAreNamed) {
  expect_defect("contract_reads_too_far.hex8",
                {"flux() of law 'contract_reads_too_far' reads parameter p[5]", "p[0] to p[1]"});
  expect_defect("contract_far_when_strained.hex8", {"flux() of law", "reads parameter p[5]"});
  expect_defect("contract_far_when_hot.hex8", {"flux() of law", "reads parameter p[5]"});
  expect_defect("contract_very_far.hex8", {"flux() of law", "reads parameter p[2000]"});
  expect_defect("contract_branches_too_far.hex8", {"dflux() of law", "reads parameter p[2]"});
  expect_defect("contract_reads_before.hex8", {"density() of law", "reads parameter p[-1]"});
  expect_defect("contract_reads_of_none.hex8", {"flux() of law", "reads parameter p[0]", "declares none"});
}

TEST(LawDefects, ForeignConstantsAreNamed) {
  expect_defect("contract_writes_too_many.hex8", {"prepare() of law", "writes constant 1", "declares 1"});
  expect_defect("contract_reads_too_many.hex8", {"flux() of law", "reads constant 1", "declares 1"});
}

TEST(LawDefects, ALawThatHidesThatItReadsTheTemperature) {
  expect_defect("contract_hides_temperature.hex8",
                {"flux() of law", "reads p.temperature", "reads_temperature = false"});
}

TEST(LawDefects, StopAModelAndACheckOfTheTangent) {
  for (const char* backend : {"openmp", "debug"}) {
    Domain d;
    bar(d, "contract_reads_too_far.hex8", "head", 1).set_section("along", 1).set_section("turn", 0);
    expect_error(ErrorCode::misuse, {"block 'box'", "contract_reads_too_far.hex8", "p[5]"}, [&] { solve(d, backend); });
  }
  const std::vector<double> x(24, 0.0), p{1, 0};
  expect_error(ErrorCode::misuse, {"p[5]"},
               [&] { check_tangent(ElementLibrary::instance().find("contract_reads_too_far.hex8").program(), x, p); });
}

TEST(LawDefects, ThicknessIsAParameterOfAPlaneLaw) {
  EXPECT_EQ(ElementLibrary::instance().find("contract_reads_thickness.quad4").program().defect(), "");
}

TEST(LawDefects, NoStockElementHasAny) {
  int looked = 0;
  for (const ElementType* type : ElementLibrary::instance().all()) {
    if (type->name().starts_with("contract_")) continue;
    EXPECT_EQ(type->program().defect(), "") << type->name();
    ++looked;
  }
  EXPECT_GT(looked, 80);
}

TEST(FieldNames, AreThoseOfTheUnknowns) {
  Domain d;
  bar(d, "contract_turned.hex8", "head", 1).set_section("along", 1).set_section("turn", 0);
  EXPECT_EQ(solve(d).unknowns.name, "head");
  EXPECT_EQ(field_name({"ux", "uy", "uz", "rx", "ry", "rz"}), "displacement");
  EXPECT_EQ(field_name({"ux", "uy"}), "displacement");
  EXPECT_EQ(field_name({"rx", "ry", "rz"}), "rotation");
  EXPECT_EQ(field_name({"T"}), "temperature");
  EXPECT_EQ(field_name({"head", "salt"}), "head_salt");
  EXPECT_EQ(field_name({"ua"}), "ua");
}

}  // namespace
}  // namespace voussoir
