#include <voussoir/partition/partitioners.hpp>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

/// A method without options.
template <class T, auto... Arguments>
PartitionerFactory plain_partitioner(const std::string& name) {
  return {[name](const std::string& options) {
    if (!options.empty())
      throw Error(ErrorCode::bad_input, "it has no options; remove ':" + options + "'", "partitioner '" + name + "'");
    return std::make_shared<T>(Arguments...);
  }};
}

Registry<PartitionerFactory>* make_partitioner_table() {
  using Direction = CoordinateBisection::Direction;
  auto* table = new Registry<PartitionerFactory>("partitioner");
  table->add_built_in("metis", "METIS, multilevel k-way: small interfaces on any mesh",
                      plain_partitioner<MetisPartitioner>("metis"));
  table->add_built_in("coordinate", "recursive bisection across the longest coordinate axis",
                      plain_partitioner<CoordinateBisection, Direction::coordinate>("coordinate"));
  table->add_built_in("inertial", "recursive bisection across the principal axis of inertia",
                      plain_partitioner<CoordinateBisection, Direction::inertial>("inertial"));
  return table;
}

// RegistryBase::all() lists it from the start.
[[maybe_unused]] const bool partitioners_made = (partitioners(), true);

}  // namespace

Registry<PartitionerFactory>& partitioners() {
  // Made on first use, so that a user's static objects find the stock entries in place; never destroyed.
  static auto* const table = make_partitioner_table();
  return *table;
}

std::shared_ptr<GraphPartitioner> make_partitioner(const std::string& name) {
  if (name == "auto") return make_partitioner(MetisPartitioner::available() ? "metis" : "coordinate");
  const std::size_t colon = name.find(':');
  return partitioners().find(name.substr(0, colon)).make(colon == std::string::npos ? "" : name.substr(colon + 1));
}

}  // namespace voussoir
