#include <voussoir/framework/model/rigid_clusters.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <set>
#include <tuple>

#include <voussoir/framework/detail/dense_algebra.hpp>
#include <voussoir/framework/detail/node_range.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/model/detail/dense_tangent.hpp>
#include <voussoir/framework/model/detail/disjoint_sets.hpp>
#include <voussoir/framework/model/detail/rigid_joints.hpp>

namespace voussoir {
namespace {

using detail::NodeRange;
using detail::RigidFrame;
using detail::RigidJoints;
using detail::worth_threads;

/// Clusters, single nodes among them, that are looked at one by one; motions that are handed on.
constexpr std::size_t most_clusters = 300;
constexpr int most_motions = 64;

/// Whether the null space of an equilibrated matrix is the span of rigid motions, which it maps to zero.
bool has_null_space(const Eigen::MatrixXd& matrix, const Eigen::MatrixXd& rigid) {
  constexpr double none = 1e-12;
  const Eigen::Index m = matrix.rows(), rank = detail::column_rank(rigid, 1e-9);
  if (m <= 300) {
    const Eigen::VectorXd eigenvalues = detail::eigenvalues_of(matrix);
    return eigenvalues[0] > -none && (eigenvalues.array().abs() < none * eigenvalues[m - 1]).count() == rank;
  }
  // Eigenvalues of a large superelement would take minutes. With a stiffness against rigid motions, it is definite.
  const detail::Spectrum gram = detail::spectrum_of(detail::transposed_product(rigid, rigid));
  Eigen::MatrixXd stiff = matrix;
  Eigen::Index found = 0;
  for (Eigen::Index k = 0; k < rigid.cols(); ++k) {
    if (gram.values[k] < none * gram.values[rigid.cols() - 1]) continue;
    const Eigen::VectorXd motion = detail::product(rigid, gram.vectors.col(k)) / std::sqrt(gram.values[k]);
    stiff += motion * motion.transpose();
    ++found;
  }
  stiff.diagonal().array() -= none * matrix.cwiseAbs().rowwise().sum().maxCoeff();
  return found == rank && detail::is_definite(stiff);
}

/// Whether the first element of a batch resists everything but rigid motion, and does not resist that.
bool resists_all_strain(const AnalysisModel& model, const RigidFrame& frame, int batch_number) {
  const DeviceModel& device_model = model.device_model();
  const auto first = model.first_equation();
  for (int device = 0; device < device_model.devices(); ++device) {
    const ElementBatch& batch = device_model.part(device).batches[static_cast<std::size_t>(batch_number)];
    const ElementProgram& program = *batch.program;
    if (batch.element_count == 0) continue;
    if (!program.has_tangent()) return false;
    const ElementView view = device_model.host_view(device, batch_number, {});
    const int lanes = program.lanes(), m = program.dofs(), components = program.components();
    std::vector<double> k(static_cast<std::size_t>(lanes) * static_cast<std::size_t>(program.matrix_entries()));
    program.tangent(view, 0, std::min(lanes, batch.element_count), k.data());
    Eigen::MatrixXd matrix(m, m), motion(m, frame.modes());
    if (!program.symmetric()) return false;  // what it resists does not follow from eigenvalues
    detail::unpack_tangent(program, k.data(), 0, matrix);
    if (!matrix.allFinite()) return false;
    for (int a = 0; a < program.nodes(); ++a) {
      const std::int32_t local = view.nodes[a];
      const auto equation = static_cast<std::int32_t>(device_model.layout()->global(device, view.first_unknown[local]));
      const auto position =
          static_cast<std::int32_t>(std::upper_bound(first.begin(), first.end(), equation) - first.begin() - 1);
      for (int c = 0; c < components; ++c)
        motion.row(a * components + c) = frame.at(position, model.batch_unknown(batch_number, c)).transpose();
    }
    // Equilibrated, so that angles and lengths weigh alike.
    const Eigen::VectorXd size = matrix.diagonal().cwiseAbs().cwiseSqrt();
    if (!(size.minCoeff() > 0)) return false;
    const Eigen::MatrixXd equilibrated = size.cwiseInverse().asDiagonal() * matrix * size.cwiseInverse().asDiagonal();
    Eigen::MatrixXd rigid = size.asDiagonal() * motion;
    for (Eigen::Index c = 0; c < rigid.cols(); ++c)
      if (const double length = rigid.col(c).norm(); length > 0) rigid.col(c) /= length;
    return detail::product(equilibrated, rigid).cwiseAbs().maxCoeff() < 1e-7 && has_null_space(equilibrated, rigid);
  }
  return false;
}

/// An element block whose elements are rigid where they are unstrained.
struct RigidBlock {
  int block = 0;
  int components = 0;
  std::int32_t first = 0;  ///< number of its first element among those of all such blocks
};

/// Elements that move together where nothing is strained.
class ElementSets {
 public:
  ElementSets(const Domain& domain, const RigidFrame& frame, const std::vector<RigidBlock>& blocks, std::int32_t count)
      : sets_(count) {
    std::vector<std::int32_t> owner(static_cast<std::size_t>(domain.node_count()), -1);
    for (const RigidBlock& b : blocks) {
      const ElementBlock& block = domain.block(b.block);
      const std::string& shape = block.type().shape();
      if (frame.modes() == 1 || b.components == frame.modes()) {  // a shared node carries all
        for (std::int32_t e = 0; e < block.size(); ++e)
          for (const std::int32_t n : block.nodes(e)) {
            std::int32_t& own = owner[static_cast<std::size_t>(n)];
            if (own >= 0)
              sets_.join(own, b.first + e);
            else
              own = b.first + e;
          }
      } else if (!shape.empty() && shape_topology(shape).dim == frame.face_corners()) {
        add_faces(block, b.first, frame.face_corners());
      }
    }
    join_faces(domain.node_count());
  }

