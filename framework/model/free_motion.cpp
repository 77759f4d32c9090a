#include <voussoir/framework/model/free_motion.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <voussoir/framework/detail/dense_algebra.hpp>
#include <voussoir/framework/detail/node_range.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/model/detail/dense_tangent.hpp>
#include <voussoir/framework/model/detail/disjoint_sets.hpp>
#include <voussoir/framework/model/detail/part_motions.hpp>
#include <voussoir/framework/model/unrestrained_unknowns.hpp>

namespace voussoir {
namespace {

using detail::Field;
using detail::mode_count;
using detail::mode_value;
using detail::Part;
using detail::Spot;
using detail::spot_of;
using detail::worth_threads;

/// Basis of the null space with as many zeros as elimination gives, so that it reads well.
std::vector<Eigen::VectorXd> readable(Eigen::MatrixXd basis) {
  int row = 0;
  const auto n = basis.cols();
  Eigen::MatrixXd m = basis.transpose();  // one vector per row
  for (Eigen::Index column = m.cols() - 1; column >= 0 && row < n; --column) {
    Eigen::Index pivot = row;
    for (Eigen::Index i = row; i < n; ++i)
      if (std::abs(m(i, column)) > std::abs(m(pivot, column))) pivot = i;
    if (std::abs(m(pivot, column)) < 1e-6) continue;
    m.row(row).swap(m.row(pivot));
    m.row(row) /= m(row, column);
    for (Eigen::Index i = 0; i < n; ++i)
      if (i != row) m.row(i) -= m(i, column) * m.row(row);
    ++row;
  }
  std::vector<Eigen::VectorXd> result;
  for (Eigen::Index i = n - 1; i >= 0; --i) result.push_back(m.row(i).transpose());
  return result;
}

/// Adds what supports, equations and springs of a handler say of each part's motions: one row each, squared.
void add_constraints(const AnalysisModel& model, const Field& field, const std::vector<std::int32_t>& part_of,
                     const std::vector<Part>& parts, std::vector<Eigen::MatrixXd>& gram) {
  const int modes = mode_count(field.kinematics);
  const auto first = model.first_equation();
  const auto position = [&](std::int32_t equation) {
    return static_cast<std::int32_t>(std::upper_bound(first.begin(), first.end(), equation) - first.begin() - 1);
  };
  const auto add_row = [&](const std::vector<std::int32_t>& equations, const std::vector<double>& coefficients) {
    const std::int32_t p = part_of[position(equations.front())];
    Eigen::VectorXd row = Eigen::VectorXd::Zero(modes);
    double scale = 0;
    for (std::size_t i = 0; i < equations.size(); ++i) {
      const std::int32_t k = position(equations[i]);
      const Spot spot = spot_of(model, parts[p], model.numbered_nodes()[k]);
      for (int m = 0; m < modes; ++m)
        row[m] += coefficients[i] * mode_value(field, m, model.component(k, equations[i]), spot, parts[p].radius);
      scale = std::max(scale, std::abs(coefficients[i]));
    }
    gram[p] += row * row.transpose() / (scale * scale);
  };
  // Unknowns of nodes without elements that no equation names are held by us, and hold nothing.
  std::vector<char> prescribed(model.equation_count(), 0);
  for (const Prescribed& p : model.domain().prescribed())
    for (const std::string& name : model.unknown_names())
      if (p.unknown == name || p.unknown == "all")
        if (const std::int32_t e = model.equation(p.node, name); e >= 0) prescribed[e] = 1;
  for (std::int32_t e = 0; e < model.equation_count(); ++e)
    if (model.is_prescribed(e) && prescribed[e]) add_row({e}, {1.0});
  for (const auto& d : model.constraints().dependent) {
    std::vector<std::int32_t> equations{d.equation};
    std::vector<double> coefficients{1.0};
    equations.insert(equations.end(), d.others.begin(), d.others.end());
    for (double c : d.coefficients) coefficients.push_back(-c);
    add_row(equations, coefficients);
  }
  for (const auto& s : model.constraints().springs) add_row(s.equations, s.coefficients);
}

int shape_dimension(const std::string& shape) { return shape.empty() ? 0 : shape_topology(shape).dim; }

/// Adds the energy that elements oppose to the motions: springs to ground, films, and users' elements that are not
/// indifferent to rigid motion. Batches whose first elements show none are taken to have none.
void add_elements(const AnalysisModel& model, const Field& field, const std::vector<std::int32_t>& part_of,
                  const std::vector<Part>& parts, std::vector<Eigen::MatrixXd>& gram) {
  const int modes = mode_count(field.kinematics);
  const DeviceModel& device_model = model.device_model();
  const auto first = model.first_equation();
  std::vector<double> start;  // radiation opposes nothing at absolute zero
  if (const auto temperature = model.radiation_start()) {
    start.assign(model.equation_count(), 0.0);
    for (const std::int32_t node : model.numbered_nodes())
      if (const std::int32_t e = model.equation(node, "T"); e >= 0) start[e] = *temperature;
  }
  for (int device = 0; device < device_model.devices(); ++device) {
    for (int b = 0; b < device_model.batch_count(); ++b) {
      const ElementBatch& batch = device_model.part(device).batches[b];
      const ElementProgram& program = *batch.program;
      const auto kind = model.batches()[b].kind;
      if (batch.element_count == 0 || !program.has_tangent() || kind == BatchOrigin::Kind::constraint ||
          kind == BatchOrigin::Kind::body_load)
        continue;
      // Films hold temperatures; a pressure that follows its faces holds nothing.
      if (kind == BatchOrigin::Kind::surface_load && program.components() > 1) continue;
      ElementView view = device_model.host_view(device, b, {});
      if (!start.empty()) view.unknowns = start.data();
      const auto layout = device_model.layout();
      const int lanes = program.lanes(), m = program.dofs();
      std::vector<double> k(static_cast<std::size_t>(lanes) * program.matrix_entries());
      Eigen::MatrixXd matrix(m, m), motion(m, modes);
      // Solids and plane bodies are alike; a spring may be zero and its neighbour not.
      const bool alike = kind == BatchOrigin::Kind::block &&
                         shape_dimension(model.domain().block(model.batches()[b].block).type().shape()) >= 2;
      int opposed = 0, looked_at = 0;
      for (int e = 0; e < batch.element_count; e += lanes) {
        if (alike && looked_at >= 64 && opposed == 0) break;
        const int count = std::min(lanes, batch.element_count - e);
        program.tangent(view, e, count, k.data());
        for (int l = 0; l < count; ++l, ++looked_at) {
          detail::unpack_tangent(program, k.data(), l, matrix);
          std::int32_t p = -1;
          for (int a = 0; a < program.nodes(); ++a) {
            const std::int32_t local = view.nodes[static_cast<std::size_t>(e + l) * program.nodes() + a];
            const auto equation = static_cast<std::int32_t>(layout->global(device, view.first_unknown[local]));
            const auto at_node = std::upper_bound(first.begin(), first.end(), equation) - first.begin() - 1;
            p = part_of[at_node];
            const Spot spot = spot_of(model, parts[p], model.numbered_nodes()[at_node]);
            for (int c = 0; c < program.components(); ++c)
              for (int q = 0; q < modes; ++q)
                motion(a * program.components() + c, q) =
                    mode_value(field, q, model.batch_unknown(b, c), spot, parts[p].radius);
          }
          const double size = matrix.cwiseAbs().maxCoeff();
          if (!(size > 0)) continue;
          // Of an unsymmetric matrix, and of one of several fields, all that it does to a motion counts.
          const Eigen::MatrixXd force = detail::product(matrix, motion) / size;
          const bool definite = program.symmetric() && model.nodes_have_first_unknowns();
          const Eigen::MatrixXd energy = detail::transposed_product(definite ? motion : force, force);
          // Rounding grows with the distance from the part's centre, which the radius has scaled to one.
          if (energy.cwiseAbs().maxCoeff() < 1e-9 * m) continue;
          ++opposed;
          gram[p] += energy;
        }
      }
    }
  }
}

/// How far each motion moves the nodes of a part, and in which direction: Σ row rowᵀ over its unknowns. Stretches of
/// nodes are summed by themselves and then in their order, so that the number of threads changes no bit.
Eigen::MatrixXd extent_of(const AnalysisModel& model, const Field& field, const Part& part) {
  constexpr std::size_t stretch = 4096, most = 6;
  using Sums = std::array<double, most * most>;
  const auto modes = static_cast<std::size_t>(mode_count(field.kinematics));
  const auto nodes = model.numbered_nodes();
  const auto first = model.first_equation();
  std::vector<Sums> sums((part.positions.size() + stretch - 1) / stretch, Sums{});
#pragma omp parallel for schedule(static) if (sums.size() > 1)
  for (std::size_t s = 0; s < sums.size(); ++s)
    for (std::size_t i = s * stretch; i < std::min(part.positions.size(), (s + 1) * stretch); ++i) {
      const std::int32_t k = part.positions[i];
      const Spot spot = spot_of(model, part, nodes[k]);
      for (std::int32_t e = first[k]; e < first[k + 1]; ++e) {
        std::array<double, most> row{};
        for (std::size_t m = 0; m < modes; ++m)
          row[m] = mode_value(field, static_cast<int>(m), model.component(k, e), spot, part.radius);
        for (std::size_t a = 0; a < most; ++a)
          for (std::size_t b = 0; b < most; ++b) sums[s][a * most + b] += row[a] * row[b];
      }
    }
  Eigen::MatrixXd extent = Eigen::MatrixXd::Zero(mode_count(field.kinematics), mode_count(field.kinematics));
  for (const Sums& sum : sums)
    for (std::size_t a = 0; a < modes; ++a)
      for (std::size_t b = 0; b < modes; ++b)
        extent(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) += sum[a * most + b];
  return extent;
}

}  // namespace

std::vector<std::int32_t> connected_parts(const AnalysisModel& model) {
  const auto count = static_cast<std::int32_t>(model.numbered_nodes().size());
  detail::DisjointSets sets(count);
  std::vector<std::int32_t> position(model.domain().node_count(), -1);
  for (std::int32_t k = 0; k < count; ++k) position[model.numbered_nodes()[k]] = k;
  for (const auto& origin : model.batches()) {
    if (origin.kind != BatchOrigin::Kind::block) continue;
    const ElementBlock& block = model.domain().block(origin.block);
#pragma omp parallel for schedule(static) if (block.size() > worth_threads)
    for (std::int32_t e = 0; e < block.size(); ++e) {
      const auto nodes = block.nodes(e);
      for (std::size_t a = 1; a < nodes.size(); ++a) sets.join(position[nodes[a - 1]], position[nodes[a]]);
    }
  }
  const auto join_equations = [&](std::int32_t a, std::int32_t b) {
    sets.join(position[model.place(a).node], position[model.place(b).node]);
  };
  for (const auto& d : model.constraints().dependent)
    for (std::int32_t other : d.others) join_equations(d.equation, other);
  for (const auto& s : model.constraints().springs)
    for (std::int32_t e : s.equations) join_equations(s.equations.front(), e);

  std::vector<std::int32_t> part(count), number(count, -1);
  std::int32_t next = 0;
  for (std::int32_t k = 0; k < count; ++k) {
    const std::int32_t root = sets.find(k);
    if (number[root] < 0) number[root] = next++;
    part[k] = number[root];
  }
  return part;
}

namespace {

/// The motions of one field that nothing opposes.
void find_field_motions(const AnalysisModel& model, const Field& field, const std::vector<std::int32_t>& part_of,
                        const std::vector<Part>& parts, std::vector<FreeMotion>& motions) {
  const int modes = mode_count(field.kinematics);
  std::vector<Eigen::MatrixXd> gram(parts.size(), Eigen::MatrixXd::Zero(modes, modes));
  add_constraints(model, field, part_of, parts, gram);
  add_elements(model, field, part_of, parts, gram);
  const auto nodes = model.numbered_nodes();
  for (std::size_t p = 0; p < parts.size(); ++p) {
    // Motions that move nothing (turning a straight chain of bars about itself) are not motions.
    const detail::Spectrum real = detail::spectrum_of(extent_of(model, field, parts[p]));
    std::vector<int> kept;
    for (int i = 0; i < modes; ++i)
      if (real.values[i] > 1e-9 * real.values[modes - 1]) kept.push_back(i);
    if (kept.empty()) continue;  // the part does not have the field
    Eigen::MatrixXd basis(modes, kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) basis.col(static_cast<Eigen::Index>(i)) = real.vectors.col(kept[i]);

    const detail::Spectrum restrained = detail::spectrum_of(detail::congruent(gram[p], basis));
    int free = 0;
    // Rows are of order one: what rounding leaves of their sum of squares is far below a support with a short lever.
    const double rounding = 1e-14 * std::max(1.0, gram[p].trace());
    while (free < static_cast<int>(kept.size()) && restrained.values[free] < rounding) ++free;
    if (free == 0) continue;
    const std::string who = detail::part_text(model, parts[p], parts.size());
    std::vector<std::int32_t> members;
    for (std::int32_t k : parts[p].positions)
      if (detail::is_known(model, nodes[k])) members.push_back(nodes[k]);
    if (free == modes && modes > 1) {
      motions.push_back({who + " can move in all " + std::to_string(modes) + " rigid ways", members});
      continue;
    }
    for (const auto& c : readable(detail::product(basis, restrained.vectors.leftCols(free))))
      motions.push_back({who + " " + detail::motion_text(field, parts[p], c), members});
  }
}

}  // namespace

std::vector<FreeMotion> find_free_motions(const AnalysisModel& model) {
  std::vector<FreeMotion> motions;
  if (const std::vector<Field> fields = detail::fields_of(model); !fields.empty()) {
    const auto part_of = connected_parts(model);
    const auto parts = detail::make_parts(model, part_of);
    for (const Field& field : fields) find_field_motions(model, field, part_of, parts, motions);
  }
  return motions.empty() ? find_unrestrained_unknowns(model) : motions;
}

FreeMotion describe_motion(const AnalysisModel& model, const std::vector<double>& solved) {
  const auto nodes = model.numbered_nodes();
  const auto first = model.first_equation();
  std::vector<double> unknowns = solved;  // and those that follow them
  for (const auto& d : model.constraints().dependent) {
    unknowns[d.equation] = 0;
    for (std::size_t k = 0; k < d.others.size(); ++k)
      if (model.is_free(d.others[k])) unknowns[d.equation] += d.coefficients[k] * solved[d.others[k]];
  }
  const auto largest =
      std::max_element(unknowns.begin(), unknowns.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  const double size = std::abs(*largest);
  FreeMotion motion;
  for (std::size_t k = 0; k < nodes.size(); ++k)
    for (std::int32_t e = first[k]; e < first[k + 1]; ++e)
      if (std::abs(unknowns[e]) > 1e-3 * size) {
        if (detail::is_known(model, nodes[k])) motion.nodes.push_back(nodes[k]);
        break;
      }
  motion.text = "a mechanism: " + std::to_string(motion.nodes.size()) + " of " +
                std::to_string(detail::known_nodes(model)) +
                " nodes can move without resistance; the largest motion is at " +
                model.equation_label(static_cast<std::int32_t>(largest - unknowns.begin()));
  return motion;
}

void require_no_free_motion(const std::vector<FreeMotion>& motions) {
  if (motions.empty()) return;
  std::string text = "the model is under-constrained: ";
  const std::size_t shown = std::min<std::size_t>(motions.size(), 8);
  for (std::size_t i = 0; i < shown; ++i) text += (i ? "; " : "") + motions[i].text;
  if (shown < motions.size()) text += "; and " + std::to_string(motions.size() - shown) + " more";
  throw Error(ErrorCode::singular, text + ". Add supports, springs, or equations to a restrained part");
}

}  // namespace voussoir
