#pragma once
#include <vector>

#include <voussoir/framework/io/frd/frd_writer.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/step_receiver.hpp>

namespace voussoir::detail {

/// The meshes of a job as an .frd file has them.
std::vector<FrdWriter::Mesh> frd_meshes(const Job& job);

/// Writes what a step found: displacements or temperatures, stress and strain or flux, forces or heat flows. Stress is
/// averaged over all elements of a node, whatever their material: the format has one value per node.
void write_frd_step(FrdWriter& file, const Job& job, std::size_t step, const StepResult& result,
                    const std::vector<double>& temperatures);
/// Writes the shapes of a frequency step, each as a mode with its frequency.
void write_frd_modes(FrdWriter& file, const Job& job, std::size_t step, const ModeSet& modes);
/// Writes a state of a step over time, the one of this number from 1 on.
void write_frd_state(FrdWriter& file, const Job& job, std::size_t step, int number, const StepState& state);

}  // namespace voussoir::detail
