#pragma once
// Everything that a program which builds and solves models needs. Those who write elements include
// <voussoir/elements/register.hpp> besides.

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/analysis/static_analysis.hpp>
#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/solvers/static_problem.hpp>
