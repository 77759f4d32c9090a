#include <voussoir/framework/analysis/error_estimate.hpp>

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include <voussoir/framework/analysis/detail/carry_to_nodes.hpp>
#include <voussoir/framework/analysis/detail/patch_recovery.hpp>
#include <voussoir/framework/detail/nan.hpp>
#include <voussoir/framework/detail/node_range.hpp>
#include <voussoir/framework/domain/shape_functions.hpp>

namespace voussoir {
namespace {

using detail::nan;

/// Two quantities whose product is energy per volume: strain and stress, or gradient and flux, in the order of the
/// fields.
struct Pair {
  std::string quantity;
  std::vector<std::string> names;  // of both, the first half and the second
  std::vector<double> weights;     // of the products
};
const Pair& stress_pair() {
  static const Pair pair{"stress",
                         {"exx", "eyy", "ezz", "exy", "eyz", "exz", "sxx", "syy", "szz", "sxy", "syz", "sxz"},
                         {1, 1, 1, 2, 2, 2}};  // shear strains are those of the tensor
  return pair;
}
const Pair& flux_pair() {
  static const Pair pair{"flux", {"gx", "gy", "gz", "qx", "qy", "qz"}, {-1, -1, -1}};
  return pair;
}

/// Products of the two halves of a record.
double energy(const Pair& pair, const double* values) {
  double sum = 0;
  const std::size_t half = pair.weights.size();
  for (std::size_t k = 0; k < half; ++k) sum += pair.weights[k] * values[k] * values[half + k];
  return sum;
}

bool has_all(const PointField& field, const Pair& pair) {
  return field.has("volume") &&
         std::all_of(pair.names.begin(), pair.names.end(), [&](const auto& n) { return field.has(n); });
}

/// A block whose elements have an estimate, and what is needed of it.
class Member {
 public:
  Member(const Domain& domain, const PointField& field, const Pair& pair)
      : domain_(domain),
        block_(domain.block(field.block)),
        field_(field),
        pair_(pair),
        program_(block_.type().program()),
        functions_(shape_topology(block_.type().shape())),
        volume_(field.name_index("volume")),
        columns_(field, pair.names) {
    energy_ = field.has("energy") ? field.name_index("energy") : -1;
    const auto nodes = static_cast<std::size_t>(functions_.nodes());
    for (const auto& q : functions_.rule()) {
      values_.resize(values_.size() + nodes);
      functions_.values(q.xi, values_.data() + values_.size() - nodes);
      gradients_.resize(gradients_.size() + 3 * nodes);
      functions_.gradients(q.xi, gradients_.data() + gradients_.size() - 3 * nodes);
    }
  }

  const ElementBlock& block() const { return block_; }
  std::int32_t index() const { return field_.block; }

  void carry(std::int32_t e, double* out) const {
    detail::carry_to_nodes(program_.extrapolation().data(), field_, columns_, e,
                           static_cast<std::size_t>(block_.nodes_per_element()), out);
  }

  double volume(std::int32_t e) const {
    double sum = 0;
    for (int p = 0; p < field_.points; ++p) sum += field_.at(e, p, volume_);
    return sum;
  }

  /// The square of the solution's norm. `record` has room for a value of each column.
  double solution(std::int32_t e, double* record) const {
    double sum = 0;
    for (int p = 0; p < field_.points; ++p) {
      double twice;
      if (energy_ >= 0) {  // thermal strain is taken off there
        twice = 2 * field_.at(e, p, energy_);
      } else {
        columns_.copy(&field_.values[(static_cast<std::size_t>(e) * field_.points + p) * field_.names.size()], record);
        twice = energy(pair_, record);
      }
      sum += twice * field_.at(e, p, volume_);
    }
    return sum;
  }

  /// Numbers that error() needs room for.
  std::size_t room() const {
    return functions_.rule().size() * columns_.width() + 3 * static_cast<std::size_t>(functions_.nodes());
  }

