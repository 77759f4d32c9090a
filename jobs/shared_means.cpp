#include <voussoir/jobs/detail/shared_means.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <voussoir/framework/analysis/results.hpp>

namespace voussoir::detail {
namespace {

/// Numbers of elements that a mean at each node was taken over: those of one material that carry some values to nodes.
std::vector<double> elements_at_nodes(const Domain& domain, const std::vector<PointField>& points,
                                      const std::string& material, const std::string& name) {
  std::vector<double> count(static_cast<std::size_t>(domain.node_count()), 0.0);
  for (const PointField& field : points) {
    const ElementBlock& block = domain.block(static_cast<std::size_t>(field.block));
    if ((block.material() ? block.material()->name() : "") != material || !field.has(name)) continue;
    if (block.type().program().extrapolation().empty()) continue;
    for (const std::int32_t n : block.connectivity()) ++count[static_cast<std::size_t>(n)];
  }
  return count;
}

/// Values that follow from the mean stress or flux of a node, behind its components.
void complete_record(double* record, std::size_t base) {
  if (base == 3) {
    record[3] = std::hypot(record[0], record[1], record[2]);
    return;
  }
  std::array<double, 6> stress;
  std::copy_n(record, 6, stress.begin());
  record[6] = von_mises(stress);
  const auto principal = principal_values(stress);
  std::copy(principal.begin(), principal.end(), record + 7);
}

std::size_t base_of(const NodalField& field) { return field.name == "flux" ? 3 : 6; }

}  // namespace

/// Adds empty fields of blocks whose elements are all in other parts, so that all pieces have the same arrays.
void complete_points(const Domain& domain, const DomainShare& share, std::vector<PointField>& points) {
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    if (share.block_sizes[b] == 0 || domain.block(b).type().program().points() == 0) continue;
    const auto block = static_cast<std::int32_t>(b);
    const auto at = std::lower_bound(points.begin(), points.end(), block,
                                     [](const PointField& f, std::int32_t which) { return f.block < which; });
    if (at != points.end() && at->block == block) continue;
    const ElementProgram& program = domain.block(b).type().program();
    const auto names = program.recovered_names();
    points.insert(at, PointField{block, program.points(), {names.begin(), names.end()}, {}});
  }
}

SharedMeans::SharedMeans(const ProcessPart& part, std::size_t domain, const std::vector<PointField>& points,
                         std::deque<NodalField>& fields)
    : part_(part), domain_(*part.job.domains[domain]), fields_(fields) {
  count_elements(points);
}

/// The numbers of elements for each of fields_, which are sorted by material, stress before flux.
void SharedMeans::count_elements(const std::vector<PointField>& points) {
  std::vector<std::string> materials;
  for (const PointField& field : points) {
    const auto& material = domain_.block(static_cast<std::size_t>(field.block)).material();
    if (field.has("sxx") || field.has("qx")) materials.push_back(material ? material->name() : "");
  }
  std::sort(materials.begin(), materials.end());
  materials.erase(std::unique(materials.begin(), materials.end()), materials.end());
  for (const std::string& material : materials)
    for (const char* name : {"sxx", "qx"}) {
      const bool any = std::any_of(points.begin(), points.end(), [&](const PointField& field) {
        const ElementBlock& block = domain_.block(static_cast<std::size_t>(field.block));
        return field.has(name) && (block.material() ? block.material()->name() : "") == material &&
               !block.type().program().extrapolation().empty();
      });
      if (any) counts_.push_back(elements_at_nodes(domain_, points, material, name));
    }
  if (!fields_.empty() && counts_.size() != fields_.size())
    throw Error(ErrorCode::internal, "the fields at nodes do not fit the materials of the part");
  counts_.resize(fields_.size());  // none if elements have their means instead
}

/// Numbers per shared node: for each field the number of elements and the sums over them.
std::size_t SharedMeans::message_width() const {
  std::size_t width = 0;
  for (const NodalField& field : fields_) width += 1 + base_of(field);
  return width;
}

/// Products are rounded before they are added to those of other parts, here as there.
void SharedMeans::put_own(std::int32_t node, double* to) const {
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const NodalField& field = fields_[f];
    const double count = counts_[f][static_cast<std::size_t>(node)];
    *to++ = count;
    for (std::size_t k = 0; k < base_of(field); ++k, ++to)
      *to = count > 0 ? count * field.at(node, static_cast<int>(k)) : 0.0;
  }
}

std::vector<std::string> SharedMeans::messages() const {
  std::vector<std::string> all;
  const std::size_t width = message_width();
  for (const SharedNodes& shared : part_.shared) {
    std::vector<double> numbers(shared.nodes.size() * width, 0.0);
    for (std::size_t k = 0; k < shared.nodes.size(); ++k) put_own(shared.nodes[k], numbers.data() + k * width);
    all.emplace_back(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
  }
  return all;
}

/// Means at shared nodes over the elements of all parts, added in the order of the parts: the same in all of them.
void SharedMeans::join(std::span<const std::string> received) {
  const std::size_t width = message_width();
  std::vector<std::int32_t> nodes;
  for (const SharedNodes& shared : part_.shared) nodes.insert(nodes.end(), shared.nodes.begin(), shared.nodes.end());
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  std::vector<double> sums(nodes.size() * width, 0.0);
  const auto place = [&](std::int32_t node) {
    return sums.data() +
           static_cast<std::size_t>(std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin()) * width;
  };
  bool own_added = false;
  std::vector<double> own(nodes.size() * width);
  for (std::size_t i = 0; i < nodes.size(); ++i) put_own(nodes[i], own.data() + i * width);
  const auto add_own_sums = [&] {
    for (std::size_t i = 0; i < own.size(); ++i) sums[i] += own[i];
    own_added = true;
  };
  for (std::size_t i = 0; i < part_.shared.size(); ++i) {
    const SharedNodes& shared = part_.shared[i];
    if (shared.part > part_.part && !own_added) add_own_sums();
    std::vector<double> numbers(shared.nodes.size() * width);
    if (received[i].size() != numbers.size() * sizeof(double))
      throw Error(ErrorCode::bad_input, "the message of part " + std::to_string(shared.part) + " has " +
                                            std::to_string(received[i].size()) + " bytes instead of " +
                                            std::to_string(numbers.size() * sizeof(double)));
    if (!numbers.empty()) std::memcpy(numbers.data(), received[i].data(), received[i].size());
    for (std::size_t k = 0; k < shared.nodes.size(); ++k) {
      double* const to = place(shared.nodes[k]);
      for (std::size_t c = 0; c < width; ++c) to[c] += numbers[k * width + c];
    }
  }
  if (!own_added) add_own_sums();
  for (std::size_t i = 0; i < nodes.size(); ++i) set_means(nodes[i], sums.data() + i * width);
}

void SharedMeans::set_means(std::int32_t node, const double* from) {
  for (NodalField& field : fields_) {
    const double count = *from++;
    const std::size_t base = base_of(field);
    double* const record = field.values.data() + static_cast<std::size_t>(node) * field.components.size();
    if (count > 0) {
      for (std::size_t k = 0; k < base; ++k) record[k] = from[k] / count;
      complete_record(record, base);
    }
    from += base;
  }
}

}  // namespace voussoir::detail
