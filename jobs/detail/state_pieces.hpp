#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/io/vtk/vtu_writer.hpp>
#include <voussoir/jobs/detail/background_work.hpp>
#include <voussoir/jobs/result_files.hpp>
#include <voussoir/jobs/step_receiver.hpp>
#include <voussoir/partition/process/process_part.hpp>
#include <voussoir/partition/process/processes.hpp>

namespace voussoir::detail {

/// The states of steps of a divided job as pieces. Each process writes NAME_time_0001_p0000.vtu … with its own
/// elements, in the background if that is asked for; NAME_time_0001.pvtu joins the pieces of a state once all of them
/// are there, and is written by the lowest part that has elements. Arrays are those of the files of one process.
class StatePieces {
 public:
  /// All arguments must outlive the object.
  StatePieces(Processes& processes, const ProcessPart& part, const OutputOptions& options)
      : processes_(processes), part_(part), options_(options) {}

  /// The files of a state: its pieces and the list of them.
  std::vector<std::string> files(std::size_t step, std::size_t number) const;
  /// Temperatures that act on the nodes of the part in a state, in all parts or in none.
  std::vector<double> temperatures(std::size_t step, const StepState& state) const;
  /// Writes the piece of a state; its fields have the unknowns of the whole model and are complete on shared nodes.
  /// The pieces before must have been listed. Collective.
  void write(std::size_t step, std::size_t number, StepState state);
  /// Waits until the pieces that are being written are there, and writes the list of them. Returns the files, on all
  /// processes; none where nothing was being written. Collective.
  std::vector<std::string> settle();
  /// After the last state of a step: removes those of a longer run of the same name.
  void end(std::size_t step, std::size_t states);

 private:
  std::string stem(std::size_t step) const;
  std::string piece(std::size_t step, std::size_t number, int part) const;
  std::vector<int> parts_with_elements(std::size_t step) const;

  Processes& processes_;
  const ProcessPart& part_;
  const OutputOptions& options_;
  std::size_t step_ = 0, number_ = 0;  // of the state that is being written; 0: none is
  std::unique_ptr<VtuMesh> mesh_;      // what the files of a step have in common
  BackgroundWork background_;          // the last member: its thread uses the others
};

}  // namespace voussoir::detail
