#include <voussoir/framework/analysis/detail/viscous_forces.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <map>

#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir::detail {
namespace {

/// The gradients of the shape functions at the centre of a shape, in its own coordinates, and its volume there.
struct CentreOfShape {
  double gradient[8][3];
  double volume;
};

const CentreOfShape& centre_of_shape(int nodes) {
  static const CentreOfShape hexahedron = [] {
    const int corner[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                              {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
    CentreOfShape shape{};
    for (int a = 0; a < 8; ++a)
      for (int k = 0; k < 3; ++k) shape.gradient[a][k] = 0.125 * corner[a][k];
    shape.volume = 8;
    return shape;
  }();
  static const CentreOfShape tetrahedron{{{-1, -1, -1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 1.0 / 6};
  static const CentreOfShape wedge = [] {
    const double triangle[3][2] = {{-1, -1}, {1, 0}, {0, 1}};
    CentreOfShape shape{};
    for (int a = 0; a < 6; ++a) {
      for (int k = 0; k < 2; ++k) shape.gradient[a][k] = 0.5 * triangle[a % 3][k];
      shape.gradient[a][2] = a < 3 ? -1.0 / 6 : 1.0 / 6;
    }
    shape.volume = 1;
    return shape;
  }();
  return nodes == 8 ? hexahedron : nodes == 6 ? wedge : tetrahedron;
}

/// The largest eigenvalue of a symmetric matrix, from its characteristic polynomial.
double largest_of_symmetric(const double (&a)[3][3]) {
  const double mean = (a[0][0] + a[1][1] + a[2][2]) / 3;
  const double off = a[0][1] * a[0][1] + a[1][2] * a[1][2] + a[0][2] * a[0][2];
  double spread = 2 * off;
  for (int i = 0; i < 3; ++i) spread += (a[i][i] - mean) * (a[i][i] - mean);
  const double size = std::sqrt(spread / 6);
  if (!(size > 1e-14 * std::abs(mean))) return mean;
  double b[3][3];
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) b[i][k] = (a[i][k] - (i == k ? mean : 0.0)) / size;
  const double half =
      0.5 * (b[0][0] * (b[1][1] * b[2][2] - b[1][2] * b[2][1]) - b[0][1] * (b[1][0] * b[2][2] - b[1][2] * b[2][0]) +
             b[0][2] * (b[1][0] * b[2][1] - b[1][1] * b[2][0]));
  return mean + 2 * size * std::cos(std::acos(std::clamp(half, -1.0, 1.0)) / 3);
}

/// Where entry (i, j) of an element matrix is, as ElementProgram describes.
std::size_t place_in_matrix(const ElementProgram& program, int i, int j) {
  const int m = program.dofs();
  if (!program.symmetric()) return static_cast<std::size_t>(i * m + j);
  if (i > j) std::swap(i, j);
  return static_cast<std::size_t>(i * m - i * (i - 1) / 2 + j - i);
}

bool has_displacements(const ElementProgram& program) {
  const auto names = program.unknown_names();
  return names.size() == 3 && names[0] == "ux" && names[1] == "uy" && names[2] == "uz";
}

}  // namespace

ViscousForces::ViscousForces(const AnalysisModel& model, const BulkViscosity& coefficients)
    : model_(model), coefficients_(coefficients) {
  for (std::size_t b = 0; b < model.batches().size(); ++b) {
    const BatchOrigin& origin = model.batches()[b];
    if (origin.kind != BatchOrigin::Kind::block) continue;
    const ElementBlock& block = model.domain().block(static_cast<std::size_t>(origin.block));
    const std::string& shape = block.type().shape();
    const int dim = shape.empty() ? 0 : shape_topology(shape).dim;
    if (dim < 2) continue;
    const bool known = shape == "hex8" || shape == "wedge6" || shape == "tet4";
    if (!known || !has_displacements(block.type().program()))
      throw Error(ErrorCode::bad_input,
                  "bulk viscosity is available for solids with 8, 6 and 4 nodes; elements of type '" +
                      block.type_name() + "' have none: set its coefficients to 0, or use other elements",
                  "explicit dynamics, block '" + block.name() + "'");
    Group group;
    group.block = origin.block;
    group.nodes = block.type().program().nodes();
    group.deforms = !block.type().program().linear();
    take_block(b, group);
    groups_.push_back(std::move(group));
  }
  list_entries();
}

void ViscousForces::take_block(std::size_t batch, Group& group) {
  const Domain& domain = model_.domain();
  const ElementBlock& block = domain.block(static_cast<std::size_t>(group.block));
  const auto elements = static_cast<std::size_t>(block.size()), nodes = static_cast<std::size_t>(group.nodes);
  group.first_element = elements_;
  group.first_entry = entries_;
  elements_ += elements;
  entries_ += elements * nodes;
  for (const std::int32_t node : block.connectivity()) group.node.push_back(node);
  find_moduli(batch, group);
}

/// Mass and wave speed of each element at rest.
void ViscousForces::find_moduli(std::size_t batch, Group& group) const {
  const DeviceModel& devices = model_.device_model();
  group.mass.assign(group.node.size() / static_cast<std::size_t>(group.nodes), 0.0);
  group.speed = group.mass;
  const auto coordinates = model_.domain().coordinates();
  const auto measure = [&](const ElementBatch& here, const ElementView& view, int first, int count) {
    const ElementProgram& program = *here.program;
    const auto lanes = static_cast<std::size_t>(program.lanes());
    std::vector<double> tangent(static_cast<std::size_t>(program.matrix_entries()) * lanes), mass(tangent.size());
    ElementStatus status = program.tangent(view, first, count, tangent.data());
    status.merge(program.mass(view, MassKind::lumped, first, count, mass.data()));
    if (status.fault != ElementFault::none)
      throw ElementError(status.fault, here.description, here.origin_of(status.element));
    for (int lane = 0; lane < count; ++lane) {
      const auto e = static_cast<std::size_t>(here.origin_of(first + lane));
      const auto entry = [&](const std::vector<double>& values, int i, int j) {
        return values[place_in_matrix(program, i, j) * lanes + static_cast<std::size_t>(lane)];
      };
      double whole = 0, stiffest = 0;
      for (int a = 0; a < group.nodes; ++a) whole += entry(mass, 3 * a, 3 * a);
      for (int k = 0; k < 3; ++k) {
        double work = 0;
        const auto x = [&](int a) {
          const auto node = group.node[e * static_cast<std::size_t>(group.nodes) + static_cast<std::size_t>(a)];
          return coordinates[3 * static_cast<std::size_t>(node) + static_cast<std::size_t>(k)];
        };
        for (int a = 0; a < group.nodes; ++a)
          for (int b = 0; b < group.nodes; ++b)
            work += (x(a) - x(0)) * entry(tangent, 3 * a + k, 3 * b + k) * (x(b) - x(0));
        stiffest = std::max(stiffest, work);
      }
      group.mass[e] = whole;
      group.speed[e] = std::sqrt(stiffest / whole);
    }
  };
  std::exception_ptr failure;
  model_.translating([&] {
    for (int d = 0; d < devices.devices(); ++d) {
      const ElementBatch& here = devices.part(d).batches[batch];
      const ElementView view = devices.host_view(d, static_cast<int>(batch), ElementState());
      const int lanes = here.program->lanes(), packs = (view.element_count + lanes - 1) / lanes;
      int failed = std::numeric_limits<int>::max();
#pragma omp parallel for schedule(static) if (here.program->route() != Route::host)
      for (int p = 0; p < packs; ++p) {
        try {
          measure(here, view, p * lanes, std::min(lanes, view.element_count - p * lanes));
        } catch (...) {
#pragma omp critical(voussoir_viscous_forces)
          if (p < failed) {
            failed = p;
            failure = std::current_exception();
          }
        }
      }
      if (failure) std::rethrow_exception(failure);
    }
  });
  for (std::size_t e = 0; e < group.mass.size(); ++e)
    if (!(group.mass[e] > 0) || !(group.speed[e] > 0) || !std::isfinite(group.speed[e]))
      refuse_element(group, e, "bulk viscosity needs an element with mass and with stiffness at rest");
}

void ViscousForces::refuse_element(const Group& group, std::size_t element, const char* text) const {
  throw Error(ErrorCode::bad_input, text,
              model_.domain().element_label({group.block, static_cast<std::int32_t>(element)}));
}

/// Numbers the nodes of all groups, and lists the entries of elements at each node in element order.
void ViscousForces::list_entries() {
  std::vector<std::int32_t> place(static_cast<std::size_t>(model_.domain().node_count()), -1);
  const auto coordinates = model_.domain().coordinates();
  std::vector<std::size_t> count;
  for (Group& group : groups_)
    for (std::int32_t& node : group.node) {
      std::int32_t& own = place[static_cast<std::size_t>(node)];
      if (own < 0) {
        own = static_cast<std::int32_t>(node_equation_.size());
        node_equation_.push_back(
            {model_.equation(node, "ux"), model_.equation(node, "uy"), model_.equation(node, "uz")});
        for (std::size_t k = 0; k < 3; ++k)
          node_position_.push_back(coordinates[3 * static_cast<std::size_t>(node) + k]);
        count.push_back(0);
      }
      node = own;
      ++count[static_cast<std::size_t>(own)];
    }
  first_at_.assign(count.size() + 1, 0);
  for (std::size_t n = 0; n < count.size(); ++n) first_at_[n + 1] = first_at_[n] + count[n];
  std::vector<std::size_t> next(first_at_.begin(), first_at_.end() - 1);
  entry_at_.resize(entries_);
  for (const Group& group : groups_)
    for (std::size_t i = 0; i < group.node.size(); ++i)
      entry_at_[next[static_cast<std::size_t>(group.node[i])]++] = group.first_entry + i;
}

ViscousForces::Centre ViscousForces::centre_of(const Group& group, std::size_t element,
                                               const std::vector<double>& u) const {
  const CentreOfShape& shape = centre_of_shape(group.nodes);
  double j[3][3] = {};  // ∂x_i / ∂ξ_k
  for (int a = 0; a < group.nodes; ++a) {
    const auto node = static_cast<std::size_t>(
        group.node[element * static_cast<std::size_t>(group.nodes) + static_cast<std::size_t>(a)]);
    for (std::size_t i = 0; i < 3; ++i) {
      double x = node_position_[3 * node + i];
      if (group.deforms) x += u[static_cast<std::size_t>(node_equation_[node][i])];
      for (int k = 0; k < 3; ++k) j[i][k] += x * shape.gradient[a][k];
    }
  }
  double cofactor[3][3];
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) {
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
      cofactor[i][k] = j[i1][k1] * j[i2][k2] - j[i1][k2] * j[i2][k1];
    }
  const double determinant = j[0][0] * cofactor[0][0] + j[0][1] * cofactor[0][1] + j[0][2] * cofactor[0][2];
  Centre centre;
  centre.volume = shape.volume * determinant;
  double square[3][3] = {};
  for (int a = 0; a < group.nodes; ++a) {
    for (int i = 0; i < 3; ++i) {
      double sum = 0;
      for (int k = 0; k < 3; ++k) sum += cofactor[i][k] * shape.gradient[a][k];
      centre.gradient[a][i] = sum / determinant;
    }
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) square[i][k] += centre.gradient[a][i] * centre.gradient[a][k];
  }
  centre.length = 2 / std::sqrt(group.nodes * largest_of_symmetric(square));
  return centre;
}

/// Calls visit(group, element) for all elements, by all threads. The error of the lowest element is thrown.
template <class Visit>
void ViscousForces::over_elements(const Visit& visit) const {
  for (const Group& group : groups_) {
    const auto elements = static_cast<std::int64_t>(group.mass.size());
    std::int64_t failed = elements;
#pragma omp parallel for schedule(static) reduction(min : failed) if (elements > 256)
    for (std::int64_t e = 0; e < elements; ++e)
      if (!visit(group, static_cast<std::size_t>(e))) failed = std::min(failed, e);
    if (failed < elements)
      refuse_element(group, static_cast<std::size_t>(failed),
                     "the element is turned inside out: the deformation is too large for its size, or the steps are "
                     "too long");
  }
}

void ViscousForces::sum_to_equations(const std::vector<double>& forces, Vector& f) const {
  std::vector<double> sums(static_cast<std::size_t>(model_.equation_count()), 0.0);
  const auto nodes = static_cast<std::int64_t>(node_equation_.size());
#pragma omp parallel for schedule(static) if (nodes > 256)
  for (std::int64_t n = 0; n < nodes; ++n) {
    const auto node = static_cast<std::size_t>(n);
    double sum[3] = {};
    for (std::size_t at = first_at_[node]; at < first_at_[node + 1]; ++at)
      for (std::size_t k = 0; k < 3; ++k) sum[k] += forces[3 * entry_at_[at] + k];
    for (std::size_t k = 0; k < 3; ++k) sums[static_cast<std::size_t>(node_equation_[node][k])] = sum[k];
  }
  f.from_host(sums);
}

void ViscousForces::form(const Vector& u, const Vector& v, Vector& f) {
  const std::vector<double> displacement = u.to_host(), velocity = v.to_host();
  std::vector<double> forces(3 * entries_), ratios(elements_);
  const double linear = coefficients_.linear, square = coefficients_.quadratic * coefficients_.quadratic;
  over_elements([&](const Group& group, std::size_t e) {
    const Centre centre = centre_of(group, e, displacement);
    if (!(centre.volume > 0)) return false;
    const auto nodes = static_cast<std::size_t>(group.nodes);
    double rate = 0;
    for (std::size_t a = 0; a < nodes; ++a)
      for (std::size_t k = 0; k < 3; ++k)
        rate +=
            centre.gradient[a][k] *
            velocity[static_cast<std::size_t>(node_equation_[static_cast<std::size_t>(group.node[e * nodes + a])][k])];
    const double closing = std::max(-rate, 0.0);
    // The stress times the volume: ρ V is the mass.
    const double stress =
        group.mass[e] * centre.length * (linear * group.speed[e] * rate - square * centre.length * closing * closing);
    for (std::size_t a = 0; a < nodes; ++a)
      for (std::size_t k = 0; k < 3; ++k)
        forces[3 * (group.first_entry + e * nodes + a) + k] = stress * centre.gradient[a][k];
    ratios[group.first_element + e] = linear + 2 * square * centre.length / group.speed[e] * closing;
    return true;
  });
  largest_ratio_ = ratios.empty() ? 0.0 : *std::max_element(ratios.begin(), ratios.end());
  sum_to_equations(forces, f);
}

ViscousForces::Matrix ViscousForces::unit_matrix(const Vector& u) const {
  const std::vector<double> displacement = u.to_host();
  Matrix matrix;
  matrix.gradient.resize(3 * entries_);
  matrix.factor.resize(elements_);
  over_elements([&](const Group& group, std::size_t e) {
    const Centre centre = centre_of(group, e, displacement);
    if (!(centre.volume > 0)) return false;
    const auto nodes = static_cast<std::size_t>(group.nodes);
    matrix.factor[group.first_element + e] = group.mass[e] * centre.length * group.speed[e];
    for (std::size_t a = 0; a < nodes; ++a)
      for (std::size_t k = 0; k < 3; ++k)
        matrix.gradient[3 * (group.first_entry + e * nodes + a) + k] = centre.gradient[a][k];
    return true;
  });
  return matrix;
}

void ViscousForces::multiply(const Matrix& matrix, const Vector& x, Vector& y) const {
  const std::vector<double> values = x.to_host();
  std::vector<double> forces(3 * entries_);
  over_elements([&](const Group& group, std::size_t e) {
    const auto nodes = static_cast<std::size_t>(group.nodes);
    const std::size_t first = 3 * (group.first_entry + e * nodes);
    double rate = 0;
    for (std::size_t a = 0; a < nodes; ++a)
      for (std::size_t k = 0; k < 3; ++k)
        rate +=
            matrix.gradient[first + 3 * a + k] *
            values[static_cast<std::size_t>(node_equation_[static_cast<std::size_t>(group.node[e * nodes + a])][k])];
    rate *= matrix.factor[group.first_element + e];
    for (std::size_t i = 0; i < 3 * nodes; ++i) forces[first + i] = rate * matrix.gradient[first + i];
    return true;
  });
  sum_to_equations(forces, y);
}

}  // namespace voussoir::detail
