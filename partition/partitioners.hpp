#pragma once
#include <functional>
#include <memory>
#include <string>

#include <voussoir/backends/registry.hpp>
#include <voussoir/partition/graph_partitioner.hpp>

// Partitioners by name, METHOD[:OPTIONS], as `voussoir partition --method` takes them:
//
//   VSR_REGISTER(partitioners, "mine", "what it does in one line",
//                PartitionerFactory{[](const std::string& options) { return std::make_shared<Mine>(options); }});

namespace voussoir {

/// Makes graph partitioners.
struct PartitionerFactory {
  /// `options` is what follows the colon, or "". Options that are not known should be an Error, bad_input.
  std::function<std::shared_ptr<GraphPartitioner>(const std::string& options)> make;
};
Registry<PartitionerFactory>& partitioners();

/// The partitioner of a name; "auto" is metis where it is built in, else coordinate. Throws Error (not_found) with the
/// nearest name and a list of all.
std::shared_ptr<GraphPartitioner> make_partitioner(const std::string& name);

}  // namespace voussoir
