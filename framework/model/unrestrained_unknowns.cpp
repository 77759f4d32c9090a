#include <voussoir/framework/model/unrestrained_unknowns.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include <voussoir/framework/detail/dense_algebra.hpp>
#include <voussoir/framework/model/detail/element_stiffness.hpp>

namespace voussoir {
namespace {

/// Dependencies by equation.
class Followers {
 public:
  explicit Followers(const AnalysisModel& model) : model_(model) {
    const auto& dependent = model.constraints().dependent;
    for (std::size_t i = 0; i < dependent.size(); ++i) of_equation_.emplace(dependent[i].equation, i);
  }
  /// Calls visit(free equation, coefficient) for what an equation is made of.
  template <class Visitor>
  void visit(std::int32_t equation, Visitor visitor) const {
    if (model_.is_free(equation)) {
      visitor(equation, 1.0);
      return;
    }
    const auto found = of_equation_.find(equation);
    if (found == of_equation_.end()) return;  // prescribed
    const AffineDependency& d = model_.constraints().dependent[found->second];
    for (std::size_t k = 0; k < d.others.size(); ++k)
      if (model_.is_free(d.others[k])) visitor(d.others[k], d.coefficients[k]);
  }

 private:
  const AnalysisModel& model_;
  std::unordered_map<std::int32_t, std::size_t> of_equation_;
};

/// Free unknowns of a reference node and of the nodes that hold its rotation, which move together.
struct Body {
  std::vector<std::int32_t> equations;
  Eigen::MatrixXd stiffness;
  Eigen::VectorXd size;
};

}  // namespace

std::vector<double> stiffness_handed_on(const AnalysisModel& model) {
  std::vector<double> size(model.equation_count(), 0.0);
  if (model.constraints().dependent.empty()) return size;
  const Followers followers(model);
  std::map<std::int32_t, double> share;
  detail::visit_element_stiffness(
      model, detail::nodes_with_dependents(model),
      [&](std::span<const std::int32_t> equations, const Eigen::MatrixXd& k) {
        share.clear();
        for (std::size_t i = 0; i < equations.size(); ++i) {
          const double root = std::sqrt(std::abs(k(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i))));
          followers.visit(equations[i],
                          [&](std::int32_t equation, double c) { share[equation] += std::abs(c) * root; });
        }
        for (const auto& [equation, s] : share) size[equation] += s * s;
      });
  return size;
}

std::vector<FreeMotion> find_unrestrained_unknowns(const AnalysisModel& model) {
  const ConstraintPlan& plan = model.constraints();
  if (plan.dependent.empty() || !plan.springs.empty()) return {};
  // Nodes that no element uses have their unknowns from equations alone.
  std::vector<char> used(model.domain().node_count(), 0);
  for (std::size_t b = 0; b < model.domain().block_count(); ++b)
    for (const std::int32_t n : model.domain().block(b).connectivity()) used[n] = 1;
  const auto nodes = model.numbered_nodes();
  const auto first = model.first_equation();
  std::map<std::int32_t, Body> bodies;  // by reference node
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (used[nodes[k]]) continue;
    const RotationNode* rotation = model.domain().rotation_node(nodes[k]);
    bodies[rotation ? rotation->reference : nodes[k]];
  }
  if (bodies.empty()) return {};
  std::unordered_map<std::int32_t, std::pair<std::int32_t, int>> place;  // equation → body, number in it
  std::vector<char> wanted = detail::nodes_with_dependents(model);
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const RotationNode* rotation = model.domain().rotation_node(nodes[k]);
    const std::int32_t reference = rotation ? rotation->reference : nodes[k];
    const auto body = bodies.find(reference);
    if (body == bodies.end()) continue;
    wanted[k] = 1;
    for (std::int32_t e = first[k]; e < first[k + 1]; ++e)
      if (model.is_free(e)) {
        place[e] = {reference, static_cast<int>(body->second.equations.size())};
        body->second.equations.push_back(e);
      }
  }
  for (auto& [reference, body] : bodies) {
    const auto count = static_cast<Eigen::Index>(body.equations.size());
    body.stiffness = Eigen::MatrixXd::Zero(count, count);
    body.size = Eigen::VectorXd::Zero(count);
  }

  const Followers followers(model);
  std::map<std::int32_t, Eigen::MatrixXd> motion;  // of the element with each body that it follows
  detail::visit_element_stiffness(model, wanted,
                                  [&](std::span<const std::int32_t> equations, const Eigen::MatrixXd& k) {
                                    motion.clear();
                                    for (std::size_t i = 0; i < equations.size(); ++i)
                                      followers.visit(equations[i], [&](std::int32_t equation, double c) {
                                        const auto found = place.find(equation);
                                        if (found == place.end()) return;
                                        const auto [reference, number] = found->second;
                                        auto& m = motion[reference];
                                        if (m.size() == 0)
                                          m = Eigen::MatrixXd::Zero(k.rows(), bodies.at(reference).size.size());
                                        m(static_cast<Eigen::Index>(i), number) += c;
                                      });
                                    const Eigen::VectorXd root = k.diagonal().cwiseAbs().cwiseSqrt();
                                    for (const auto& [reference, m] : motion) {
                                      Body& body = bodies.at(reference);
                                      body.stiffness += detail::congruent(k, m);
                                      body.size += (m.cwiseAbs().transpose() * root).cwiseAbs2();
                                    }
                                  });

  std::vector<FreeMotion> motions;
  for (const auto& [reference, body] : bodies) {
    const Eigen::Index count = body.size.size();
    if (count == 0) continue;
    const Eigen::VectorXd scale = body.size.unaryExpr([](double s) { return s > 0 ? 1 / std::sqrt(s) : 1.0; });
    const Eigen::MatrixXd scaled = scale.asDiagonal() * body.stiffness * scale.asDiagonal();
    const detail::Spectrum spectrum = detail::spectrum_of(0.5 * (scaled + scaled.transpose()));
    for (Eigen::Index i = 0; i < count && spectrum.values[i] < lost_in_rounding; ++i) {
      std::vector<double> unknowns(model.equation_count(), 0.0);
      for (Eigen::Index j = 0; j < count; ++j) unknowns[body.equations[j]] = scale[j] * spectrum.vectors(j, i);
      motions.push_back(describe_motion(model, unknowns));
    }
  }
  return motions;
}

}  // namespace voussoir