  std::int32_t find(std::int32_t i) { return sets_.find(i); }

 private:
  /// A face by its three lowest corners (two in the plane, and −1): who shares them shares all that is rigid.
  struct Face {
    std::array<std::int32_t, 3> corners;
    std::int32_t element;
  };

  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

  void add_faces(const ElementBlock& block, std::int32_t first, int needed) {
    const auto& faces = shape_topology(block.type().shape()).faces;
    std::vector<std::vector<int>> corners;
    for (const ShapeFace& face : faces)
      corners.emplace_back(face.nodes.begin(), face.nodes.begin() + shape_topology(face.shape).corners);
    const std::size_t begin = faces_.size();
    faces_.resize(begin + at(block.size()) * corners.size());
#pragma omp parallel for schedule(static) if (block.size() > worth_threads)
    for (std::int32_t e = 0; e < block.size(); ++e) {
      const auto nodes = block.nodes(e);
      for (std::size_t f = 0; f < corners.size(); ++f) {
        std::array<std::int32_t, 4> own{};
        int count = 0;
        for (const int i : corners[f]) own[at(count++)] = nodes[at(i)];
        std::sort(own.begin(), own.begin() + count);
        const auto different = std::unique(own.begin(), own.begin() + count) - own.begin();
        Face& face = faces_[begin + at(e) * corners.size() + f];
        if (different < needed)  // a face that is folded to an edge
          face.element = -1;
        else
          face = {{own[0], own[1], needed > 2 ? own[2] : -1}, first + e};
      }
    }
  }

