#include <gtest/gtest.h>
#include <voussoir/backends/error.hpp>
#include <voussoir/elements/check_tangent.hpp>
#include <voussoir/framework/domain/host_element.hpp>

#include <cmath>

#include "element_run.hpp"

namespace voussoir {
namespace {

using testing::ElementRun;

/// The truss again, as a class, to be compared with the kernel.
class HostTruss : public HostElement {
 public:
  int nodes() const override { return 2; }
  std::vector<std::string> unknown_names() const override { return {"ux", "uy", "uz"}; }
  std::vector<std::string> parameter_names() const override { return {"young", "area", "density", "expansion"}; }

  void tangent(const HostElementData& e, std::span<double> k) const override {
    const auto [n, length] = axis(e);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j)
        k[6 * i + j] = ((i < 3) == (j < 3) ? 1 : -1) * e.parameters[0] * e.parameters[1] / length * n[i % 3] * n[j % 3];
  }
  void residual(const HostElementData& e, std::span<double> r) const override {
    HostElement::residual(e, r);
    if (e.temperature.empty()) return;
    const auto [n, length] = axis(e);
    const double change = 0.5 * (e.temperature[0] + e.temperature[1]) - e.reference_temperature;
    for (int i = 0; i < 6; ++i)
      r[i] += (i < 3 ? 1 : -1) * e.parameters[0] * e.parameters[1] * e.parameters[3] * change * n[i % 3];
  }
  bool has_mass() const override { return true; }
  void mass(const HostElementData& e, std::span<double> m) const override {
    const auto [n, length] = axis(e);
    for (int i = 0; i < 6; ++i)
      for (int j = i % 3; j < 6; j += 3) m[6 * i + j] = e.parameters[2] * e.parameters[1] * length / (i == j ? 3 : 6);
  }
  bool takes_body_load() const override { return true; }
  void body_load(const HostElementData& e, const BodyLoad& load, std::span<double> f) const override {
    const auto [n, length] = axis(e);
    for (int i = 0; i < 6; ++i) f[i] = 0.5 * e.parameters[2] * e.parameters[1] * length * load.acceleration[i % 3];
  }
  std::vector<std::string> recovered_names() const override { return {"N"}; }
  void recover(const HostElementData& e, std::span<double> out) const override {
    std::vector<double> r(6, 0.0);
    residual(e, r);
    const auto [n, length] = axis(e);
    for (int i = 0; i < 3; ++i) out[0] += r[3 + i] * n[i];
  }
  double health(const HostElementData& e) const override { return axis(e).length; }

 private:
  struct Axis {
    double n[3];
    double length;
  };
  static Axis axis(const HostElementData& e) {
    Axis result{};
    auto& [n, length] = result;
    for (int i = 0; i < 3; ++i) {
      n[i] = e.x[1][i] - e.x[0][i];
      length += n[i] * n[i];
    }
    length = std::sqrt(length);
    for (double& component : n) component /= length;
    return result;
  }
};

/// Whatever matrix a test wants.
class Given : public HostElement {
 public:
  explicit Given(std::vector<double> matrix) : matrix_(std::move(matrix)) {}
  int nodes() const override { return 2; }
  std::vector<std::string> unknown_names() const override { return {"q"}; }
  void tangent(const HostElementData&, std::span<double> k) const override {
    std::copy(matrix_.begin(), matrix_.end(), k.begin());
  }
  bool has_mass() const override { return true; }  // and then does not supply it

