#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/io/gmsh/detail/sections.hpp>

namespace voussoir::gmsh {

/// Versions 4.0 and 4.1: nodes and elements in blocks, one per entity; entities know their physical groups. 4.0 numbers
/// nodes and elements by `int` and writes a node's number beside its coordinates, 4.1 by `size_t` and apart from them.
template <class Source>
class Sections4 : Sections<Source> {
  using Base = Sections<Source>;
  using Base::builder_, Base::source_;

 public:
  Sections4(Source source, MeshBuilder& builder, const Tick& tick, bool is_40)
      : Base(source, builder, tick), is_40_(is_40) {}

  void entities() {
    const std::vector<std::int64_t> counts = entity_counts();
    for (int dimension = 0; dimension < 4; ++dimension)
      for (std::int64_t i = 0; i < counts[dimension]; ++i) {
        const int tag = this->small_integer();
        entity_body(dimension, tag);
        this->tick_at(i);
      }
  }

  /// The entities of a mesh that is cut in parts stand apart and have the physical groups of those they were cut from.
  void partitioned_entities() {
    partition_count(0, "partitions");
    const std::int64_t ghosts = partition_count(2 * Source::integer_bytes, "ghost entities");
    for (std::int64_t i = 0; i < 2 * ghosts; ++i) source_.free_integer();
    const std::vector<std::int64_t> counts = entity_counts();
    for (int dimension = 0; dimension < 4; ++dimension)
      for (std::int64_t i = 0; i < counts[dimension]; ++i) {
        const int tag = this->small_integer();
        source_.free_integer();  // dimension and tag of the whole
        source_.free_integer();
        const std::int64_t partitions = partition_count(Source::integer_bytes, "partitions");
        for (std::int64_t k = 0; k < partitions; ++k) source_.free_integer();
        entity_body(dimension, tag);
        this->tick_at(i);
      }
  }

  void nodes() {
    const auto [blocks, total] = header(tag_bytes() + 3 * Source::real_bytes, "nodes");
    this->reserve_nodes(total);
    std::int64_t done = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const int dimension = block_entity().dimension;
      const bool parametric = source_.free_integer() != 0;
      const std::int64_t count = block_size(total - done, "nodes");
      if (is_40_)
        nodes_40(count, parametric && dimension < 3 ? dimension : 0);
      else
        nodes_41(count, parametric ? dimension : 0);
      done += count;
    }
    require_total(done, total, "nodes");
  }

