#pragma once
#include <span>
#include <string>

#include <voussoir/framework/io/csv/csv_writer.hpp>
#include <voussoir/framework/io/picture/line_plot.hpp>
#include <voussoir/framework/io/units.hpp>
#include <voussoir/jobs/step_receiver.hpp>

// Recorded curves as tables and plots.

namespace voussoir::detail {

/// A table with the time and a column for each curve; units in brackets where the job has them.
CsvTable csv_of_history(const RecordedHistory& history, const Units& units);
/// A plot with a panel for each kind of quantity. A panel shows the first curves only; the table has all of them.
LinePlot plot_of_history(const RecordedHistory& history, const std::string& title, const Units& units);
/// A plot of sums: forces, moments and heat flows, each in a panel.
LinePlot plot_of_sums(const std::string& title, std::span<const double> times, const NamedHistories& sums,
                      const Units& units);

}  // namespace voussoir::detail