 private:
  std::vector<double> matrix_;
};

TEST(HostElement, AgreesWithTheKernelOfTheSameElement) {
  const HostElementProgram program("host_truss", std::make_shared<HostTruss>());
  EXPECT_EQ(program.route(), Route::host);
  ElementRun host(program), native("truss");
  const std::map<std::string, double> p = {{"young", 70e3}, {"area", 2}, {"density", 3}, {"expansion", 1e-5}};
  for (ElementRun* run : {&host, &native})
    for (int e = 0; e < 3; ++e) {
      run->add({{0, 1, 0.5 * e}, {2, 3, 4}}, p);
      for (int i = 0; i < 6; ++i) run->unknowns(e)[i] = 0.01 * std::sin(1.0 + i + e);
      run->set_temperature(80, 20);
    }
  BodyLoad gravity;
  gravity.acceleration[1] = -9.81;
  for (int e = 0; e < 3; ++e) {
    EXPECT_LT((host.tangent(e) - native.tangent(e)).norm(), 1e-12 * native.tangent(e).norm());
    EXPECT_LT((host.residual(e) - native.residual(e)).norm(), 1e-12 * native.residual(e).norm());
    for (const MassKind kind : {MassKind::consistent, MassKind::lumped})
      EXPECT_LT((host.mass(kind, e) - native.mass(kind, e)).norm(), 1e-12 * native.mass(kind, e).norm());
    EXPECT_LT((host.body_load(gravity, e) - native.body_load(gravity, e)).norm(), 1e-12);
    EXPECT_NEAR(host.recovered("N", 0, e), native.recovered("N", 0, e), 1e-9);
  }
  const double x[] = {0, 0, 0, 1, 2, 3}, numbers[] = {70e3, 2, 3, 1e-5};
  const TangentReport report = check_tangent(program, x, numbers);
  EXPECT_TRUE(report.good(1e-10)) << report.text;
}

TEST(HostElement, TablesOverTemperature) {
  const HostElementProgram program("host_truss", std::make_shared<HostTruss>());
  const double expected[][2] = {{0, 100}, {60, 150}, {200, 180}, {900, 160}};
  for (const auto& [temperature, young] : expected) {
    ElementRun run(program);
    run.add({{0, 0, 0}, {1, 0, 0}}, {});
    run.set_table({20, 100, 1, 0, 0, 100, 200, 1, 0, 0, 300, 160, 1, 0, 0}, 3);
    run.set_temperature(temperature, 20);
    EXPECT_NEAR(run.tangent()(0, 0), young, 1e-12) << temperature;
  }
}

TEST(HostElement, TablesOfExpansionAndInitialTemperaturesAsForKernels) {
  const HostElementProgram program("host_truss", std::make_shared<HostTruss>());
  // α = 1e-5 at 0°, 3e-5 at 200°, counted from 20°; from a mean of 60° to one of 150°, or where nothing changes.
  const double strain = 2.5e-5 * 130 - 1.6e-5 * 40;
  for (const bool heated : {true, false}) {
    ElementRun host(program), native("truss");
    for (ElementRun* run : {&host, &native}) {
      run->add({{0, 0, 0}, {1, 0, 0}}, {});
      run->set_table({0, 100, 2, 0, 1e-5, 200, 100, 2, 0, 3e-5}, 2);
      if (heated) run->set_temperatures({100, 200}, 0);
      run->set_initial_temperatures({50, 70}, 20);
      EXPECT_NEAR(run->recovered("N", 0), heated ? -100 * 2 * strain : 0, 1e-15) << heated;
    }
  }
}

TEST(HostElement, AnUnsymmetricTangentIsAnErrorThatNamesTheType) {
  const HostElementProgram program("lopsided", std::make_shared<Given>(std::vector<double>{1, 2, 2.001, 5}));
  ElementRun run(program);
  run.add({{0, 0, 0}, {1, 0, 0}}, {});
  try {
    run.tangent();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::misuse);
    EXPECT_NE(error.text().find("'lopsided'"), std::string::npos) << error.text();
    EXPECT_NE(error.text().find("q of node 2"), std::string::npos) << error.text();
  }
  const double direction[] = {1, 2};
  double product[2];
  EXPECT_THROW(program.action(run.view(), direction, 0, 1, product), Error);  // what products without a matrix do
  const HostElementProgram rounding("rounding", std::make_shared<Given>(std::vector<double>{1, 2, 2 + 1e-13, 5}));
  ElementRun fine(rounding);
  fine.add({{0, 0, 0}, {1, 0, 0}}, {});
  EXPECT_NO_THROW(fine.tangent());
}

TEST(HostElement, FaultsNameTheLowestElement) {
  const HostElementProgram program("host_truss", std::make_shared<HostTruss>());
  ElementRun run(program);
  for (int e = 0; e < 4; ++e)
    run.add({{0, 0, 0}, {e == 2 ? 0.0 : 1.0, 0, 0}}, {{"young", e == 3 ? std::nan("") : 1}, {"area", 1}});
  run.tangent();
  EXPECT_EQ(run.status.fault, ElementFault::inverted);
  EXPECT_EQ(run.status.element, 2);
  ElementRun nan(program);
  nan.add({{0, 0, 0}, {1, 0, 0}}, {{"young", std::nan("")}, {"area", 1}});
  nan.tangent();
  EXPECT_EQ(nan.status.fault, ElementFault::not_finite);
}

TEST(HostElement, PromisesThatAreNotKeptAreMisuse) {
  const HostElementProgram program("given", std::make_shared<Given>(std::vector<double>{1, 0, 0, 1}));
  ElementRun run(program);
  run.add({{0, 0, 0}, {1, 0, 0}}, {});
  try {
    run.mass(MassKind::consistent);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::misuse);
  }
}

TEST(HostElement, IsFoundByNameOnceRegistered) {
  static const auto truss = std::make_shared<const HostTruss>();
  register_host_element("test_host_truss", "line2", truss);
  register_host_element("test_host_truss", "line2", truss);
  const ElementType& type = ElementLibrary::instance().find("test_host_truss");
  EXPECT_EQ(type.program().route(), Route::host);
  EXPECT_EQ(type.program().parameter_names().size(), 4u);
  EXPECT_THROW(register_host_element("test_host_truss", "line2", std::make_shared<Given>(std::vector<double>{})),
               Error);
  EXPECT_THROW(register_host_element("test_host_truss", "", truss), Error);  // another shape
  EXPECT_THROW(register_host_element("test_nothing", "", nullptr), Error);
}

TEST(HostElement, AnotherObjectOfTheSameClassIsNotIgnored) {
  static const auto soft = std::make_shared<const Given>(std::vector<double>{1, 0, 0, 1});
  register_host_element("test_given", "", soft);
  try {
    register_host_element("test_given", "", std::make_shared<const Given>(std::vector<double>{9, 0, 0, 9}));
    FAIL() << "the stiff one was silently replaced by the soft one";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_NE(error.text().find("'test_given'"), std::string::npos) << error.what();
  }
  const auto& kept = dynamic_cast<const HostElementProgram&>(ElementLibrary::instance().find("test_given").program());
  EXPECT_EQ(&kept.element(), soft.get());
}

}  // namespace
}  // namespace voussoir
