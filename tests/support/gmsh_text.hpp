#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

// A small mesh, and its bytes in every variant of Gmsh's format. Written from the description of the format, not by the
// library, so that reader and writer cannot agree on a mistake.

namespace voussoir::testing {

enum class GmshVariant { text22, text41, binary22, binary41, swapped22, swapped41 };
inline const std::vector<GmshVariant> all_gmsh_variants = {GmshVariant::text22,    GmshVariant::text41,
                                                           GmshVariant::binary22,  GmshVariant::binary41,
                                                           GmshVariant::swapped22, GmshVariant::swapped41};

struct GmshSample {
  struct Node {
    std::int64_t id;
    std::array<double, 3> x;
  };
  struct Element {
    std::int64_t id;
    int type, dimension, entity;
    std::vector<std::int64_t> nodes;  ///< in Gmsh's order
  };
  std::vector<Node> nodes;
  std::vector<Element> elements;
  std::map<std::pair<int, int>, std::vector<int>> physical;  ///< groups of an entity (dimension, tag)
  std::map<std::pair<int, int>, std::string> names;          ///< of a group (dimension, tag)

  const std::vector<int>& groups_of(const Element& e) const {
    static const std::vector<int> none;
    const auto it = physical.find({e.dimension, e.entity});
    return it == physical.end() ? none : it->second;
  }
};

/// Two cubes side by side along x (entities 1 and 2), the square at x = 0, an edge, a corner; numbered wildly.
inline GmshSample two_cubes() {
  GmshSample m;
  const std::int64_t id[] = {70, 3, 12, 41, 5, 900, 8, 77, 21, 2, 13, 64};
  for (int i = 0; i < 12; ++i)
    m.nodes.push_back({id[i], {static_cast<double>(i % 3), 0.5 * (i / 3 % 2), 0.25 * (i / 6)}});
  const auto n = [&](int i, int j, int k) { return id[i + 3 * j + 6 * k]; };
  const auto cube = [&](int i) {
    return std::vector<std::int64_t>{n(i, 0, 0), n(i + 1, 0, 0), n(i + 1, 1, 0), n(i, 1, 0),
                                     n(i, 0, 1), n(i + 1, 0, 1), n(i + 1, 1, 1), n(i, 1, 1)};
  };
  m.elements = {{7, 15, 0, 4, {n(2, 1, 1)}},
                {2, 1, 1, 6, {n(2, 0, 0), n(2, 1, 0)}},
                {30, 3, 2, 9, {n(0, 0, 0), n(0, 0, 1), n(0, 1, 1), n(0, 1, 0)}},
                {11, 5, 3, 1, cube(0)},
                {5, 5, 3, 2, cube(1)}};
  m.physical = {{{0, 4}, {1}}, {{1, 6}, {2}}, {{2, 9}, {3}}, {{3, 1}, {8}}, {{3, 2}, {8}}};
  m.names = {{{0, 1}, "tip"}, {{2, 3}, "left side"}, {{3, 8}, "body"}};
  return m;
}

/// Numbers of a file, as text or as bytes of either order.
class GmshBytes {
 public:
  GmshBytes(bool binary, bool swapped) : binary_(binary), swapped_(swapped) {}
  void line(const std::string& text) { out_ += text + "\n"; }
  void integer(std::int64_t v) { put<std::int32_t>(v); }
  void size(std::int64_t v) { put<std::uint64_t>(v); }
  void real(double v) {
    if (!binary_) {
      std::ostringstream text;
      text.precision(17);
      text << v << " ";
      out_ += text.str();
      return;
    }
    raw(v);
  }
  void end() {
    if (!binary_) out_ += "\n";
  }
  bool binary() const { return binary_; }
  const std::string& bytes() const { return out_; }

 private:
  template <class T>
  void put(std::int64_t v) {
    if (binary_)
      raw(static_cast<T>(v));
    else
      out_ += std::to_string(v) + " ";
  }
  template <class T>
  void raw(T v) {
    char b[sizeof(T)];
    std::memcpy(b, &v, sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i) out_ += b[swapped_ ? sizeof(T) - 1 - i : i];
  }
  bool binary_, swapped_;
  std::string out_;
};

inline void write_gmsh_22(const GmshSample& m, GmshBytes& out) {
  out.line("$Nodes");
  out.line(std::to_string(m.nodes.size()));
  for (const auto& node : m.nodes) {
    out.integer(node.id);
    for (double x : node.x) out.real(x);
    out.end();
  }
  if (out.binary()) out.line("");
  out.line("$EndNodes");
  // An element that belongs to several groups stands once for each, with ids of its own.
  std::int64_t next = 1000, count = 0;
  for (const auto& e : m.elements) count += std::max<std::size_t>(1, m.groups_of(e).size());
  out.line("$Elements");
  out.line(std::to_string(count));
  for (const auto& e : m.elements) {
    std::vector<int> groups = m.groups_of(e);
    if (groups.empty()) groups.push_back(0);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::int64_t id = g == 0 ? e.id : next++;
      if (out.binary()) {
        for (int v : {e.type, 1, 2}) out.integer(v);
        out.integer(id);
      } else {
        for (std::int64_t v : {id, std::int64_t{e.type}, std::int64_t{2}}) out.integer(v);
      }
      out.integer(groups[g]);
      out.integer(e.entity);
      for (std::int64_t n : e.nodes) out.integer(n);
      out.end();
    }
  }
  if (out.binary()) out.line("");
  out.line("$EndElements");
}

