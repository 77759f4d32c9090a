#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/backends/backend.hpp>

// Small element types for tests of backends: matrices with a formula of one line, so that a dense reference can be
// written down independently.

namespace voussoir::toy {

/// An element of `nodes` nodes with `components` unknowns each:
///   K[(a,i),(b,j)] = w (nodes δab − 1 + δab/8) (δij + 1/10),  M the same with 2 w and (δab + 1) in place of the second
///   factor, w = parameter · (1 + x of the first node) · (1 + u of the first node).
/// Residual = K u − parameter (a constant pull); body load = w · acceleration[0] on every entry; two recovered values
/// at each of two points. A negative parameter is an inverted element.
class Toy : public ElementProgram {
 public:
  Toy(int nodes, int components, int lanes, Route route = Route::native)
      : nodes_(nodes), components_(components), lanes_(lanes), route_(route) {}

  const std::string& name() const override { return name_; }
  Route route() const override { return route_; }
  int nodes() const override { return nodes_; }
  int components() const override { return components_; }
  std::span<const std::string> unknown_names() const override { return {}; }
  std::span<const std::string> parameter_names() const override { return parameters_; }
  int lanes() const override { return lanes_; }
  bool has_mass() const override { return true; }
  bool takes_body_load() const override { return true; }
  int points() const override { return 2; }
  std::span<const std::string> recovered_names() const override { return recovered_; }
  std::span<const double> extrapolation() const override { return {}; }

  double stiffness(int r, int s, double w) const {
    const int a = r / components_, b = s / components_;
    return w * (a == b ? nodes_ - 1 + 0.125 : -1.0) * (r % components_ == s % components_ ? 1.1 : 0.1);
  }
  double consistent(int r, int s, double w) const {
    const int a = r / components_, b = s / components_;
    return 2 * w * (a == b ? 2.0 : 1.0) * (r % components_ == s % components_ ? 1.1 : 0.1);
  }
  double weight(const ElementView& view, int e) const {
    const std::int32_t node = view.nodes[e * nodes_];
    const double u = view.unknowns ? view.unknowns[view.first_unknown[node]] : 0.0;
    return parameter(view, e) * (1 + view.coordinates[3 * node]) * (1 + u);
  }
  static double parameter(const ElementView& view, int e) {
    return view.parameters[2 * (view.record ? view.record[e] : 0) + 1];
  }

  ElementStatus tangent(const ElementView& view, int first, int count, double* out) const override {
    return each(view, first, count, matrix_entries(), out, [&](int e, double* k) {
      const double w = weight(view, e);
      for (int r = 0, n = 0; r < dofs(); ++r)
        for (int s = r; s < dofs(); ++s) k[n++] = stiffness(r, s, w);
    });
  }
  ElementStatus mass(const ElementView& view, MassKind kind, int first, int count, double* out) const override {
    return each(view, first, count, matrix_entries(), out, [&](int e, double* m) {
      const double w = weight(view, e);
      for (int r = 0, n = 0; r < dofs(); ++r)
        for (int s = r; s < dofs(); ++s) m[n++] = kind == MassKind::consistent ? consistent(r, s, w) : r == s ? w : 0.0;
    });
  }
  ElementStatus residual(const ElementView& view, int first, int count, double* out) const override {
    return each(view, first, count, dofs(), out, [&](int e, double* f) {
      product(view, e, view.unknowns, f);
      for (int r = 0; r < dofs(); ++r) f[r] -= parameter(view, e);
    });
  }
  ElementStatus action(const ElementView& view, const double* direction, int first, int count,
                       double* out) const override {
    return each(view, first, count, dofs(), out, [&](int e, double* f) { product(view, e, direction, f); });
  }
  ElementStatus body_load(const ElementView& view, const BodyLoad& load, int first, int count,
                          double* out) const override {
    return each(view, first, count, dofs(), out, [&](int e, double* f) {
      for (int r = 0; r < dofs(); ++r) f[r] = weight(view, e) * load.acceleration[0];
    });
  }
  ElementStatus recover(const ElementView& view, int first, int count, double* out) const override {
    return each(view, first, count, 4, out, [&](int e, double* v) {
      const double u = view.unknowns[view.first_unknown[view.nodes[e * nodes_]]];
      for (int k = 0; k < 4; ++k) v[k] = u + 10 * k + 1000 * parameter(view, e);
    });
  }

