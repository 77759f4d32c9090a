#include <gtest/gtest.h>

#include <algorithm>
#include <voussoir/solvers/preconditioners/inverse_diagonal.hpp>
#include <voussoir/solvers/preconditioners/polynomial.hpp>
#include <voussoir/solvers/registries.hpp>

#include "solver_models.hpp"
#include "support/expect_error.hpp"

namespace voussoir::test {
namespace {

using testing::expect_error;

/// A solver that tells what it was made with.
class Teller : public Solver {
 public:
  explicit Teller(const SolverSettings& settings) : settings_(settings) {}
  std::string name() const override {
    return "teller(" + settings_.options + ")" +
           (!settings_.preconditioner   ? ""
            : *settings_.preconditioner ? (*settings_.preconditioner)->name()
                                        : "null") +
           " " + std::to_string(settings_.relative_tolerance) + " " + std::to_string(settings_.max_iterations);
  }
  SolveReport solve(LinearSOE&) override { return {}; }

 private:
  SolverSettings settings_;
};

VSR_REGISTER(solvers, "test-teller", "tells what it was made with",
             SolverFactory{[](const SolverSettings& s) { return std::make_shared<Teller>(s); }, true, {"loud"}});

TEST(SolverName, IsTakenApartByOneGrammar) {
  const SolverName plain = parse_solver_name("direct:eigen");
  EXPECT_EQ(plain.solver.name, "direct");
  EXPECT_EQ(plain.solver.options, "eigen");
  EXPECT_FALSE(plain.preconditioner);
  const SolverName both = parse_solver_name("a:b=1,c+amg:k-cycle,threshold=1e+0");
  EXPECT_EQ(both.solver.options, "b=1,c");
  EXPECT_EQ(both.preconditioner->name, "amg");
  EXPECT_EQ(both.preconditioner->options, "k-cycle,threshold=1e+0") << "only the first plus sign separates";
  for (const char* nested : {"schur:parts=4,solver=cg+amg", "schur:solver=cg+amg,parts=4"}) {
    EXPECT_EQ(parse_solver_name(nested).solver.options, std::string(nested).substr(6));
    EXPECT_FALSE(parse_solver_name(nested).preconditioner) << "the solver of parts has a plus sign of its own";
  }
  EXPECT_EQ(parse_solver_name("cg+asm:solver=cg+amg").preconditioner->options, "solver=cg+amg");
  EXPECT_EQ(parse_solver_name("a:solver=b+c,d=1+e:f").preconditioner->name, "e");
  for (const char* wrong : {"", "+amg", "cg+", "cg:", "cg+amg:", ":x", "cg+:x"})
    expect_error(ErrorCode::not_found, {"solver '" + std::string(wrong) + "'", "missing"},
                 [&] { parse_solver_name(wrong); });
}

TEST(SolverRegistry, GivesAFactoryAllThatTheNameSays) {
  EXPECT_EQ(make_solver("test-teller:loud+jacobi:single", 0.25, 7)->name(), "teller(loud)jacobi:single 0.250000 7");
  EXPECT_EQ(make_solver("test-teller+none", 0.25, 7)->name(), "teller()null 0.250000 7");
  EXPECT_EQ(make_solver("test-teller", 0.25, 7)->name(), "teller() 0.250000 7");
  const auto names = solver_names();
  for (const char* name : {"test-teller", "test-teller:loud", "test-teller+amg", "test-teller+jacobi:single"})
    EXPECT_TRUE(std::find(names.begin(), names.end(), name) != names.end()) << name;
}

TEST(SolverRegistry, ListsTheStockInItsOrder) {
  std::vector<std::string> names = stock_solver_names();
  for (const char* name : {"gmres", "gmres+amg", "bicgstab+block-jacobi:single"})
    EXPECT_TRUE(std::find(names.begin(), names.end(), name) != names.end()) << name;
  std::erase_if(names, [](const std::string& n) { return n.starts_with("gmres") || n.starts_with("bicgstab"); });
  EXPECT_EQ(names, (std::vector<std::string>{"direct", "direct:mumps", "direct:eigen", "direct:cholmod", "direct:band",
                                             "direct:profile", "direct:multifrontal", "cg", "cg+none", "cg+jacobi",
                                             "cg+jacobi:single", "cg+block-jacobi", "cg+block-jacobi:single",
                                             "cg+chebyshev", "cg+fsai", "cg+amg"}));
  EXPECT_EQ(soe_names(), (std::vector<std::string>{"csr", "bsr", "band", "profile", "element", "element-scatter",
                                                   "point", "matrix-free"}));
  for (const RegistryBase* registry :
       std::initializer_list<const RegistryBase*>{&preconditioners(), &solvers(), &storages()})
    for (const RegistryEntry& entry : registry->entries()) {
      EXPECT_FALSE(entry.description.empty()) << entry.name;
      if (!entry.name.starts_with("test-")) {
        EXPECT_EQ(entry.origin, "built in") << entry.name;
      }
    }
  EXPECT_EQ(solvers().origin("test-teller"), "this program");
}

TEST(SolverRegistry, NamesThePartThatIsWrong) {
  expect_error(ErrorCode::not_found, {"solver 'gc'", "did you mean 'cg'?", "direct"}, [] { make_solver("gc"); });
  expect_error(ErrorCode::not_found,
               {"solver 'cg+chebishev'", "preconditioner 'chebishev'", "did you mean 'chebyshev'?"},
               [] { make_solver("cg+chebishev"); });
  expect_error(ErrorCode::not_found, {"solver 'direct:mups'", "did you mean 'mumps'?"},
               [] { make_solver("direct:mups"); });
  expect_error(ErrorCode::bad_input, {"solver 'direct+amg'", "takes no preconditioner", "remove '+amg'"},
               [] { make_solver("direct+amg"); });
  expect_error(ErrorCode::bad_input, {"solver 'cg:fast+amg'", "'cg'", "no option 'fast'", "reductions=1"},
               [] { make_solver("cg:fast+amg"); });
  expect_error(ErrorCode::bad_input, {"solver 'cg+fsai:x'", "'fsai'", "no options"}, [] { make_solver("cg+fsai:x"); });
  expect_error(ErrorCode::bad_input, {"solver 'cg+none:x'", "'none'", "no options"}, [] { make_solver("cg+none:x"); });
  expect_error(ErrorCode::bad_input, {"solver 'cg+jacobi:half'", "'jacobi'", "there is single"},
               [] { make_solver("cg+jacobi:half"); });
  expect_error(ErrorCode::not_found, {"storage 'matrixfree'", "did you mean 'matrix-free'?"},
               [] { make_soe("matrixfree"); });
}

/// Jacobi written with what the headers offer.
class OwnJacobi : public Preconditioner {
 public:
  std::string name() const override { return "own"; }
  void set_up(const LinearSOE& soe) override { inverse_ = inverse_diagonal(soe, 1); }
  const Operator* inverse() const override { return inverse_.get(); }

