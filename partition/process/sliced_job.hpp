#pragma once
#include <cstdint>
#include <filesystem>

#include <voussoir/partition/partition_quality.hpp>
#include <voussoir/partition/process/process_graph.hpp>
#include <voussoir/partition/process/process_part.hpp>
#include <voussoir/partition/process/processes.hpp>

namespace voussoir {

/// A part of a job that was read in slices.
struct SlicedPart {
  ProcessPart part;             ///< of this process
  std::int64_t most_nodes = 0;  ///< the most nodes of the mesh that this process had at a time while reading
  /// Of all parts, on process 0: elements, weights, nodes, interface nodes and neighbours. The rest is not determined.
  PartitionQuality quality;
};

/// Reads a job file (.json) whose mesh is a binary Gmsh file of version 4.1. Each process reads a slice of the mesh,
/// the processes divide the elements by a partitioner of their graph, or, without one, by recursive bisection of their
/// centres, and exchange them: no process ever has the whole mesh, and memory falls with the number of processes.
/// Collective: all throw the same SharedError if one fails.
///
/// The parts are of the same kind as those of JobDivision. All processes must see the mesh; the job file is read by
/// process 0. Errors are those of read_job_file(); what needs the whole mesh is an Error (unavailable): equations,
/// superelements, and all that check_divisible() refuses.
SlicedPart read_sliced_job(Processes& processes, const std::filesystem::path& path,
                           ProcessGraphPartitioner* partitioner = nullptr);

}  // namespace voussoir
