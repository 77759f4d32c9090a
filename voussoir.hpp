#pragma once
// The headers for programs that build, read and solve models. To define elements, also include
// <voussoir/elements/register.hpp>; to define kernels on grids, <voussoir/elements/grid/register.hpp>.

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/framework/analysis/error_estimate.hpp>
#include <voussoir/framework/analysis/explicit_analysis.hpp>
#include <voussoir/framework/analysis/probe.hpp>
#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/analysis/static_analysis.hpp>
#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/grid/explicit_analysis.hpp>
#include <voussoir/framework/grid/heat_analysis.hpp>
#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/io/job/job_file.hpp>
#include <voussoir/framework/response/artificial_earthquake.hpp>
#include <voussoir/jobs/result_files.hpp>
#include <voussoir/jobs/run_heat_job.hpp>
#include <voussoir/jobs/run_job.hpp>
#include <voussoir/solvers/eigen/eigen_solvers.hpp>
#include <voussoir/solvers/eigen/mode_superposition_problem.hpp>
#include <voussoir/solvers/static_problem.hpp>
#include <voussoir/solvers/stencil/jacobi_iteration.hpp>
#include <voussoir/solvers/stencil/stationary_heat.hpp>
#include <voussoir/solvers/transient_problem.hpp>
#include <voussoir/solvers/tridiagonal/tridiagonal_batch.hpp>
