#pragma once
#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/jobs/step_receiver.hpp>

// What checkpoints keep of a finished dynamic or transient heat step.

namespace voussoir::detail {

/// What a runner knows of a step beside its results.
struct StepAccount {
  std::int64_t equations = 0, free_equations = 0;
  std::string matrix;              ///< description of the matrix
  std::vector<std::string> notes;  ///< of its analysis
  double seconds = 0;              ///< that it took
};

/// A finished step, for the steps that follow and for the summary.
struct StepEnd {
  StepResponse response;
  NodalField displacement, velocity;  ///< at the end
  std::string history;                ///< of elements, as save_state() writes it; empty: none
  StepAccount account;
};

void put(ByteWriter& out, const NodalField& field);
NodalField get_field(ByteReader& in);
/// Curves over frequency are left out: steps over time have none.
void put(ByteWriter& out, const StepResponse& response);
StepResponse get_response(ByteReader& in);
void put(ByteWriter& out, const StepAccount& account);
StepAccount get_account(ByteReader& in);
void put(ByteWriter& out, const StepEnd& end);
StepEnd get_end(ByteReader& in);

}  // namespace voussoir::detail
