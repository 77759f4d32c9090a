#include <voussoir/partition/partitioners.hpp>

#include <charconv>
#include <optional>
#include <vector>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/node_graph_partitioner.hpp>
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

/// The options of metis, as they are separated by colons.
struct MetisWords {
  std::string method, graph;  // empty: not given
  std::optional<std::vector<double>> shares;
};

MetisWords read_metis_words(const std::string& options, const std::string& where) {
  MetisWords words;
  const auto once = [&](bool is_given, const std::string& word) {
    if (is_given)
      throw Error(ErrorCode::bad_input, "'" + word + "' contradicts or repeats another option; give one of them",
                  where);
  };
  for (std::size_t from = 0; from <= options.size();) {
    const std::size_t colon = std::min(options.find(':', from), options.size());
    const std::string word = options.substr(from, colon - from);
    from = colon + 1;
    if (word == "kway" || word == "recursive" || word == "contiguous") {
      once(!words.method.empty(), word);
      words.method = word;
    } else if (word.starts_with("graph=")) {
      once(!words.graph.empty(), word);
      words.graph = word.substr(6);
      if (words.graph != "dual" && words.graph != "nodes")
        throw Error(ErrorCode::bad_input,
                    "there is no graph '" + words.graph +
                        "'; there are dual (the default) and nodes. Several options are separated by colons",
                    where);
    } else if (auto shares = shares_of(word, where)) {
      once(words.shares.has_value(), word);
      words.shares = std::move(shares);
    } else {
      throw Error(ErrorCode::bad_input,
                  "there is no option '" + word +
                      "'; there are kway (the default), recursive, contiguous, graph=dual (the default), graph=nodes "
                      "and shares=8/1 for unequal parts. Several options are separated by colons",
                  where);
    }
  }
  return words;
}

std::shared_ptr<GraphPartitioner> make_metis(const std::string& options) {
  if (options.empty()) return std::make_shared<MetisPartitioner>();
  MetisWords words = read_metis_words(options, "partitioner 'metis'");
  const bool recursive = words.method == "recursive", contiguous = words.method == "contiguous";
  std::vector<double> shares = words.shares.value_or(std::vector<double>{});
  if (words.graph == "nodes") {
    using Method = NodeGraphPartitioner::Method;
    return std::make_shared<NodeGraphPartitioner>(recursive    ? Method::recursive
                                                  : contiguous ? Method::contiguous
                                                               : Method::kway,
                                                  std::move(shares));
  }
  if (recursive || contiguous)
    return std::make_shared<MetisVariant>(recursive ? MetisVariant::Kind::recursive : MetisVariant::Kind::contiguous,
                                          std::move(shares));
  if (words.shares) return std::make_shared<UnequalParts>(UnequalParts::Method::metis, std::move(shares));
  return std::make_shared<MetisPartitioner>();
}

Registry<PartitionerFactory>* make_partitioner_table() {
  using Direction = CoordinateBisection::Direction;
  auto* table = new Registry<PartitionerFactory>("partitioner");
  table->add_built_in(
      "metis",
      "METIS, multilevel: small interfaces on any mesh; metis:recursive, metis:contiguous, metis:graph=nodes, "
      "metis:shares=8/1",
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
