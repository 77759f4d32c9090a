#pragma once
#include <string>

#include <voussoir/jobs/check_job.hpp>

namespace voussoir::app {

/// What `voussoir check` shows of a model; with `all`, every set by name.
std::string text_of(const CheckReport& report, double read_seconds, bool all);

}  // namespace voussoir::app
