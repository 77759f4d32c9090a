#pragma once
#include <string>
#include <vector>

#include <voussoir/framework/io/csv/csv_writer.hpp>
#include <voussoir/framework/io/units.hpp>
#include <voussoir/jobs/detail/print_tables.hpp>
#include <voussoir/jobs/summary.hpp>

// Tables as CSV. Where the job has units, they stand in the heads of the columns: "ux [mm]".

namespace voussoir::detail {

/// A name of a set, a path … as part of a file's name.
std::string as_file_name(const std::string& name);

/// Whether a table in local axes is another one than that in global axes: some node or element of it has axes of its
/// own, and the quantity has a direction.
bool is_turned(const Job& job, const JobStep& step, const PrintRequest& request, const std::string& quantity);

/// The columns that tell the rows of several states in one table apart: values, then text where there is any.
struct CsvState {
  std::vector<std::string> names;
  std::vector<double> values;
  std::string text;
};
CsvTable csv_head(const PrintTable& table, const Units& units, const CsvState& state);
void add_rows(CsvTable& csv, const PrintTable& table, const CsvState& state);
CsvTable csv_head_of_totals(const PrintTable& table, const Units& units, const CsvState& state);
void add_totals(CsvTable& csv, const PrintTable& table, const CsvState& state);

CsvTable csv_of(const PrintTable& table, const Units& units);
CsvTable csv_of_totals(const PrintTable& table, const Units& units);
/// A row for each point and each material that meets there.
CsvTable csv_of_points(const std::vector<PointResult>& points, const Units& units, const InstanceNumbers& instances);
/// A row for each point of a path and each material that meets there; `names` are those of the values.
CsvTable csv_of_path(const std::vector<ProbeValues>& path, const std::vector<std::string>& names, const Units& units,
                     const InstanceNumbers& instances);
/// Tables of several states, which are added one by one.
CsvTable csv_head_of_points(const std::vector<std::string>& names, const Units& units, const CsvState& state);
void add_points(CsvTable& csv, const std::vector<PointResult>& points, const InstanceNumbers& instances,
                const CsvState& state);
CsvTable csv_head_of_path(const std::vector<std::string>& names, const Units& units, const CsvState& state);
void add_path(CsvTable& csv, const std::vector<ProbeValues>& path, const InstanceNumbers& instances,
              const CsvState& state);

}  // namespace voussoir::detail