inline void write_gmsh_41(const GmshSample& m, GmshBytes& out) {
  std::map<std::pair<int, int>, std::vector<const GmshSample::Element*>> blocks;
  for (const auto& e : m.elements) blocks[{e.dimension, e.entity}].push_back(&e);
  out.line("$Entities");
  for (int d = 0; d < 4; ++d) {
    int count = 0;
    for (const auto& [key, block] : blocks) count += key.first == d;
    out.size(count);
  }
  out.end();
  for (const auto& [key, block] : blocks) {
    out.integer(key.second);
    for (int k = 0; k < (key.first == 0 ? 3 : 6); ++k) out.real(0.5);
    const auto& groups = m.groups_of(*block.front());
    out.size(static_cast<std::int64_t>(groups.size()));
    for (int g : groups) out.integer(g);
    if (key.first > 0) {
      out.size(2);
      out.integer(1);
      out.integer(-2);
    }
    out.end();
  }
  if (out.binary()) out.line("");
  out.line("$EndEntities");
  // Two blocks of nodes, the second with parametric coordinates.
  const std::size_t half = m.nodes.size() / 2;
  out.line("$Nodes");
  for (std::int64_t v : {2, static_cast<int>(m.nodes.size()), 1, 1000}) out.size(v);
  out.end();
  for (int part = 0; part < 2; ++part) {
    const std::size_t first = part == 0 ? 0 : half, last = part == 0 ? half : m.nodes.size();
    for (int v : {part == 0 ? 3 : 2, 1, part}) out.integer(v);
    out.size(static_cast<std::int64_t>(last - first));
    out.end();
    for (std::size_t i = first; i < last; ++i) {
      out.size(m.nodes[i].id);
      out.end();
    }
    for (std::size_t i = first; i < last; ++i) {
      for (double x : m.nodes[i].x) out.real(x);
      if (part == 1) out.real(0.1), out.real(0.2);
      out.end();
    }
  }
  if (out.binary()) out.line("");
  out.line("$EndNodes");
  out.line("$Elements");
  for (std::size_t v : {blocks.size(), m.elements.size(), std::size_t{1}, std::size_t{1000}})
    out.size(static_cast<std::int64_t>(v));
  out.end();
  for (const auto& [key, block] : blocks) {
    for (int v : {key.first, key.second, block.front()->type}) out.integer(v);
    out.size(static_cast<std::int64_t>(block.size()));
    out.end();
    for (const auto* e : block) {
      out.size(e->id);
      for (std::int64_t n : e->nodes) out.size(n);
      out.end();
    }
  }
  if (out.binary()) out.line("");
  out.line("$EndElements");
}

inline std::string gmsh_bytes(const GmshSample& m, GmshVariant variant) {
  const bool is_41 =
      variant == GmshVariant::text41 || variant == GmshVariant::binary41 || variant == GmshVariant::swapped41;
  const bool binary = variant != GmshVariant::text22 && variant != GmshVariant::text41;
  const bool swapped = variant == GmshVariant::swapped22 || variant == GmshVariant::swapped41;
  GmshBytes out(binary, swapped);
  out.line("$MeshFormat");
  out.line(std::string(is_41 ? "4.1" : "2.2") + (binary ? " 1 8" : " 0 8"));
  if (binary) {
    out.integer(1);
    out.line("");
  }
  out.line("$EndMeshFormat");
  if (!m.names.empty()) {
    out.line("$PhysicalNames");
    out.line(std::to_string(m.names.size()));
    for (const auto& [key, name] : m.names)
      out.line(std::to_string(key.first) + " " + std::to_string(key.second) + " \"" + name + "\"");
    out.line("$EndPhysicalNames");
  }
  if (is_41)
    write_gmsh_41(m, out);
  else
    write_gmsh_22(m, out);
  out.line("$Periodic");
  out.line("0");
  out.line("$EndPeriodic");
  return out.bytes();
}

}  // namespace voussoir::testing