  /// Faces by their lowest corner, then the few of one corner by comparison.
  void join_faces(std::int32_t nodes) {
    std::vector<std::int64_t> start(at(nodes) + 1, 0);
    const auto count = static_cast<std::int64_t>(faces_.size());
    const bool by_threads = count > worth_threads;
#pragma omp parallel for schedule(static) if (by_threads)
    for (std::int64_t i = 0; i < count; ++i)
      if (const Face& f = faces_[static_cast<std::size_t>(i)]; f.element >= 0)
        std::atomic_ref(start[at(f.corners[0]) + 1]).fetch_add(1, std::memory_order_relaxed);
    for (std::size_t n = 0; n + 1 < start.size(); ++n) start[n + 1] += start[n];
    const auto sorted = std::make_unique_for_overwrite<Face[]>(static_cast<std::size_t>(start.back()));
    auto cursor = start;
    // Threads put the faces of a corner in any order; sorting gives them theirs.
#pragma omp parallel for schedule(static) if (by_threads)
    for (std::int64_t i = 0; i < count; ++i)
      if (const Face& f = faces_[static_cast<std::size_t>(i)]; f.element >= 0)
        sorted[static_cast<std::size_t>(
            std::atomic_ref(cursor[at(f.corners[0])]).fetch_add(1, std::memory_order_relaxed))] = f;
#pragma omp parallel for schedule(static) if (by_threads)
    for (std::int32_t n = 0; n < nodes; ++n) {
      Face *const begin = sorted.get() + start[at(n)], *const end = sorted.get() + start[at(n) + 1];
      std::sort(begin, end, [](const Face& a, const Face& b) {
        return a.corners != b.corners ? a.corners < b.corners : a.element < b.element;
      });
      for (const Face* f = begin; f != end && f + 1 != end; ++f)
        if (f->corners == (f + 1)->corners) sets_.join(f->element, (f + 1)->element);
    }
    faces_ = {};
  }

  detail::DisjointSets sets_;
  std::vector<Face> faces_;
};

/// A cluster that a node is in besides the one that it belongs to first, and how many of its components that has.
struct Joint {
  std::int32_t position;
  std::int32_t cluster;
  int components;
};

/// The elements that are rigid where they are unstrained, sorted by what they move together with, and the nodes in
/// them.
class Clusters {
 public:
  Clusters(const AnalysisModel& model, const RigidFrame& frame);

  std::int32_t count() const { return count_; }
  /// The cluster that a node belongs to, by its position in the numbering.
  std::int32_t of_position(std::size_t k) const { return own_[k]; }
  std::int32_t of_equation(std::int32_t equation) const {
    return own_[static_cast<std::size_t>(position_of_equation(equation))];
  }
  std::int32_t position_of_equation(std::int32_t equation) const {
    return position_[static_cast<std::size_t>(model_.place(equation).node)];
  }
  const std::vector<Joint>& joints() const { return joints_; }
  /// Why elements may have free motions of their own, in words; empty where they have none.
  const std::string& own_modes() const { return own_modes_; }
  /// More nodes are in no cluster of elements than there are such clusters.
  bool mostly_single_nodes() const { return count_ - of_elements_ > of_elements_; }

 private:
  std::vector<RigidBlock> rigid_blocks(const RigidFrame& frame);
  void take_nodes(const std::vector<RigidBlock>& blocks, ElementSets& sets, std::int32_t elements);
  void sort_joints();

  const AnalysisModel& model_;
  std::vector<std::int32_t> position_;  // of each node of the Domain in the numbering
  std::vector<std::int32_t> own_;       // cluster of each position
  std::vector<Joint> joints_;
  std::string own_modes_;
  std::int32_t count_ = 0;
  std::int32_t of_elements_ = 0;  // clusters that have elements
};

Clusters::Clusters(const AnalysisModel& model, const RigidFrame& frame)
    : model_(model), position_(static_cast<std::size_t>(model.domain().node_count()), -1) {
  const auto nodes = model.numbered_nodes();
  for (std::size_t k = 0; k < nodes.size(); ++k)
    position_[static_cast<std::size_t>(nodes[k])] = static_cast<std::int32_t>(k);
  std::vector<RigidBlock> blocks = rigid_blocks(frame);
  // A node belongs to the cluster that has the most of its unknowns: to a beam rather than to the solid that it is on.
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const RigidBlock& a, const RigidBlock& b) { return a.components > b.components; });
  std::int32_t elements = 0;
  for (RigidBlock& b : blocks) {
    b.first = elements;
    elements += model.domain().block(b.block).size();
  }
  ElementSets sets(model.domain(), frame, blocks, elements);
  take_nodes(blocks, sets, elements);
  sort_joints();
}

