#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/io/gmsh/detail/sections.hpp>

namespace voussoir::gmsh {

/// Versions 1 to 2.2: a list of nodes and a list of elements, each with the tag of its physical group.
template <class Source>
class Sections2 : Sections<Source> {
  using Base = Sections<Source>;
  using Base::builder_, Base::source_;

 public:
  using Base::Base;

  void nodes(std::int64_t count) {
    this->require_room(count, Source::integer_bytes + 3 * Source::real_bytes, "nodes");
    this->reserve_nodes(count);
    const auto node = [&](auto& source, std::vector<Id>& ids, std::vector<double>& coordinates) {
      source.begin_record();
      ids.push_back(source.integer());
      this->take_point(source, coordinates);
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

  /// Nodes with the entity that they lie on, and their parameters there.
  void parametric_nodes(std::int64_t count) {
    this->require_room(count, 3 * Source::integer_bytes + 3 * Source::real_bytes, "nodes");
    this->reserve_nodes(count);
    for (std::int64_t i = 0; i < count; ++i) {
      source_.begin_record();
      builder_.node_ids().push_back(source_.integer());
      this->take_point();
      const int dimension = this->require_dimension(source_.integer());
      source_.integer();  // the entity
      source_.skip_reals(dimension < 3 ? dimension : 0);
      source_.end_record();
      this->tick_at(i);
    }
  }

  /// Version 1: number, type, physical group, entity, number of nodes, nodes.
  void elements_1(std::int64_t count) {
    this->require_room(count, 6 * Source::integer_bytes, "elements");
    for (std::int64_t i = 0; i < count; ++i) {
      source_.begin_record();
      const std::int64_t id = source_.integer(), type = source_.integer(), group = source_.integer();
      source_.integer();  // the entity
      const std::int64_t nodes = source_.integer();
      const Shape& shape = shape_of(type);
      if (nodes != shape.nodes)
        this->fail_count("the element " + std::to_string(id) + " (" + std::string(shape.name) + ") with " +
                         std::to_string(nodes) + " nodes instead of " + std::to_string(shape.nodes));
      element(id, type, group);
      source_.end_record();
      this->tick_at(i);
    }
  }

  void elements_text(std::int64_t count) {
    this->require_room(count, 4 * Source::integer_bytes, "elements");
    for (std::int64_t i = 0; i < count; ++i) {
      source_.begin_record();
      const std::int64_t id = source_.integer();
      const std::int64_t type = source_.integer();
      shape_of(type);
      element(id, type, group_of_tags(source_.integer()));
      source_.end_record();
      this->tick_at(i);
    }
  }

  /// Elements stand in runs of one type.
  void elements_binary(std::int64_t count) {
    this->require_room(count, Source::integer_bytes, "elements");
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t type = source_.integer(), run = source_.integer(), tags = source_.integer();
      const Shape& shape = this->require_shape(type);
      if (run < 1 || run > count - done)
        this->fail_count("a run of " + std::to_string(run) + " elements, where " + std::to_string(count - done) +
                         " are left");
      this->require_tag_count(tags);
      this->require_room(run, (1 + tags + shape.nodes) * Source::integer_bytes, "elements");
      for (std::int64_t i = 0; i < run; ++i) {
        const std::int64_t id = source_.integer();
        element(id, type, group_of_tags(tags));
        this->tick_at(done + i);
      }
      done += run;
    }
  }

 private:
  const Shape& shape_of(std::int64_t type) {
    if (!last_shape_ || type != last_shape_->type) last_shape_ = &this->require_shape(type);
    return *last_shape_;
  }

  /// Reads the tags of an element. The first is its physical group, the second its entity; what follows is about
  /// partitions, and differs between the versions.
  std::int64_t group_of_tags(std::int64_t tags) {
    this->require_tag_count(tags);
    std::int64_t group = 0;
    for (std::int64_t k = 0; k < tags; ++k) {
      const std::int64_t tag = source_.integer();
      if (k == 0) group = tag;
    }
    return group;
  }

  /// Reads the nodes of an element.
  void element(std::int64_t id, std::int64_t type, std::int64_t group) {
    const Shape& shape = shape_of(type);
    group = group < 0 ? -group : group;  // the sign is about the direction of normals
    if (group > INT32_MAX) this->fail_count("the physical group " + std::to_string(group) + ", whose tag is too large");
    if (!last_batch_ || type != last_type_ || group != last_group_) {
      std::vector<int> groups;
      if (group != 0) groups.push_back(static_cast<int>(group));
      last_batch_ = &builder_.batch(shape, groups);
      last_type_ = type;
      last_group_ = group;
    }
    std::int64_t nodes[max_shape_nodes];
    for (int k = 0; k < shape.nodes; ++k) nodes[k] = source_.integer();
    this->take_nodes(shape, *last_batch_, id, nodes);
  }

  GmshMesh::Batch* last_batch_ = nullptr;
  const Shape* last_shape_ = nullptr;
  std::int64_t last_type_ = -1, last_group_ = -1;
};

}  // namespace voussoir::gmsh
