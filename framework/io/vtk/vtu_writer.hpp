#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

namespace detail {
class AppendedArrays;
}

/// How a VTU file is written.
struct VtuOptions {
  bool overwrite = false;  ///< whether an existing file is replaced; otherwise it is an Error
  bool compress = true;    ///< whether numbers are compressed, in zlib's format
  int level = 1;  ///< 1: a fast encoder, much faster than zlib if numbers do not repeat; 2 … 9: zlib's levels
};

/// The part that all VTU files of a mesh have in common (coordinates, connectivity, node and element numbers). The
/// first file compresses it; it is kept in memory for the others. The mesh must not change between them.
class VtuMesh {
 public:
  VtuMesh();
  ~VtuMesh();
  VtuMesh(VtuMesh&&) noexcept;             ///< leaves the other object empty
  VtuMesh& operator=(VtuMesh&&) noexcept;  ///< leaves the other object empty

 private:
  friend class VtuWriter;
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

/// Writes a domain and its results as a VTU file, for ParaView, VisIt and VTK.
///
///   VtuWriter(domain).add(result.unknowns).add(nodal_stress(domain, result)).write("beam.vtu");
///
/// All blocks go into one file. Every file carries `node_id` at points, and `element_id`, `block` (its number) and
/// `material` (number in the order of first use, −1 for none) at cells; the corresponding names are in a comment
/// at the head of the file. Elements without a shape of their own (springs, masses) become lines and vertices.
///
/// Numbers are stored binary (appended, raw, 64-bit headers, the byte order of the machine). The file is written
/// atomically, so that no partial file is ever visible, and replaces an existing one only with VtuOptions::overwrite.
/// Failures are Errors (io) with the path and the system's error message.
///
/// Domain and nodal fields are kept by reference and must live until write() returns.
class VtuWriter {
 public:
  /// A file with the mesh of a domain and no results yet.
  explicit VtuWriter(const Domain& domain) : domain_(&domain) {}

  /// Adds values at nodes. Components ux uy uz become one vector of three (absent ones are 0, so that ParaView can warp
  /// by it), rx ry rz a second one called NAME_rotation; NaN becomes 0 in these. Other components beside them become
  /// arrays of their own, called as field_name() says, after NAME_ unless NAME is "displacement". Any other field stays
  /// as it is, NaN included, with its components named. `name` replaces the name of the field.
  VtuWriter& add(const NodalField& field, const std::string& name = {});
  VtuWriter& add(NodalField&& field, const std::string& name = {}) = delete;  // it would be gone before write()
  /// Adds `count` components of a field, starting with component `first`, as one array without conversion.
  VtuWriter& add_components(const NodalField& field, const std::string& name, int first, int count);
  VtuWriter& add_components(NodalField&& field, const std::string& name, int first, int count) = delete;
  /// Adds one array of nodal values per material, called NAME if there is one material and NAME_MATERIAL if there are
  /// several. The writer keeps the list.
  VtuWriter& add(std::vector<MaterialField> fields);
  /// Adds values at cells: the mean over the points of each element; NaN in blocks without the value. The fields of all
  /// blocks (StepResult::points) form one array for each name.
  VtuWriter& add_element_means(const std::vector<PointField>& fields, const std::vector<std::string>& names);
  /// Adds values at cells, one number for each element, block by block.
  VtuWriter& add_cells(const std::string& name, std::vector<double> values);
  /// Adds integers at cells, one for each element, block by block.
  VtuWriter& add_cells(const std::string& name, std::vector<std::int32_t> values);

  /// Sets the unit of an array (VTK's key UNITS_LABEL); an empty label sets none.
  VtuWriter& unit(const std::string& array, const std::string& label);
  /// Adds a line to the comment at the head of the file.
  VtuWriter& comment(const std::string& line);

  /// Uses the compressed mesh in `mesh`, or stores it there for the next file. Throws Error (misuse) if it belongs to
  /// another domain. `mesh` must live until write() returns.
  VtuWriter& reuse(VtuMesh& mesh);
  /// Compresses the mesh into the VtuMesh passed to reuse(), before any result is known.
  void prepare(const VtuOptions& options = {}) const;

  /// Writes the file with everything that was added.
  void write(const std::filesystem::path& path, const VtuOptions& options = {}) const;

 private:
  struct PointArray {
    std::string name;
    const NodalField* field;
    std::vector<int> components;  // of the field; −1 writes zero
    bool is_vector;
  };
  template <class T>
  struct CellArray {
    std::string name;
    std::vector<T> values;
  };
  void check_cells(const std::string& name, std::size_t values) const;
  void check_name(const std::string& name, bool at_points) const;
  void announce_fields(detail::AppendedArrays& arrays, std::int64_t nodes) const;
  void announce_cell_fields(detail::AppendedArrays& arrays, std::int64_t cells) const;

  const Domain* domain_;
  std::vector<PointArray> points_;
  std::vector<CellArray<double>> real_cells_;
  std::vector<CellArray<std::int32_t>> integer_cells_;
  std::vector<std::shared_ptr<const std::vector<MaterialField>>> kept_;
  std::map<std::string, std::string> units_;  // of arrays
  std::vector<std::string> comments_;
  VtuMesh* mesh_ = nullptr;
};

}  // namespace voussoir
