#include <voussoir/framework/analysis/detail/patch_recovery.hpp>

#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include <voussoir/backends/large_vector.hpp>
#include <voussoir/framework/analysis/detail/columns.hpp>
#include <voussoir/framework/analysis/detail/lane_fit.hpp>
#include <voussoir/framework/detail/node_range.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir::detail {
namespace {

constexpr int most_terms = LaneFit::most_terms;
constexpr std::size_t lanes = LaneFit::lanes;

/// A block of the material.
struct Part {
  const ElementBlock* block;
  const PointField* field;
  const ShapeTopology* shape;
  std::array<int, 3> place;  // columns of x, y, z
  std::size_t first = 0;     // its first element, among those of all blocks of the material
};

/// 1, x, y, z, x², xy, …, as many as `terms`, of a place relative to the patch.
void monomials(const double* x, int dim, int order, double* m) {
  int n = 0;
  m[n++] = 1;
  for (int i = 0; i < dim; ++i) m[n++] = x[i];
  if (order < 2) return;
  for (int i = 0; i < dim; ++i)
    for (int j = i; j < dim; ++j) m[n++] = x[i] * x[j];
}

/// The same of several places side by side.
void lane_monomials(const double (*x)[lanes], int dim, int order, double* m) {
  for (std::size_t l = 0; l < lanes; ++l) m[l] = 1;
  m += lanes;
  for (int i = 0; i < dim; ++i, m += lanes)
    for (std::size_t l = 0; l < lanes; ++l) m[l] = x[i][l];
  if (order < 2) return;
  for (int i = 0; i < dim; ++i)
    for (int j = i; j < dim; ++j, m += lanes)
      for (std::size_t l = 0; l < lanes; ++l) m[l] = x[i][l] * x[j][l];
}

class Patches {
 public:
  Patches(const Domain& domain, std::vector<Part> parts) : domain_(domain), parts_(std::move(parts)) {
    dim_ = order_ = 1;
    for (const Part& part : parts_) {
      dim_ = std::max(dim_, part.shape->dim);
      order_ = std::max(order_, part.shape->order);
    }
    terms_ = order_ == 1 ? dim_ + 1 : (dim_ + 1) * (dim_ + 2) / 2;
    for (Part& part : parts_) {
      part.first = elements_.size();
      elements_.resize(elements_.size() + static_cast<std::size_t>(part.block->size()));
    }
    list_elements();
    survey_elements();
    measure_patches();
  }

  CompactField recover(const std::vector<std::string>& names) const {
    CompactField result;
    result.nodes = nodes_;
    result.width = names.size();
    result.values = large_zeros(nodes_.size() * names.size());
    const std::unique_ptr<double[]> polynomials = fit(names);
    std::size_t most = 0;  // corners of the elements at a node
    for (const std::int32_t n : nodes_) most = std::max(most, elements_at(n));
    std::size_t corners = 0;
    for (const Part& part : parts_) corners = std::max(corners, static_cast<std::size_t>(part.shape->corners));
    const auto threads = static_cast<std::size_t>(omp_get_max_threads());
    std::vector<std::vector<std::int32_t>> near(threads, std::vector<std::int32_t>(most * corners));
#pragma omp parallel for schedule(static) if (nodes_.size() > worth_threads)
    for (std::size_t n = 0; n < nodes_.size(); ++n)
      evaluate(nodes_[n], polynomials.get(), result.width, near[static_cast<std::size_t>(omp_get_thread_num())].data(),
               result.values.data() + n * result.width);
    return result;
  }

 private:
  struct Member {
    std::int32_t part, element;
  };
  /// Patches with as many samples each.
  struct Group {
    std::size_t first, count, samples;
  };

