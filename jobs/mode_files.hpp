#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/mode_set.hpp>
#include <voussoir/framework/io/csv/csv_writer.hpp>

// Files of natural modes, of `voussoir modal` and of frequency steps alike.

namespace voussoir {

/// A row per mode: frequency, residual, participation factors, effective masses and their accumulated fractions.
CsvTable modal_table(const ModeSet& modes);

/// The modes as a JSON list: number, frequency, eigenvalue, residual, participation factors, effective masses.
std::string modes_as_json(const ModeSet& modes);
/// "verified", "probed", "incomplete" or "unchecked".
const char* name_of(Completeness completeness);
/// What is wrong with the modes, as a sentence: residuals above the tolerance, modes that are missing. Empty where
/// nothing is.
std::string fault_of(const EigenReport& report, double tolerance);

/// The names of the files that write_mode_shapes() writes, the list first.
std::vector<std::string> mode_shape_files(const std::string& stem, int modes);
/// Writes STEM_mode_001.vtu … with the shape of each mode, and STEM_modes.pvd, which lists them as a series whose time
/// is the number of the mode. Returns the paths, the list last; nothing where there are no modes.
std::vector<std::filesystem::path> write_mode_shapes(const Domain& domain, const ModeSet& modes,
                                                     const std::filesystem::path& folder, const std::string& stem,
                                                     bool overwrite);

}  // namespace voussoir
