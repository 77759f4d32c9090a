#include <voussoir/framework/analysis/mode_set.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/framework/analysis/detail/rigid_values.hpp>
#include <voussoir/framework/analysis/mode_parts.hpp>
#include <voussoir/framework/domain/generalised_node.hpp>
#include <voussoir/framework/response/detail/coordinate_product.hpp>

namespace voussoir {

const std::array<std::string, ModeSet::directions>& ModeSet::direction_names() {
  static const std::array<std::string, directions> names{"x", "y", "z", "rx", "ry", "rz"};
  return names;
}

double ModeSet::effective_mass(int mode, int direction) const {
  const double factor = participation[static_cast<std::size_t>(mode)][static_cast<std::size_t>(direction)];
  return factor * factor;
}

double ModeSet::accumulated(int mode, int direction) const {
  const double total = total_mass[static_cast<std::size_t>(direction)];
  if (!(total > 0)) return 0;
  double sum = 0;
  for (int m = 0; m <= mode; ++m) sum += effective_mass(m, direction);
  return sum / total;
}

namespace {

bool is_translation(const std::string& unknown) { return unknown == "ux" || unknown == "uy" || unknown == "uz"; }

/// The places of displacements among the components of a field.
std::vector<std::size_t> translations(const NodalField& field) {
  std::vector<std::size_t> places;
  for (std::size_t c = 0; c < field.components.size(); ++c)
    if (is_translation(field.components[c])) places.push_back(c);
  return places;
}

/// Of each node whether its ux, uy, uz are rotations, by ascending indices of such nodes.
std::vector<char> flags_of(const std::vector<std::int32_t>& rotation_nodes, std::size_t nodes) {
  std::vector<char> flags(nodes, 0);
  for (const std::int32_t node : rotation_nodes) flags[static_cast<std::size_t>(node)] = 1;
  return flags;
}

double product(const NodalField& a, const NodalField& b, const std::vector<std::size_t>& places,
               const std::vector<char>& is_rotation) {
  const std::size_t width = a.components.size();
  double sum = 0;
  for (std::size_t at = 0; at < a.values.size(); at += width)
    for (const std::size_t c : places)
      if (!is_rotation[at / width] && !std::isnan(a.values[at + c]) && !std::isnan(b.values[at + c]))
        sum += a.values[at + c] * b.values[at + c];
  return sum;
}

}  // namespace

Vector mode_rigid_motions(const AnalysisModel& model) {
  constexpr auto width = static_cast<std::size_t>(ModeSet::directions);
  std::vector<double> values(static_cast<std::size_t>(model.equation_count()) * width, 0.0);
  const auto nodes = model.numbered_nodes();
  const auto first = model.first_equation();
  std::vector<int> motions_of;  // per component
  for (const std::string& name : model.unknown_names()) motions_of.push_back(detail::rigid_unknown(name));
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (is_generalised_node(model.domain(), nodes[k])) continue;
    const double* x = model.domain().coordinates().data() + 3 * static_cast<std::size_t>(nodes[k]);
    for (std::int32_t e = first[k]; e < first[k + 1]; ++e) {
      const int unknown = motions_of[static_cast<std::size_t>(model.component(k, e))];
      for (int d = 0; d < ModeSet::directions; ++d)
        values[static_cast<std::size_t>(e) * width + static_cast<std::size_t>(d)] = detail::rigid_value(unknown, d, x);
    }
  }
  Vector motions = model.make_vector(ModeSet::directions);
  motions.from_host(values);
  return motions;
}

Vector mode_rigid_inertia(const AnalysisModel& model, MassKind kind, const Vector& motions) {
  Backend& backend = model.backend();
  std::vector<double> factors;
  for (const BatchOrigin& origin : model.batches()) factors.push_back(origin.kind == BatchOrigin::Kind::block ? 1 : 0);
  MatrixTerms terms;
  terms.stiffness = 0;
  terms.mass = 1;
  terms.mass_kind = kind;
  terms.batch_factors = factors;
  const auto mass =
      backend.make_element_operator(model.device_model(), ElementProduct::matrix_free, OperatorEquations::all);
  Vector result = model.make_vector(motions.columns());
  model.translating([&] {
    backend.assemble(model.device_model(), ElementState{}, terms, *mass);
    mass->apply(motions, result);
  });
  return result;
}

Vector modes_with_dependents(const AnalysisModel& model, const Vector& vectors) {
  Vector all = vectors.clone();
  if (model.constraints().dependent.empty()) return all;
  Backend& backend = model.backend();
  Vector one = model.make_vector();
  for (int c = 0; c < all.columns(); ++c) {
    backend.copy_columns(vectors, c, 1, one, 0);
    backend.expand_dependencies(model.device_model(), one);
    backend.copy_columns(one, 0, 1, all, c);
  }
  return all;
}