std::vector<RigidBlock> Clusters::rigid_blocks(const RigidFrame& frame) {
  std::vector<RigidBlock> blocks;
  std::set<std::string> others;
  for (std::size_t b = 0; b < model_.batches().size(); ++b) {
    const BatchOrigin& origin = model_.batches()[b];
    if (origin.kind != BatchOrigin::Kind::block) continue;
    const ElementBlock& block = model_.domain().block(origin.block);
    if (block.size() == 0) continue;
    if (resists_all_strain(model_, frame, static_cast<int>(b)))
      blocks.push_back({origin.block, block.type().program().components(), 0});
    else
      others.insert(block.type().name());
  }
  if (!others.empty()) own_modes_ = "elements of type " + *others.begin() + " may have zero-energy modes";
  return blocks;
}

// Clusters in the order of their first elements, then one for each node that is in none.
void Clusters::take_nodes(const std::vector<RigidBlock>& blocks, ElementSets& sets, std::int32_t elements) {
  const std::size_t nodes = model_.numbered_nodes().size();
  std::vector<std::int32_t> cluster(static_cast<std::size_t>(elements));  // of each element
#pragma omp parallel for schedule(static) if (elements > worth_threads)
  for (std::int32_t e = 0; e < elements; ++e) cluster[static_cast<std::size_t>(e)] = sets.find(e);
  std::vector<std::int32_t> number(static_cast<std::size_t>(elements), -1);
  for (std::int32_t& c : cluster) {
    std::int32_t& own = number[static_cast<std::size_t>(c)];
    if (own < 0) own = count_++;
    c = own;
  }
  own_.assign(nodes, -1);
  std::vector<int> own_components(nodes, 0);
  const std::int32_t all_nodes = model_.domain().node_count();
#pragma omp parallel if (all_nodes > worth_threads)
  {
    const NodeRange mine(all_nodes);
    std::vector<Joint> joints;
    for (const RigidBlock& b : blocks) {
      const ElementBlock& block = model_.domain().block(b.block);
      for (std::int32_t e = 0; e < block.size(); ++e) {
        const std::int32_t here = cluster[static_cast<std::size_t>(b.first + e)];
        for (const std::int32_t n : block.nodes(e)) {
          if (!mine.contains(n)) continue;
          const auto k = static_cast<std::size_t>(position_[static_cast<std::size_t>(n)]);
          if (own_[k] < 0) {
            own_[k] = here;
            own_components[k] = b.components;
          } else if (own_[k] != here) {
            joints.push_back({static_cast<std::int32_t>(k), here, std::min(b.components, own_components[k])});
          }
        }
      }
    }
#pragma omp critical
    joints_.insert(joints_.end(), joints.begin(), joints.end());
  }
  of_elements_ = count_;
  for (std::int32_t& c : own_)
    if (c < 0) c = count_++;
}

/// All joints of a node come from one thread, in the order of the elements, and stay in it.
void Clusters::sort_joints() {
  std::stable_sort(joints_.begin(), joints_.end(), [](const Joint& a, const Joint& b) {
    return std::tie(a.position, a.cluster) < std::tie(b.position, b.cluster);
  });
  const auto same = [](const Joint& a, const Joint& b) { return a.position == b.position && a.cluster == b.cluster; };
  joints_.erase(std::unique(joints_.begin(), joints_.end(), same), joints_.end());
}

