#include <set>

#include <voussoir/framework/io/job/detail/actions.hpp>
#include <voussoir/framework/io/superelement/reduced_part_file.hpp>

namespace voussoir::job {
namespace {

struct NamedPart {
  Json json;
  std::shared_ptr<const ReducedPart> part;
  SuperelementOptions options;
};

NamedPart read_named_part(const Json& json, const std::filesystem::path& folder) {
  json.allow({"file", "name", "tolerance", "add_nodes"});
  const Json file = json.at("file");
  NamedPart named{json, nullptr, {}};
  try {
    named.part = read_reduced_part(folder / file.text());
  } catch (const Error& error) {
    throw Error(error.code(), error.what(), file.where());
  }
  named.options.name = json.has("name") ? json.at("name").text() : named.part->name;
  if (json.has("tolerance")) named.options.tolerance = json.at("tolerance").positive();
  if (json.has("add_nodes")) named.options.add_nodes = json.at("add_nodes").choice({"yes", "no"}) == "yes";
  return named;
}

/// Adds interface nodes that the domain does not have, for all parts before any of them adds nodes for its modes.
void add_missing_nodes(Domain& domain, const NamedPart& named) {
  const ReducedPart& part = *named.part;
  for (std::size_t i = 0; i < part.interface_nodes.size(); ++i)
    if (!domain.has_node(part.interface_nodes[i])) {
      const double* const x = part.interface_coordinates.data() + 3 * i;
      domain.add_node(part.interface_nodes[i], x[0], x[1], x[2]);
    }
}

}  // namespace

std::int32_t read_superelements(const Json& json, const std::filesystem::path& folder, Model& model) {
  if (model.body_count() != 1)
    json.fail("a job with sections of heat conduction and of statics cannot have superelements; make two jobs");
  Domain& domain = model.body(0).domain();
  std::vector<NamedPart> parts;
  for (const Json& item : json.items()) {
    parts.push_back(read_named_part(item, folder));
    if (parts.back().options.add_nodes) add_missing_nodes(domain, parts.back());
  }
  const std::int32_t known = domain.node_count();
  for (const NamedPart& named : parts) named.json.doing([&] { add_superelement(domain, named.part, named.options); });
  return known;
}

}  // namespace voussoir::job
