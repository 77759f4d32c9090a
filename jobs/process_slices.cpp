#include <algorithm>

#include <voussoir/jobs/detail/process_checks.hpp>
#include <voussoir/jobs/process_job.hpp>
#include <voussoir/partition/process/sliced_job.hpp>

namespace voussoir {

ReceivedPart read_process_slices(Engine& engine, const std::string& path) {
  Processes& processes = engine.processes();
  ReceivedPart own;
  own.part = read_sliced_job(processes, path).part;
  agree(processes, [&] {
    if (own.part.job.steps.empty())
      throw Error(ErrorCode::bad_input,
                  "there is no step, so there is nothing to solve. Add one with loads and supports (\"steps\")", path);
    detail::check_process_steps(own.part.job);
    detail::check_steps_in_pieces(own.part.job);
    own.bytes = static_cast<std::int64_t>(encode(own.part).size());
  });
  const auto moves = [](const DomainShare& share) {
    return std::find(share.unknown_names.begin(), share.unknown_names.end(), "ux") != share.unknown_names.end();
  };
  if (processes.is_first() && std::any_of(own.part.domains.begin(), own.part.domains.end(), moves))
    own.mechanisms.push_back(
        "free motions of single bodies and mechanisms such as hinges were not searched for, since no process has the "
        "whole model; the "
        "method mumps of the engine detects them, iterative methods do not");
  return own;
}

}  // namespace voussoir
