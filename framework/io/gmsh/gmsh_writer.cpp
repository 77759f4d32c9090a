#include <voussoir/framework/io/gmsh/gmsh_writer.hpp>

#include <algorithm>
#include <limits>
#include <map>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/io/detail/text_sink.hpp>
#include <voussoir/framework/io/gmsh/detail/shapes.hpp>

namespace voussoir {
namespace {

const gmsh::Shape& shape_of(const ElementBlock& block) {
  std::string name = block.type().shape();
  if (name.empty()) name = block.nodes_per_element() == 1 ? "point" : block.nodes_per_element() == 2 ? "line2" : "";
  const gmsh::Shape* shape = gmsh::find_shape(name);
  if (shape == nullptr)
    throw Error(ErrorCode::bad_input,
                "Gmsh has no element with " + std::to_string(block.nodes_per_element()) + " nodes of this kind",
                "block '" + block.name() + "' (" + block.type_name() + ")");
  return *shape;
}

/// A physical group, which is also an entity of its own.
struct Group {
  std::string name;
  int dimension = 0;
  int tag = 0;  // within its dimension
};

class GmshFile {
 public:
  GmshFile(const Domain& domain, GmshFormat format, OutputFile& file) : domain_(domain), format_(format), out_(file) {}

  void write() {
    if (domain_.element_count() == 0)
      throw Error(ErrorCode::bad_input, "the domain has no elements, so there is nothing to write", "Gmsh file");
    find_groups();
    out_ << "$MeshFormat\n"
         << (format_ == GmshFormat::ascii_2_2 ? "2.2 0 8"
             : binary()                       ? "4.1 1 8"
                                              : "4.1 0 8")
         << "\n";
    if (binary()) {
      out_.raw(std::int32_t{1});  // from which a reader sees the byte order
      out_ << "\n";
    }
    out_ << "$EndMeshFormat\n$PhysicalNames\n" << groups_.size() << "\n";
    for (const Group& g : groups_) {
      std::string name = g.name;
      std::replace(name.begin(), name.end(), '"', '\'');
      out_ << g.dimension << " " << g.tag << " \"" << name << "\"\n";
    }
    out_ << "$EndPhysicalNames\n";
    if (format_ != GmshFormat::ascii_2_2) write_entities();
    write_nodes();
    write_elements();
    out_.flush();
  }

 private:
  bool binary() const { return format_ == GmshFormat::binary_4_1; }

  void integer(std::int32_t value, const char* after) { binary() ? out_.raw(value) : void(out_ << value << after); }
  void size(std::uint64_t value, const char* after) { binary() ? out_.raw(value) : void(out_ << value << after); }
  void real(double value, const char* after) { binary() ? out_.raw(value) : void(out_ << value << after); }

  void find_groups() {
    std::map<int, int> used;
    const auto add = [&](const std::string& name, int dimension) {
      groups_.push_back({name, dimension, ++used[dimension]});
    };
    for (std::size_t b = 0; b < domain_.block_count(); ++b)
      add(domain_.block(b).name(), shape_of(domain_.block(b)).dimension);
    for (const std::string& name : domain_.surface_names()) {
      // Faces of solids, edges of plane elements: a group for each kind that there is.
      bool kinds[3] = {false, false, false};
      for (const FaceRef& f : domain_.surface(name)) kinds[face_shape(f).dimension] = true;
      for (int dimension = 0; dimension < 3; ++dimension)
        if (kinds[dimension]) {
          surface_groups_[{name, dimension}] = groups_.size();
          add(name, dimension);
        }
    }
    for (const std::string& name : domain_.node_set_names())
      if (!domain_.has_surface(name)) {
        node_groups_[name] = groups_.size();
        add(name, 0);
      }
  }

  const ShapeFace& face(const FaceRef& f) const {
    return shape_topology(domain_.block(static_cast<std::size_t>(f.block)).type().shape()).faces[f.face];
  }
  const gmsh::Shape& face_shape(const FaceRef& f) const {
    const std::string& name = face(f).shape;
    return *gmsh::find_shape(name.empty() ? std::string_view("point") : std::string_view(name));
  }

  void write_entities() {
    std::array<double, 6> box{1e300, 1e300, 1e300, -1e300, -1e300, -1e300};
    const auto x = domain_.coordinates();
    for (std::size_t i = 0; i < x.size(); ++i) {
      box[i % 3] = std::min(box[i % 3], x[i]);
      box[3 + i % 3] = std::max(box[3 + i % 3], x[i]);
    }
    out_ << "$Entities\n";
    for (int dimension = 0; dimension < 4; ++dimension)
      size(std::count_if(groups_.begin(), groups_.end(), [&](const Group& g) { return g.dimension == dimension; }),
           dimension < 3 ? " " : "\n");
    for (int dimension = 0; dimension < 4; ++dimension)
      for (const Group& g : groups_) {
        if (g.dimension != dimension) continue;
        integer(g.tag, " ");
        for (int k = 0; k < (dimension == 0 ? 3 : 6); ++k) real(box[k], " ");
        size(1, " ");
        integer(g.tag, dimension == 0 ? "\n" : " ");
        if (dimension > 0) size(0, "\n");  // entities that bound it
      }
    out_ << (binary() ? "\n$EndEntities\n" : "$EndEntities\n");
  }

