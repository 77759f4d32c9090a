#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <voussoir/framework/analysis/integrator.hpp>
#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/partition/process/process_part.hpp>

// Systems of equations of parts, summed by their global numbers, to be compared with that of the whole model.

namespace voussoir::testing {

/// A job of one domain and one static step with all of its load cases.
inline Job job_of(std::unique_ptr<Domain> domain) {
  Job job;
  job.name = "sample";
  job.domains.push_back(std::move(domain));
  JobStep& step = job.steps.emplace_back();
  step.name = "step 1";
  if (job.domains[0]->load_case_count() > 0) step.load_case = job.domains[0]->load_case(std::size_t{0}).name();
  return job;
}

/// A matrix and a right-hand side by global numbers of unknowns.
struct GlobalSystem {
  std::map<std::pair<std::int64_t, std::int64_t>, double> matrix;  ///< rows and columns of free unknowns
  std::map<std::int64_t, double> load;
  std::map<std::int64_t, bool> free;
  std::map<std::int64_t, double> prescribed;  ///< values of unknowns that are not free, where they start

  /// Adds the system of a model at rest with all load cases, whose equations have these global numbers.
  void add(const AnalysisModel& model, const std::vector<std::int64_t>& number) {
    StaticIntegrator integrator;
    AnalysisState state;
    state.case_factors.assign(model.domain().load_case_count(), 1.0);
    integrator.begin_step(model, state);
    auto csr = model.backend().make_matrix(model.device_model(), 1);
    const auto factors = model.batch_factors(state.case_factors);
    MatrixTerms terms;
    terms.batch_factors = factors;
    model.backend().assemble(model.device_model(), state.elements(), terms, *csr);
    Vector b = model.make_vector();
    integrator.form_unbalance(model, state, b);
    const std::vector<double> unbalance = b.to_host(), start = state.unknowns.to_host();
    const HostMatrix host = csr->to_host();
    for (std::int32_t i = 0; i < model.equation_count(); ++i) {
      const std::int64_t row = number[static_cast<std::size_t>(i)];
      const auto known = free.emplace(row, model.is_free(i));
      EXPECT_EQ(known.first->second, model.is_free(i)) << model.equation_label(i) << " is free in some parts only";
      if (!model.is_free(i)) {
        // Dependent unknowns start with what prescribed ones lead to, and are equal in all parts too.
        const auto value = prescribed.emplace(row, start[static_cast<std::size_t>(i)]);
        EXPECT_NEAR(value.first->second, start[static_cast<std::size_t>(i)], 1e-12) << model.equation_label(i);
        continue;
      }
      load[row] += unbalance[static_cast<std::size_t>(i)];
      for (auto k = host.row_start[static_cast<std::size_t>(i)]; k < host.row_start[static_cast<std::size_t>(i) + 1];
           ++k)
        if (const std::int32_t j = host.column[static_cast<std::size_t>(k)]; model.is_free(j))
          matrix[{row, number[static_cast<std::size_t>(j)]}] += host.value[static_cast<std::size_t>(k)];
    }
  }
};

/// The largest difference between the entries of two maps, relative to the largest entry; missing ones count as 0.
template <class Map>
double relative_difference(const Map& a, const Map& b) {
  double largest = 0, apart = 0;
  for (const auto& [key, value] : a) {
    const auto other = b.find(key);
    largest = std::max(largest, std::abs(value));
    apart = std::max(apart, std::abs(value - (other == b.end() ? 0.0 : other->second)));
  }
  for (const auto& [key, value] : b)
    if (!a.contains(key)) apart = std::max(apart, std::abs(value));
  return largest > 0 ? apart / largest : apart;
}

/// The global number of each equation of the whole model, as the parts have it.
inline std::vector<std::int64_t> numbers_of_whole(const AnalysisModel& whole, const std::vector<ProcessPart>& parts,
                                                  std::size_t domain = 0) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(whole.equation_count()), -1);
  std::map<std::int64_t, std::pair<std::size_t, std::int32_t>> place;  // part and local node of each node
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (std::int32_t n = 0; n < parts[p].node_count(); ++n)
      place.emplace(parts[p].whole[static_cast<std::size_t>(n)], std::pair{p, n});
  for (std::int32_t e = 0; e < whole.equation_count(); ++e) {
    const AnalysisModel::Place at = whole.place(e);
    const auto found = place.find(at.node);
    if (found == place.end()) continue;
    const auto& [part, node] = found->second;
    numbers[static_cast<std::size_t>(e)] =
        parts[part].domains[domain].global_unknown(node, whole.unknown_names()[static_cast<std::size_t>(at.component)]);
  }
  return numbers;
}

/// Compares the sums of the systems of all parts with the system of the whole model, for one of the job's domains.
inline void expect_parts_add_up(const Job& job, const std::vector<ProcessPart>& parts,
                                const std::string& backend = "openmp:1", std::size_t domain = 0) {
  GlobalSystem whole, sum;
  const auto open = Backend::open(backend);
  const AnalysisModel model(*job.domains[domain], open, TransformationHandler(), PlainNumberer());
  const std::vector<std::int64_t> numbers = numbers_of_whole(model, parts, domain);
  for (const std::int64_t number : numbers) ASSERT_GE(number, 0);
  whole.add(model, numbers);
  std::int64_t held = 0;
  for (const ProcessPart& part : parts) {
    if (!part.has_elements(domain)) continue;
    const AnalysisModel own(*part.job.domains[domain], open, TransformationHandler(), PlainNumberer());
    sum.add(own, global_equations(part, domain, own));
    held += static_cast<std::int64_t>(held_unknowns(part, domain, own).size());
  }
  EXPECT_EQ(static_cast<std::int64_t>(sum.free.size()) + held, parts[0].domains[domain].unknown_count());
  for (const auto& [number, is_free] : whole.free) {
    const auto found = sum.free.find(number);
    if (found == sum.free.end())  // a unknown of a node without elements that nothing names: held in both
      EXPECT_FALSE(is_free);
    else
      EXPECT_EQ(found->second, is_free);
  }
  EXPECT_FALSE(whole.matrix.empty());
  EXPECT_LT(relative_difference(whole.matrix, sum.matrix), 1e-13);
  EXPECT_LT(relative_difference(whole.load, sum.load), 1e-12);
}

/// Divides a job, sends all parts through their binary form and compares the sums of their systems with the system of
/// the whole model.
inline void expect_same_system(const Job& job, int count, const std::string& method = "coordinate",
                               const std::string& backend = "openmp:1") {
  const JobDivision division(job, count, method);
  std::vector<ProcessPart> parts;
  for (int p = 0; p < count; ++p) parts.push_back(decode(encode(division.part(p)), "part " + std::to_string(p)));
  expect_parts_add_up(job, parts, backend);
}

}  // namespace voussoir::testing
