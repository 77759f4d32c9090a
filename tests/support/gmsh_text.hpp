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

enum class GmshVariant {
  text22,
  text41,
  binary22,
  binary41,
  swapped22,
  swapped41,
  text21,
  binary21,
  text40,
  binary40,
  swapped40,
  text20,
  binary20,
  text1
};
/// Those that tell the names of groups with their dimension.
inline const std::vector<GmshVariant> all_gmsh_variants = {
    GmshVariant::text22,    GmshVariant::text41,    GmshVariant::binary22, GmshVariant::binary41,
    GmshVariant::swapped22, GmshVariant::swapped41, GmshVariant::text21,   GmshVariant::binary21,
    GmshVariant::text40,    GmshVariant::binary40,  GmshVariant::swapped40};

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
  /// Numbers of nodes and elements: `int` in 4.0, `size_t` in 4.1.
  void tag(std::int64_t v, bool is_40) { is_40 ? integer(v) : size(v); }
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

inline void write_gmsh_1(const GmshSample& m, GmshBytes& out) {
  out.line("$NOD");
  out.line(std::to_string(m.nodes.size()));
  for (const auto& node : m.nodes) {
    out.integer(node.id);
    for (double x : node.x) out.real(x);
    out.end();
  }
  out.line("$ENDNOD");
  out.line("$ELM");
  out.line(std::to_string(m.elements.size()));
  for (const auto& e : m.elements) {
    const auto& groups = m.groups_of(e);
    for (std::int64_t v : {e.id, std::int64_t{e.type}, std::int64_t{groups.empty() ? 0 : groups.front()},
                           std::int64_t{e.entity}, static_cast<std::int64_t>(e.nodes.size())})
      out.integer(v);
    for (std::int64_t n : e.nodes) out.integer(n);
    out.end();
  }
  out.line("$ENDELM");
}

/// Versions 2.0 to 2.2 differ in what the tags behind the entity mean: the partition, or a list of partitions.
inline void write_gmsh_22(const GmshSample& m, GmshBytes& out, bool is_22 = true) {
  const int tags = is_22 ? 2 : 3;
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
        for (int v : {e.type, 1, tags}) out.integer(v);
        out.integer(id);
      } else {
        for (std::int64_t v : {id, std::int64_t{e.type}, std::int64_t{tags}}) out.integer(v);
      }
      out.integer(groups[g]);
      out.integer(e.entity);
      if (!is_22) out.integer(7);
      for (std::int64_t n : e.nodes) out.integer(n);
      out.end();
    }
  }
  if (out.binary()) out.line("");
  out.line("$EndElements");
}

inline void write_gmsh_4(const GmshSample& m, GmshBytes& out, bool is_40) {
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
    for (int k = 0; k < (key.first == 0 && !is_40 ? 3 : 6); ++k) out.real(0.5);
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
  for (std::int64_t v : {2, static_cast<int>(m.nodes.size())}) out.size(v);
  if (!is_40) out.size(1), out.size(1000);
  out.end();
  for (int part = 0; part < 2; ++part) {
    const std::size_t first = part == 0 ? 0 : half, last = part == 0 ? half : m.nodes.size();
    const int dimension = part == 0 ? 3 : 2;
    for (int v : {is_40 ? 1 : dimension, is_40 ? dimension : 1, part}) out.integer(v);
    out.size(static_cast<std::int64_t>(last - first));
    out.end();
    for (std::size_t i = first; i < last && !is_40; ++i) {
      out.size(m.nodes[i].id);
      out.end();
    }
    for (std::size_t i = first; i < last; ++i) {
      if (is_40) out.integer(m.nodes[i].id);
      for (double x : m.nodes[i].x) out.real(x);
      if (part == 1) out.real(0.1), out.real(0.2);
      out.end();
    }
  }
  if (out.binary()) out.line("");
  out.line("$EndNodes");
  out.line("$Elements");
  for (std::size_t v : {blocks.size(), m.elements.size()}) out.size(static_cast<std::int64_t>(v));
  if (!is_40) out.size(1), out.size(1000);
  out.end();
  for (const auto& [key, block] : blocks) {
    for (int v : {is_40 ? key.second : key.first, is_40 ? key.first : key.second, block.front()->type}) out.integer(v);
    out.size(static_cast<std::int64_t>(block.size()));
    out.end();
    for (const auto* e : block) {
      out.tag(e->id, is_40);
      for (std::int64_t n : e->nodes) out.tag(n, is_40);
      out.end();
    }
  }
  if (out.binary()) out.line("");
  out.line("$EndElements");
}

inline std::string gmsh_bytes(const GmshSample& m, GmshVariant variant) {
  using V = GmshVariant;
  const bool is_40 = variant == V::text40 || variant == V::binary40 || variant == V::swapped40;
  const bool is_41 = variant == V::text41 || variant == V::binary41 || variant == V::swapped41;
  const bool is_20 = variant == V::text20 || variant == V::binary20;
  const bool is_21 = variant == V::text21 || variant == V::binary21;
  const bool swapped = variant == V::swapped22 || variant == V::swapped41 || variant == V::swapped40;
  const bool binary = swapped || variant == V::binary22 || variant == V::binary41 || variant == V::binary21 ||
                      variant == V::binary40 || variant == V::binary20;
  GmshBytes out(binary, swapped);
  if (variant == V::text1) {
    write_gmsh_1(m, out);
    return out.bytes();
  }
  out.line("$MeshFormat");
  out.line(std::string(is_41 ? "4.1" : is_40 ? "4" : is_20 ? "2" : is_21 ? "2.1" : "2.2") + (binary ? " 1 8" : " 0 8"));
  if (binary) {
    out.integer(1);
    out.line("");
  }
  out.line("$EndMeshFormat");
  if (!m.names.empty()) {
    out.line("$PhysicalNames");
    out.line(std::to_string(m.names.size()));
    for (const auto& [key, name] : m.names)
      out.line((is_20 ? "" : std::to_string(key.first) + " ") + std::to_string(key.second) + " \"" + name + "\"");
    out.line("$EndPhysicalNames");
  }
  if (is_40 || is_41)
    write_gmsh_4(m, out, is_40);
  else
    write_gmsh_22(m, out, !is_20 && !is_21);
  out.line("$Periodic");
  out.line("0");
  out.line("$EndPeriodic");
  return out.bytes();
}

}  // namespace voussoir::testing
