#include <voussoir/framework/io/csv/response_tables.hpp>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/detail/nan.hpp>
#include <voussoir/framework/response/harmonic_sweep.hpp>

namespace voussoir {
namespace {

void check_row_count(const std::string& name, std::size_t length, std::size_t expected) {
  if (length != expected)
    throw Error(ErrorCode::misuse,
                "'" + name + "' has " + std::to_string(length) + " values for " + std::to_string(expected) + " rows",
                "csv table");
}

}  // namespace

CsvTable csv_table(std::span<const double> times, const NamedHistories& histories) {
  std::vector<std::string> columns{"time"};
  for (const auto& [name, values] : histories) {
    check_row_count(name, values.size(), times.size());
    columns.push_back(name);
  }
  CsvTable table(columns);
  for (std::size_t t = 0; t < times.size(); ++t) {
    table.row().add(times[t]);
    for (const auto& [name, values] : histories) table.add(values[t]);
  }
  return table;
}

CsvTable csv_table(std::span<const double> frequencies, const NamedSweeps& sweeps) {
  std::vector<std::string> columns{"frequency"};
  for (const auto& [name, values] : sweeps) {
    check_row_count(name, values.size(), frequencies.size());
    columns.push_back(name + " amplitude");
    columns.push_back(name + " phase");
  }
  CsvTable table(columns);
  for (std::size_t f = 0; f < frequencies.size(); ++f) {
    table.row().add(frequencies[f]);
    for (const auto& [name, values] : sweeps) table.add(std::abs(values[f])).add(phase_degrees(values[f]));
  }
  return table;
}

CsvTable csv_table(std::span<const OscillatorPeaks> spectra) {
  CsvTable table(
      {"period", "frequency", "displacement", "pseudo velocity", "pseudo acceleration", "velocity", "acceleration"});
  for (const OscillatorPeaks& p : spectra)
    table.row()
        .add(p.period)
        .add(p.period > 0 ? 1 / p.period : detail::nan)
        .add(p.displacement)
        .add(p.pseudo_velocity)
        .add(p.pseudo_acceleration)
        .add(p.velocity)
        .add(p.acceleration);
  return table;
}

}  // namespace voussoir
