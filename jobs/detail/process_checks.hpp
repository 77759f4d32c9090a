#pragma once
#include <cstdint>
#include <string>

#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/partition/process/process_part.hpp>

namespace voussoir::detail {

/// Whether the states of a step follow each other in increments.
bool has_increments(Procedure procedure);
/// What messages name a step by: its place in the deck, or its name.
std::string place_of_step(const JobStep& step);
/// Throws Error (unavailable) that names the first step that is not implemented for several processes.
void check_process_steps(const Job& job);
/// Throws Error (unavailable) that names the first step whose results cannot be written in pieces.
void check_steps_in_pieces(const Job& job);
/// All parts of one division have the same fingerprint.
std::int64_t fingerprint_of_division(const ProcessPart& part);

}  // namespace voussoir::detail
