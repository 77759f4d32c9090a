#pragma once
#include <functional>

#include <voussoir/framework/analysis/mode_set.hpp>
#include <voussoir/framework/io/job/modal_steps.hpp>

namespace voussoir::detail {

/// The modes that a step asks for, by a function that finds the lowest modes or those of an interval.
ModeSet solve_request(const FrequencyStep& request, const std::function<ModeSet(const EigenRequest&)>& solve);

}  // namespace voussoir::detail
