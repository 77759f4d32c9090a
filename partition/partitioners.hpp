#pragma once
#include <functional>
#include <memory>
#include <string>

#include <voussoir/backends/registry.hpp>
#include <voussoir/partition/graph_partitioner.hpp>

// Partitioners by name, METHOD[:OPTIONS], as in `voussoir partition --method`. To add one:
//
//   VSR_REGISTER(partitioners, "mine", "what it does in one line",
//                PartitionerFactory{[](const std::string& options) { return std::make_shared<Mine>(options); }});

namespace voussoir {

/// Creates graph partitioners of one method.
struct PartitionerFactory {
  /// Creates a partitioner. `options` is the text after the colon, or ""; unknown options should be an Error
  /// (bad_input).
  std::function<std::shared_ptr<GraphPartitioner>(const std::string& options)> make;
};
/// The registry of partitioners: built-in ones and those of users.
Registry<PartitionerFactory>& partitioners();

/// Creates a partitioner by name; "auto" is metis if it is built in, else coordinate. An unknown name is an Error
/// (not_found) with the nearest name and a list of all.
std::shared_ptr<GraphPartitioner> make_partitioner(const std::string& name);

}  // namespace voussoir
