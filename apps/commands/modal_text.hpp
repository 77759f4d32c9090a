#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/mode_set.hpp>

namespace voussoir::app {

/// What else is known of a modal analysis.
struct ModalRecord {
  std::string file, backend, mass;
  double read_seconds = 0, seconds = 0;
  std::int64_t unknowns = 0;
  std::vector<StageTime> times;
  std::vector<std::string> notes;
  std::vector<std::string> files = {};  ///< all that were written
};

/// Tables for people.
std::string modal_text(const ModeSet& modes, const ModalRecord& record, const std::vector<std::string>& files,
                       bool verbose);
/// The same as JSON.
std::string modal_document(const ModeSet& modes, const ModalRecord& record);
/// The document of a file that has no modes.
std::string modal_failure_document(const std::string& file, const Error& error);
/// The table of frequencies and effective masses.
std::string mode_rows(const ModeSet& modes);

}  // namespace voussoir::app
