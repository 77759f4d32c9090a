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
  bool overwrite = false;  ///< replace a file of that name; otherwise it is an Error
  bool compress = true;    ///< in zlib's format; off writes plain numbers
  int level = 1;           ///< 1: fast, many times faster than zlib where numbers do not repeat; 2 … 9: zlib's levels
};

/// What all VTU files of a mesh have in common (coordinates, connectivity, numbers of nodes and elements), compressed
/// by the first of them and kept in memory for the others. The mesh must not change between them.
class VtuMesh {
 public:
  VtuMesh();
  ~VtuMesh();
  VtuMesh(VtuMesh&&) noexcept;
  VtuMesh& operator=(VtuMesh&&) noexcept;

 private:
  friend class VtuWriter;
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

/// Writes a domain and what was found on it as a VTU file, which ParaView, VisIt and VTK open.
///
///   VtuWriter(domain).add(result.unknowns).add(nodal_stress(domain, result)).write("beam.vtu");
///
/// All blocks go into one file. Every file carries `node_id` at points, and `element_id`, `block` (its number) and
/// `material` (number in the order of first use, −1 for none) at cells; the corresponding names are in a comment
/// at the head of the file. Elements without a shape of their own (springs, masses) become lines and vertices.
///
/// Numbers are stored binary (appended, raw, 64-bit headers, the byte order of the machine). The file is written under
/// a temporary name and then renamed, so that no partial file is ever visible; it replaces an existing one only if
/// allowed to. Failures are Errors (io) with the path and the system's error message.
///
/// The writer only remembers what it is given: the domain and nodal fields must live until write() returns.
class VtuWriter {
 public:
  explicit VtuWriter(const Domain& domain) : domain_(&domain) {}

  /// Values at points. Components ux uy uz become one vector of three (absent ones are 0, so that ParaView can warp by
  /// it), rx ry rz a second one called NAME_rotation; NaN becomes 0 in these. Other components beside them become
  /// arrays of their own, called as field_name() says, after NAME_ unless NAME is "displacement". Any other field stays
  /// as it is, NaN included, with its components named. `name` replaces the name of the field.
  VtuWriter& add(const NodalField& field, const std::string& name = {});
  VtuWriter& add(NodalField&& field, const std::string& name = {}) = delete;  // it would be gone before write()
  /// `count` components of a field from `first` on as one array, as they are.
  VtuWriter& add_components(const NodalField& field, const std::string& name, int first, int count);
  VtuWriter& add_components(NodalField&& field, const std::string& name, int first, int count) = delete;
  /// One array per material, called NAME where there is one material and NAME_MATERIAL where there are several. The
  /// writer keeps the list.
  VtuWriter& add(std::vector<MaterialField> fields);
  /// Values at cells: the mean over the points of each element; NaN in blocks that have no such value. Fields of
  /// several blocks (StepResult::points) make one array for each name.
  VtuWriter& add_element_means(const std::vector<PointField>& fields, const std::vector<std::string>& names);
  /// Values at cells, one number for each element, block by block.
  VtuWriter& add_cells(const std::string& name, std::vector<double> values);
  VtuWriter& add_cells(const std::string& name, std::vector<std::int32_t> values);

  /// Sets the unit of an array (VTK's key UNITS_LABEL); an empty label sets none.
  VtuWriter& unit(const std::string& array, const std::string& label);
  /// A line for those who read the head of the file.
  VtuWriter& comment(const std::string& line);

  /// Takes the compressed mesh from `mesh`, or puts it there for the next file. Throws Error (misuse) where it is that
  /// of another domain.
  VtuWriter& reuse(VtuMesh& mesh);
  /// Compresses the mesh for files to come, into what reuse() was given.
  void prepare(const VtuOptions& options = {}) const;

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