  /// Elements at each node; corners are nodes that have a patch.
  void list_elements() {
    const std::int32_t nodes = domain_.node_count();
    std::vector<char> is_corner(nodes, 0);
    first_.assign(static_cast<std::size_t>(nodes) + 1, 0);
    /// Calls take(part, element, node, is it a corner?) for this thread's nodes.
    const auto visit = [&](const auto& take) {
      const NodeRange mine(nodes);
      for (std::size_t p = 0; p < parts_.size(); ++p) {
        const std::int32_t* node = parts_[p].block->connectivity().data();
        const int per_element = parts_[p].block->nodes_per_element();
        for (std::int32_t e = 0; e < parts_[p].block->size(); ++e)
          for (int a = 0; a < per_element; ++a, ++node)
            if (mine.contains(*node)) take(p, e, *node, a < parts_[p].shape->corners);
      }
    };
#pragma omp parallel if (nodes > worth_threads)
    visit([&](std::size_t, std::int32_t, std::int32_t node, bool corner) {
      ++first_[node + 1];
      if (corner) is_corner[node] = 1;
    });
    for (std::size_t n = 0; n + 1 < first_.size(); ++n) first_[n + 1] += first_[n];
    members_ = std::make_unique_for_overwrite<Member[]>(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
#pragma omp parallel if (nodes > worth_threads)
    visit([&](std::size_t p, std::int32_t e, std::int32_t node, bool) {
      members_[next[node]++] = {static_cast<std::int32_t>(p), e};
    });
    corner_index_.assign(nodes, -1);
    nodes_.reserve(static_cast<std::size_t>(nodes));
    corners_.reserve(static_cast<std::size_t>(nodes));
    for (std::int32_t n = 0; n < nodes; ++n) {
      if (first_[n + 1] > first_[n]) nodes_.push_back(n);
      if (!is_corner[n]) continue;
      corner_index_[n] = static_cast<std::int32_t>(corners_.size());
      corners_.push_back(n);
    }
  }

  std::size_t elements_at(std::int32_t node) const { return first_[node + 1] - first_[node]; }

  /// Coordinates relative to a patch's corner are in units of the patch's size. Patches with as many samples are fitted
  /// together.
  void measure_patches() {
    sizes_.resize(corners_.size());
    std::vector<std::int32_t> samples(corners_.size());
#pragma omp parallel for schedule(static) if (corners_.size() > worth_threads)
    for (std::size_t c = 0; c < corners_.size(); ++c) {
      sizes_[c] = size_of(corners_[c]);
      for (std::size_t i = first_[corners_[c]]; i < first_[corners_[c] + 1]; ++i)
        samples[c] += parts_[members_[i].part].field->points;
    }
    const std::int32_t most = samples.empty() ? 0 : *std::max_element(samples.begin(), samples.end());
    std::vector<std::size_t> first(static_cast<std::size_t>(most) + 2, 0);
    for (const std::int32_t s : samples) ++first[s + 1];
    for (std::size_t s = 0; s + 1 < first.size(); ++s) first[s + 1] += first[s];
    by_samples_.resize(corners_.size());
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for (std::size_t c = 0; c < corners_.size(); ++c) by_samples_[next[samples[c]]++] = static_cast<std::int32_t>(c);
    for (std::size_t s = 0; s + 1 < first.size(); ++s)
      for (std::size_t at = first[s]; at < first[s + 1]; at += lanes)
        groups_.push_back({at, std::min(lanes, first[s + 1] - at), s});
    most_samples_ = static_cast<std::size_t>(most);
  }

  /// What the patches of an element's corners need to know of it.
  struct Surveyed {
    std::array<double, 3> low, high;  // of the coordinates of its nodes
    std::size_t most = 0;             // elements at one of its corners
  };

  void survey_elements() {
    for (const Part& part : parts_)
#pragma omp parallel for schedule(static) if (part.block->size() > worth_threads)
      for (std::int32_t e = 0; e < part.block->size(); ++e) {
        const auto nodes = part.block->nodes(e);
        Surveyed& found = elements_[part.first + static_cast<std::size_t>(e)];
        for (std::size_t a = 0; a < nodes.size(); ++a) {
          const double* const p = &domain_.coordinates()[3 * static_cast<std::size_t>(nodes[a])];
          for (int k = 0; k < 3; ++k) {
            found.low[k] = a == 0 ? p[k] : std::min(found.low[k], p[k]);
            found.high[k] = a == 0 ? p[k] : std::max(found.high[k], p[k]);
          }
          if (a < static_cast<std::size_t>(part.shape->corners))
            found.most = std::max(found.most, elements_at(nodes[a]));
        }
      }
  }
  const Surveyed& surveyed(const Member& member) const {
    return elements_[parts_[member.part].first + static_cast<std::size_t>(member.element)];
  }

  /// The largest difference of coordinates between the corner and a node of its patch.
  double size_of(std::int32_t corner) const {
    const double* o = &domain_.coordinates()[3 * static_cast<std::size_t>(corner)];
    double size = 0;
    for (std::size_t i = first_[corner]; i < first_[corner + 1]; ++i) {
      const Surveyed& element = surveyed(members_[i]);
      for (int k = 0; k < dim_; ++k)
        size = std::max({size, std::abs(element.low[k] - o[k]), std::abs(element.high[k] - o[k])});
    }
    return size > 0 ? size : 1;
  }

  /// What one thread needs to fit the patches of a group.
  struct Workspace {
    LaneFit fit;
    std::vector<double> places;          // of the samples: x, y, z of each, all lanes side by side
    std::vector<const double*> records;  // values of the samples, lane by lane
    std::vector<double> copies;          // of the values that do not stand side by side in their fields
  };

  /// The polynomial of each corner: terms × width coefficients.
  std::unique_ptr<double[]> fit(const std::vector<std::string>& names) const {
    const std::size_t width = names.size(), terms = terms_;
    std::vector<Columns> columns;
    for (const Part& part : parts_) columns.emplace_back(*part.field, names);
    const bool all_contiguous =
        std::all_of(columns.begin(), columns.end(), [](const Columns& c) { return c.contiguous(); });
    auto polynomials = large_room(corners_.size() * terms * width);
    const std::size_t room = most_samples_ * lanes;
    std::vector<Workspace> workspaces(
        static_cast<std::size_t>(omp_get_max_threads()),
        {LaneFit(most_samples_, terms, width), std::vector<double>(3 * room), std::vector<const double*>(room),
         std::vector<double>(all_contiguous ? 0 : room * width)});
#pragma omp parallel for schedule(dynamic, 64) if (groups_.size() > 128)
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      Workspace& work = workspaces[static_cast<std::size_t>(omp_get_thread_num())];
      const Group& group = groups_[g];
      take_samples(group, columns, work);
      work.fit.orthonormalize(group.samples);
      for (std::size_t l = 0; l < group.count; ++l)
        work.fit.fit(
            l, [of = work.records.data() + l * group.samples](std::size_t s) { return of[s]; },
            polynomials.get() + by_samples_[group.first + l] * terms * width);
    }
    return polynomials;
  }

