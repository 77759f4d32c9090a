// Parts by several threads: each once, the same bits for any number of threads, and errors that reach the caller.
#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/part_solver.hpp>
#include <voussoir/partition/part_threads.hpp>
#include <voussoir/partition/partitioners.hpp>
#include <voussoir/partition/substructure_solver.hpp>

#include "loaded_bar.hpp"
#include "support/decomposition_check.hpp"
#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;
using testing::solved;

TEST(PartThreads, CallEachPartOnce) {
  for (const int threads : {1, 2, 3, 8})
    for (const int parts : {0, 1, 2, 7, 100}) {
      std::vector<int> calls(static_cast<std::size_t>(parts), 0);
      for_each_part(parts, threads, [&](int p) { ++calls[static_cast<std::size_t>(p)]; });
      for (const int count : calls) EXPECT_EQ(count, 1);
    }
}

TEST(PartThreads, UseAsManyThreadsAsAllowed) {
  std::atomic<int> inside = 0, most = 0;
  std::atomic<int> widest = 0;
  // Every thread waits until all have begun, or until a second has passed.
  for_each_part(4, 4, [&](int) {
    const int now = ++inside;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    const double start = omp_get_wtime();
    while (most < 4 && omp_get_wtime() - start < 1) {
    }
    --inside;
#pragma omp parallel
    widest = std::max(widest.load(), omp_get_num_threads());
  });
  EXPECT_EQ(most, 4);
  EXPECT_EQ(widest, 1) << "parallel regions inside a part have one thread";
  EXPECT_EQ(inside, 0);
  const int before = omp_get_max_threads();
  for_each_part(1, 1, [&](int) { EXPECT_EQ(omp_get_max_threads(), 1); });
  EXPECT_EQ(omp_get_max_threads(), before);
}

TEST(PartThreads, ThrowTheErrorOfTheLowestPart) {
  for (const int threads : {1, 2, 5})
    for (int run = 0; run < 20; ++run)
      expect_error(ErrorCode::singular, {"part 3"}, [&] {
        for_each_part(40, threads, [](int p) {
          if (p % 10 == 3) throw Error(ErrorCode::singular, "it floats", "part " + std::to_string(p));
        });
      });
}

void expect_same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(double)), 0);
}

TEST(PartThreads, GiveTheSameBitsForAnyNumber) {
  Domain domain;
  testing::add_loaded_bar(domain, 3);
  std::vector<std::string> methods = testing::decomposition_methods();
  methods.push_back("cg+asm2:coarse=geneo,threshold=0.2");
  methods.push_back("schur:schur=explicit");
  methods.push_back("cg+asm:solver=direct:eigen");
  for (const std::string& method : methods) {
    SCOPED_TRACE(method);
    const std::string name = method + (method.find(':') == std::string::npos ? ":" : ",") + "parts=5";
    const StepResult one = solved(domain, name, "openmp:1");
    for (const char* backend : {"openmp:3", "openmp:8"}) {
      SCOPED_TRACE(backend);
      expect_same_bits(solved(domain, name, backend).unknowns.values, one.unknowns.values);
    }
  }
}

TEST(PartThreads, GiveTheSameBitsInSubstructures) {
  Domain domain;
  testing::add_loaded_bar(domain, 3);
  const Partition partition = DomainPartitioner(domain).partition(*make_partitioner("rcb"), 5);
  std::vector<std::vector<double>> results;
  for (const char* backend : {"openmp:1", "openmp:2", "openmp:4"})
    results.push_back(SubstructureSolver(domain, partition, Backend::open(backend)).solve({})[0].unknowns.values);
  expect_same_bits(results[1], results[0]);
  expect_same_bits(results[2], results[0]);
  testing::expect_close({{}, {}, results[0]}, solved(domain, "direct").unknowns, 1e-9);
}

/// Counts how many of them work at the same time.
class CountingSolver final : public PartSolver {
 public:
  explicit CountingSolver(bool side_by_side) : side_by_side_(side_by_side), inner_(make_part_solver("direct")) {}
  std::string name() const override { return "counting"; }
  bool works_side_by_side() const override { return side_by_side_; }
  void set_up(const SymmetricCsr& matrix, const std::string& where,
              const std::function<std::string(std::int64_t)>& label) override {
    const Visit visit;
    inner_->set_up(matrix, where, label);
  }
  void solve(std::span<double> b_and_x) override {
    const Visit visit;
    inner_->solve(b_and_x);
  }
  std::size_t bytes() const override { return inner_->bytes(); }
  static inline std::atomic<int> inside = 0;
  static inline std::atomic<bool> met = false;

 private:
  struct Visit {
    Visit() {
      if (++inside > 1) met = true;
    }
    ~Visit() { --inside; }
  };
  bool side_by_side_;
  std::unique_ptr<PartSolver> inner_;
};
VSR_REGISTER(part_solvers, "test-alone", "direct, one at a time",
             PartSolverFactory{[](const std::string&) { return std::make_unique<CountingSolver>(false); }});

TEST(PartThreads, SolveOneAfterTheOtherWhereASolverDoesNotPromiseMore) {
  Domain domain;
  testing::add_loaded_bar(domain, 3);
  for (const char* method : {"cg+asm2", "cg+bddc", "cg+nn", "schur", "feti-dp"}) {
    CountingSolver::met = false;
    solved(domain, std::string(method) + ":parts=6,solver=test-alone", "openmp:4");
    EXPECT_FALSE(CountingSolver::met) << method;
  }
}

TEST(PartThreads, NameTheLowestSingularPart) {
  // Two of four bars, which are parts of their own, have no supports along x.
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {2, 1, 1};
  for (int b = 0; b < 4; ++b) {
    mesh.lower = {0, 2.0 * b, 0};
    mesh.upper = {2, 2.0 * b + 1, 1};
    mesh.block = "bar" + std::to_string(b);
    mesh.set_prefix = mesh.block + "_";
    add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("m" + std::to_string(b), 1e3, 0.3));
    domain.prescribe(mesh.set_prefix + "xmin", b % 2 == 0 ? "all" : "uy");
    domain.add_load_case("push" + std::to_string(b)).traction(mesh.set_prefix + "xmax", {0, 1, 0});
  }
  std::set<std::string> texts;
  for (const char* backend : {"openmp:1", "openmp:2", "openmp:4"}) try {
      solved(domain, "cg+asm:parts=4,cut=rcb", backend);
      ADD_FAILURE() << "a singular part was solved";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::singular) << error.what();
      texts.insert(error.what());
    }
  EXPECT_EQ(texts.size(), 1u);
}

}  // namespace
}  // namespace voussoir
