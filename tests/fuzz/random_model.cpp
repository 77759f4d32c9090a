#include "fuzz/random_model.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <utility>

namespace voussoir::fuzz {
namespace {

/// Random numbers that are the same on every machine, which those of the standard distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) / 9007199254740992.0;
  }
  bool chance(double probability) { return between(0, 1) < probability; }
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<int>(choices.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

std::string text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.10g", value);
  return buffer;
}

enum class Kind { solid, plane, heat };
using Edges = std::vector<std::pair<int, int>>;

/// The elements of a cell of corners, in the order of a hexahedron or a quadrilateral.
struct Shape {
  std::vector<std::vector<int>> split;  ///< corners of the elements that a cell is cut into
  Edges edges;                          ///< of those, where they have nodes in the middle
};

Shape shape_of(const std::string& type) {
  const std::vector<std::vector<int>> whole{{0, 1, 2, 3, 4, 5, 6, 7}}, flat{{0, 1, 2, 3}},
      triangles{{0, 1, 2}, {0, 2, 3}};
  // The six tetrahedra around the diagonal from corner 0 to 6, and two wedges: both fit those of the next cell.
  const std::vector<std::vector<int>> tetrahedra{{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6},
                                                 {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};
  const std::vector<std::vector<int>> wedges{{0, 1, 2, 4, 5, 6}, {0, 2, 3, 4, 6, 7}};
  const Edges hex{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
  const Edges tet{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
  const Edges wedge{{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}};
  const Edges quad{{0, 1}, {1, 2}, {2, 3}, {3, 0}}, tri{{0, 1}, {1, 2}, {2, 0}};
  const auto ends = [&](const char* with) { return type.find(with) != std::string::npos; };
  if (ends("C3D20") || ends("DC3D20")) return {whole, hex};
  if (ends("C3D10")) return {tetrahedra, tet};
  if (ends("C3D15")) return {wedges, wedge};
  if (ends("C3D8")) return {whole, {}};
  if (ends("C3D4")) return {tetrahedra, {}};
  if (ends("C3D6")) return {wedges, {}};
  if (ends("6")) return {triangles, tri};
  if (ends("3")) return {triangles, {}};
  if (ends("8")) return {flat, quad};
  return {flat, {}};
}

/// A box of elements with the nodes of its sides.
struct Part {
  std::string name, type;
  std::array<int, 3> cells{1, 1, 1};
  std::vector<int> nodes;
  std::map<std::string, std::vector<int>> side;  ///< X0 X1 Y0 Y1 Z0 Z1
};

class Builder {
 public:
  explicit Builder(std::uint64_t seed) : random_(seed) {}

  RandomModel build() {
    const int kind = random_.below(10);
    kind_ = kind < 6 ? Kind::solid : kind < 8 ? Kind::plane : Kind::heat;
    dofs_ = kind_ == Kind::heat    ? std::vector<int>{11}
            : kind_ == Kind::plane ? std::vector<int>{1, 2}
                                   : std::vector<int>{1, 2, 3};
    line("*HEADING");
    line("a model drawn at random");
    const int parts = 1 + random_.below(3);
    for (int p = 0; p < parts; ++p) add_part(p);
    for (std::size_t p = 0; p < parts_.size(); ++p) add_material(p);
    for (std::size_t p = 1; p < parts_.size(); ++p) join(p);
    if (kind_ != Kind::heat) add_bars();
    if (random_.chance(0.35)) add_equations();
    if (kind_ == Kind::solid && random_.chance(0.35)) add_rigid_body();
    if (kind_ != Kind::heat) add_initial_temperatures();
    hold();
    const int steps = 1 + random_.below(2);
    for (int s = 0; s < steps; ++s) add_step(s);
    return std::move(model_);
  }

 private:
  void line(const std::string& words) { model_.deck += words + "\n"; }

  void add_part(int p) {
    Part part;
    part.name = "P" + std::to_string(p);
    const std::vector<std::string> solids{"C3D8", "C3D8",  "C3D8I", "C3D8R", "C3D4",
                                          "C3D6", "C3D10", "C3D15", "C3D20", "C3D20R"};
    const std::vector<std::string> planes{"CPS4", "CPE4", "CPS3", "CPS6", "CPS8", "CPS8R", "CPS4I"};
    const std::vector<std::string> conducting{"DC3D8", "DC3D4", "DC3D10", "DC3D20", "DC3D6"};
    const bool alike = p > 0 && random_.chance(0.6);  // so that sides match
    if (alike) {
      part.type = parts_.back().type;
      part.cells = parts_.back().cells;
    } else {
      part.type = random_.one_of(kind_ == Kind::solid ? solids : kind_ == Kind::plane ? planes : conducting);
      // Plane stress and plane strain have different sections but may stand side by side.
      for (int& n : part.cells) n = 1 + random_.below(2);
    }
    part.cells[0] = 1 + random_.below(3);
    if (kind_ == Kind::plane) part.cells[2] = 0;
    const double left = right_;
    std::array<double, 3> size{};
    for (int k = 0; k < 3; ++k)
      size[static_cast<std::size_t>(k)] = part.cells[static_cast<std::size_t>(k)] == 0 ? 0 : 1.0;
    size[0] = random_.chance(0.2) ? random_.between(1, 8) : random_.between(0.7, 1.5);
    right_ += size[0] + 0.0;
    mesh(part, p, left, size);
    parts_.push_back(std::move(part));
  }

  void mesh(Part& part, int p, double left, const std::array<double, 3>& size) {
    const Shape shape = shape_of(part.type);
    const int base = 1000 * (p + 1);
    int next = base + 1;
    const int nx = part.cells[0], ny = part.cells[1], nz = part.cells[2];
    std::map<std::array<int, 3>, int> corner;
    std::map<int, std::array<double, 3>> place;
    const auto put = [&](const std::array<double, 3>& x) {
      place[next] = x;
      part.nodes.push_back(next);
      const double eps = 1e-9;
      if (x[0] < left + eps) part.side["X0"].push_back(next);
      if (x[0] > left + size[0] - eps) part.side["X1"].push_back(next);
      if (x[1] < eps) part.side["Y0"].push_back(next);
      if (x[1] > size[1] - eps) part.side["Y1"].push_back(next);
      return next++;
    };
    for (int k = 0; k <= nz; ++k)
      for (int j = 0; j <= ny; ++j)
        for (int i = 0; i <= nx; ++i) {
          std::array<double, 3> x{left + size[0] * i / nx, size[1] * j / ny, nz > 0 ? size[2] * k / nz : 0.0};
          // Nodes inside are moved a little, and those on the outside along it where no other part can be.
          if (i > 0 && i < nx) x[0] += random_.between(-0.1, 0.1) * size[0] / nx;
          corner[{i, j, k}] = put(x);
        }
    std::map<std::pair<int, int>, int> middle;
    std::vector<std::vector<int>> elements;
    for (int k = 0; k < (nz > 0 ? nz : 1); ++k)
      for (int j = 0; j < ny; ++j)
        for (int i = 0; i < nx; ++i) {
          std::vector<int> c{corner[{i, j, k}], corner[{i + 1, j, k}], corner[{i + 1, j + 1, k}],
                             corner[{i, j + 1, k}]};
          if (nz > 0)
            for (const auto& [a, b] : {std::pair{0, 0}, std::pair{1, 0}, std::pair{1, 1}, std::pair{0, 1}})
              c.push_back(corner[{i + a, j + b, k + 1}]);
          for (const auto& split : shape.split) {
            std::vector<int> element;
            for (const int v : split) element.push_back(c[static_cast<std::size_t>(v)]);
            for (const auto& [a, b] : shape.edges) {
              const int from = element[static_cast<std::size_t>(a)], to = element[static_cast<std::size_t>(b)];
              int& node = middle[{std::min(from, to), std::max(from, to)}];
              if (node == 0) {
                const auto &x = place[from], &y = place[to];
                node = put({(x[0] + y[0]) / 2, (x[1] + y[1]) / 2, (x[2] + y[2]) / 2});
              }
              element.push_back(node);
            }
            elements.push_back(element);
          }
        }
    line("*NODE, NSET=N" + part.name);
    for (const int n : part.nodes)
      line(std::to_string(n) + ", " + text(place[n][0]) + ", " + text(place[n][1]) + ", " + text(place[n][2]));
    line("*ELEMENT, TYPE=" + part.type + ", ELSET=E" + part.name);
    int number = base + 1;
    for (const auto& element : elements) {
      std::string words = std::to_string(number++);
      int on_line = 0;
      for (const int n : element) {
        words += ",";
        if (++on_line == 12) words += "\n";
        words += " " + std::to_string(n);
      }
      line(words);
    }
    for (const auto& [name, nodes] : part.side) add_set(part.name + name, nodes);
    for (const auto& [n, x] : place) place_[n] = x;
  }

  void add_set(const std::string& name, const std::vector<int>& nodes) {
    line("*NSET, NSET=" + name);
    for (const int n : nodes) line(std::to_string(n));
  }

  void add_material(std::size_t p) {
    const Part& part = parts_[p];
    const std::string name = "M" + part.name;
    line("*MATERIAL, NAME=" + name);
    if (kind_ == Kind::heat) {
      line("*CONDUCTIVITY");
      line(text(std::pow(10.0, random_.between(-1, 1))));
    } else {
      const double young = std::pow(10.0, random_.between(2, 4)), poisson = random_.between(0, 0.4);
      line("*ELASTIC");
      if (random_.chance(0.3)) {
        line(text(young) + ", " + text(poisson) + ", 0.");
        line(text(2 * young) + ", " + text(poisson) + ", 100.");
      } else {
        line(text(young) + ", " + text(poisson));
      }
      if (random_.chance(0.5)) {
        line("*EXPANSION, ZERO=" + text(random_.below(3) * 10));
        if (random_.chance(0.4)) {
          line("1.e-5, 0.");
          line("3.e-5, 100.");
        } else {
          line("1.e-5");
        }
      }
      line("*DENSITY");
      line("1.e-3");
    }
    line("*SOLID SECTION, ELSET=E" + part.name + ", MATERIAL=" + name);
    if (kind_ == Kind::plane) line("0.5");
  }

  /// Writes an equation of these terms, whose order is left to chance, multiplied by a number.
  void add_equation(std::vector<RandomModel::Term> terms) {
    for (std::size_t i = terms.size(); i > 1; --i)
      std::swap(terms[i - 1], terms[static_cast<std::size_t>(random_.below(static_cast<int>(i)))]);
    const double factor = random_.chance(0.5) ? 1 : std::pow(10.0, random_.between(-2, 2));
    line("*EQUATION");
    line(std::to_string(terms.size()));
    std::string words;
    int on_line = 0;
    for (RandomModel::Term& t : terms) {
      t.coefficient *= factor;
      if (on_line == 4) {
        words += "\n";
        on_line = 0;
      }
      words += std::to_string(t.node) + ", " + std::to_string(t.dof) + ", " + text(t.coefficient) + ", ";
      t.coefficient = std::stod(text(t.coefficient));
      ++on_line;
    }
    words.resize(words.size() - 2);
    line(words);
    for (const RandomModel::Term& t : terms) used_.insert({t.node, t.dof});
    model_.equations.push_back(std::move(terms));
  }

  bool match(const Part& a, const Part& b) const {
    return a.type == b.type && a.cells[1] == b.cells[1] && a.cells[2] == b.cells[2];
  }

  /// Part p to the one before it: tied, by equations, or not at all (it may be held by itself).
  void join(std::size_t p) {
    const Part &before = parts_[p - 1], &part = parts_[p];
    const int way = random_.below(4);
    const auto &masters = before.side.at("X1"), &slaves = part.side.at("X0");
    joined_.push_back(false);
    if (!match(before, part) || way == 0) return;
    joined_.back() = true;
    if (way == 1) {
      const std::string name = part.name + "TIE";
      line("*SURFACE, NAME=" + name + "S, TYPE=NODE");
      line(part.name + "X0");
      line("*SURFACE, NAME=" + name + "M, TYPE=ELEMENT");
      line("E" + before.name);
      line("*TIE, NAME=" + name + ", POSITION TOLERANCE=0.01");
      line(name + "S, " + name + "M");
      tied_.insert(slaves.begin(), slaves.end());
      tied_.insert(masters.begin(), masters.end());
      return;
    }
    for (const int slave : slaves)
      for (const int master : masters) {
        const auto &x = place_.at(slave), &y = place_.at(master);
        if (std::abs(x[0] - y[0]) + std::abs(x[1] - y[1]) + std::abs(x[2] - y[2]) > 1e-9) continue;
        for (const int dof : dofs_) {
          std::vector<RandomModel::Term> terms{{slave, dof, 1}, {master, dof, -1}};
          if (way == 3 && dof != dofs_.front() && random_.chance(0.3)) {  // u, plus what another direction says twice
            terms.push_back({slave, dofs_.front(), 0.5});
            terms.push_back({master, dofs_.front(), -0.5});
          }
          add_equation(terms);
        }
      }
  }

  void add_bars() {
    if (!random_.chance(0.25)) return;
    const Part& part = parts_.back();
    const int at = random_.one_of(part.nodes), other = 9001;
    line("*NODE");
    line("9001, " + text(right_ + 1) + ", 1.5, " + (kind_ == Kind::plane ? std::string("0.") : std::string("1.7")));
    place_[other] = {right_ + 1, 1.5, kind_ == Kind::plane ? 0 : 1.7};
    line(std::string("*ELEMENT, TYPE=") + (kind_ == Kind::plane ? "T2D2" : "T3D2") + ", ELSET=EBAR");
    line("9001, " + std::to_string(at) + ", 9001");
    line("*MATERIAL, NAME=MBAR");
    line("*ELASTIC");
    line("1000., 0.3");
    line("*SOLID SECTION, ELSET=EBAR, MATERIAL=MBAR");
    line("0.1");
    for (const int dof : dofs_) held_.push_back({other, dof, 0});
  }

  /// Equations that join what they like: means, chains, rings, and combinations of several unknowns.
  void add_equations() {
    const Part& part = random_.one_of(parts_);
    const auto free_node = [&] {
      int node = random_.one_of(part.nodes);
      for (int attempt = 0; attempt < 20 && (tied_.count(node) || contains(part.side.at("X0"), node)); ++attempt)
        node = random_.one_of(part.nodes);
      return node;
    };
    const int count = 1 + random_.below(3);
    for (int e = 0; e < count; ++e) {
      const int dof = random_.one_of(dofs_);
      switch (random_.below(5)) {
        case 0: {  // the mean of some nodes
          std::set<int> others;
          const int node = free_node(), wanted = 2 + random_.below(3);
          for (int i = 0; i < wanted; ++i) others.insert(free_node());
          others.erase(node);
          if (others.empty()) break;
          std::vector<RandomModel::Term> terms{{node, dof, 1}};
          for (const int o : others) terms.push_back({o, dof, -1.0 / static_cast<double>(others.size())});
          add_equation(terms);
          break;
        }
        case 1: {  // a chain, now and then closed to a ring, which says one thing twice
          std::vector<int> chain;
          for (int i = 0; i < 4; ++i) {
            const int node = free_node();
            if (!contains(chain, node)) chain.push_back(node);
          }
          for (std::size_t i = 0; i + 1 < chain.size(); ++i)
            add_equation({{chain[i], dof, 1}, {chain[i + 1], dof, -1}});
          if (chain.size() > 2 && random_.chance(0.3)) add_equation({{chain.back(), dof, 1}, {chain.front(), dof, -1}});
          break;
        }
        case 2: {  // two that say nearly the same of two unknowns
          std::set<int> nodes;
          for (int i = 0; i < 12 && nodes.size() < 4; ++i) nodes.insert(free_node());
          if (nodes.size() < 4) break;
          const std::vector<int> n(nodes.begin(), nodes.end());
          add_equation({{n[0], dof, 3}, {n[1], dof, -1}});
          add_equation({{n[0], dof, 1}, {n[1], dof, -0.33333333}, {n[2], dof, 1}, {n[3], dof, -1}});
          break;
        }
        default: {
          std::map<std::pair<int, int>, double> terms;
          const int wanted = 2 + random_.below(3);
          for (int i = 0; i < wanted; ++i)
            terms[{free_node(), random_.one_of(dofs_)}] =
                (random_.chance(0.5) ? 1 : -1) * std::pow(10.0, random_.between(-1, 1));
          if (terms.size() < 2) break;
          std::vector<RandomModel::Term> list;
          for (const auto& [at, c] : terms) list.push_back({at.first, at.second, c});
          add_equation(list);
        }
      }
    }
  }

  static bool contains(const std::vector<int>& list, int value) {
    for (const int v : list)
      if (v == value) return true;
    return false;
  }

  void add_rigid_body() {
    const Part& part = parts_.back();
    for (const int n : part.side.at("X1"))
      for (const int dof : dofs_)
        if (tied_.count(n) || used_.count({n, dof})) return;
    line("*NODE");
    line("9101, " + text(right_ + 0.3) + ", 0.4, 0.6");
    rotates_ = random_.chance(0.5);
    if (rotates_) line("9102, " + text(right_ + 0.3) + ", 0.4, 0.6");
    line("*RIGID BODY, NSET=" + part.name + "X1, REF NODE=9101" + (rotates_ ? ", ROT NODE=9102" : ""));
    rigid_ = true;
    // On a joint, or clamped where its rotation is a node.
    if (random_.chance(0.4))
      for (const int dof : dofs_) held_.push_back({9101, dof, 0});
    if (rotates_ && random_.chance(0.2))
      for (const int dof : dofs_) held_.push_back({9102, dof, 0});
  }

  void add_initial_temperatures() {
    if (!random_.chance(0.5)) return;
    line("*INITIAL CONDITIONS, TYPE=TEMPERATURE");
    for (const Part& part : parts_) {
      line("N" + part.name + ", " + text(random_.below(3) * 25));
      if (random_.chance(0.3)) line(std::to_string(random_.one_of(part.nodes)) + ", 40.");
    }
    heated_ = true;
  }

  void hold() {
    // Parts that are joined to the one before it are as a rule held by it.
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const bool is_joined = p > 0 && joined_[p - 1];
      if (is_joined ? random_.chance(0.15) : random_.chance(0.06)) continue;  // then all must refuse it
      if (is_joined) continue;
      const std::string side = parts_[p].name + "X0";
      const int way = kind_ == Kind::heat ? 0 : random_.below(3);
      if (way == 1 && !is_used(parts_[p].side.at("X0"))) {
        line("*TRANSFORM, NSET=" + side + ", TYPE=R");
        line(kind_ == Kind::plane ? "0.8, 0.6, 0., -0.6, 0.8, 0." : "0.8, 0.6, 0., -0.6, 0.8, 0.");
        boundary_ += side + ", 1, " + std::to_string(dofs_.back()) + "\n";
      } else if (way == 2) {  // what lies in a plane of symmetry, and a little more
        boundary_ += side + ", 1, 1\n";
        const auto& nodes = parts_[p].side.at("X0");
        for (std::size_t i = 0; i < nodes.size() && i < 3; ++i)
          boundary_ += std::to_string(nodes[i]) + ", 2, " + std::to_string(dofs_.back()) + "\n";
      } else {
        boundary_ += side + ", " + std::to_string(dofs_.front()) + ", " + std::to_string(dofs_.back()) + "\n";
      }
    }
    for (const RandomModel::Term& h : held_)
      boundary_ += std::to_string(h.node) + ", " + std::to_string(h.dof) + ", " + std::to_string(h.dof) + "\n";
    if (!boundary_.empty()) line("*BOUNDARY\n" + boundary_.substr(0, boundary_.size() - 1));
  }

  bool is_used(const std::vector<int>& nodes) const {
    for (const int n : nodes) {
      if (tied_.count(n)) return true;
      for (const int dof : dofs_)
        if (used_.count({n, dof})) return true;
    }
    return false;
  }

  void add_step(int number) {
    line("*STEP");
    if (kind_ == Kind::heat) {
      line("*HEAT TRANSFER, STEADY STATE");
      line("*CFLUX");
      line(std::to_string(random_.one_of(parts_.back().nodes)) + ", 11, " + text(random_.between(1, 5)));
      if (random_.chance(0.5)) {
        line("*DFLUX");
        line("E" + parts_.front().name + ", BF, " + text(random_.between(0.1, 2)));
      }
      line("*END STEP");
      return;
    }
    line("*STATIC");
    if (random_.chance(0.3)) {
      line("*BOUNDARY");
      const int node = random_.one_of(parts_.back().side.at("X1"));
      if (!tied_.count(node) && !rigid_) line(std::to_string(node) + ", 2, 2, " + text(random_.between(-0.1, 0.1)));
    }
    line("*CLOAD");
    for (const Part& part : parts_)
      if (&part == &parts_.back() || random_.chance(0.5))
        line(std::to_string(random_.one_of(part.nodes)) + ", " + std::to_string(random_.one_of(dofs_)) + ", " +
             text(random_.between(-2, 2)));
    if (rigid_ && random_.chance(0.7)) line("9101, 2, " + text(random_.between(0.1, 1)));
    if (rigid_ && rotates_ && random_.chance(0.5)) line("9102, 1, " + text(random_.between(0.1, 1)));
    if (random_.chance(0.4)) {
      line("*DLOAD");
      line("E" + parts_.front().name + ", GRAV, 9.81, 0., -1., 0.");
    }
    if (random_.chance(0.3)) {
      line("*DLOAD");
      line(std::to_string(1001) + ", P1, " + text(random_.between(-1, 1)));
    }
    if (heated_ || random_.chance(0.2)) {
      line("*TEMPERATURE");
      for (const Part& part : parts_) line("N" + part.name + ", " + text(10 + 20 * number + random_.below(60)));
      if (random_.chance(0.3)) line(std::to_string(random_.one_of(parts_.front().nodes)) + ", 75.");
    }
    line("*END STEP");
  }

  Random random_;
  RandomModel model_;
  Kind kind_ = Kind::solid;
  std::vector<int> dofs_;
  std::vector<Part> parts_;
  std::vector<bool> joined_;  // part p + 1 to part p
  std::map<int, std::array<double, 3>> place_;
  std::set<int> tied_;
  std::set<std::pair<int, int>> used_;  // unknowns of equations
  std::vector<RandomModel::Term> held_;
  std::string boundary_;
  double right_ = 0;
  bool rigid_ = false, rotates_ = false, heated_ = false;
};

}  // namespace

RandomModel random_model(std::uint64_t seed) { return Builder(seed).build(); }

}  // namespace voussoir::fuzz
