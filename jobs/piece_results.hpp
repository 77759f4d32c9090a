#pragma once
#include <memory>

#include <voussoir/jobs/process_job.hpp>
#include <voussoir/jobs/result_files.hpp>

namespace voussoir {

/// The results of a job of which each process has a part. Each process writes the fields of its own elements
/// (PieceFiles). Process 0 writes the lists of pieces, the requested tables and results.json, and receives for
/// them only extremes, sums, the supported nodes and the rows of the tables.
///
/// Values are those of ResultFiles, without error estimates and hints. Shapes of modes are pieces, too:
/// NAME_mode_001_p0000.vtu …, NAME_mode_001.pvtu, NAME_modes.pvd, and so are the states of steps over time:
/// NAME_time_0001_p0000.vtu …, NAME_time_0001.pvtu, NAME_times.pvd. With OutputOptions::in_background, each process
/// writes its piece of a state while the next one is computed. Tables of modes, mode superposition, .frd files,
/// pictures, points and paths are refused.
class PieceResults : public PartReceiver {
 public:
  /// Collective, like all functions except files() and sizes(). Checks the names of files and creates the folder. The
  /// part must outlive this object; its requests for tables are simplified. Errors: unavailable for what is not written
  /// as pieces, io for existing results.
  PieceResults(Processes& processes, ProcessPart& part, const OutputOptions& options);
  ~PieceResults() override;
  PieceResults(const PieceResults&) = delete;
  PieceResults& operator=(const PieceResults&) = delete;

  void step(std::size_t step, StepResult own, const NodalField* heat) override;
  void modes(std::size_t step, ModeSet own) override;
  void state(std::size_t step, StepState own) override;
  void end(std::size_t step, StepResponse response) override;
  void settle() override;

  /// On process 0, for finish() and messages; null on the others.
  ResultFiles* files();
  /// Sizes of the whole model.
  const WholeSizes& sizes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voussoir