std::vector<NodalField> nodal_shapes(const AnalysisModel& model, const Vector& vectors) {
  const auto columns = static_cast<std::size_t>(vectors.columns());
  const std::vector<double> values = vectors.to_host();
  const auto nodes = model.numbered_nodes();
  const auto first = model.first_equation();
  const std::size_t width = model.unknown_names().size();
  std::vector<NodalField> shapes(columns);
  detail::for_each_index(columns, true, [&](std::size_t m) {
    shapes[m] = {field_name(model.unknown_names()), model.unknown_names(), {}};
    shapes[m].values.assign(static_cast<std::size_t>(model.domain().node_count()) * width,
                            std::numeric_limits<double>::quiet_NaN());
  });
  // All modes of some nodes at a time: what is read stands side by side.
  constexpr std::size_t nodes_at_once = 512;
  detail::for_each_index((nodes.size() + nodes_at_once - 1) / nodes_at_once, true, [&](std::size_t piece) {
    const std::size_t begin = piece * nodes_at_once, end = std::min(nodes.size(), begin + nodes_at_once);
    for (std::size_t m = 0; m < columns; ++m) {
      std::vector<double>& shape = shapes[m].values;
      for (std::size_t k = begin; k < end; ++k)
        for (std::int32_t e = first[k]; e < first[k + 1]; ++e)
          shape[static_cast<std::size_t>(nodes[k]) * width + static_cast<std::size_t>(model.component(k, e))] =
              values[static_cast<std::size_t>(e) * columns + m];
    }
  });
  return shapes;
}

namespace {

/// Gives a shape its sign; returns its largest displacement, or its largest rotation where nothing else moves.
double turn(NodalField& shape, std::vector<char> skipped, std::array<double, ModeSet::directions>& participation,
            int& sign) {
  sign = 1;
  std::vector<std::size_t> places = translations(shape);
  const std::size_t width = shape.components.size();
  const auto largest = [&] {
    double most = 0;
    for (std::size_t at = 0; at < shape.values.size(); at += width)
      for (const std::size_t c : places)
        if (!skipped[at / width] && !std::isnan(shape.values[at + c]))
          most = std::max(most, std::abs(shape.values[at + c]));
    return most;
  };
  double most = largest();
  if (!(most > 0)) {
    places.clear();
    for (std::size_t c = 0; c < width; ++c) places.push_back(c);
    std::fill(skipped.begin(), skipped.end(), 0);
    most = largest();
  }
  for (std::size_t at = 0; at < shape.values.size(); at += width)
    for (const std::size_t c : places)
      if (!skipped[at / width] && std::abs(shape.values[at + c]) >= 0.9 * most) {
        if (shape.values[at + c] > 0) return most;
        sign = -1;
        for (double& v : shape.values) v = v == 0 ? 0 : -v;
        for (double& factor : participation) factor = -factor;
        return most;
      }
  return most;
}

}  // namespace

std::vector<int> orient_modes(const Domain& domain, ModeSet& set) {
  set.rotation_nodes.clear();
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    if (domain.rotation_node(n)) set.rotation_nodes.push_back(n);
  const std::vector<char> is_rotation = flags_of(set.rotation_nodes, static_cast<std::size_t>(domain.node_count()));
  set.modal_masses.resize(set.shapes.size());
  std::vector<int> signs(set.shapes.size(), 1);
  detail::for_each_index(set.shapes.size(), true, [&](std::size_t m) {
    const double largest = turn(set.shapes[m], is_rotation, set.participation[m], signs[m]);
    set.modal_masses[m] = largest > 0 ? 1 / (largest * largest) : 0;
  });
  return signs;
}

ModeSet make_mode_set(const EigenProblem& problem, const EigenSolution& solution) {
  const AnalysisModel& model = problem.model();
  Backend& backend = model.backend();
  ModeSet set;
  set.report = solution.report;
  const Vector motions = mode_rigid_motions(model);
  const Vector inertia = mode_rigid_inertia(model, problem.mass_kind(), motions);
  std::vector<double> total(ModeSet::directions);
  backend.column_dots(motions, inertia, total);
  std::copy(total.begin(), total.end(), set.total_mass.begin());
  if (solution.vectors.layout()) {
    const Vector all = modes_with_dependents(model, solution.vectors);
    const auto count = static_cast<std::size_t>(all.columns());
    std::vector<double> factors(count * ModeSet::directions);
    backend.block_dot(all, inertia, factors);
    set.participation.resize(count);
    for (std::size_t m = 0; m < count; ++m)
      std::copy_n(factors.begin() + static_cast<std::ptrdiff_t>(m * ModeSet::directions), ModeSet::directions,
                  set.participation[m].begin());
    set.shapes = nodal_shapes(model, all);
  }
  orient_modes(model.domain(), set);
  return set;
}

std::vector<double> modal_assurance(const ModeSet& a, const ModeSet& b) {
  std::vector<double> result;
  if (a.shapes.empty() || b.shapes.empty()) return result;
  const NodalField &first = a.shapes.front(), &second = b.shapes.front();
  if (first.components != second.components || first.values.size() != second.values.size() ||
      a.rotation_nodes != b.rotation_nodes)
    throw Error(ErrorCode::bad_input,
                "the modal assurance criterion compares modes of the same mesh; these differ in "
                "their nodes or unknowns");
  const std::vector<std::size_t> places = translations(first);
  const std::vector<char> is_rotation = flags_of(a.rotation_nodes, first.values.size() / first.components.size());
  std::vector<double> own;
  for (const NodalField& shape : b.shapes) own.push_back(product(shape, shape, places, is_rotation));
  for (const NodalField& shape : a.shapes) {
    const double size = product(shape, shape, places, is_rotation);
    for (std::size_t j = 0; j < b.shapes.size(); ++j) {
      const double mixed = product(shape, b.shapes[j], places, is_rotation);
      result.push_back(size > 0 && own[j] > 0 ? mixed * mixed / (size * own[j]) : 0);
    }
  }
  return result;
}

}  // namespace voussoir