  /// Where the values of each lane's samples are, and the monomials of their places. Lanes without a patch of their own
  /// repeat the first one's.
  void take_samples(const Group& group, const std::vector<Columns>& columns, Workspace& work) const {
    double origin[3][lanes], size[lanes], *copy = work.copies.data();
    for (std::size_t l = 0; l < lanes; ++l) {
      const std::int32_t c = by_samples_[group.first + (l < group.count ? l : 0)], corner = corners_[c];
      for (int k = 0; k < 3; ++k) origin[k][l] = domain_.coordinates()[3 * static_cast<std::size_t>(corner) + k];
      size[l] = sizes_[c];
      const double** record = work.records.data() + l * group.samples;
      double* place = work.places.data() + l;
      for (std::size_t i = first_[corner]; i < first_[corner + 1]; ++i) {
        const Part& part = parts_[members_[i].part];
        const Columns& of = columns[members_[i].part];
        const std::size_t names = part.field->names.size();
        const double* point =
            part.field->values.data() + static_cast<std::size_t>(members_[i].element) * part.field->points * names;
        for (int p = 0; p < part.field->points; ++p, point += names, place += 3 * lanes) {
          for (int k = 0; k < 3; ++k) place[k * lanes] = point[part.place[k]];
          if (of.contiguous()) {
            *record++ = point + of.first();
          } else {
            of.copy(point, copy);
            *record++ = copy;
            copy += of.width();
          }
        }
      }
    }
    double* m = work.fit.monomials();
    const double* place = work.places.data();
    for (std::size_t s = 0; s < group.samples; ++s, m += static_cast<std::size_t>(terms_) * lanes) {
      double x[3][lanes];
      for (int k = 0; k < 3; ++k, place += lanes)
        for (std::size_t l = 0; l < lanes; ++l) x[k][l] = (place[l] - origin[k][l]) / size[l];
      lane_monomials(x, dim_, order_, m);
    }
  }