  void write_nodes() {
    const std::int32_t count = domain_.node_count();
    const auto x = domain_.coordinates();
    out_ << "$Nodes\n";
    if (format_ == GmshFormat::ascii_2_2) {
      out_ << count << "\n";
      for (std::int32_t n = 0; n < count; ++n)
        out_ << domain_.node_id(n) << " " << x[3 * std::size_t(n)] << " " << x[3 * std::size_t(n) + 1] << " "
             << x[3 * std::size_t(n) + 2] << "\n";
      out_ << "$EndNodes\n";
      return;
    }
    Id lowest = std::numeric_limits<Id>::max(), highest = 0;
    for (std::int32_t n = 0; n < count; ++n) {
      lowest = std::min(lowest, domain_.node_id(n));
      highest = std::max(highest, domain_.node_id(n));
    }
    // All nodes in the entity of the first block: which entity a node is on means nothing to a mesh.
    size(1, " "), size(count, " "), size(lowest, " "), size(highest, "\n");
    integer(groups_[0].dimension, " "), integer(groups_[0].tag, " "), integer(0, " "), size(count, "\n");
    for (std::int32_t n = 0; n < count; ++n) size(domain_.node_id(n), "\n");
    for (std::size_t n = 0; n < std::size_t(count); ++n)
      for (int k = 0; k < 3; ++k) real(x[3 * n + k], k < 2 ? " " : "\n");
    out_ << (binary() ? "\n$EndNodes\n" : "$EndNodes\n");
  }

  /// Visits all runs of elements of one shape and group: visit(group, shape, count, nodes_of(i) → our nodes, id_of(i)).
  template <class Visit>
  void for_each_run(Visit visit) const {
    Id next = 0;
    for (std::size_t b = 0; b < domain_.block_count(); ++b) {
      const ElementBlock& block = domain_.block(b);
      for (std::int32_t e = 0; e < block.size(); ++e) next = std::max(next, block.id(e));
      if (block.size() > 0)
        visit(groups_[b], shape_of(block), static_cast<std::size_t>(block.size()),
              [&](std::size_t i, std::vector<std::int32_t>& nodes) {
                const auto list = block.nodes(static_cast<std::int32_t>(i));
                nodes.assign(list.begin(), list.end());
                return block.id(static_cast<std::int32_t>(i));
              });
    }
    for (const auto& [key, group] : surface_groups_) {
      std::map<int, std::vector<FaceRef>> by_shape;
      for (const FaceRef& f : domain_.surface(key.first))
        if (face_shape(f).dimension == key.second) by_shape[face_shape(f).type].push_back(f);
      for (const auto& [type, faces] : by_shape) {
        visit(groups_[group], *gmsh::find_shape(type), faces.size(),
              [&, first = next](std::size_t i, std::vector<std::int32_t>& nodes) {
                const FaceRef& f = faces[i];
                const auto list = domain_.block(static_cast<std::size_t>(f.block)).nodes(f.element);
                nodes.clear();
                for (const int local : face(f).nodes) nodes.push_back(list[local]);
                return first + 1 + static_cast<Id>(i);
              });
        next += static_cast<Id>(faces.size());
      }
    }
    for (const auto& [name, group] : node_groups_) {
      const auto set = domain_.node_set(name);
      visit(groups_[group], *gmsh::find_shape("point"), set.size(),
            [&, first = next](std::size_t i, std::vector<std::int32_t>& nodes) {
              nodes.assign(1, set[i]);
              return first + 1 + static_cast<Id>(i);
            });
      next += static_cast<Id>(set.size());
    }
  }

  void write_elements() {
    std::size_t runs = 0, count = 0;
    Id lowest = std::numeric_limits<Id>::max(), highest = 0;
    std::vector<std::int32_t> nodes;
    for_each_run([&](const Group&, const gmsh::Shape&, std::size_t n, auto element) {
      ++runs;
      count += n;
      for (std::size_t i = 0; i < n; ++i) {
        const Id id = element(i, nodes);
        lowest = std::min(lowest, id);
        highest = std::max(highest, id);
      }
    });
    out_ << "$Elements\n";
    const bool old = format_ == GmshFormat::ascii_2_2;
    if (old)
      out_ << count << "\n";
    else
      size(runs, " "), size(count, " "), size(lowest, " "), size(highest, "\n");
    std::array<Id, 20> line{};
    for_each_run([&](const Group& group, const gmsh::Shape& shape, std::size_t n, auto element) {
      if (!old) integer(group.dimension, " "), integer(group.tag, " "), integer(shape.type, " "), size(n, "\n");
      for (std::size_t i = 0; i < n; ++i) {
        const Id id = element(i, nodes);
        for (std::size_t k = 0; k < nodes.size(); ++k) line[shape.order[k]] = domain_.node_id(nodes[k]);
        if (old)
          out_ << id << " " << shape.type << " 2 " << group.tag << " " << group.tag << " ";
        else
          size(id, " ");
        for (std::size_t k = 0; k < nodes.size(); ++k) size(line[k], k + 1 < nodes.size() ? " " : "\n");
      }
    });
    out_ << (binary() ? "\n$EndElements\n" : "$EndElements\n");
  }

  const Domain& domain_;
  GmshFormat format_;
  detail::TextSink out_;
  std::vector<Group> groups_;  // blocks first, in their order
  std::map<std::pair<std::string, int>, std::size_t> surface_groups_;
  std::map<std::string, std::size_t> node_groups_;
};

}  // namespace

void write_gmsh(const Domain& domain, const std::filesystem::path& path, const GmshWriteOptions& options) {
  OutputFile file(path, options.overwrite);
  GmshFile(domain, options.format, file).write();
  file.commit();
}

}  // namespace voussoir
