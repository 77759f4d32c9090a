#include <voussoir/framework/io/vtk/vtu_writer.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/domain/generalised_node.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/io/detail/xml_text.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/vtk/detail/appended_arrays.hpp>

namespace voussoir {
namespace {

using detail::xml_escaped;

/// A comment must not contain two hyphens in a row.
std::string in_comment(const std::string& given) {
  std::string text = xml_escaped(given);
  for (std::size_t i = 1; i < text.size(); ++i)
    if (text[i] == '-' && text[i - 1] == '-') text[i] = '~';
  return text;
}

/// How VTK sees the elements of a block.
struct VtkCell {
  std::uint8_t type;
  std::vector<int> order;
};

VtkCell vtk_cell(const Domain& domain, const ElementBlock& block) {
  VtkCell cell;
  const std::string& shape = block.type().shape();
  if (!shape.empty() && shape_topology(shape).nodes == block.nodes_per_element()) {
    cell.type = static_cast<std::uint8_t>(shape_topology(shape).vtk_type);
    cell.order = shape_topology(shape).vtk_order;
    return cell;
  }
  const int nodes = block.nodes_per_element();
  cell.type = nodes == 1 ? 1 : nodes == 2 ? 3 : 2;  // vertex, line, several vertices
  // Nodes of generalised coordinates are not shown; the first vertex takes their place.
  for (int i = 0; i < nodes; ++i)
    cell.order.push_back(
        block.size() > 0 && is_generalised_node(domain, block.nodes(0)[static_cast<std::size_t>(i)]) ? 0 : i);
  return cell;
}

}  // namespace

void VtuWriter::check_name(const std::string& name, bool at_points) const {
  bool taken = at_points ? name == "node_id" : name == "element_id" || name == "block" || name == "material";
  if (at_points)
    for (const auto& array : points_) taken = taken || array.name == name;
  else {
    for (const auto& array : real_cells_) taken = taken || array.name == name;
    for (const auto& array : integer_cells_) taken = taken || array.name == name;
  }
  if (taken)
    throw Error(ErrorCode::misuse, "the file has such an array already; give the field another name",
                "array '" + name + "'");
}

VtuWriter& VtuWriter::add(const NodalField& field, const std::string& name) {
  const std::string base = name.empty() ? field.name : name;
  const std::size_t wanted = static_cast<std::size_t>(domain_->node_count()) * field.components.size();
  if (field.components.empty() || field.values.size() != wanted)
    throw Error(ErrorCode::bad_input,
                "it has " + std::to_string(field.values.size()) + " values; " +
                    std::to_string(field.components.size()) + " components at " +
                    std::to_string(domain_->node_count()) + " nodes need " + std::to_string(wanted),
                "field '" + base + "'");
  const auto component = [&](const char* wanted_name) {
    const auto it = std::find(field.components.begin(), field.components.end(), wanted_name);
    return it == field.components.end() ? -1 : static_cast<int>(it - field.components.begin());
  };
  const std::vector<int> u = {component("ux"), component("uy"), component("uz")};
  const std::vector<int> r = {component("rx"), component("ry"), component("rz")};
  const auto has = [](const std::vector<int>& list) {
    return static_cast<int>(std::count_if(list.begin(), list.end(), [](int i) { return i >= 0; }));
  };
  if (has(u) > 0) {
    const auto push = [&](const std::string& array, const std::vector<int>& components, bool is_vector) {
      check_name(array, true);
      points_.push_back({array, &field, components, is_vector});
    };
    push(base, u, true);
    if (has(r) > 0) push(base + "_rotation", r, true);
    // Other unknowns beside displacements: a temperature, or what a user's element has.
    for (int i = 0; i < field.width(); ++i) {
      if (std::find(u.begin(), u.end(), i) != u.end() || std::find(r.begin(), r.end(), i) != r.end()) continue;
      const std::string own = field_name({field.components[i]});
      push(base == "displacement" ? own : base + "_" + own, {i}, false);
    }
    return *this;
  }
  std::vector<int> all(field.components.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  check_name(base, true);
  points_.push_back({base, &field, std::move(all), false});
  return *this;
}

VtuWriter& VtuWriter::add_components(const NodalField& field, const std::string& name, int first, int count) {
  if (first < 0 || count < 1 || first + count > field.width() ||
      field.values.size() != static_cast<std::size_t>(domain_->node_count()) * field.components.size())
    throw Error(ErrorCode::bad_input,
                "components " + std::to_string(first) + " to " + std::to_string(first + count - 1) + " of field '" +
                    field.name + "' do not exist, or the field is not one of this domain",
                "array '" + name + "'");
  check_name(name, true);
  std::vector<int> components(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) components[static_cast<std::size_t>(i)] = first + i;
  points_.push_back({name, &field, std::move(components), false});
  return *this;
}

VtuWriter& VtuWriter::add(std::vector<MaterialField> fields) {
  kept_.push_back(std::make_shared<const std::vector<MaterialField>>(std::move(fields)));
  const auto& list = *kept_.back();
  for (const MaterialField& f : list)
    add(f.field, list.size() == 1 ? f.field.name : f.field.name + "_" + (f.material.empty() ? "none" : f.material));
  return *this;
}

VtuWriter& VtuWriter::add_element_means(const std::vector<PointField>& fields, const std::vector<std::string>& names) {
  std::vector<std::int64_t> first{0};
  for (std::size_t b = 0; b < domain_->block_count(); ++b) first.push_back(first.back() + domain_->block(b).size());
  for (const std::string& name : names) {
    std::vector<double> values(first.back(), std::numeric_limits<double>::quiet_NaN());
    bool found = false;
    for (const PointField& field : fields) {
      if (!field.has(name)) continue;
      if (field.block < 0 || field.block >= static_cast<std::int32_t>(domain_->block_count()) || field.points < 1 ||
          field.values.size() !=
              static_cast<std::size_t>(domain_->block(field.block).size()) * field.points * field.names.size())
        throw Error(ErrorCode::bad_input,
                    "the field does not fit block " + std::to_string(field.block) + " of this domain",
                    "field '" + name + "'");
      found = true;
      const int k = field.name_index(name);
      for (std::int32_t e = 0; e < domain_->block(field.block).size(); ++e) {
        double sum = 0;
        for (int p = 0; p < field.points; ++p) sum += field.at(e, p, k);
        values[first[field.block] + e] = sum / field.points;
      }
    }
    if (!found) throw Error(ErrorCode::not_found, "no block has such values at its points", "field '" + name + "'");
    add_cells(name, std::move(values));
  }
  return *this;
}

void VtuWriter::check_cells(const std::string& name, std::size_t values) const {
  if (static_cast<std::int64_t>(values) != domain_->element_count())
    throw Error(ErrorCode::bad_input,
                std::to_string(values) + " values for " + std::to_string(domain_->element_count()) + " elements",
                "array '" + name + "'");
  check_name(name, false);
}

VtuWriter& VtuWriter::add_cells(const std::string& name, std::vector<double> values) {
  check_cells(name, values.size());
  real_cells_.push_back({name, std::move(values)});
  return *this;
}

VtuWriter& VtuWriter::add_cells(const std::string& name, std::vector<std::int32_t> values) {
  check_cells(name, values.size());
  integer_cells_.push_back({name, std::move(values)});
  return *this;
}

VtuWriter& VtuWriter::unit(const std::string& array, const std::string& label) {
  if (!label.empty()) units_[array] = label;
  return *this;
}

VtuWriter& VtuWriter::comment(const std::string& line) {
  comments_.push_back(line);
  return *this;
}

namespace {

/// Nodes at the end of the list that stand for rotations, and that the user does not know, are not shown.
std::int32_t shown_nodes(const Domain& domain) {
  std::int32_t count = domain.node_count();
  for (; count > 0; --count)
    if (const RotationNode* rotation = domain.rotation_node(count - 1); !rotation || !rotation->hidden) break;
  return count;
}

/// The mesh as arrays of a file.
class MeshArrays {
 public:
  explicit MeshArrays(const Domain& domain) : domain_(domain), nodes_(shown_nodes(domain)) {
    std::vector<const Material*> materials;
    for (std::size_t b = 0; b < domain.block_count(); ++b) {
      const ElementBlock& block = domain.block(b);
      first_cell_.push_back(first_cell_.back() + block.size());
      first_entry_.push_back(first_entry_.back() + static_cast<std::int64_t>(block.connectivity().size()));
      kinds_.push_back(vtk_cell(domain, block));
      const Material* material = block.material().get();
      const auto known = std::find(materials.begin(), materials.end(), material);
      material_of_.push_back(material ? static_cast<std::int32_t>(known - materials.begin()) : -1);
      if (material && known == materials.end()) materials.push_back(material);
    }
  }

  std::int64_t nodes() const { return nodes_; }
  std::int64_t cells() const { return first_cell_.back(); }

  /// What blocks and materials are called.
  std::string comments() const {
    std::string text;
    for (std::size_t b = 0; b < domain_.block_count(); ++b) {
      const ElementBlock& block = domain_.block(b);
      std::string line = "block " + std::to_string(b) + ": " + block.name() + " (" + block.type_name() + ")";
      if (block.material()) line += ", material " + std::to_string(material_of_[b]) + ": " + block.material()->name();
      text += "<!-- " + in_comment(line) + " -->\n";
    }
    return text;
  }

  template <class Arrays>
  void announce_points(Arrays& arrays) const {
    arrays.template announce_mesh<std::int64_t>("node_id", 1, nodes_,
                                                [this](std::int64_t first, std::int64_t count, std::int64_t* out) {
                                                  for (std::int64_t i = 0; i < count; ++i)
                                                    out[i] = domain_.node_id(static_cast<std::int32_t>(first + i));
                                                });
  }

  template <class Arrays>
  void announce_cells(Arrays& arrays) const {
    arrays.template announce_mesh<std::int64_t>(
        "element_id", 1, cells(), [this](std::int64_t first, std::int64_t count, std::int64_t* out) {
          over_cells(first, count, [&](std::size_t b, std::int32_t e) { *out++ = domain_.block(b).id(e); });
        });
    arrays.template announce_mesh<std::int32_t>(
        "block", 1, cells(), [this](std::int64_t first, std::int64_t count, std::int32_t* out) {
          over_cells(first, count, [&](std::size_t b, std::int32_t) { *out++ = static_cast<std::int32_t>(b); });
        });
    arrays.template announce_mesh<std::int32_t>(
        "material", 1, cells(), [this](std::int64_t first, std::int64_t count, std::int32_t* out) {
          over_cells(first, count, [&](std::size_t b, std::int32_t) { *out++ = material_of_[b]; });
        });
  }

  template <class Arrays>
  void announce_coordinates(Arrays& arrays) const {
    arrays.template announce_mesh<double>("Points", 3, nodes_,
                                          [this](std::int64_t first, std::int64_t count, double* out) {
                                            std::copy_n(domain_.coordinates().begin() + 3 * first, 3 * count, out);
                                          });
  }

  template <class Arrays>
  void announce_connectivity(Arrays& arrays) const {
    arrays.template announce_mesh<std::int32_t>(
        "connectivity", 1, first_entry_.back(),
        [this](std::int64_t first, std::int64_t count, std::int32_t* out) { connect(first, count, out); });
    arrays.template announce_mesh<std::int64_t>(
        "offsets", 1, cells(), [this](std::int64_t first, std::int64_t count, std::int64_t* out) {
          over_cells(first, count, [&](std::size_t b, std::int32_t e) {
            *out++ = first_entry_[b] + (std::int64_t{e} + 1) * static_cast<std::int64_t>(kinds_[b].order.size());
          });
        });
    arrays.template announce_mesh<std::uint8_t>(
        "types", 1, cells(), [this](std::int64_t first, std::int64_t count, std::uint8_t* out) {
          over_cells(first, count, [&](std::size_t b, std::int32_t) { *out++ = kinds_[b].type; });
        });
  }

 private:
  /// Calls visit(block, element) for `count` cells from `first` on.
  template <class Visit>
  void over_cells(std::int64_t first, std::int64_t count, Visit visit) const {
    auto b = static_cast<std::size_t>(std::upper_bound(first_cell_.begin(), first_cell_.end(), first) -
                                      first_cell_.begin() - 1);
    for (std::int64_t c = first; c < first + count; ++c) {
      while (c >= first_cell_[b + 1]) ++b;
      visit(b, static_cast<std::int32_t>(c - first_cell_[b]));
    }
  }

  /// Entries of the connectivity, in VTK's order of nodes.
  void connect(std::int64_t first, std::int64_t count, std::int32_t* out) const {
    auto b = static_cast<std::size_t>(std::upper_bound(first_entry_.begin(), first_entry_.end(), first) -
                                      first_entry_.begin() - 1);
    for (std::int64_t i = first; i < first + count;) {
      while (i >= first_entry_[b + 1]) ++b;
      const auto nodes_of = domain_.block(b).connectivity();
      const auto& order = kinds_[b].order;
      const auto width = static_cast<std::int64_t>(order.size());
      const std::int64_t end = std::min(first + count, first_entry_[b + 1]);
      std::int64_t element = (i - first_entry_[b]) / width, local = (i - first_entry_[b]) % width;
      for (; i < end; ++i) {
        *out++ = nodes_of[element * width + order[local]];
        if (++local == width) local = 0, ++element;
      }
    }
  }

  const Domain& domain_;
  std::int64_t nodes_;
  std::vector<std::int64_t> first_cell_{0}, first_entry_{0};  // of each block: in cells, and in the connectivity
  std::vector<VtkCell> kinds_;
  std::vector<std::int32_t> material_of_;
};

}  // namespace

namespace {

void check(const VtuOptions& options) {
  if (options.level < 1 || options.level > 9)
    throw Error(ErrorCode::bad_input,
                "the compression level is " + std::to_string(options.level) + "; it must be 1 to 9");
}

}  // namespace

struct VtuMesh::Kept : detail::PackedMesh {};

VtuMesh::VtuMesh() : kept_(std::make_unique<Kept>()) {}
VtuMesh::~VtuMesh() = default;
VtuMesh::VtuMesh(VtuMesh&&) noexcept = default;
VtuMesh& VtuMesh::operator=(VtuMesh&&) noexcept = default;

VtuWriter& VtuWriter::reuse(VtuMesh& mesh) {
  if (mesh.kept_->domain && mesh.kept_->domain != domain_)
    throw Error(ErrorCode::misuse, "the compressed mesh is that of another domain; use a VtuMesh for each domain");
  mesh.kept_->domain = domain_;
  mesh_ = &mesh;
  return *this;
}

void VtuWriter::prepare(const VtuOptions& options) const {
  if (!mesh_) throw Error(ErrorCode::misuse, "give the writer a VtuMesh by reuse() before preparing it");
  check(options);
  const MeshArrays mesh(*domain_);
  detail::MeshPacker packer(options, *mesh_->kept_);
  mesh.announce_points(packer);
  mesh.announce_cells(packer);
  mesh.announce_coordinates(packer);
  mesh.announce_connectivity(packer);
  packer.pack();
}

void VtuWriter::announce_fields(detail::AppendedArrays& arrays, std::int64_t nodes) const {
  for (const PointArray& array : points_) {
    std::vector<std::string> names;
    if (!array.is_vector && array.components.size() > 1)
      for (const int c : array.components) names.push_back(array.field->components[c]);
    arrays.announce<double>(array.name, static_cast<int>(array.components.size()), nodes, names,
                            [&array](std::int64_t first, std::int64_t count, double* out) {
                              const std::int64_t width = array.field->width();
                              for (std::int64_t i = first; i < first + count; ++i)
                                for (int c : array.components) {
                                  const double value = c < 0 ? 0.0 : array.field->values[i * width + c];
                                  *out++ = array.is_vector && std::isnan(value) ? 0.0 : value;
                                }
                            });
  }
}

void VtuWriter::announce_cell_fields(detail::AppendedArrays& arrays, std::int64_t cells) const {
  const auto announce = [&]<class T>(const CellArray<T>& array) {
    arrays.announce<T>(array.name, 1, cells, {}, [&array](std::int64_t first, std::int64_t count, T* out) {
      std::copy_n(array.values.begin() + first, count, out);
    });
  };
  for (const auto& array : real_cells_) announce(array);
  for (const auto& array : integer_cells_) announce(array);
}

void VtuWriter::write(const std::filesystem::path& path, const VtuOptions& options) const {
  check(options);
  if (domain_->element_count() == 0)
    throw Error(ErrorCode::bad_input, "the domain has no elements, so there is nothing to show",
                "file '" + path.string() + "'");
  const MeshArrays mesh(*domain_);
  OutputFile file(path, options.overwrite);
  detail::AppendedArrays arrays(file, options, units_, mesh_ ? mesh_->kept_.get() : nullptr);
  file.write("<?xml version=\"1.0\"?>\n");
  file.write(mesh.comments());
  for (const std::string& line : comments_) file.write("<!-- " + in_comment(line) + " -->\n");
  file.write(std::string("<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"") +
             (std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian") + "\" header_type=\"UInt64\"" +
             (options.compress ? " compressor=\"vtkZLibDataCompressor\"" : "") + ">\n  <UnstructuredGrid>\n" +
             "    <Piece NumberOfPoints=\"" + std::to_string(mesh.nodes()) + "\" NumberOfCells=\"" +
             std::to_string(mesh.cells()) + "\">\n");
  file.write("      <PointData>\n");
  mesh.announce_points(arrays);
  announce_fields(arrays, mesh.nodes());
  file.write("      </PointData>\n      <CellData>\n");
  mesh.announce_cells(arrays);
  announce_cell_fields(arrays, mesh.cells());
  file.write("      </CellData>\n      <Points>\n");
  mesh.announce_coordinates(arrays);
  file.write("      </Points>\n      <Cells>\n");
  mesh.announce_connectivity(arrays);
  file.write("      </Cells>\n    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_");
  arrays.write_all();
  file.write("\n  </AppendedData>\n</VTKFile>\n");
  file.commit();
}

}  // namespace voussoir
