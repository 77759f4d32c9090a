#pragma once
#include <voussoir/framework/io/job/job.hpp>

namespace voussoir::detail {

/// Throws Error (unavailable) that names the first step that is not implemented for several processes.
void check_process_steps(const Job& job);
/// Throws Error (unavailable) that names the first step whose results cannot be written in pieces.
void check_steps_in_pieces(const Job& job);

}  // namespace voussoir::detail
