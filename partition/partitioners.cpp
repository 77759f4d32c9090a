#include <voussoir/partition/partitioners.hpp>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/ordered_partitioners.hpp>

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

std::shared_ptr<GraphPartitioner> make_metis(const std::string& options) {
  if (options == "recursive") return std::make_shared<MetisVariant>(MetisVariant::Kind::recursive);
  if (options == "contiguous") return std::make_shared<MetisVariant>(MetisVariant::Kind::contiguous);
  if (!options.empty() && options != "kway")
    throw Error(ErrorCode::bad_input,
                "there is no option '" + options + "'; there are kway (the default), recursive and contiguous",
                "partitioner 'metis'");
  return std::make_shared<MetisPartitioner>();
}

Registry<PartitionerFactory>* make_partitioner_table() {
  using Direction = CoordinateBisection::Direction;
  auto* table = new Registry<PartitionerFactory>("partitioner");
  table->add_built_in("metis", "METIS, multilevel: small interfaces on any mesh; metis:recursive, metis:contiguous",
                      {make_metis});
  table->add_built_in("coordinate", "recursive bisection across the longest coordinate axis",
                      plain_partitioner<CoordinateBisection, Direction::coordinate>("coordinate"));
  table->add_built_in("inertial", "recursive bisection across the principal axis of inertia",
                      plain_partitioner<CoordinateBisection, Direction::inertial>("inertial"));
  table->add_built_in("rcb", "the same as coordinate: recursive coordinate bisection",
                      plain_partitioner<CoordinateBisection, Direction::coordinate>("rcb"));
  table->add_built_in("rcm", "strips of the reverse Cuthill-McKee order: parts in a row",
                      plain_partitioner<RcmStrips>("rcm"));
  table->add_built_in("sfc", "pieces of Hilbert's space-filling curve", plain_partitioner<HilbertCurve>("sfc"));
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
