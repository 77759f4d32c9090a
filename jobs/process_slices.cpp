#include <algorithm>
#include <memory>

#include <voussoir/jobs/detail/process_checks.hpp>
#include <voussoir/jobs/process_job.hpp>
#include <voussoir/partition/process/sliced_job.hpp>

namespace voussoir {
namespace {

/// What `auto` cuts by where the engine has it.
constexpr const char* automatic = "ptscotch";

/// The partitioner for meshes in slices; null for bisection.
std::unique_ptr<ProcessGraphPartitioner> partitioner_of(Engine& engine, const std::string& name) {
  auto* const graphs = dynamic_cast<GraphEngine*>(&engine);
  if (name == "coordinate" || (name == "auto" && !(graphs && graphs->has_graph_partitioner(automatic)))) return nullptr;
  if (!graphs)
    throw Error(ErrorCode::unavailable, "the engine '" + engine.name() + "' cuts no graphs; use --cut coordinate");
  return graphs->make_graph_partitioner(name == "auto" ? automatic : name);
}

}  // namespace

ReceivedPart read_process_slices(Engine& engine, const std::string& path, const std::string& partitioner) {
  Processes& processes = engine.processes();
  ReceivedPart own;
  std::unique_ptr<ProcessGraphPartitioner> method;
  agree(processes, [&] { method = partitioner_of(engine, partitioner); });
  own.cut = method ? method->name() : "coordinate";
  SlicedPart read = read_sliced_job(processes, path, method.get());
  own.part = std::move(read.part);
  own.quality = std::move(read.quality);
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
        "whole model; the method mumps of the engine detects them, iterative methods do not");
  return own;
}

}  // namespace voussoir
