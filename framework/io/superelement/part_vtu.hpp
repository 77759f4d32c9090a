#pragma once
#include <filesystem>

#include <voussoir/framework/analysis/part_recovery.hpp>
#include <voussoir/framework/io/vtk/vtu_writer.hpp>

namespace voussoir {

/// Writes the recovered results inside a superelement to a VTU file: the displacements of its nodes and, if the part
/// was reduced with stresses, the mean stresses and von Mises stress of its elements. `acting` is what acts on the part
/// (SuperelementInstance::acting()), nothing for modes.
void write_part_vtu(const std::filesystem::path& path, const PartRecovery& recovery, const Domain& model,
                    const NodalField& unknowns, const SuperelementInstance::Acting& acting = {},
                    const VtuOptions& options = {});

}  // namespace voussoir
