#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/jobs/result_files.hpp>
#include <voussoir/partition/process/process_part.hpp>

namespace voussoir {

/// Writes the results of a job that several processes solve as pieces: each process writes those of its own elements,
/// so that no process needs the results of the whole model.
///
///   NAME_p0000.vtu, NAME_p0001.vtu, …   the elements of each part, without copies (NAME_step1_p0000.vtu … if there are
///                                       several steps)
///   NAME.pvtu                           all pieces as one mesh, for ParaView (NAME_step1.pvtu …)
///   NAME.pvd                            the PVTU files of all steps in order
///
/// The arrays are those of the VTU files of ResultFiles, without estimates of the error. Stress and flux at shared
/// nodes are means over the elements of all parts: each part gives sums and numbers of elements to its neighbours and
/// gets theirs, so that values agree with those of one process to rounding error, and with those of the neighbours
/// exactly.
///
///   PieceFiles files(part, options);                                   // in every process
///   const auto sent = files.begin_step(step, result);                  // one message for each of part.shared
///   files.end_step(exchange(part.shared, sent));                       // theirs, in the same order: writes the piece
///   wait_for_all();                                                    // until every process has written its piece
///   files.write_list(step);                                            // the PVTU and PVD files
class PieceFiles {
 public:
  /// `options` has folder, name and overwrite; without vtu no file is written; other members are ignored. The folder
  /// must exist. The part must outlive this object.
  PieceFiles(const ProcessPart& part, OutputOptions options);
  ~PieceFiles();
  PieceFiles(const PieceFiles&) = delete;
  PieceFiles& operator=(const PieceFiles&) = delete;

  /// Takes the result of a step of statics or steady heat: unknowns and reactions of local nodes, complete on shared
  /// ones, and values at the points of local elements. `heat` are the temperatures of the step that heats it, or null.
  /// Returns a message for each entry of ProcessPart::shared. A step with several states is an Error (unavailable).
  std::vector<std::string> begin_step(std::size_t step, StepResult result, const NodalField* heat = nullptr);
  /// Takes the messages of the neighbours, in the order of ProcessPart::shared, and writes the piece; none for a part
  /// without elements. Messages of a wrong size are an Error (bad_input).
  void end_step(std::span<const std::string> received);
  /// Writes the list of all pieces of a step, and that of the steps so far; only in the lowest part that has elements
  /// of the step's model, and nothing in the others. All pieces must be there. Returns the files written.
  std::vector<std::filesystem::path> write_list(std::size_t step);

  /// What begin_step() has taken, with the unknowns of the whole model; until the next begin_step().
  const StepResult& result() const;
  /// Temperatures that act in the step that was begun last, by local nodes; empty where none do.
  const std::vector<double>& acting_temperatures() const;
  /// After end_step(): the extremes of stress or flux at the nodes of the part, shared ones included. Empty if the
  /// model has so many materials that pieces have the means of elements instead (has_element_means()).
  const std::vector<Range>& ranges() const;
  /// Whether the step that was begun last has the means of elements instead of values at nodes.
  bool has_element_means() const;

  /// Name of the piece of a part.
  std::string piece_name(std::size_t step, int part) const;
  /// Names of all files of a step: the pieces of all parts that have elements of its model, their list, and the list of
  /// the steps. None without vtu.
  std::vector<std::string> file_names(std::size_t step) const;
  /// Paths of the pieces that this part has written.
  const std::vector<std::filesystem::path>& written() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voussoir
