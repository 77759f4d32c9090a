#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <voussoir/framework/io/detail/gmsh/mesh_builder.hpp>
#include <voussoir/framework/io/detail/gmsh/shapes.hpp>
#include <voussoir/framework/io/detail/gmsh/source.hpp>

// The sections of both versions of the format, each written once for text and binary. Counts are never believed: before
// anything is allocated, what they announce must fit into the bytes that are left.

namespace voussoir::gmsh {

/// Tells how far the reading is; called every few thousand elements.
using Tick = std::function<void(std::size_t position)>;
constexpr std::int64_t tick_interval = 1 << 15;

template <class Source>
class Sections {
 public:
  Sections(Source source, MeshBuilder& builder, const Tick& tick) : source_(source), builder_(builder), tick_(tick) {}

  // --- version 2.2 -------------------------------------------------------------------------------------------------

  void nodes_2(std::int64_t count) {
    require_room(count, Source::integer_bytes + 3 * Source::real_bytes, "nodes");
    reserve_nodes(count);
    for (std::int64_t i = 0; i < count; ++i) {
      source_.begin_record();
      builder_.node_ids().push_back(source_.integer());
      take_point();
      source_.end_record();
      tick_at(i);
    }
  }

  void elements_2_text(std::int64_t count) {
    require_room(count, 4 * Source::integer_bytes, "elements");
    for (std::int64_t i = 0; i < count; ++i) {
      source_.begin_record();
      const std::int64_t id = source_.integer();
      const std::int64_t type = source_.integer();
      element_2(id, type, source_.integer());
      source_.end_record();
      tick_at(i);
    }
  }

  /// Elements stand in runs of one type.
  void elements_2_binary(std::int64_t count) {
    require_room(count, Source::integer_bytes, "elements");
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t type = source_.integer(), run = source_.integer(), tags = source_.integer();
      const Shape& shape = require_shape(type);
      if (run < 1 || run > count - done)
        fail_count("a run of " + std::to_string(run) + " elements, where " + std::to_string(count - done) +
                   " are left");
      require_tag_count(tags);
      require_room(run, (1 + tags + shape.nodes) * Source::integer_bytes, "elements");
      for (std::int64_t i = 0; i < run; ++i) {
        element_2(source_.integer(), type, tags);
        tick_at(done + i);
      }
      done += run;
    }
  }

  // --- version 4.1 -------------------------------------------------------------------------------------------------

  void entities_4() {
    const std::vector<std::int64_t> counts = entity_counts();
    for (int dimension = 0; dimension < 4; ++dimension)
      for (std::int64_t i = 0; i < counts[dimension]; ++i) {
        const int tag = small_integer();
        entity_body(dimension, tag);
        tick_at(i);
      }
  }

  /// The entities of a mesh that is cut in parts stand apart and have the physical groups of those they were cut from.
  void partitioned_entities_4() {
    source_.free_size();  // number of partitions
    const std::int64_t ghosts = list_size(2 * Source::integer_bytes, "ghost entities");
    for (std::int64_t i = 0; i < 2 * ghosts; ++i) source_.free_integer();
    const std::vector<std::int64_t> counts = entity_counts();
    for (int dimension = 0; dimension < 4; ++dimension)
      for (std::int64_t i = 0; i < counts[dimension]; ++i) {
        const int tag = small_integer();
        source_.free_integer();  // dimension and tag of the whole
        source_.free_integer();
        const std::int64_t partitions = list_size(Source::integer_bytes, "partitions");
        for (std::int64_t k = 0; k < partitions; ++k) source_.free_integer();
        entity_body(dimension, tag);
        tick_at(i);
      }
  }

