#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/framework/io/csv/csv_writer.hpp>
#include <voussoir/framework/io/picture/line_plot.hpp>
#include <voussoir/framework/io/vtk/pvd_writer.hpp>
#include <voussoir/framework/io/vtk/vtu_writer.hpp>
#include <voussoir/jobs/detail/print_tables.hpp>
#include <voussoir/jobs/result_files.hpp>

namespace voussoir::detail {

/// What the states of a step are called in names of files, and in the columns that tell them apart.
const char* state_word(Procedure procedure);

/// The name of the file of a state without ending, and that of the list of a step's states.
std::string state_name(const std::string& stem, Procedure procedure, std::size_t number);
std::string state_list_name(const std::string& stem, Procedure procedure);

/// The files of steps of modes and of mode superposition: mode shapes or states over time or frequency for viewers,
/// tables with a column that tells the states apart, curves and peaks. A step is written from begin to end before the
/// next one.
class ModalFiles {
 public:
  /// What belongs to all steps of a job.
  struct Surroundings {
    std::function<void(const std::filesystem::path&)> done;  ///< a file is complete
    std::function<void(const std::string&)> dat;             ///< appends to NAME.dat
    std::function<void(const std::string&)> note;            ///< for the user
    /// The name of a table's files without ending, by request and quantity.
    std::function<std::string(std::size_t step, std::size_t request, std::size_t item)> table_name;
  };
  ModalFiles(const Job& job, const OutputOptions& options, Surroundings surroundings)
      : job_(job), options_(options), out_(std::move(surroundings)) {}

  /// The files of a step that do not depend on what it finds, tables apart.
  static std::vector<std::string> plan(const JobStep& step, const std::string& stem, const OutputOptions& options);

  void modes(std::size_t step, const std::string& stem, const ModeSet& modes);
  void state(std::size_t step, const std::string& stem, StepState state);
  void end(std::size_t step, const std::string& stem, const StepResponse& response);

  // Of a divided job, whose states several processes write:

  /// Adds rows to the tables of a state, which has everything but fields.
  void add_tables(std::size_t step, const StepState& state, bool imaginary, std::span<const PrintTable> tables);
  /// Adds a state whose fields are written as pieces.
  void add_pieces(std::size_t step, const std::string& stem, double at);
  std::size_t state_count() const { return series_.size(); }  ///< files of the step so far
  /// Writes the list of the states so far, if it is due.
  void list_states(std::size_t step, const std::string& stem);

  /// Rows and names of files that states have added since the last call, for restore() in a later run.
  void take_added(ByteWriter& out);
  /// Adds what take_added() of an earlier run has written; the files themselves are there already.
  void restore(std::size_t step, const std::string& stem, ByteReader& in);

 private:
  using TableKey = std::pair<std::size_t, std::size_t>;  // request and item
  void write_tables(std::size_t step, const StepState& state, bool imaginary);
  void write_view(std::size_t step, const std::string& stem, StepState& state);
  void write_curves(const JobStep& step, const std::string& stem, const StepResponse& response);
  void write_plot(const LinePlot& plot, const std::string& file);
  /// Energies (heat), sums of reactions and loads, and the histories that the step asks for.
  void write_records(const JobStep& step, const std::string& stem, const StepResponse& response);
  void write(const CsvTable& table, const std::string& file);
  void write_list(const std::string& file);
  void remove_later_files(std::size_t step, const std::string& stem) const;

  const Job& job_;
  const OutputOptions& options_;
  Surroundings out_;
  // Of the step that is being written:
  std::map<TableKey, CsvTable> rows_, totals_;
  std::vector<PvdEntry> series_;
  std::unique_ptr<VtuMesh> mesh_;
  std::size_t listed_ = 0;  // files that the list on the disk has
  // How much of the above take_added() has written:
  std::map<TableKey, std::size_t> taken_rows_, taken_totals_;
  std::size_t taken_series_ = 0;
};

/// Eigenvalues, participation factors and effective masses as CalculiX writes them into its .dat.
std::string calculix_modes_text(const ModeSet& modes);
/// The heading of the tables of one mode there.
std::string calculix_mode_heading(int mode);

}  // namespace voussoir::detail
