#pragma once
#include <vector>

#include <voussoir/framework/io/frd/frd_writer.hpp>
#include <voussoir/framework/io/job/job.hpp>

namespace voussoir::detail {

/// The meshes of a job as an .frd file has them.
std::vector<FrdWriter::Mesh> frd_meshes(const Job& job);

/// Writes what a step found: displacements or temperatures, stress and strain or flux, forces or heat flows. Stress is
/// averaged over all elements of a node, whatever their material: the format has one value per node.
void write_frd_step(FrdWriter& file, const Job& job, std::size_t step, const StepResult& result,
                    const std::vector<double>& temperatures);

}  // namespace voussoir::detail
