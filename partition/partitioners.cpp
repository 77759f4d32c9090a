#include <voussoir/partition/partitioners.hpp>

#include <charconv>
#include <optional>
#include <vector>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/ordered_partitioners.hpp>
#include <voussoir/partition/unequal_parts.hpp>

namespace voussoir {
namespace {

/// The numbers of "shares=8/1"; nothing where the option is another one.
std::optional<std::vector<double>> shares_of(const std::string& options, const std::string& where) {
  const std::string key = "shares=";
  if (!options.starts_with(key)) return std::nullopt;
  std::vector<double> shares;
  const char* at = options.data() + key.size();
  const char* const end = options.data() + options.size();
  while (true) {
    double share = 0;
    const auto [next, fault] = std::from_chars(at, end, share);
    if (fault != std::errc{} || (next != end && *next != '/'))
      throw Error(ErrorCode::bad_input, "'" + options + "' must be positive numbers separated by /, such as shares=8/1",
                  where);
    shares.push_back(share);
    if (next == end) return shares;
    at = next + 1;
  }
}

/// A method without options.
template <class T>
PartitionerFactory plain_partitioner(const std::string& name) {
  return {[name](const std::string& options) {
    if (!options.empty())
      throw Error(ErrorCode::bad_input, "it has no options; remove ':" + options + "'", "partitioner '" + name + "'");
    return std::make_shared<T>();
  }};
}

/// Bisection into equal parts or, with shares, into unequal ones.
PartitionerFactory bisection(const std::string& name, CoordinateBisection::Direction direction,
                             UnequalParts::Method unequal) {
  return {[name, direction, unequal](const std::string& options) -> std::shared_ptr<GraphPartitioner> {
    const std::string where = "partitioner '" + name + "'";
    if (options.empty()) return std::make_shared<CoordinateBisection>(direction);
    if (auto shares = shares_of(options, where)) return std::make_shared<UnequalParts>(unequal, std::move(*shares));
    throw Error(ErrorCode::bad_input, "there is no option '" + options + "'; there is shares=8/1 for unequal parts",
                where);
  }};
}

std::shared_ptr<GraphPartitioner> make_metis(const std::string& options) {
  const std::string where = "partitioner 'metis'";
  if (options == "recursive") return std::make_shared<MetisVariant>(MetisVariant::Kind::recursive);
  if (options == "contiguous") return std::make_shared<MetisVariant>(MetisVariant::Kind::contiguous);
  if (auto shares = shares_of(options, where))
    return std::make_shared<UnequalParts>(UnequalParts::Method::metis, std::move(*shares));
  if (!options.empty() && options != "kway")
    throw Error(ErrorCode::bad_input,
                "there is no option '" + options +
                    "'; there are kway (the default), recursive, contiguous and shares=8/1 for unequal parts",
                where);
  return std::make_shared<MetisPartitioner>();
}

Registry<PartitionerFactory>* make_partitioner_table() {
  using Direction = CoordinateBisection::Direction;
  auto* table = new Registry<PartitionerFactory>("partitioner");
  table->add_built_in(
      "metis", "METIS, multilevel: small interfaces on any mesh; metis:recursive, metis:contiguous, metis:shares=8/1",
      {make_metis});
  table->add_built_in("coordinate", "recursive bisection across the longest coordinate axis",
                      bisection("coordinate", Direction::coordinate, UnequalParts::Method::coordinate));
  table->add_built_in("inertial", "recursive bisection across the principal axis of inertia",
                      bisection("inertial", Direction::inertial, UnequalParts::Method::inertial));
  table->add_built_in("rcb", "the same as coordinate: recursive coordinate bisection",
                      bisection("rcb", Direction::coordinate, UnequalParts::Method::coordinate));
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
