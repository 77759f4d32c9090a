#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/mode_set.hpp>
#include <voussoir/jobs/result_files.hpp>
#include <voussoir/partition/process/process_part.hpp>
#include <voussoir/partition/process/processes.hpp>

// Natural modes of a job of which each process has a part: signs that follow from the whole shapes, and shapes as
// pieces.

namespace voussoir::detail {

/// Gives the shapes of a part the signs that orient_modes() gives those of the whole model, to the participation
/// factors, too, and computes the modal masses. Shared nodes must have the same values in all parts. Collective.
void orient_modes_of_parts(Processes& processes, const ProcessPart& part, std::size_t domain, ModeSet& own);

/// Names of the files with the shapes of so many modes: the list of the modes, then for each mode the list of its
/// pieces and the pieces of all parts that have elements.
std::vector<std::string> mode_piece_files(const ProcessPart& part, std::size_t domain, const std::string& stem,
                                          int modes);

/// Writes the shapes of a part's modes as pieces. STEM_mode_001_p0000.vtu … has the elements of each part;
/// STEM_mode_001.pvtu joins them, and STEM_modes.pvd lists the modes as a series whose time is the number of the mode.
/// The last two are written by the lowest part that has elements. Shapes must be complete on shared nodes, with the
/// unknowns of the whole model. Collective.
void write_mode_pieces(Processes& processes, const ProcessPart& part, std::size_t domain, const ModeSet& modes,
                       const std::string& stem, const OutputOptions& options);

}  // namespace voussoir::detail
