#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <voussoir/framework/io/gmsh/detail/mesh_builder.hpp>
#include <voussoir/framework/io/gmsh/detail/shapes.hpp>
#include <voussoir/framework/io/gmsh/detail/source.hpp>
#include <voussoir/framework/io/gmsh/detail/text_pieces.hpp>

// What the sections of all versions of the format have in common; each is written once for text and binary. Counts are
// never believed: before anything is allocated, what they announce must fit into the bytes that are left.

namespace voussoir::gmsh {

/// Tells how far the reading is; called every few thousand elements.
using Tick = std::function<void(std::size_t position)>;
constexpr std::int64_t tick_interval = 1 << 15;

/// Nodes and elements of a piece of a section.
struct NodeRows {
  std::vector<Id> ids;
  std::vector<double> coordinates;
};
struct ElementRows {
  std::vector<Id> ids, nodes;
};

template <class Source>
class Sections {
 public:
  Sections(Source source, MeshBuilder& builder, const Tick& tick) : source_(source), builder_(builder), tick_(tick) {}

 protected:
  [[noreturn]] void fail_count(const std::string& has) const {
    source_.fail("the section has " + has + "; the file is corrupt: save it again", source_.position());
  }

  void require_room(std::int64_t count, std::int64_t bytes_each, const char* what) const {
    if (count >= 0 && count <= source_.remaining() / bytes_each + 1) return;
    source_.fail("the section declares " + std::to_string(count) + " " + what + ", but only " +
                     std::to_string(source_.remaining()) +
                     " bytes follow; the file is truncated or corrupt: save it again",
                 source_.position());
  }

  int small_integer() {
    const std::int64_t value = source_.free_integer();
    if (value < -INT32_MAX || value > INT32_MAX)
      source_.fail("the tag " + std::to_string(value) + " is too large; the file is corrupt: save it again",
                   source_.position());
    return static_cast<int>(value);
  }

  int require_dimension(std::int64_t dimension) const {
    if (dimension < 0 || dimension > 3)
      fail_count("an entity of dimension " + std::to_string(dimension) + ", which is not 0, 1, 2 or 3");
    return static_cast<int>(dimension);
  }

  const Shape& require_shape(std::int64_t type) const {
    const Shape* shape = type >= 0 && type < 1000 ? find_shape(static_cast<int>(type)) : nullptr;
    if (!shape) source_.fail(refusal(type >= 0 && type < 1000 ? static_cast<int>(type) : -1), source_.position());
    return *shape;
  }

  void require_tag_count(std::int64_t tags) const {
    if (tags < 0 || tags > 100000) fail_count("an element with " + std::to_string(tags) + " tags");
  }

  void reserve_nodes(std::int64_t count) {
    builder_.node_ids().reserve(count);
    builder_.coordinates().reserve(3 * count);
  }
  /// Adds an element whose nodes are in Gmsh's order.
  template <class Batch>
  static void take_nodes(const Shape& shape, Batch& batch, std::int64_t id, const std::int64_t* nodes) {
    batch.ids.push_back(id);
    for (int k = 0; k < shape.nodes; ++k) batch.nodes.push_back(nodes[shape.order[k]]);
  }
  /// Room for more without giving up that a vector grows by a factor.
  static void grow(std::vector<Id>& values, std::int64_t more) {
    const std::size_t wanted = values.size() + static_cast<std::size_t>(more);
    if (values.empty() || wanted > 2 * values.capacity()) values.reserve(wanted);
  }

  void take_point() { take_point(source_, builder_.coordinates()); }
  template <class AnySource>
  static void take_point(AnySource& source, std::vector<double>& coordinates) {
    const double x = source.real(), y = source.real(), z = source.real();
    coordinates.push_back(x);
    coordinates.push_back(y);
    coordinates.push_back(z);
  }
  void take(const NodeRows& rows) {
    append(builder_.node_ids(), rows.ids);
    append(builder_.coordinates(), rows.coordinates);
  }

  /// Reads records of a text by several threads: read(source, rows) takes one of them, take(rows) those of a piece of
  /// the text, in order. Returns how many of `count` were read; the caller reads the others.
  template <class Rows, class Read, class Take>
  std::int64_t read_by_threads(std::int64_t count, const Read& read, const Take& take) {
    std::int64_t done = 0;
    if constexpr (std::is_same_v<Source, TextSource>) {
      constexpr std::int64_t worth_threads = 4096;
      constexpr std::size_t least_bytes = std::size_t{1} << 19, most_bytes = std::size_t{1} << 25;  // at a time
      while (count - done >= worth_threads) {
        source_.begin_record();
        std::string_view text = source_.ahead();
        // Lines are about as long as the first one; what follows the records need not be read.
        const std::size_t line = std::min(text.find('\n'), most_bytes) + 1;
        const auto expected = static_cast<std::size_t>(count - done) * (line + line / 4 + 2);
        text = text.substr(0, std::clamp(expected / 4, least_bytes, most_bytes));
        text = text.substr(0, text.rfind('\n') + 1);
        const TextPieces<Rows> found = read_text_pieces<Rows>(text, count - done, read);
        if (found.records == 0) break;
        for (const Rows& rows : found.rows) take(rows);
        source_.skip_bytes(found.bytes);
        done += found.records;
        tick_(source_.position());
        if (found.bytes < text.size()) break;
      }
    }
    return done;
  }

  template <class T>
  static void append(std::vector<T>& to, const std::vector<T>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  void tick_at(std::int64_t i) const {
    if (i % tick_interval == tick_interval - 1) tick_(source_.position());
  }

  Source source_;
  MeshBuilder& builder_;
  const Tick& tick_;
};

}  // namespace voussoir::gmsh