 private:
  std::unique_ptr<Operator> inverse_;
};

TEST(PreconditionerRegistry, TakesAUsersOwnWhileTheProgramRuns) {
  preconditioners().add("test-own", "Jacobi once more",
                        {[](const std::string&) { return std::make_shared<OwnJacobi>(); }});
  Domain d;
  add_bar(d);
  StaticOptions options;
  options.backend = "openmp:2";
  options.solver = "cg+test-own";
  const StepResult own = make_static_analysis(d, options)->run().at(0);
  options.solver = "cg+jacobi";
  const StepResult stock = make_static_analysis(d, options)->run().at(0);
  EXPECT_EQ(own.report.solver, "cg+own on bsr");
  EXPECT_EQ(own.unknowns.values, stock.unknowns.values) << "the same operations give the same bits";
  expect_error(ErrorCode::bad_input, {"preconditioner 'test-own'", "twice"}, [] {
    preconditioners().add("test-own", "", {[](const std::string&) { return std::make_shared<OwnJacobi>(); }});
  });
}

TEST(NodeBlockSize, IsThatOfNodesWhereTheyAreAlike) {
  Domain d;
  add_bar(d);
  EXPECT_EQ(node_block_size(*System(d, "csr").soe), 3);
  Domain mixed;  // bricks and a beam
  add_box_mesh(mixed, BoxMesh()).set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3, 2));
  mixed.prescribe("xmin", "all");
  const Id last = mixed.node_id(mixed.node_count() - 1);
  mixed.add_node(last + 1, 2, 1, 1);
  auto material = std::make_shared<IsotropicMaterial>("bar", 1000, 0.3, 2);
  material->set("shear_modulus", 400);
  auto& beams = mixed.add_block("beam", "beam");
  beams.set_material(material);
  for (const std::string& name : beams.type().program().parameter_names())
    if (!material->has(name)) beams.set_section(name, 1);
  beams.add(1000, {last, last + 1});
  mixed.add_load_case("pull");
  EXPECT_EQ(node_block_size(*System(mixed, "csr").soe), 1);
}

TEST(LargestEigenvalue, ComesCloseFromBelow) {
  Domain d;
  add_bar(d);
  System s(d, "csr");
  const auto inverse = inverse_diagonal(*s.soe, 1);
  const Eigen::MatrixXd m = s.dense(*inverse);
  const Eigen::VectorXd root = m.diagonal().cwiseSqrt();
  const Eigen::MatrixXd scaled = root.asDiagonal() * s.dense() * root.asDiagonal();
  const double exact = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(scaled).eigenvalues().maxCoeff();
  const double estimate = largest_eigenvalue(*s.soe, *inverse);
  EXPECT_LE(estimate, exact * (1 + 1e-12));
  EXPECT_GE(estimate, 0.9 * exact);
  EXPECT_EQ(estimate, largest_eigenvalue(*s.soe, *inverse)) << "the same bits every time";
}

TEST(ChebyshevOperator, IsThePolynomialOfTheMatrix) {
  Domain d;
  add_bar(d);
  System s(d, "csr");
  const Eigen::MatrixXd a = s.dense(), m = s.dense(*inverse_diagonal(*s.soe, 1));
  const double low = 0.1, high = 3, centre = (high + low) / 2, half = (high - low) / 2;
  const auto n = a.rows();
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n), x = (centre * one - m * a) / half;
  // The error after k steps is T_k(x) / T_k(centre / half): Saad, section 12.3.2; here k = 3.
  const double c = centre / half;
  const Eigen::MatrixXd error = (4 * x * x * x - 3 * x) / (4 * c * c * c - 3 * c);
  const Eigen::MatrixXd expected = (one - error) * a.inverse();
  const auto op = chebyshev_operator(*s.soe, inverse_diagonal(*s.soe, 1), 3, low, high);
  EXPECT_LT((s.dense(*op) - expected).norm(), 1e-9 * expected.norm());
  for (const auto& [degree, from, to] : {std::tuple{0, 0.1, 3.0}, {3, 0.0, 3.0}, {3, 3.0, 3.0}})
    expect_error(ErrorCode::misuse, {"Chebyshev", "0 < low < high"}, [&, degree = degree, from = from, to = to] {
      chebyshev_operator(*s.soe, inverse_diagonal(*s.soe, 1), degree, from, to);
    });
}

}  // namespace
}  // namespace voussoir::test