  void elements() {
    const auto [blocks, total] = header(2 * tag_bytes(), "elements");
    std::int64_t done = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const Entity entity = block_entity();
      const std::int64_t type = source_.free_integer();
      const std::int64_t count = block_size(total - done, "elements");
      if (count == 0) continue;
      const Shape& shape = this->require_shape(type);
      if (shape.dimension != entity.dimension)
        this->fail_count("elements of type " + std::string(shape.name) + " in an entity of dimension " +
                         std::to_string(entity.dimension));
      this->require_room(count, (1 + shape.nodes) * tag_bytes(), "elements");
      GmshMesh::Batch& batch = builder_.batch(shape, builder_.physical_tags(entity.dimension, entity.tag));
      this->grow(batch.ids, count);
      this->grow(batch.nodes, count * shape.nodes);
      const auto element = [&](auto& source, auto& to) {
        std::int64_t nodes[max_shape_nodes];
        source.begin_record();
        const std::int64_t id = tag(source);
        for (int k = 0; k < shape.nodes; ++k) nodes[k] = tag(source);
        source.end_record();
        this->take_nodes(shape, to, id, nodes);
      };
      const auto take = [&](const ElementRows& rows) {
        this->append(batch.ids, rows.ids);
        this->append(batch.nodes, rows.nodes);
      };
      for (std::int64_t i = this->template read_by_threads<ElementRows>(count, element, take); i < count; ++i) {
        element(source_, batch);
        this->tick_at(i);
      }
      done += count;
    }
    require_total(done, total, "elements");
  }

 private:
  struct Entity {
    int dimension, tag;
  };
  struct Header {
    std::int64_t blocks, total;
  };

  std::int64_t tag_bytes() const { return is_40_ ? Source::integer_bytes : Source::size_bytes; }
  /// The number of a node or an element.
  template <class AnySource>
  std::int64_t tag(AnySource& source) const {
    return is_40_ ? source.integer() : source.size();
  }

  Header header(std::int64_t bytes_each, const char* what) {
    const std::int64_t blocks = source_.free_size(), total = source_.free_size();
    if (!is_40_) {
      source_.free_size();  // lowest and highest tag: of no use
      source_.free_size();
    }
    this->require_room(total, bytes_each, what);
    return {blocks, total};
  }

  /// The entity of a block: 4.0 writes its tag first, 4.1 its dimension.
  Entity block_entity() {
    if (is_40_) {
      const int tag = this->small_integer();
      return {this->require_dimension(source_.free_integer()), tag};
    }
    const int dimension = this->require_dimension(source_.free_integer());
    return {dimension, this->small_integer()};
  }

  std::int64_t block_size(std::int64_t left, const char* what) {
    const std::int64_t count = source_.free_size();
    if (count < 0 || count > left)
      this->fail_count("a block of " + std::to_string(count) + " " + what + ", where " + std::to_string(left) +
                       " are left");
    return count;
  }

  void require_total(std::int64_t done, std::int64_t total, const char* what) const {
    if (done != total)
      this->fail_count("blocks of " + std::to_string(done) + " " + what + " in total, but the section declares " +
                       std::to_string(total));
  }

  void nodes_40(std::int64_t count, int parameters) {
    const auto node = [&](auto& source, std::vector<Id>& ids, std::vector<double>& coordinates) {
      source.begin_record();
      ids.push_back(source.integer());
      this->take_point(source, coordinates);
      source.skip_reals(parameters);
      source.end_record();
    };
    std::int64_t i = this->template read_by_threads<NodeRows>(
        count, [&](auto& source, NodeRows& rows) { node(source, rows.ids, rows.coordinates); },
        [&](const NodeRows& rows) { this->take(rows); });
    for (; i < count; ++i) {
      node(source_, builder_.node_ids(), builder_.coordinates());
      this->tick_at(i);
    }
  }

  void nodes_41(std::int64_t count, int parameters) {
    const auto id = [](auto& source, std::vector<Id>& ids) { ids.push_back(source.free_size()); };
    const auto point = [&](auto& source, std::vector<double>& coordinates) {
      source.begin_record();
      this->take_point(source, coordinates);
      source.skip_reals(parameters);
      source.end_record();
    };
    std::int64_t i = this->template read_by_threads<std::vector<Id>>(
        count, id, [&](const std::vector<Id>& ids) { this->append(builder_.node_ids(), ids); });
    for (; i < count; ++i) id(source_, builder_.node_ids());
    i = this->template read_by_threads<std::vector<double>>(
        count, point, [&](const std::vector<double>& x) { this->append(builder_.coordinates(), x); });
    for (; i < count; ++i) {
      point(source_, builder_.coordinates());
      this->tick_at(i);
    }
  }

  /// A count of list entries that take so many bytes each.
  std::int64_t list_size(std::int64_t bytes_each, const char* what) {
    const std::int64_t count = source_.free_size();
    this->require_room(count, bytes_each, what);
    return count;
  }
  /// Counts of partitions are `int` in 4.0.
  std::int64_t partition_count(std::int64_t bytes_each, const char* what) {
    const std::int64_t count = is_40_ ? source_.free_integer() : source_.free_size();
    if (bytes_each > 0) this->require_room(count, bytes_each, what);
    return count;
  }

  std::vector<std::int64_t> entity_counts() {
    std::vector<std::int64_t> counts;
    for (int dimension = 0; dimension < 4; ++dimension) {
      counts.push_back(source_.free_size());
      this->require_room(counts.back(), Source::integer_bytes + 3 * Source::real_bytes + Source::size_bytes,
                         "entities");
    }
    return counts;
  }

  /// What follows the tag of an entity: its place (4.1: of a point) or box, its groups, and what bounds it.
  void entity_body(int dimension, int tag) {
    for (int k = 0; k < (dimension == 0 && !is_40_ ? 3 : 6); ++k) source_.free_real();
    std::vector<int> groups;
    const std::int64_t count = list_size(Source::integer_bytes, "physical groups");
    for (std::int64_t k = 0; k < count; ++k) groups.push_back(this->small_integer());
    if (dimension > 0) {
      const std::int64_t bounds = list_size(Source::integer_bytes, "bounding entities");
      for (std::int64_t k = 0; k < bounds; ++k) source_.free_integer();
    }
    builder_.add_entity(dimension, tag, std::move(groups));
  }

  bool is_40_;
};

}  // namespace voussoir::gmsh
