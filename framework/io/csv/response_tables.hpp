#pragma once
#include <span>

#include <voussoir/framework/io/csv/csv_writer.hpp>
#include <voussoir/framework/response/named_curves.hpp>
#include <voussoir/framework/response/response_spectrum.hpp>

namespace voussoir {

/// A table of histories: the time and a column for each history. Lengths that differ are Errors (misuse).
CsvTable csv_table(std::span<const double> times, const NamedHistories& histories);
/// A table of a sweep: the frequency, and the columns "NAME amplitude" and "NAME phase" (in degrees) for each result.
CsvTable csv_table(std::span<const double> frequencies, const NamedSweeps& sweeps);
/// A table of spectra: period, frequency, displacement, pseudo-velocity, pseudo-acceleration, velocity, acceleration.
/// The frequency of the period 0 is empty.
CsvTable csv_table(std::span<const OscillatorPeaks> spectra);

}  // namespace voussoir