  /// The square of the error's norm, where the nodes of the element differ by `difference` from the smooth field.
  double error(std::int32_t e, const double* difference, double* room) const {
    const auto nodes = static_cast<std::size_t>(functions_.nodes());
    const std::size_t width = columns_.width();
    detail::weighted_sums(
        width, functions_.rule().size(), nodes, [=](std::size_t a) { return difference + a * width; },
        [this, nodes](std::size_t q, std::size_t a) { return values_[q * nodes + a]; }, room);
    double* const places = room + functions_.rule().size() * width;
    const auto connected = block_.nodes(e);
    for (std::size_t a = 0; a < nodes; ++a)
      std::copy_n(&domain_.coordinates()[3 * static_cast<std::size_t>(connected[a])], 3, places + 3 * a);
    double sum = 0, weights = 0;
    for (std::size_t q = 0; q < functions_.rule().size(); ++q) {
      const double weight = functions_.rule()[q].weight * jacobian(places, q);
      sum += weight * energy(pair_, room + q * width);
      weights += weight;
    }
    // The volume that the element itself integrates has its thickness, or that of the ring.
    return weights > 0 ? std::max(0.0, sum / weights * volume(e)) : nan;
  }

 private:
  /// What a weight of the reference cell is multiplied by, up to a constant factor.
  double jacobian(const double* places, std::size_t q) const {
    const auto nodes = static_cast<std::size_t>(functions_.nodes());
    const double* const gradients = &gradients_[3 * q * nodes];
    double j[3][3] = {};
    for (std::size_t a = 0; a < nodes; ++a)
      for (int r = 0; r < 3; ++r)
        for (int k = 0; k < 3; ++k) j[r][k] += gradients[3 * a + r] * places[3 * a + k];
    const int dim = functions_.shape().dim;
    if (dim == 3)
      return std::abs(j[0][0] * (j[1][1] * j[2][2] - j[1][2] * j[2][1]) -
                      j[0][1] * (j[1][0] * j[2][2] - j[1][2] * j[2][0]) +
                      j[0][2] * (j[1][0] * j[2][1] - j[1][1] * j[2][0]));
    if (dim == 1) return std::hypot(j[0][0], j[0][1], j[0][2]);
    const double c[3] = {j[0][1] * j[1][2] - j[0][2] * j[1][1], j[0][2] * j[1][0] - j[0][0] * j[1][2],
                         j[0][0] * j[1][1] - j[0][1] * j[1][0]};
    return std::hypot(c[0], c[1], c[2]) * (program_.axisymmetric() ? radius(places, q) : 1);
  }

  double radius(const double* places, std::size_t q) const {
    const auto nodes = static_cast<std::size_t>(functions_.nodes());
    double sum = 0;
    for (std::size_t a = 0; a < nodes; ++a) sum += values_[q * nodes + a] * places[3 * a];
    return sum;
  }

