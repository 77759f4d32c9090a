#pragma once
#include <string>

#include <voussoir/jobs/result_files.hpp>

// What `voussoir run` shows of a job.

namespace voussoir::app {

/// Sizes, before anything is solved.
std::string text_of_sizes(const Job& job, double read_seconds);
/// The tables of the steps: extremes with an estimate of the error, loads and reactions, reactions by support, points.
std::string text_of_steps(const std::vector<StepSummary>& steps, const Units& units);
/// Backend, solver, times, files.
std::string text_of_end(const JobResult& result, const ResultFiles& files, double read_seconds, double all_seconds);
/// How the elements reach the backend, why the solver was chosen, how its residuals fell.
std::string text_of_details(const Job& job, const JobResult& result, const ResultFiles& files,
                            const std::string& backend);
/// What results.json would say of a job that did not begin.
std::string failed_run_json(const std::string& file, const Error& error);

}  // namespace voussoir::app
