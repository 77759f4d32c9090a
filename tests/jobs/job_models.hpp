#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/jobs/result_files.hpp>
#include <voussoir/jobs/run_job.hpp>

// Small jobs made by hand, with answers that a pencil finds.

namespace voussoir::testing {

/// A folder of its own for every test, gone afterwards.
class FolderTest : public ::testing::Test {
 protected:
  FolderTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("voussoir_jobs_" + std::to_string(::getpid()) + "_" + test->test_suite_name() + "_" + test->name());
    std::filesystem::create_directories(folder_);
  }
  ~FolderTest() override {
    std::error_code ignored;
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(folder_, ignored);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  OutputOptions here() const {
    OutputOptions options;
    options.folder = folder_;
    return options;
  }
  std::filesystem::path folder_;
};

inline std::string read_all(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

constexpr double bar_young = 200.0, bar_length = 4.0, bar_area = 1.0, bar_expansion = 1e-3;

/// A bar of 4 × 1 × 1 without contraction across (ν = 0), and what is pulled or heated of it.
inline void add_bar(Domain& domain, const std::string& type) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {4, 1, 1};
  mesh.upper = {bar_length, 1, 1};
  mesh.block = "bar";
  auto steel = std::make_shared<IsotropicMaterial>("steel", bar_young, 0.0, 1.0, bar_expansion);
  steel->set("conductivity", 50.0);
  add_box_mesh(domain, mesh).set_material(steel);
}

inline std::vector<Prescribed> hold(const Domain& domain, const std::string& set, const std::string& unknown,
                                    double value = 0) {
  std::vector<Prescribed> list;
  for (const std::int32_t n : domain.node_set(set)) list.push_back({n, unknown, value});
  return list;
}

/// Holds one end of a bar: ux at xmin, and what lets it move freely across.
inline std::shared_ptr<Supports> hold_one_end(const Domain& domain) {
  auto supports = std::make_shared<Supports>();
  for (const auto& [set, unknown] : {std::pair{"xmin", "ux"}, std::pair{"ymin", "uy"}, std::pair{"zmin", "uz"}})
    for (const Prescribed& p : hold(domain, set, unknown)) supports->values.push_back(p);
  return supports;
}

/// A bar that is pulled with `force` at its end in one step, so that it lengthens by F L / (E A).
inline Job pulled_bar(double force = 10.0, const std::string& type = "solid.hex8.full") {
  Job job;
  job.name = "bar";
  job.title = "a bar";
  job.source = "bar.inp";
  job.domains.push_back(std::make_unique<Domain>());
  Domain& domain = *job.domains[0];
  add_bar(domain, type);
  domain.add_load_case("pull").traction("xmax", {force / bar_area, 0, 0});
  JobStep step;
  step.name = "step 1";
  step.load_case = "pull";
  step.supports = hold_one_end(domain);
  job.steps.push_back(step);
  return job;
}

/// Adds a step like the last one.
inline JobStep& one_more_step(Job& job) {
  JobStep step = job.steps.back();
  step.name = "step " + std::to_string(job.steps.size() + 1);
  step.total_time += 1;
  job.steps.push_back(step);
  return job.steps.back();
}

/// A bar that is heated from 0 to 100 along its length and then free to lengthen.
inline Job heated_bar() {
  Job job;
  job.name = "hot";
  for (const char* type : {"heat.hex8", "solid.hex8.full"}) {
    job.domains.push_back(std::make_unique<Domain>());
    add_bar(*job.domains.back(), type);
  }
  JobStep heat;
  heat.name = "heat";
  heat.procedure = Procedure::steady_heat;
  auto temperatures = std::make_shared<Supports>();
  temperatures->values = hold(*job.domains[0], "xmin", "T", 0.0);
  for (const Prescribed& p : hold(*job.domains[0], "xmax", "T", 100.0)) temperatures->values.push_back(p);
  heat.supports = temperatures;
  job.steps.push_back(heat);
  JobStep expand;
  expand.name = "expand";
  expand.domain = 1;
  expand.total_time = 2;
  // Held across everywhere, the bar moves along its axis alone, as the formula has it.
  auto guides = hold_one_end(*job.domains[1]);
  for (std::int32_t n = 0; n < job.domains[1]->node_count(); ++n)
    for (const char* u : {"uy", "uz"}) guides->values.push_back({n, u, 0.0});
  expand.supports = guides;
  expand.heated_by = 0;
  job.steps.push_back(expand);
  return job;
}

/// All of a job with the direct solver on one thread.
inline StaticOptions plainly() {
  StaticOptions options;
  options.backend = "openmp:1";
  options.solver = "direct";
  return options;
}

inline JobResult run_and_write(Job& job, ResultFiles& files) {
  JobResult result = run_job(job, plainly(), {},
                             [&](std::size_t step, StepResult found) { files.write_step(step, std::move(found)); });
  files.finish(result, {plainly(), 0.25});
  return result;
}

/// Asks for a table.
inline PrintRequest print(PrintRequest::At at, const std::string& set, std::vector<std::string> quantities) {
  PrintRequest request;
  request.at = at;
  request.set = set;
  request.quantities = std::move(quantities);
  return request;
}

/// A bar with tables at nodes, with their totals, and at elements.
inline Job bar_with_tables() {
  Job job = pulled_bar(10.0);
  job.steps[0].prints = {print(PrintRequest::At::nodes, "xmax", {"U", "RF"}),
                         print(PrintRequest::At::elements, "", {"S"})};
  job.steps[0].prints[0].totals = PrintRequest::Totals::also;
  return job;
}

}  // namespace voussoir::testing