 private:
  void product(const ElementView& view, int e, const double* x, double* f) const {
    const double w = weight(view, e);
    for (int r = 0; r < dofs(); ++r) {
      f[r] = 0;
      for (int s = 0; s < dofs(); ++s)
        f[r] += stiffness(r, s, w) * x[view.first_unknown[view.nodes[e * nodes_ + s / components_]] + s % components_];
    }
  }
  template <class Work>
  ElementStatus each(const ElementView& view, int first, int count, int values, double* out, Work&& work) const {
    ElementStatus status;
    std::vector<double> one(static_cast<std::size_t>(values));
    for (int at = 0; at < (count + lanes_ - 1) / lanes_ * lanes_; ++at) {
      const int e = first + std::min(at, count - 1);
      if (parameter(view, e) < 0) status.merge({ElementFault::inverted, e});
      work(e, one.data());
      for (int k = 0; k < values; ++k)
        out[(static_cast<std::ptrdiff_t>(at / lanes_) * values + k) * lanes_ + at % lanes_] =
            one[static_cast<std::size_t>(k)];
    }
    return status;
  }

  std::string name_ = "toy";
  std::array<std::string, 1> parameters_{"weight"};
  std::array<std::string, 2> recovered_{"first", "second"};
  int nodes_, components_, lanes_;
  Route route_;
};

/// A grid of quads and a chain of lines through its nodes, some equations prescribed, some dependent.
struct Case {
  int components = 1;
  std::vector<double> coordinates;
  std::vector<std::int32_t> first_equation;
  std::vector<std::uint8_t> prescribed;
  std::vector<std::int32_t> quads, lines;
  std::shared_ptr<const Toy> quad, line;
  std::vector<Dependency> dependencies;
  std::vector<double> parameters;
  std::vector<std::int32_t> record;

  Case(int nx, int ny, int components_per_node, int lanes, bool with_dependencies, Route route = Route::native)
      : components(components_per_node),
        quad(std::make_shared<Toy>(4, components_per_node, lanes, route)),
        line(std::make_shared<Toy>(2, components_per_node, 1)) {
    const int nodes = (nx + 1) * (ny + 1);
    for (int j = 0; j <= ny; ++j)
      for (int i = 0; i <= nx; ++i) coordinates.insert(coordinates.end(), {0.1 * i + 0.01 * j, 0.1 * j, 0});
    for (int n = 0; n <= nodes; ++n) first_equation.push_back(n * components);
    prescribed.assign(static_cast<std::size_t>(nodes * components), 0);
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i) {
        const int n = j * (nx + 1) + i;
        quads.insert(quads.end(), {n, n + 1, n + nx + 2, n + nx + 1});
        record.push_back((i + j) % 3);
      }
    for (int n = 0; n + 5 < nodes; n += 3) lines.insert(lines.end(), {n, n + 5});
    for (int r = 0; r < 3; ++r) parameters.insert(parameters.end(), {0.0, 1.0 + 0.5 * r});
    for (int i = 0; i < components; ++i) prescribed[static_cast<std::size_t>(i)] = 1;
    prescribed[static_cast<std::size_t>(3 * components)] = 1;
    if (with_dependencies) {
      const int last = nodes * components - 1;
      dependencies.push_back({last, {last - components, 2 * components}, {0.5, -0.25}});
      dependencies.push_back({last / 2, {last / 2 + 2 * components}, {1.0}});
      dependencies.push_back({5 * components, {last - 2 * components, 7 * components}, {2.0, 1.0}});
    }
  }

  int equations() const { return first_equation.back(); }

  /// Gives every third node one more equation, which no element has and which is prescribed.
  void add_spare_equations() {
    const std::vector<std::uint8_t> old = prescribed;
    prescribed.clear();
    const auto nodes = first_equation.size() - 1;
    for (std::size_t n = 0; n < nodes; ++n) {
      first_equation[n] = static_cast<std::int32_t>(prescribed.size());
      for (std::size_t i = 0; i < static_cast<std::size_t>(components); ++i)
        prescribed.push_back(old[n * static_cast<std::size_t>(components) + i]);
      if (n % 3 == 0) prescribed.push_back(1);
    }
    first_equation[nodes] = static_cast<std::int32_t>(prescribed.size());
  }