  /// Adds the value of a corner's polynomial at a node.
  void add(std::int32_t corner, std::int32_t node, const double* polynomials, std::size_t width, double* out) const {
    const auto c = static_cast<std::size_t>(corner_index_[corner]);
    const double* of = &polynomials[c * terms_ * width];
    if (corner == node) {  // all monomials but the first are 0
      for (std::size_t k = 0; k < width; ++k) out[k] += of[k];
      return;
    }
    const double *o = &domain_.coordinates()[3 * static_cast<std::size_t>(corner)],
                 *p = &domain_.coordinates()[3 * static_cast<std::size_t>(node)];
    const double size = sizes_[c];
    const double x[3] = {(p[0] - o[0]) / size, (p[1] - o[1]) / size, (p[2] - o[2]) / size};
    double m[most_terms];
    monomials(x, dim_, order_, m);
    for (std::size_t j = 0; j < static_cast<std::size_t>(terms_); ++j)
      for (std::size_t k = 0; k < width; ++k) out[k] += m[j] * of[j * width + k];
  }

  /// `near` has room for the corners of all elements at the node.
  void evaluate(std::int32_t node, const double* polynomials, std::size_t width, std::int32_t* near,
                double* out) const {
    std::size_t most = 0;  // elements of a patch that has the node
    for (std::size_t i = first_[node]; i < first_[node + 1]; ++i) most = std::max(most, surveyed(members_[i]).most);
    // Patches at the boundary have few elements and lie on one side of their corner.
    const auto is_full = [&](std::int32_t corner) { return 4 * elements_at(corner) >= 3 * most; };
    std::int32_t* end = near;
    if (corner_index_[node] >= 0 && is_full(node)) {
      *end++ = node;
    } else {
      for (std::size_t i = first_[node]; i < first_[node + 1]; ++i) {
        const Part& part = parts_[members_[i].part];
        const auto nodes = part.block->nodes(members_[i].element);
        end = std::copy_if(nodes.begin(), nodes.begin() + part.shape->corners, end, is_full);
      }
      std::sort(near, end);
      end = std::unique(near, end);
    }
    for (const std::int32_t* corner = near; corner != end; ++corner) add(*corner, node, polynomials, width, out);
    for (std::size_t k = 0; k < width; ++k) out[k] /= static_cast<double>(end - near);
  }

  const Domain& domain_;
  std::vector<Part> parts_;
  int dim_ = 1, order_ = 1, terms_ = 1;
  std::vector<std::size_t> first_;  // of each node, among `members_`
  std::unique_ptr<Member[]> members_;
  std::vector<Surveyed> elements_;  // of all blocks
  std::vector<std::int32_t> nodes_, corners_, corner_index_;
  std::vector<double> sizes_;             // of the patches, by corner
  std::vector<std::int32_t> by_samples_;  // corners, those with as many samples together
  std::vector<Group> groups_;
  std::size_t most_samples_ = 0;
};

}  // namespace

std::map<std::string, CompactField> patch_values(const Domain& domain, const std::vector<PointField>& points,
                                                 const std::vector<std::string>& names) {
  std::map<std::string, std::vector<Part>> by_material;
  for (const PointField& field : points) {
    const ElementBlock& block = domain.block(field.block);
    const bool complete = std::all_of(names.begin(), names.end(), [&](const auto& n) { return field.has(n); });
    if (!complete || block.type().program().extrapolation().empty() || block.type().shape().empty()) continue;
    Part part{&block, &field, &shape_topology(block.type().shape()), {-1, -1, -1}};
    if (field.has("x") && field.has("y") && field.has("z"))
      part.place = {field.name_index("x"), field.name_index("y"), field.name_index("z")};
    by_material[block.material() ? block.material()->name() : ""].push_back(part);
  }
  std::map<std::string, CompactField> result, averages;
  for (auto& [material, parts] : by_material) {
    if (std::all_of(parts.begin(), parts.end(), [](const Part& p) { return p.place[0] >= 0; })) {
      result.emplace(material, Patches(domain, std::move(parts)).recover(names));
    } else {  // elements that do not say where their points are
      if (averages.empty()) averages = compact_nodal_values(domain, points, names);
      result.emplace(material, averages.at(material));
    }
  }
  return result;
}

}  // namespace voussoir::detail
