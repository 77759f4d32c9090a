#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/load_option.hpp>
#include <voussoir/apps/commands/number_checks.hpp>
#include <voussoir/apps/commands/output_checks.hpp>
#include <voussoir/apps/commands/read_model.hpp>
#include <voussoir/apps/commands/solver_options.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/framework/domain/superelement_instance.hpp>
#include <voussoir/framework/io/picture/picture.hpp>
#include <voussoir/framework/io/safe_text.hpp>
#include <voussoir/framework/io/vtk/vtu_writer.hpp>
#include <voussoir/jobs/check_job.hpp>
#include <voussoir/jobs/run_checkpoints.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/element_costs.hpp>
#include <voussoir/partition/partition_quality.hpp>
#include <voussoir/partition/partitioners.hpp>
#include <voussoir/partition/process/part_file.hpp>

namespace voussoir::app {
namespace {

struct PartitionOptions {
  std::string file, dialect = "calculix", method = "auto", csv, vtu, picture, output;
  int parts = 2;
  bool force = false, json = false;
};

std::string partition_document(const PartitionOptions& options, const std::string& method, const Partition& partition,
                               const PartitionQuality& quality, bool mesh_only) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  for (int p = 0; p < partition.parts(); ++p) {
    const PartQuality& one = quality.parts[static_cast<std::size_t>(p)];
    const nlohmann::ordered_json floating =
        mesh_only ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(one.floating_pieces);
    parts.push_back({{"part", p},
                     {"elements", partition.element_count(p)},
                     {"nodes", partition.nodes(p).size()},
                     {"neighbours", partition.neighbours(p)},
                     {"interface_nodes", one.interface_nodes},
                     {"pieces", one.pieces},
                     {"floating_pieces", floating},
                     {"corners", one.corners},
                     {"weight", one.weight},
                     {"aspect", one.aspect}});
  }
  const nlohmann::ordered_json document{{"voussoir", version()},
                                        {"file", options.file},
                                        {"method", method},
                                        {"balance", partition.balance()},
                                        {"edge_cut", partition.edge_cut()},
                                        {"interface_nodes", partition.interface_nodes().size()},
                                        {"findings", quality.findings(!mesh_only)},
                                        {"parts", parts}};
  return printable_json(document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n";
}

/// Throws the first error that a check of the whole job finds, and tells its warnings: parts alone do not show them.
void refuse_faults(Job& job) {
  const auto findings = check_job(job).findings;
  for (const Finding& finding : findings)
    if (finding.severity == Finding::Severity::error) throw Error(ErrorCode::bad_input, finding.text, finding.where);
  for (const Finding& finding : findings)
    if (finding.severity == Finding::Severity::warning || finding.kind == "unused nodes")
      show_error("voussoir: {} {}: {}\n", yellow("note:", Stream::error),
                 finding.where.empty() ? job.source : finding.where, finding.text);
}

/// Parts do not know what these steps ask for.
void refuse_superposition(const Job& job) {
  for (const JobStep& step : job.steps)
    if (uses_modes(step.procedure) && step.procedure != Procedure::frequency)
      throw Error(ErrorCode::unavailable,
                  "steps of mode superposition (" + to_string(step.procedure) +
                      ") are not computed from divided jobs; run the deck or the job file itself",
                  step.where.empty() ? job.source : step.where);
}

/// Results inside a superelement are recovered where the whole model is.
void refuse_superelements(const Job& job) {
  for (const auto& domain : job.domains)
    for (const auto& superelement : superelements_of(*domain))
      throw Error(
          ErrorCode::unavailable,
          "superelements are not supported in divided jobs; run the job file itself (mpirun -n N voussoir run FILE "
          "--engine petsc)",
          "superelement '" + superelement->name() + "'");
}

/// Notes what a run of the divided job will refuse.
void note_tables_of_modes(const Job& job) {
  for (const JobStep& step : job.steps)
    if (step.procedure == Procedure::frequency && !step.prints.empty())
      show_error(
          "voussoir: {} {}: divided jobs have no tables of modes (*NODE PRINT, *EL PRINT), and a run of this one "
          "will be refused; leave them out\n",
          yellow("note:", Stream::error), step.where.empty() ? job.source : step.where);
}

/// Notes that runs of the divided job write no restart files, and which checkpoints they write instead.
void note_restart_files(const Job& job) {
  const auto step = std::find_if(job.steps.begin(), job.steps.end(),
                                 [](const JobStep& one) { return one.restart != RestartWrite::none; });
  if (step == job.steps.end()) return;
  const bool saved =
      std::any_of(job.steps.begin(), job.steps.end(), [](const JobStep& one) { return is_saved(one.procedure); });
  std::string text = "divided jobs write no restart file (*RESTART, WRITE); run the deck on one process for it";
  if (saved && job.checkpoints.every_increments > 0)
    text += fmt::format(
        ". Runs of the divided job write checkpoints after every {} instead, unless --checkpoint-every or "
        "--checkpoint-steps is given",
        job.checkpoints.every_increments == 1 ? "increment" : counted(job.checkpoints.every_increments, "increment"));
  show_error("voussoir: {} {}: {}\n", yellow("note:", Stream::error), step->where.empty() ? job.source : step->where,
             text);
}

/// Before any work is done.
void refuse_existing(const PartitionOptions& options) {
  for (const std::string& file : {options.csv, options.vtu, options.picture, options.output}) {
    std::error_code ignored;
    if (!options.force && !file.empty() && std::filesystem::exists(file, ignored))
      throw Error(ErrorCode::io, "the file exists already; replace it with --force, or choose another name",
                  "file '" + file + "'");
  }
}

/// Before any work is done, too. A divided job of another name could not be run.
void refuse_other_formats(const PartitionOptions& options) {
  if (options.output.empty()) return;
  if (!is_part_file_name(options.output))
    throw Error(ErrorCode::bad_input, "the name of a divided job must end in .vpart, .h5 or .hdf5",
                "file '" + options.output + "'");
  require_part_format(options.output);
}

void draw_parts(const PartitionOptions& options, const std::string& method, const Domain& domain,
                const Partition& partition) {
  PictureOptions how;
  how.overwrite = options.force;
  how.title = counted(partition.parts(), "part") + " by " + method;
  how.subtitle = fmt::format("balance {:.4f}, edge cut {}, {} interface nodes", partition.balance(),
                             partition.edge_cut(), partition.interface_nodes().size());
  if (lies_in_a_plane(domain)) {
    how.view = {0, 0, 1};
    how.up = {0, 1, 0};
    how.shadow = false;
  }
  const auto part = partition.part_of_element();
  Picture(domain).colour_elements({part.begin(), part.end()}, "part").write(options.picture, how);
}

void run_partition(const PartitionOptions& options) {
  check_outputs({options.file}, {options.csv, options.vtu, options.picture, options.output});
  refuse_existing(options);
  refuse_other_formats(options);
  const auto method = make_partitioner(options.method);
  Job job = read_model_or_mesh(options.file, dialect_of(options.dialect), {});
  Domain& domain = *job.domains.front();
  for (const JobStep& step : job.steps)  // those of the first step that has some, of what the file defines
    if (step.domain == 0 && step.supports) {
      step.supports->apply(domain);
      break;
    }
  Partition partition = DomainPartitioner(domain).set_weights(element_costs(domain)).partition(*method, options.parts);
  if (!options.output.empty()) {  // the first, since it may be refused
    check_divisible(job);
    if (job.restart)
      throw Error(ErrorCode::unavailable,
                  "jobs that continue another one (*RESTART, READ) cannot be divided into a file; run the deck itself",
                  job.restart->where);
    refuse_superposition(job);
    refuse_superelements(job);
    refuse_faults(job);
    note_tables_of_modes(job);
    note_restart_files(job);
    const JobDivision division(job, options.parts, options.method);
    write_part_file(options.output, division, options.force);
    partition = division.partition(0);  // a second model may have moved its boundaries
  }
  if (!options.csv.empty()) csv_table(domain, partition).write(options.csv, options.force);
  if (!options.vtu.empty()) {
    const auto part = partition.part_of_element();
    VtuWriter(domain)
        .add_cells("part", std::vector<std::int32_t>(part.begin(), part.end()))
        .write(options.vtu, {options.force});
  }
  if (!options.picture.empty()) draw_parts(options, method->name(), domain, partition);
  const PartitionQuality quality = examine_partition(domain, partition);
  if (options.json) return print(partition_document(options, method->name(), partition, quality, job.mesh_only));
  show("{}: {}, {}, by {}\n\n{}", bold(options.file), counted(domain.element_count(), "element"),
       counted(domain.node_count(), "node"), method->name(), quality.describe(!job.mesh_only));
  for (const std::string& file : {options.csv, options.vtu, options.picture, options.output})
    if (!file.empty()) show("Wrote {}\n", file);
}

constexpr const char* partition_examples =
    R"(Examples:
  voussoir partition beam.inp --parts 8                    a table of the parts and of the interface between them
  voussoir partition part.msh --parts 4 --vtu parts.vtu    the parts to look at in ParaView
  voussoir partition lattice.inp --parts 8 --method metis:graph=nodes   elements in a corner count as neighbours
  voussoir partition beam.inp --parts 8 --picture parts.png     a picture of the parts
  voussoir partition beam.inp --parts 8 --csv parts.csv    the part of every element
  voussoir partition beam.inp --parts 8 --output beam.vpart     the divided job; each process reads its own part
  voussoir partition beam.inp --parts 8 --output beam.h5        the same as an HDF5 file, which other programs read, too
  voussoir partition beam.inp --load libmine.so --method mine   a method of your own (docs/tutorials/write_a_solver.md)

Parts are numbered from 0. Elements coupled by equations stay together. An element weighs as much as its matrix has
entries, relative to the mean. Columns: pieces are sets of elements that no face connects, floating ones of these that
no support holds, corners interface nodes that no element connects with another node of the same parts; aspect is the
longest side of a part's box over the shortest.)";

}  // namespace

void add_partition_command(CLI::App& program) {
  CLI::App* partition =
      program.add_subcommand("partition", "Divide a mesh into parts of equal size with few shared nodes");
  auto options = std::make_shared<PartitionOptions>();
  add_load_option(*partition);
  partition->add_option("FILE", options->file, "Abaqus or CalculiX deck (.inp), job file (.json) or Gmsh mesh (.msh)")
      ->type_name("FILE")
      ->required();
  partition->add_option("--parts", options->parts, "Number of parts")
      ->type_name("N")
      ->check(whole_number_between(1, 1000000))
      ->capture_default_str();
  partition
      ->add_option("--method", options->method,
                   "Partitioner, with its options behind colons; auto is metis where it is built in, else coordinate")
      ->type_name(name_choices("auto", partitioners().names()))
      ->check([](const std::string& name) {
        return fault_of_name(name, [](const std::string& n) { make_partitioner(n); });
      })
      ->capture_default_str();
  partition->add_option("--csv", options->csv, "Write the part of every element to a file")->type_name("FILE");
  partition->add_option("--vtu", options->vtu, "Write the mesh with its parts to a file for ParaView")
      ->type_name("FILE");
  partition->add_option("--picture", options->picture, "Draw the model with a colour for each part")
      ->type_name("FILE.png");
  partition
      ->add_option("--output", options->output,
                   "Write the job, divided into parts for several processes, to X.vpart, or to X.h5 or X.hdf5 as an "
                   "HDF5 file")
      ->type_name("FILE");
  partition->add_flag("--force", options->force, "Replace existing files");
  partition->add_flag("--json", options->json, "Print only a JSON document on standard output");
  partition->add_option("--dialect", options->dialect, "The program whose meaning deck names have where the two differ")
      ->check(CLI::IsMember({"calculix", "abaqus"}).description(""))
      ->type_name("calculix|abaqus")
      ->capture_default_str();
  partition->footer(partition_examples);
  partition->callback([options] { run_partition(*options); });
}

}  // namespace voussoir::app