/// What supports, equations and shared nodes say of the motions of clusters.
void add_conditions(const AnalysisModel& model, const RigidFrame& frame, const Clusters& clusters, RigidJoints& rigid) {
  const auto first_equation = model.first_equation();
  const auto modes_of = [&](std::int32_t equation) {
    return frame.at(clusters.position_of_equation(equation), model.place(equation).component);
  };
  for (std::size_t k = 0; k < model.numbered_nodes().size(); ++k)
    for (std::int32_t e = first_equation[k]; e < first_equation[k + 1]; ++e)
      if (model.is_prescribed(e))
        rigid.add({{clusters.of_position(k), frame.at(static_cast<std::int32_t>(k), model.component(k, e))}});
  for (const auto& d : model.constraints().dependent) {
    double largest = 1;
    for (const double c : d.coefficients) largest = std::max(largest, std::abs(c));
    RigidJoints::Row row{{clusters.of_equation(d.equation), modes_of(d.equation) / largest}};
    for (std::size_t i = 0; i < d.others.size(); ++i)
      row.emplace_back(clusters.of_equation(d.others[i]), -d.coefficients[i] / largest * modes_of(d.others[i]));
    rigid.add(std::move(row));
  }
  for (const Joint& j : clusters.joints())
    for (int c = 0; c < j.components; ++c) {
      const RigidFrame::Modes row = frame.at(j.position, c);
      rigid.add({{clusters.of_position(static_cast<std::size_t>(j.position)), row}, {j.cluster, -row}});
    }
}

void add_extents(const AnalysisModel& model, const RigidFrame& frame, const Clusters& clusters, RigidJoints& rigid) {
  const auto first_equation = model.first_equation();
  for (std::size_t k = 0; k < model.numbered_nodes().size(); ++k)
    for (std::int32_t e = first_equation[k]; e < first_equation[k + 1]; ++e)
      rigid.add_extent(clusters.of_position(k), frame.at(static_cast<std::int32_t>(k), model.component(k, e)));
  for (const Joint& j : clusters.joints())
    for (int c = 0; c < j.components; ++c) rigid.add_extent(j.cluster, frame.at(j.position, c));
}

/// A motion that is left, over all equations of the model.
std::vector<double> motion_of(const AnalysisModel& model, const RigidFrame& frame, const Clusters& clusters,
                              RigidJoints& rigid, int number) {
  const auto first_equation = model.first_equation();
  std::vector<double> motion(static_cast<std::size_t>(model.equation_count()), 0.0);
  for (std::size_t k = 0; k < model.numbered_nodes().size(); ++k) {
    const RigidFrame::Modes moved = rigid.motion(number, clusters.of_position(k));
    if (moved.isZero(0)) continue;
    for (std::int32_t e = first_equation[k]; e < first_equation[k + 1]; ++e)
      if (model.is_free(e))
        motion[static_cast<std::size_t>(e)] = moved.dot(frame.at(static_cast<std::int32_t>(k), model.component(k, e)));
  }
  return motion;
}

}  // namespace

RigidClusters::RigidClusters(const AnalysisModel& model) {
  const RigidFrame frame(model);
  if (frame.modes() == 0) {
    undecided_ = "the rigid-body motions of these unknowns are not known";
    return;
  }
  const Clusters clusters(model, frame);
  if (static_cast<std::size_t>(clusters.count()) > most_clusters) {
    undecided_ = clusters.mostly_single_nodes() && !clusters.own_modes().empty()
                     ? clusters.own_modes()
                     : "the mesh consists of " + std::to_string(clusters.count()) +
                           " parts that are connected by less than a face";
    return;
  }
  RigidJoints rigid(frame.modes(), clusters.count());
  add_conditions(model, frame, clusters, rigid);
  if (clusters.count() <= 1 && rigid.is_prescribed(0)) return;
  add_extents(model, frame, clusters, rigid);
  if (!rigid.solve()) {
    undecided_ =
        !clusters.own_modes().empty() ? clusters.own_modes() : "too many parts are connected by less than a face";
    return;
  }
  if (rigid.motion_count() > most_motions)
    undecided_ = "there are " + std::to_string(rigid.motion_count()) + " motions that only springs can resist";
  for (int m = 0; m < std::min(rigid.motion_count(), most_motions); ++m)
    motions_.push_back(motion_of(model, frame, clusters, rigid, m));
}

}  // namespace voussoir
