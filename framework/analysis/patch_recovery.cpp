#include <voussoir/framework/analysis/detail/patch_recovery.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir::detail {
namespace {

constexpr int most_terms = 10;    // 1, x, y, z and their products
constexpr std::size_t chunk = 6;  // values that are fitted at once, so that polynomials need little memory

/// A block of the material.
struct Part {
  const ElementBlock* block;
  const PointField* field;
  const ShapeTopology* shape;
  std::array<int, 3> place;  // columns of x, y, z
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

class Patches {
 public:
  Patches(const Domain& domain, std::vector<Part> parts) : domain_(domain), parts_(std::move(parts)) {
    dim_ = order_ = 1;
    for (const Part& part : parts_) {
      dim_ = std::max(dim_, part.shape->dim);
      order_ = std::max(order_, part.shape->order);
    }
    terms_ = order_ == 1 ? dim_ + 1 : (dim_ + 1) * (dim_ + 2) / 2;
    list_elements();
  }

  CompactField recover(const std::vector<std::string>& names) const {
    CompactField result;
    result.nodes = nodes_;
    result.width = names.size();
    result.values.assign(nodes_.size() * names.size(), 0.0);
    for (std::size_t first = 0; first < names.size(); first += chunk) {
      const std::size_t width = std::min(chunk, names.size() - first);
      std::vector<std::array<int, chunk>> columns;
      for (const Part& part : parts_) {
        columns.emplace_back();
        for (std::size_t k = 0; k < width; ++k) columns.back()[k] = part.field->name_index(names[first + k]);
      }
      std::vector<double> polynomials(corners_.size() * terms_ * width, 0.0);
#pragma omp parallel for schedule(static)
      for (std::size_t c = 0; c < corners_.size(); ++c)
        fit(corners_[c], columns, width, polynomials.data() + c * terms_ * width);
#pragma omp parallel for schedule(static)
      for (std::size_t n = 0; n < nodes_.size(); ++n)
        evaluate(nodes_[n], polynomials, width, result.values.data() + n * result.width + first);
    }
    return result;
  }

 private:
  struct Member {
    std::int32_t part, element;
  };

  /// Elements at each node; corners are nodes that have a patch.
  void list_elements() {
    std::vector<char> is_corner(domain_.node_count(), 0);
    first_.assign(static_cast<std::size_t>(domain_.node_count()) + 1, 0);
    const auto visit = [&](const auto& take) {
      for (std::size_t p = 0; p < parts_.size(); ++p)
        for (std::int32_t e = 0; e < parts_[p].block->size(); ++e) {
          const auto nodes = parts_[p].block->nodes(e);
          for (std::size_t a = 0; a < nodes.size(); ++a)
            take(p, e, nodes[a], static_cast<int>(a) < parts_[p].shape->corners);
        }
    };
    visit([&](std::size_t, std::int32_t, std::int32_t node, bool corner) {
      ++first_[node + 1];
      if (corner) is_corner[node] = 1;
    });
    for (std::size_t n = 0; n + 1 < first_.size(); ++n) first_[n + 1] += first_[n];
    members_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    visit([&](std::size_t p, std::int32_t e, std::int32_t node, bool) {
      members_[next[node]++] = {static_cast<std::int32_t>(p), e};
    });
    corner_index_.assign(domain_.node_count(), -1);
    for (std::int32_t n = 0; n < domain_.node_count(); ++n) {
      if (first_[n + 1] > first_[n]) nodes_.push_back(n);
      if (!is_corner[n]) continue;
      corner_index_[n] = static_cast<std::int32_t>(corners_.size());
      corners_.push_back(n);
    }
  }

  std::size_t elements_at(std::int32_t node) const { return first_[node + 1] - first_[node]; }

  /// Coordinates relative to a patch's corner, in units of the patch's size.
  double size_of(std::int32_t corner) const {
    const double* o = &domain_.coordinates()[3 * static_cast<std::size_t>(corner)];
    double size = 0;
    for (std::size_t i = first_[corner]; i < first_[corner + 1]; ++i)
      for (const std::int32_t n : parts_[members_[i].part].block->nodes(members_[i].element)) {
        const double* p = &domain_.coordinates()[3 * static_cast<std::size_t>(n)];
        for (int k = 0; k < dim_; ++k) size = std::max(size, std::abs(p[k] - o[k]));
      }
    return size > 0 ? size : 1;
  }