  void nodes_4() {
    const std::int64_t blocks = source_.free_size(), total = source_.free_size();
    source_.free_size();  // lowest and highest tag: of no use
    source_.free_size();
    require_room(total, Source::size_bytes + 3 * Source::real_bytes, "nodes");
    reserve_nodes(total);
    std::int64_t done = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const int dimension = require_dimension(source_.free_integer());
      source_.free_integer();  // the entity
      const int parameters = source_.free_integer() != 0 ? dimension : 0;
      const std::int64_t count = source_.free_size();
      if (count < 0 || count > total - done)
        fail_count("a block of " + std::to_string(count) + " nodes, where " + std::to_string(total - done) +
                   " are left");
      for (std::int64_t i = 0; i < count; ++i) builder_.node_ids().push_back(source_.free_size());
      for (std::int64_t i = 0; i < count; ++i) {
        source_.begin_record();
        take_point();
        source_.skip_reals(parameters);
        source_.end_record();
        tick_at(i);
      }
      done += count;
    }
    if (done != total)
      fail_count("blocks of " + std::to_string(done) + " nodes in all, where the section announces " +
                 std::to_string(total));
  }

  void elements_4() {
    const std::int64_t blocks = source_.free_size(), total = source_.free_size();
    source_.free_size();
    source_.free_size();
    require_room(total, 2 * Source::size_bytes, "elements");
    std::int64_t done = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const int dimension = require_dimension(source_.free_integer());
      const int entity = small_integer();
      const std::int64_t type = source_.free_integer();
      const std::int64_t count = source_.free_size();
      if (count < 0 || count > total - done)
        fail_count("a block of " + std::to_string(count) + " elements, where " + std::to_string(total - done) +
                   " are left");
      if (count == 0) continue;
      const Shape& shape = require_shape(type);
      if (shape.dimension != dimension)
        fail_count("elements of type " + std::string(shape.name) + " in an entity of dimension " +
                   std::to_string(dimension));
      require_room(count, (1 + shape.nodes) * Source::size_bytes, "elements");
      GmshMesh::Batch& batch = builder_.batch(shape, builder_.physical_tags(dimension, entity));
      grow(batch.ids, count);
      grow(batch.nodes, count * shape.nodes);
      std::int64_t nodes[20];
      for (std::int64_t i = 0; i < count; ++i) {
        source_.begin_record();
        batch.ids.push_back(source_.size());
        for (int k = 0; k < shape.nodes; ++k) nodes[k] = source_.size();
        source_.end_record();
        for (int k = 0; k < shape.nodes; ++k) batch.nodes.push_back(nodes[shape.order[k]]);
        tick_at(i);
      }
      done += count;
    }
    if (done != total)
      fail_count("blocks of " + std::to_string(done) + " elements in all, where the section announces " +
                 std::to_string(total));
  }

 private:
  [[noreturn]] void fail_count(const std::string& has) const {
    source_.fail("the section has " + has + "; the file is damaged: save it again", source_.position());
  }

  void require_room(std::int64_t count, std::int64_t bytes_each, const char* what) const {
    if (count >= 0 && count <= source_.remaining() / bytes_each + 1) return;
    source_.fail("the section announces " + std::to_string(count) + " " + what + ", but only " +
                     std::to_string(source_.remaining()) +
                     " bytes follow; the file is cut off or damaged: save it again",
                 source_.position());
  }

  /// A count of list entries that take so many bytes each.
  std::int64_t list_size(std::int64_t bytes_each, const char* what) {
    const std::int64_t count = source_.free_size();
    require_room(count, bytes_each, what);
    return count;
  }

  int small_integer() {
    const std::int64_t value = source_.free_integer();
    if (value < -INT32_MAX || value > INT32_MAX)
      source_.fail("the tag " + std::to_string(value) + " is too large; the file is damaged: save it again",
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

  std::vector<std::int64_t> entity_counts() {
    std::vector<std::int64_t> counts;
    for (int dimension = 0; dimension < 4; ++dimension) {
      counts.push_back(source_.free_size());
      require_room(counts.back(), Source::integer_bytes + 3 * Source::real_bytes + Source::size_bytes, "entities");
    }
    return counts;
  }

  /// What follows the tag of an entity: its place or box, its groups, and what bounds it.
  void entity_body(int dimension, int tag) {
    for (int k = 0; k < (dimension == 0 ? 3 : 6); ++k) source_.free_real();
    std::vector<int> groups;
    const std::int64_t count = list_size(Source::integer_bytes, "physical groups");
    for (std::int64_t k = 0; k < count; ++k) groups.push_back(small_integer());
    if (dimension > 0) {
      const std::int64_t bounds = list_size(Source::integer_bytes, "bounding entities");
      for (std::int64_t k = 0; k < bounds; ++k) source_.free_integer();
    }
    builder_.add_entity(dimension, tag, std::move(groups));
  }

  void element_2(std::int64_t id, std::int64_t type, std::int64_t tags) {
    if (!last_batch_ || type != last_type_) last_shape_ = &require_shape(type);
    require_tag_count(tags);
    std::int64_t group = 0;
    for (std::int64_t k = 0; k < tags; ++k) {
      const std::int64_t tag = source_.integer();
      if (k == 0) group = tag < 0 ? -tag : tag;
    }
    if (group > INT32_MAX) fail_count("the physical group " + std::to_string(group) + ", whose tag is too large");
    if (!last_batch_ || type != last_type_ || group != last_group_) {
      std::vector<int> groups;
      if (group != 0) groups.push_back(static_cast<int>(group));
      last_batch_ = &builder_.batch(*last_shape_, groups);
      last_type_ = type;
      last_group_ = group;
    }
    std::int64_t nodes[20];
    for (int k = 0; k < last_shape_->nodes; ++k) nodes[k] = source_.integer();
    last_batch_->ids.push_back(id);
    for (int k = 0; k < last_shape_->nodes; ++k) last_batch_->nodes.push_back(nodes[last_shape_->order[k]]);
  }

  void reserve_nodes(std::int64_t count) {
    builder_.node_ids().reserve(count);
    builder_.coordinates().reserve(3 * count);
  }
  /// Room for more without giving up that a vector grows by a factor.
  static void grow(std::vector<Id>& values, std::int64_t more) {
    const std::size_t wanted = values.size() + static_cast<std::size_t>(more);
    if (values.empty() || wanted > 2 * values.capacity()) values.reserve(wanted);
  }

  void take_point() {
    const double x = source_.real(), y = source_.real(), z = source_.real();
    auto& coordinates = builder_.coordinates();
    coordinates.push_back(x);
    coordinates.push_back(y);
    coordinates.push_back(z);
  }

  void tick_at(std::int64_t i) const {
    if (i % tick_interval == tick_interval - 1) tick_(source_.position());
  }

  Source source_;
  MeshBuilder& builder_;
  const Tick& tick_;
  GmshMesh::Batch* last_batch_ = nullptr;
  const Shape* last_shape_ = nullptr;
  std::int64_t last_type_ = -1, last_group_ = -1;
};

}  // namespace voussoir::gmsh
