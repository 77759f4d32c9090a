#include <voussoir/jobs/detail/process_checks.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

#include <voussoir/framework/domain/superelement_instance.hpp>
#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/jobs/process_job.hpp>
#include <voussoir/partition/process/part_file.hpp>

// What is refused on several processes, and what a file of parts must be.

namespace voussoir {
namespace detail {

bool has_increments(Procedure procedure) {
  return procedure == Procedure::dynamic || procedure == Procedure::nonlinear_statics ||
         procedure == Procedure::transient_heat;
}

std::string place_of_step(const JobStep& step) { return step.where.empty() ? "step '" + step.name + "'" : step.where; }

void check_process_steps(const Job& job) {
  for (const JobStep& step : job.steps) {
    if (!step.procedure_name.empty() && step.procedure_name != "static" && step.procedure_name != "heat")
      throw Error(
          ErrorCode::unavailable,
          "the procedure '" + step.procedure_name + "' is not supported on several processes; run without --engine",
          place_of_step(step));
  }
}

/// Tables of modes, states of mode superposition and results inside superelements are made on process 0, which needs
/// the whole model for it.
void check_steps_in_pieces(const Job& job) {
  for (const auto& domain : job.domains)
    for (std::size_t b = 0; b < domain->block_count(); ++b)
      if (const ElementBlock& block = std::as_const(*domain).block(b); is_superelement_type(block.type_name()))
        throw Error(ErrorCode::unavailable,
                    "superelements are not supported with results in pieces, nor in divided jobs; run the job file "
                    "itself, without --pieces",
                    "superelement '" + block.name() + "'");
  if (job.restart)
    throw Error(ErrorCode::unavailable,
                "*RESTART, READ is not supported with results in pieces, nor in divided jobs; run the deck itself, "
                "without --pieces",
                job.restart->where);
  for (const JobStep& step : job.steps) {
    if (has_states(step.procedure) && step.procedure != Procedure::frequency && !is_integrated(step.procedure))
      throw Error(ErrorCode::unavailable,
                  "states of " + to_string(step.procedure) +
                      " are not written in pieces, nor computed from divided jobs; run the deck or the job file "
                      "itself, without --pieces",
                  place_of_step(step));
    if (step.procedure == Procedure::frequency && !step.prints.empty())
      throw Error(ErrorCode::unavailable,
                  "tables of modes (*NODE PRINT, *EL PRINT) are not written in pieces, nor from divided jobs; leave "
                  "them out, or run the deck or the job file itself, without --pieces",
                  place_of_step(step));
  }
}

std::int64_t fingerprint_of_division(const ProcessPart& part) {
  ByteWriter bytes;
  bytes.put(part.parts).put(part.whole_nodes).put(part.ownership);
  for (const DomainShare& share : part.domains)
    bytes.put(share.ownership).put(share.part_elements).put(share.block_sizes).put(share.unknown_names);
  for (const JobStep& step : part.job.steps) bytes.put(step.name).put(step.load_case).put(step.load_factor);
  return static_cast<std::int64_t>(checksum(bytes.bytes()) >> 1);
}

}  // namespace detail

void check_process_job(const Job& job) {
  if (job.mesh_only)
    throw Error(ErrorCode::bad_input, "this is a mesh without sections, which can be checked but not solved",
                job.source);
  detail::check_process_steps(job);
  check_divisible(job);
}

ReceivedPart read_process_part(Engine& engine, const std::string& path) {
  Processes& processes = engine.processes();
  ReceivedPart own;
  agree(processes, [&] {
    const PartFile file(path);
    if (file.parts() != processes.count())
      throw Error(ErrorCode::bad_input,
                  "the job was divided into " + std::to_string(file.parts()) +
                      (file.parts() == 1 ? " part" : " parts") + ", and this run has " +
                      std::to_string(processes.count()) + (processes.count() == 1 ? " process" : " processes") +
                      "; start as many processes as there are parts (mpirun -n " + std::to_string(file.parts()) +
                      "), or divide the job again with 'voussoir partition FILE --parts " +
                      std::to_string(processes.count()) + " --output " +
                      std::filesystem::path(path).filename().string() + " --force'",
                  "file '" + path + "'");
    own.part = file.read(processes.own());
    own.bytes = static_cast<std::int64_t>(file.bytes(processes.own()));
    detail::check_process_steps(own.part.job);
    detail::check_steps_in_pieces(own.part.job);
  });
  ByteWriter identity;
  identity.put(detail::fingerprint_of_division(own.part)).put(own.part.job.name).put(own.part.job.source);
  require_same_file(processes, checksum(identity.bytes()), path);
  const auto moves = [](const DomainShare& share) {
    return std::find(share.unknown_names.begin(), share.unknown_names.end(), "ux") != share.unknown_names.end();
  };
  if (processes.is_first() && std::any_of(own.part.domains.begin(), own.part.domains.end(), moves))
    own.mechanisms.push_back(
        "mechanisms such as hinges were not searched for, since no process has the whole model; the method mumps of "
        "the engine detects them, iterative methods do not");
  return own;
}

}  // namespace voussoir
