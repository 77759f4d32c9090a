#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/io/job/job.hpp>

// The tables that a step asks for (PrintRequest), as numbers: NAME.dat and the CSV files are two ways to write them.

namespace voussoir::detail {

struct PrintTable {
  std::size_t request = 0, item = 0;       ///< of JobStep::prints, and of its quantities
  std::string quantity;                    ///< "U", as in the request
  std::string set;                         ///< as in the request; NALL or EALL where it names none
  std::string heading;                     ///< as CalculiX has it: "displacements (vx,vy,vz)"
  std::string total_heading;               ///< "total force (fx,fy,fz)"
  std::vector<std::string> columns;        ///< names of the values: "ux", "uy", "uz"
  std::vector<std::string> total_columns;  ///< of the sums, where they are wanted
  bool of_nodes = true;
  bool has_points = false;
  bool wants_rows = true;
  bool wants_totals = false;
  std::vector<Id> ids;               // of nodes or elements, rising
  std::vector<std::string> names;    // "BOLT-2.57" of each row, where instances were renumbered; otherwise empty
  std::vector<std::int32_t> points;  // from 1, where there are any
  std::vector<double> positions;     // x y z of each row; empty where it has none
  std::vector<double> values;        // row by row
  /// What a value is multiplied with in CalculiX's layout: it models a slice of two degrees of a ring, and prints the
  /// forces, volumes and energies of that slice. Per row; empty: 1.
  std::vector<double> slice;
  int calculix_columns = 0;  ///< how many columns CalculiX prints; the rest (rotations) stands in the CSV alone

  std::size_t width() const { return columns.size(); }
  double at(std::size_t row, std::size_t column) const { return values[row * width() + column]; }
};

/// Which tables are made of one of several states of a step, and what they need beside its result.
struct PrintSelection {
  const std::vector<char>* prints = nullptr;  ///< whether each of JobStep::prints is made; null: all
  const NodalField* velocity = nullptr;       ///< for V; null: there is none
  const NodalField* acceleration = nullptr;   ///< for A; null: there is none
};

/// The tables of a step. `temperatures` are those that act in a step of statics, per node, or empty. What was asked for
/// and cannot be given is said in `notes`.
std::vector<PrintTable> print_tables(const Job& job, const JobStep& step, const StepResult& result,
                                     const std::vector<double>& temperatures, std::vector<std::string>& notes,
                                     const PrintSelection& selection = {});

/// Whether a domain has the set that a request names; a part of a model may have none of its members.
bool has_set(const Domain& domain, const PrintRequest& request);

/// A table as CalculiX writes it: a heading, a blank line, rows of a number, a point and values.
std::string calculix_text(const PrintTable& table, double time);
/// A number as Fortran's e14.7 has it: " 0.1234568E-02".
std::string fortran_exponent(double number);

}  // namespace voussoir::detail
