#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/model/constraint_handler.hpp>
#include <voussoir/framework/model/dof_numberer.hpp>
#include <voussoir/partition/process/divided_group.hpp>

#include "partition/thread_processes.hpp"

namespace voussoir {
namespace {

using testing::on_threads;

/// A chain of four bars. Process 0 has two of them, processes 1 and 2 one each, and process 3 has none.
constexpr int group_processes = 4;

Job chain_job() {
  return read_deck_text(
      "*NODE\n1, 0., 0., 0.\n2, 1., 0., 0.\n3, 2., 0., 0.\n4, 3., 0., 0.\n5, 4., 0., 0.\n"
      "*ELEMENT, TYPE=T3D2, ELSET=EALL\n1, 1, 2\n2, 2, 3\n3, 3, 4\n4, 4, 5\n"
      "*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.3\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n1.\n"
      "*BOUNDARY\n1, 1, 3\n2, 2, 3\n3, 2, 3\n4, 2, 3\n5, 2, 3\n*STEP\n*STATIC\n*CLOAD\n5, 1, 1.\n*END STEP\n",
      "chain.inp");
}

/// Systems are not solved here.
class NoSolver : public ProcessSolver {
 public:
  void set_system(SystemShare) override {}
  SolveReport solve(std::span<const double>, std::span<double>) override { return {}; }
};

/// What the threads of a run did.
struct GroupRun {
  std::vector<std::string> texts = std::vector<std::string>(group_processes);  ///< that each of them has thrown
  std::vector<int> entered = std::vector<int>(group_processes, 0);             ///< whether it ran the analysis
  std::vector<int> answered = std::vector<int>(group_processes, 0);            ///< the sum of what it responded to
};

/// Runs `work` as an analysis of the chain on all threads.
GroupRun run_group(const std::function<void(DividedGroup& group, int own, const AnalysisModel& model)>& work) {
  const Job job = chain_job();
  const JobDivision division(job, group_processes, std::vector<std::vector<std::int32_t>>{{0, 0, 1, 2}});
  std::vector<ProcessPart> parts;
  for (int p = 0; p < group_processes; ++p) parts.push_back(division.part(p));
  GroupRun run;
  on_threads(group_processes, [&](Processes& processes) {
    const auto own = static_cast<std::size_t>(processes.own());
    DividedGroup group(parts[own], processes);
    group.respond = [&](int code) { run.answered[own] += code; };
    NoSolver solver;
    try {
      group.run(0, solver, [&] {
        run.entered[own] = 1;
        const auto backend = Backend::open("openmp:1");
        backend->provide<ProcessGroup>(group);
        const AnalysisModel model(*parts[own].job.domains[0], backend, TransformationHandler(), PlainNumberer());
        group.set_model(model);
        EXPECT_EQ(ProcessGroup::of(model), &group);
        work(group, processes.own(), model);
      });
    } catch (const SharedError& error) {
      run.texts[own] = error.what();
    }
    EXPECT_FALSE(group.is_active());
  });
  return run;
}

void expect_success(const GroupRun& run) { EXPECT_EQ(run.texts, std::vector<std::string>(group_processes)); }

TEST(DividedGroup, SumsOverProcessesAndLeavesOutThoseWithoutElements) {
  const GroupRun run = run_group([](DividedGroup& group, int own, const AnalysisModel&) {
    EXPECT_EQ(group.sum(own + 1.0), 6);
    EXPECT_EQ(group.maximum(own == 1 ? -2.5 : -3.0 - own), -2.5);
    EXPECT_EQ(group.maximum(own == 2 ? 1e-300 : -1.0), 1e-300);
    EXPECT_TRUE(std::isnan(group.maximum(own == 1 ? std::numeric_limits<double>::quiet_NaN() : 1e300)));
    EXPECT_TRUE(group.any(own == 2));
    EXPECT_FALSE(group.any(false));
    std::vector<double> times{0.5 * own, 3};
    group.unite(times);
    EXPECT_EQ(times, (std::vector<double>{0, 0.5, 1, 3}));
    EXPECT_EQ(group.free_equation_count(), 15);  // the supports of the step are not applied
  });
  expect_success(run);
  EXPECT_EQ(run.entered, (std::vector<int>{1, 1, 1, 0}));
}

// Nodes 3 and 4 are in two parts each: of shares that are all 1, their forces are 2, and those of the others 1.
TEST(DividedGroup, AssemblesSharesAndCountsEachEquationOnce) {
  expect_success(run_group([](DividedGroup& group, int, const AnalysisModel& model) {
    Vector ones = model.make_vector();
    model.backend().fill(ones, 1.0);
    std::vector<double> values = ones.to_host();
    group.assemble(model, values);
    for (std::int32_t e = 0; e < model.equation_count(); ++e) {
      const std::string node = model.domain().node_label(model.place(e).node);
      EXPECT_EQ(values[static_cast<std::size_t>(e)], node == "node 3" || node == "node 4" ? 2 : 1) << node;
    }
    const auto unknowns = static_cast<double>(model.unknown_names().size());
    EXPECT_DOUBLE_EQ(group.norm(model, ones), std::sqrt(unknowns * (3 + 2 * 4)));
    EXPECT_EQ(group.norm(model, Vector()), 0);
    EXPECT_EQ(group.product_of_unknowns(model, ones, ones), 5 * unknowns);
    EXPECT_EQ(detail::force_product(model, ones, ones), unknowns * (3 + 2 * 4));
    EXPECT_EQ(detail::work_of(model, ones, ones), unknowns * (3 + 2 * 2));
  }));
}

TEST(DividedGroup, ThrowsTheErrorOfOneProcessOnAllOfThem) {
  const GroupRun run = run_group([](DividedGroup& group, int own, const AnalysisModel&) {
    group.sum(1);
    if (own == 1) throw Error(ErrorCode::inverted, "turned inside out", "element 3");
    group.any(false);
  });
  for (const std::string& text : run.texts) EXPECT_EQ(text, "element 3: process 1 of 4: turned inside out");
  const GroupRun late = run_group([](DividedGroup&, int own, const AnalysisModel&) {
    if (own == 2) throw std::runtime_error("at the very end");
  });
  for (const std::string& text : late.texts) EXPECT_EQ(text, "process 2 of 4: at the very end");
}

// An error that an analysis handles is seen by all processes, and they go on together.
TEST(DividedGroup, GoesOnAfterAnErrorThatIsHandled) {
  expect_success(run_group([](DividedGroup& group, int own, const AnalysisModel& model) {
    int caught = 0;
    try {
      detail::together(model, [&] {
        if (own == 2) throw Error(ErrorCode::not_finite, "not finite");
      });
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::not_finite);
      ++caught;
    }
    EXPECT_EQ(caught, 1);
    EXPECT_EQ(group.sum(1), 3);
  }));
}

TEST(DividedGroup, NoticesProcessesThatDoDifferentThings) {
  const GroupRun run = run_group([](DividedGroup& group, int own, const AnalysisModel&) {
    if (own == 1)
      group.sum(1);
    else
      group.any(true);
  });
  for (const std::string& text : run.texts)
    EXPECT_NE(text.find("processes do not take the same steps"), std::string::npos) << text;
}

// The process without elements responds, too.
TEST(DividedGroup, RespondsToRequestsOfTheFirstProcess) {
  const GroupRun run = run_group([](DividedGroup& group, int own, const AnalysisModel&) {
    if (own > 0) return group.respond_until_done();
    group.request(3);
    group.request(4);
    group.done();
  });
  expect_success(run);
  EXPECT_EQ(run.answered, std::vector<int>(group_processes, 7));
}

}  // namespace
}  // namespace voussoir
