#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/io/csv/csv_writer.hpp>

namespace voussoir {

/// What a study compares: every method on every cut, number of parts, contrast and overlap.
struct StudyOptions {
  std::vector<int> parts{2, 4, 8};        ///< numbers of parts
  std::vector<std::string> cuts{"auto"};  ///< partitioners (make_partitioner())
  /// asm, asm2, ras, ras2, msm, msm2, geneo (asm2 with the coarse space GenEO), schur, nn, bddc, feti-dp; any other
  /// preconditioner, amg for example, for the undivided system. A preconditioner that a user has registered gets the
  /// options parts=…,cut=…,overlap=….
  std::vector<std::string> methods{"schur", "asm", "asm2", "bddc", "amg"};
  std::vector<double> contrasts{1};    ///< factors of the matrices of every second part
  std::vector<int> overlaps{1};        ///< layers of elements, for Schwarz's methods
  std::string part_solver = "direct";  ///< how the matrices of parts are solved (make_part_solver())
  double geneo_threshold = 0.1;        ///< of the coarse space GenEO
  double relative_tolerance = 1e-8;    ///< of the residual of the iteration
  int max_iterations = 2000;           ///< limit of the iteration
  /// Largest number of unknowns for which the solution is compared with that of a direct solver.
  std::int32_t compared_up_to = 60000;
  /// Called before each row with a text such as "asm2, 8 parts by metis"; returning false ends the study.
  std::function<bool(const std::string&)> progress = {};
};

/// One run of a study.
struct StudyRow {
  std::string method;                   ///< name of the method
  std::string cut;                      ///< name of the partitioner; empty for an undivided system
  int parts = 1;                        ///< number of parts
  int overlap = 0;                      ///< layers of elements; 0 for methods without overlap
  double contrast = 1;                  ///< factor of every second part
  std::int64_t unknowns = 0;            ///< of the whole
  std::int64_t interface_unknowns = 0;  ///< shared by two or more parts
  std::int64_t coarse_unknowns = 0;     ///< of the second level; 0 without one
  double balance = 1;                   ///< weight of the heaviest part divided by the mean
  bool converged = false;               ///< to the tolerance
  int iterations = 0;         ///< of CG (GMRES for ras and ras2, and for all methods if the matrix is not symmetric)
  double condition = 0;       ///< condition number of the preconditioned matrix, estimated by CG; NaN for GMRES
  double bound = 0;           ///< what the theory says about it up to a constant (theory_bound()); NaN: nothing
  double setup_seconds = 0;   ///< part matrices, factorisations, coarse space
  double solve_seconds = 0;   ///< iteration, and what follows from the interface
  double coarse_seconds = 0;  ///< share of the coarse problem in the iteration
  std::size_t bytes = 0;      ///< memory of the method
  double error = 0;           ///< largest difference to a direct solver, relative; NaN where not compared
  std::string failure;        ///< why the method could not be used; empty if it could
};

/// The bound of the condition number without its constant. `refinement` is H/h, `across` the number of parts along the
/// model, `overlap` the number of layers:
///
///   asm, msm      across² (1 + H/δ)          asm2, msm2    1 + H/δ
///   schur         across² H/h                bddc, nn, feti-dp   (1 + log H/h)²
///
/// NaN for other methods; rows of geneo have geneo_bound(), which includes the constant.
double theory_bound(const std::string& method, double across, double refinement, int overlap);

/// Runs a study of a linear model in one step; if `steps` is empty, all load cases act with factor 1. Rows come in
/// the order of contrasts, cuts, parts and methods; a method that does not depend on the cut has one row for each
/// contrast. A method that rejects the model, as all but the Schwarz methods reject one whose matrix is not symmetric,
/// or whose part solver does not converge, has a row with `failure`. Contrasts other than 1 need a symmetric matrix.
/// Wrong options, and cuts that are not possible, are an Error (bad_input or not_found) before anything is solved.
std::vector<StudyRow> run_study(const Domain& domain, const std::shared_ptr<Backend>& backend,
                                const StudyOptions& options, const std::vector<Step>& steps = {});

/// The rows as aligned text.
std::string study_text(const std::vector<StudyRow>& rows);
/// The rows as a table for spreadsheets, with all columns.
CsvTable study_table(const std::vector<StudyRow>& rows);
/// Iterations and condition numbers over the number of parts, a curve for each method, cut, contrast and overlap: the
/// contents of an SVG file.
std::string study_plot(const std::vector<StudyRow>& rows, const std::string& title);

}  // namespace voussoir