  /// The polynomial of a corner: terms × width coefficients. Monomials that the points cannot tell from those before
  /// them, as z² in a single layer, are left out.
  void fit(std::int32_t corner, const std::vector<std::array<int, chunk>>& columns, std::size_t width,
           double* out) const {
    const double* o = &domain_.coordinates()[3 * static_cast<std::size_t>(corner)];
    const double size = size_of(corner);
    std::vector<double> m, data;  // samples × terms, samples × width
    for (std::size_t i = first_[corner]; i < first_[corner + 1]; ++i) {
      const Part& part = parts_[members_[i].part];
      for (int p = 0; p < part.field->points; ++p) {
        double x[3];
        for (int k = 0; k < 3; ++k) x[k] = (part.field->at(members_[i].element, p, part.place[k]) - o[k]) / size;
        m.resize(m.size() + terms_);
        monomials(x, dim_, order_, m.data() + m.size() - terms_);
        for (std::size_t k = 0; k < width; ++k)
          data.push_back(part.field->at(members_[i].element, p, columns[members_[i].part][k]));
      }
    }
    const std::size_t terms = terms_, samples = m.size() / terms;
    // Gram and Schmidt: orthonormal columns, and which combinations of monomials they are.
    std::vector<std::vector<double>> basis;
    std::vector<std::array<double, most_terms>> makeup;
    for (std::size_t j = 0; j < terms && basis.size() < samples; ++j) {
      std::vector<double> v(samples);
      std::array<double, most_terms> of{};
      of[j] = 1;
      double given = 0;
      for (std::size_t s = 0; s < samples; ++s) given += (v[s] = m[s * terms + j]) * v[s];
      for (int pass = 0; pass < 2; ++pass)
        for (std::size_t b = 0; b < basis.size(); ++b) {
          double along = 0;
          for (std::size_t s = 0; s < samples; ++s) along += basis[b][s] * v[s];
          for (std::size_t s = 0; s < samples; ++s) v[s] -= along * basis[b][s];
          for (std::size_t k = 0; k < terms; ++k) of[k] -= along * makeup[b][k];
        }
      double left = 0;
      for (const double x : v) left += x * x;
      if (!(left > 1e-6 * given)) continue;
      const double scale = 1 / std::sqrt(left);
      for (double& x : v) x *= scale;
      for (std::size_t k = 0; k < terms; ++k) of[k] *= scale;
      basis.push_back(std::move(v));
      makeup.push_back(of);
    }
    for (std::size_t b = 0; b < basis.size(); ++b)
      for (std::size_t k = 0; k < width; ++k) {
        double along = 0;
        for (std::size_t s = 0; s < samples; ++s) along += basis[b][s] * data[s * width + k];
        for (std::size_t j = 0; j < terms; ++j) out[j * width + k] += along * makeup[b][j];
      }
  }

  /// Adds the value of a corner's polynomial at a node.
  void add(std::int32_t corner, std::int32_t node, const std::vector<double>& polynomials, std::size_t width,
           double* out) const {
    const double *o = &domain_.coordinates()[3 * static_cast<std::size_t>(corner)],
                 *p = &domain_.coordinates()[3 * static_cast<std::size_t>(node)];
    const double size = size_of(corner);
    const double x[3] = {(p[0] - o[0]) / size, (p[1] - o[1]) / size, (p[2] - o[2]) / size};
    double m[most_terms];
    monomials(x, dim_, order_, m);
    const double* c = &polynomials[static_cast<std::size_t>(corner_index_[corner]) * terms_ * width];
    for (std::size_t j = 0; j < static_cast<std::size_t>(terms_); ++j)
      for (std::size_t k = 0; k < width; ++k) out[k] += m[j] * c[j * width + k];
  }

  void evaluate(std::int32_t node, const std::vector<double>& polynomials, std::size_t width, double* out) const {
    std::vector<std::int32_t> near;  // corners whose patch has the node
    std::size_t most = 0;
    for (std::size_t i = first_[node]; i < first_[node + 1]; ++i) {
      const Part& part = parts_[members_[i].part];
      const auto nodes = part.block->nodes(members_[i].element);
      for (int a = 0; a < part.shape->corners; ++a) {
        near.push_back(nodes[a]);
        most = std::max(most, elements_at(nodes[a]));
      }
    }
    // Patches at the boundary have few elements and lie on one side of their corner.
    const auto is_full = [&](std::int32_t corner) { return 4 * elements_at(corner) >= 3 * most; };
    if (corner_index_[node] >= 0 && is_full(node)) {
      near = {node};
    } else {
      std::sort(near.begin(), near.end());
      near.erase(std::unique(near.begin(), near.end()), near.end());
      near.erase(std::remove_if(near.begin(), near.end(), [&](std::int32_t c) { return !is_full(c); }), near.end());
    }
    for (const std::int32_t corner : near) add(corner, node, polynomials, width, out);
    for (std::size_t k = 0; k < width; ++k) out[k] /= static_cast<double>(near.size());
  }

  const Domain& domain_;
  std::vector<Part> parts_;
  int dim_ = 1, order_ = 1, terms_ = 1;
  std::vector<std::size_t> first_;  // of each node, among `members_`
  std::vector<Member> members_;
  std::vector<std::int32_t> nodes_, corners_, corner_index_;
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