  const Domain& domain_;
  const ElementBlock& block_;
  const PointField& field_;
  const Pair& pair_;
  const ElementProgram& program_;
  ShapeFunctions functions_;
  int volume_, energy_ = -1;
  detail::Columns columns_;
  std::vector<double> values_, gradients_;  // of the shape functions, at the points of the rule
};

/// Whether an element's values can be carried to its nodes and compared there.
bool can_estimate(const ElementBlock& block) {
  const std::string& shape = block.type().shape();
  return !shape.empty() && !block.type().program().extrapolation().empty() &&
         shape_topology(shape).nodes == block.nodes_per_element();
}

}  // namespace

double ErrorEstimate::percent() const {
  const double exact = std::hypot(error, solution);
  return exact > 0 ? 100 * error / exact : 0;
}

std::vector<ErrorEstimate::Entry> ErrorEstimate::worst(const Domain& domain, std::size_t count) const {
  const auto before = [](const Entry& a, const Entry& b) {
    if (a.error != b.error) return a.error > b.error;
    return a.element.block != b.element.block ? a.element.block < b.element.block
                                              : a.element.element < b.element.element;
  };
  std::vector<Entry> found;  // a heap: the last of those to be returned stands first
  std::size_t i = 0;
  for (std::size_t b = 0; count > 0 && b < domain.block_count(); ++b)
    for (std::int32_t e = 0; e < domain.block(b).size() && i < element_error.size(); ++e, ++i) {
      if (!(element_error[i] > 0)) continue;
      const Entry entry{{static_cast<std::int32_t>(b), e}, element_error[i], element_percent[i]};
      if (found.size() == count) {
        if (!before(entry, found.front())) continue;
        std::pop_heap(found.begin(), found.end(), before);
        found.back() = entry;
      } else {
        found.push_back(entry);
      }
      std::push_heap(found.begin(), found.end(), before);
    }
  std::sort_heap(found.begin(), found.end(), before);
  return found;
}

ErrorEstimate estimate_error(const Domain& domain, const std::vector<PointField>& points) {
  ErrorEstimate result;
  std::map<std::string, std::vector<std::unique_ptr<Member>>> by_material;
  const Pair* pair = nullptr;
  for (const Pair* candidate : {&stress_pair(), &flux_pair()})
    for (const PointField& field : points)
      if (!pair && has_all(field, *candidate) && can_estimate(domain.block(field.block))) pair = candidate;
  if (!pair) return result;
  result.quantity = pair->quantity;
  for (const PointField& field : points) {
    if (!has_all(field, *pair) || !can_estimate(domain.block(field.block))) continue;
    const auto& material = domain.block(field.block).material();
    by_material[material ? material->name() : ""].push_back(std::make_unique<Member>(domain, field, *pair));
  }

  const std::size_t width = pair->names.size();
  std::vector<std::size_t> first{0};
  for (std::size_t b = 0; b < domain.block_count(); ++b) first.push_back(first.back() + domain.block(b).size());
  result.element_error.assign(first.back(), nan);
  result.element_percent.assign(first.back(), nan);
  std::vector<double> volume(first.back(), 0.0), energies(first.back(), 0.0);
  const auto smooth = detail::patch_values(domain, points, pair->names);
  std::vector<std::int32_t> place(domain.node_count());  // of each node, in the smooth field of the material
  for (const auto& [material, members] : by_material) {
    const detail::CompactField& nodal = smooth.at(material);
    for (std::size_t i = 0; i < nodal.nodes.size(); ++i) place[nodal.nodes[i]] = static_cast<std::int32_t>(i);
    for (const auto& m : members) {
      const std::int32_t elements = m->block().size();
      // Values at the nodes, and what error() and solution() need; threads write to lines of memory of their own.
      const std::size_t nodal_room = static_cast<std::size_t>(m->block().nodes_per_element()) * width;
      const std::size_t room = (nodal_room + std::max(m->room(), width) + 15) / 16 * 16 + 16;
      std::vector<double> rooms(room * static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel for schedule(static) if (elements > detail::worth_threads / 4)
      for (std::int32_t e = 0; e < elements; ++e) {
        double* const local = rooms.data() + room * static_cast<std::size_t>(omp_get_thread_num());
        double* const more = local + nodal_room;
        m->carry(e, local);
        const auto nodes = m->block().nodes(e);
        for (std::size_t a = 0; a < nodes.size(); ++a) {
          const double* there = nodal.values.data() + width * static_cast<std::size_t>(place[nodes[a]]);
          for (std::size_t k = 0; k < width; ++k) local[a * width + k] = there[k] - local[a * width + k];
        }
        const std::size_t at = first[m->index()] + e;
        result.element_error[at] = std::sqrt(m->error(e, local, more));
        volume[at] = m->volume(e);
        energies[at] = m->solution(e, more);
      }
    }
  }

  double square = 0, all = 0, solution = 0;
  for (std::size_t i = 0; i < volume.size(); ++i) {
    if (std::isnan(result.element_error[i])) continue;
    ++result.elements;
    square += result.element_error[i] * result.element_error[i];
    all += volume[i];
    solution += energies[i];
  }
  result.error = std::sqrt(square);
  result.solution = std::sqrt(std::max(0.0, solution));
  const double exact = std::hypot(result.error, result.solution);
#pragma omp parallel for schedule(static) if (volume.size() > detail::worth_threads)
  for (std::size_t i = 0; i < volume.size(); ++i)
    if (!std::isnan(result.element_error[i]))
      result.element_percent[i] =
          exact > 0 && volume[i] > 0 ? 100 * result.element_error[i] / (exact * std::sqrt(volume[i] / all)) : 0;
  return result;
}

}  // namespace voussoir