  ModelDescription description() const {
    ModelDescription d;
    d.coordinates = coordinates;
    d.first_equation = first_equation;
    d.prescribed = prescribed;
    d.dependencies = dependencies;
    d.batches.push_back({quad, quads, parameters, record, 1, 0, {}});
    d.batches.push_back({line, lines, {0.0, 3.0}, {}, 1, 0, {}});
    return d;
  }

  using Dense = std::vector<std::vector<double>>;

  /// stiffness · K + mass · M before dependencies and prescribed equations, entry by entry from the formulas.
  Dense full(double stiffness, double mass, MassKind kind, const std::vector<double>* u, double line_factor = 1) const {
    Dense a(static_cast<std::size_t>(equations()), std::vector<double>(static_cast<std::size_t>(equations()), 0.0));
    const auto add = [&](const Toy& toy, const std::vector<std::int32_t>& nodes, auto&& parameter, double factor) {
      const int n = toy.nodes();
      for (int e = 0; e < static_cast<int>(nodes.size()) / n; ++e) {
        const auto equation = [&](int r) {
          const auto node = static_cast<std::size_t>(nodes[static_cast<std::size_t>(e * n + r / components)]);
          return static_cast<std::size_t>(first_equation[node] + r % components);
        };
        const double w = parameter(e) *
                         (1 + coordinates[3 * static_cast<std::size_t>(nodes[static_cast<std::size_t>(e * n)])]) *
                         (1 + (u ? (*u)[equation(0)] : 0.0));
        for (int r = 0; r < toy.dofs(); ++r)
          for (int s = 0; s < toy.dofs(); ++s)
            a[equation(r)][equation(s)] += factor * (stiffness * toy.stiffness(r, s, w) +
                                                     mass * (kind == MassKind::consistent ? toy.consistent(r, s, w)
                                                             : r == s                     ? w
                                                                                          : 0.0));
      }
    };
    add(
        *quad, quads,
        [&](int e) { return parameters[2 * static_cast<std::size_t>(record[static_cast<std::size_t>(e)]) + 1]; }, 1);
    add(
        *line, lines, [](int) { return 3.0; }, line_factor);
    return a;
  }

  /// Tᵀ A T with rows and columns of equations that are not free left out (zero); the diagonal there is left zero too.
  Dense reduced(const Dense& a) const {
    const auto n = static_cast<std::size_t>(equations());
    Dense t(n, std::vector<double>(n, 0.0));
    for (std::size_t i = 0; i < n; ++i) t[i][i] = prescribed[i] ? 0 : 1;
    for (const Dependency& d : dependencies) {
      t[static_cast<std::size_t>(d.equation)][static_cast<std::size_t>(d.equation)] = 0;
      for (std::size_t k = 0; k < d.others.size(); ++k)
        t[static_cast<std::size_t>(d.equation)][static_cast<std::size_t>(d.others[k])] = d.coefficients[k];
    }
    Dense at(n, std::vector<double>(n, 0.0)), result = at;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k)
        if (a[i][k] != 0)
          for (std::size_t j = 0; j < n; ++j) at[i][j] += a[i][k] * t[k][j];
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i = 0; i < n; ++i)
        if (t[k][i] != 0)
          for (std::size_t j = 0; j < n; ++j) result[i][j] += t[k][i] * at[k][j];
    return result;
  }

  bool is_free(int equation) const {
    if (prescribed[static_cast<std::size_t>(equation)]) return false;
    return std::none_of(dependencies.begin(), dependencies.end(),
                        [&](const Dependency& d) { return d.equation == equation; });
  }
};

/// Numbers between −1 and 1 that look random and are the same everywhere.
inline std::vector<double> numbers(std::size_t n, unsigned seed = 1) {
  std::vector<double> v(n);
  std::uint64_t state = seed * 2654435761u + 12345;
  for (double& x : v) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    x = static_cast<double>(static_cast<std::int64_t>(state >> 11)) / static_cast<double>(1ll << 52) - 1;
  }
  return v;
}

inline std::vector<double> multiply(const Case::Dense& a, const std::vector<double>& x) {
  std::vector<double> y(x.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += a[i][j] * x[j];
  return y;
}

}  // namespace voussoir::toy
