// Orders of convergence by manufactured solutions. Each unknown is a plane wave A sin(k · x + φ), whose derivatives are
// known in closed form; body forces and heat sources follow from the differential equations, are put on the nodes by
// quadrature, and the errors in the values (L2) and in the gradients (H1) must fall as the theory of each shape says:
// with h^(p+1) and h^p.
//
// Tetrahedra, triangles and multilinear shapes keep their order on meshes that stay distorted at random. The quadratic
// serendipity shapes keep it only where elements tend to parallelograms as they shrink (Arnold, Boffi and Falk,
// "Approximation by quadrilateral finite elements", 2002): their meshes are distorted by a smooth map.
#include <voussoir/elements/quadrature/quadrature.hpp>
#include <voussoir/elements/shapes/complete.hpp>
#include <voussoir/elements/shapes/shapes.hpp>

#include "validation/support.hpp"

namespace voussoir::validation {
namespace {

struct Wave {
  double amplitude;
  Position k;
  double phase;
};
const Wave waves[3] = {{1.0, {1.3, -0.7, 0.9}, 0.3}, {-0.8, {0.6, 1.5, -0.8}, 1.1}, {0.7, {-0.9, 0.8, 1.2}, -0.4}};

/// Values, first and second derivatives of the unknowns.
struct Exact {
  double u[3], du[3][3], ddu[3][3][3];
};
Exact exact(const Position& x, int dim) {
  Exact e{};
  for (int i = 0; i < 3; ++i) {
    const Wave& w = waves[i];
    double s = w.phase;
    for (int k = 0; k < dim; ++k) s += w.k[k] * x[k];
    e.u[i] = w.amplitude * std::sin(s);
    for (int k = 0; k < dim; ++k) {
      e.du[i][k] = w.amplitude * w.k[k] * std::cos(s);
      for (int l = 0; l < dim; ++l) e.ddu[i][k][l] = -w.amplitude * w.k[k] * w.k[l] * std::sin(s);
    }
  }
  return e;
}

constexpr double young = 10, nu = 0.3, conductivity = 2.5;

/// The force (heat) per volume that holds the waves in balance.
std::vector<double> source(const std::string& physics, const Position& x, int dim) {
  const Exact e = exact(x, dim);
  const double mu = young / (2 * (1 + nu));
  double lambda = young * nu / ((1 + nu) * (1 - 2 * nu));
  if (physics.ends_with("heat")) {
    double laplace = 0;
    for (int k = 0; k < dim; ++k) laplace += e.ddu[0][k][k];
    if (physics == "axisymmetric_heat") laplace += e.du[0][0] / x[0];
    return {-conductivity * laplace};
  }
  if (physics == "axisymmetric") {
    const double r = x[0];
    const double slope_r = e.ddu[0][0][0] + e.du[0][0] / r - e.u[0] / (r * r) + e.ddu[1][0][1];
    const double slope_z = e.ddu[0][0][1] + e.du[0][1] / r + e.ddu[1][1][1];
    return {-(lambda * slope_r + 2 * mu * e.ddu[0][0][0] + mu * (e.ddu[0][1][1] + e.ddu[1][0][1]) +
              2 * mu * (e.du[0][0] / r - e.u[0] / (r * r))),
            -(lambda * slope_z + 2 * mu * e.ddu[1][1][1] + mu * (e.ddu[0][0][1] + e.ddu[1][0][0]) +
              mu * (e.du[0][1] + e.du[1][0]) / r)};
  }
  if (physics == "plane_stress") lambda = 2 * lambda * mu / (lambda + 2 * mu);
  std::vector<double> b(dim);
  for (int i = 0; i < dim; ++i)
    for (int k = 0; k < dim; ++k) b[i] -= (lambda + mu) * e.ddu[k][i][k] + mu * e.ddu[i][k][k];
  return b;
}

/// Shape functions at the points of a rule, of any shape.
struct Table {
  int dim, nodes, points;
  std::vector<double> weight, value, gradient;
};
template <class Shape, class Rule>
Table table() {
  Table t{Shape::dim, Shape::nodes, Rule::points, {}, {}, {}};
  const auto rule = Rule::make();
  for (int q = 0; q < Rule::points; ++q) {
    double n[Shape::nodes]{}, g[Shape::nodes][Shape::dim]{};
    Shape::values(rule.xi[q], n);
    Shape::gradients(rule.xi[q], g);
    t.weight.push_back(rule.weight[q]);
    t.value.insert(t.value.end(), n, n + Shape::nodes);
    t.gradient.insert(t.gradient.end(), &g[0][0], &g[0][0] + Shape::nodes * Shape::dim);
  }
  return t;
}
Table table_of(const std::string& shape) {
  if (shape == "tri3") return table<Tri3, TriangleRule<7>>();
  if (shape == "tri6") return table<Tri6, TriangleRule<7>>();
  if (shape == "quad4") return table<Quad4, GaussQuad<4>>();
  if (shape == "quad8") return table<Quad8, GaussQuad<4>>();
  if (shape == "tet4") return table<Tet4, TetrahedronRule<14>>();
  if (shape == "tet10") return table<Tet10, TetrahedronRule<14>>();
  if (shape == "wedge6") return table<Wedge6, WedgeRule<7, 4>>();
  if (shape == "wedge15") return table<Wedge15, WedgeRule<7, 4>>();
  if (shape == "hex8") return table<Hex8, GaussHex<3>>();
  if (shape == "quad9") return table<Quad9, GaussQuad<4>>();
  if (shape == "wedge18") return table<Wedge18, WedgeRule<7, 4>>();
  if (shape == "hex27") return table<Hex27, GaussHex<4>>();
  return table<Hex20, GaussHex<4>>();
}

/// A quadrature point of an element.
struct Place {
  Position x{0, 0, 0};
  double volume = 0;
  const double* value = nullptr;
  double gradient[27][3] = {};
};

/// Calls visit(nodes, place) at every point of every element. The volume of a ring counts its circle.
template <class Visit>
void for_each_point(const Domain& domain, bool ring, Visit visit) {
  const ElementBlock& block = domain.block(0);
  const Table t = table_of(block.type().shape());
  for (std::int32_t e = 0; e < block.size(); ++e) {
    const auto nodes = block.nodes(e);
    for (int q = 0; q < t.points; ++q) {
      const double* g = &t.gradient[static_cast<std::size_t>(q) * t.nodes * t.dim];
      Place p;
      p.value = &t.value[static_cast<std::size_t>(q) * t.nodes];
      double j[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
      for (int i = 0; i < t.dim; ++i)
        for (int k = 0; k < t.dim; ++k) j[i][k] = 0;
      for (int a = 0; a < t.nodes; ++a) {
        const Position x = position(domain, nodes[a]);
        for (int i = 0; i < t.dim; ++i) {
          p.x[i] += p.value[a] * x[i];
          for (int k = 0; k < t.dim; ++k) j[i][k] += x[i] * g[a * t.dim + k];
        }
      }
      double inverse[3][3];  // transposed cofactors over the determinant
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
          inverse[k][i] = j[(i + 1) % 3][(k + 1) % 3] * j[(i + 2) % 3][(k + 2) % 3] -
                          j[(i + 1) % 3][(k + 2) % 3] * j[(i + 2) % 3][(k + 1) % 3];
      const double det = j[0][0] * inverse[0][0] + j[0][1] * inverse[1][0] + j[0][2] * inverse[2][0];
      p.volume = t.weight[q] * det * (ring ? 2 * pi * p.x[0] : 1);
      for (int a = 0; a < t.nodes; ++a)
        for (int i = 0; i < t.dim; ++i)
          for (int k = 0; k < t.dim; ++k) p.gradient[a][i] += g[a * t.dim + k] * inverse[k][i] / det;
      visit(nodes, p);
    }
  }
}

struct Errors {
  double values, gradients;
};

Errors errors_on(const std::string& type, int cells) {
  const std::string physics = type.substr(0, type.find('.'));
  const bool ring = physics.starts_with("axi"), heat = physics.ends_with("heat");
  const bool plane = physics.starts_with("plane") || ring;
  const int dim = plane ? 2 : 3, components = heat ? 1 : dim;
  const bool serendipity = type.find("quad8") != std::string::npos || type.find("hex20") != std::string::npos ||
                           type.find("wedge15") != std::string::npos;
  Domain domain;
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {cells, cells, cells};
  mesh.lower = {1, 0, 0};
  mesh.upper = {2, 1, 1};
  mesh.distortion = serendipity ? 0 : 0.12;
  mesh.map = [dim](double x, double y, double z) {
    const double bump = 0.06 * std::sin(pi * x) * std::sin(pi * y) * (dim == 3 ? std::sin(pi * z) : 1);
    return Position{x + bump, y - bump, dim == 3 ? z + 0.5 * bump : 0};
  };
  ElementBlock& block = add_box_mesh(domain, mesh);
  block.set_material(heat ? conducting(conductivity) : elastic(young, nu));
  if (plane && !ring) block.set_section("thickness", 1);

  std::vector<std::string> names = heat ? std::vector<std::string>{"T"} : std::vector<std::string>{"ux", "uy", "uz"};
  names.resize(components);
  const std::vector<std::int32_t> outside = skin(domain);
  prescribe_field(domain, outside, names, [&](const Position& x) {
    const Exact e = exact(x, dim);
    return std::vector<double>(e.u, e.u + components);
  });
  std::vector<double> force(static_cast<std::size_t>(domain.node_count()) * components, 0.0);
  for_each_point(domain, ring, [&](auto nodes, const Place& p) {
    const std::vector<double> b = source(physics, p.x, dim);
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (int c = 0; c < components; ++c)
        force[static_cast<std::size_t>(nodes[a]) * components + c] += p.value[a] * b[c] * p.volume;
  });
  LoadCase& load = domain.add_load_case("source");
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    const std::string set = only(domain, n);
    for (int c = 0; c < components; ++c) load.nodal(set, names[c], force[static_cast<std::size_t>(n) * components + c]);
  }
  auto analysis = make_static_analysis(domain);
  analysis->set_recovery(false);
  const StepResult result = std::move(analysis->run().at(0));

  Errors sum{0, 0};
  for_each_point(domain, ring, [&](auto nodes, const Place& p) {
    const Exact e = exact(p.x, dim);
    for (int c = 0; c < components; ++c) {
      double u = -e.u[c], du[3] = {-e.du[c][0], -e.du[c][1], -e.du[c][2]};
      for (std::size_t a = 0; a < nodes.size(); ++a) {
        const double value = result.unknowns.at(nodes[a], c);
        u += p.value[a] * value;
        for (int k = 0; k < dim; ++k) du[k] += p.gradient[a][k] * value;
      }
      sum.values += u * u * p.volume;
      for (int k = 0; k < dim; ++k) sum.gradients += du[k] * du[k] * p.volume;
    }
  });
  return {std::sqrt(sum.values), std::sqrt(sum.gradients)};
}

/// Two meshes, the second with half the width of the first.
void expect_order(const std::string& type, int order, int cells) {
  const Errors coarse = errors_on(type, cells), fine = errors_on(type, 2 * cells);
  const double values = std::log2(coarse.values / fine.values),
               gradients = std::log2(coarse.gradients / fine.gradients);
  EXPECT_GE(values, order + 1 - 0.15) << type << ": " << coarse.values << " → " << fine.values;
  EXPECT_GE(gradients, order - 0.15) << type << ": " << coarse.gradients << " → " << fine.gradients;
  EXPECT_LT(fine.gradients, 0.2) << type << " converges to the solution";
}

TEST(Convergence, LinearSolids) {
  for (const char* type : {"solid.hex8.full", "solid.hex8.incompatible", "solid.hex8.bbar", "solid.hex8.reduced",
                           "solid.tet4", "solid.wedge6"})
    expect_order(type, 1, 6);
}
TEST(Convergence, QuadraticSolids) {
  for (const char* type :
       {"solid.tet10", "solid.hex20", "solid.hex20.reduced", "solid.wedge15", "solid.wedge18", "solid.hex27"})
    expect_order(type, 2, 4);
}
TEST(Convergence, LinearPlaneBodies) {
  for (const char* physics : {"plane_stress.", "plane_strain.", "axisymmetric."}) {
    for (const char* shape : {"tri3", "quad4.full", "quad4.incompatible", "quad4.reduced"})
      expect_order(std::string(physics) + shape, 1, 16);
    if (std::string(physics) != "plane_stress.") expect_order(std::string(physics) + "quad4.bbar", 1, 16);
  }
}
TEST(Convergence, QuadraticPlaneBodies) {
  for (const char* physics : {"plane_stress.", "plane_strain.", "axisymmetric."})
    for (const char* shape : {"tri6", "quad8", "quad8.reduced", "quad9"})
      expect_order(std::string(physics) + shape, 2, 12);
}
TEST(Convergence, Heat) {
  for (const char* shape : {"tet4", "wedge6", "hex8"}) expect_order(std::string("heat.") + shape, 1, 6);
  for (const char* shape : {"tet10", "wedge15", "hex20", "wedge18", "hex27"})
    expect_order(std::string("heat.") + shape, 2, 4);
  for (const char* physics : {"plane_heat.", "axisymmetric_heat."}) {
    for (const char* shape : {"tri3", "quad4"}) expect_order(std::string(physics) + shape, 1, 16);
    for (const char* shape : {"tri6", "quad8", "quad9"}) expect_order(std::string(physics) + shape, 2, 12);
  }
}

}  // namespace
}  // namespace voussoir::validation
