#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/backends/grid_program.hpp>
#include <voussoir/backends/registry.hpp>

namespace voussoir {

/// A registered grid kernel.
struct GridKernel {
  std::shared_ptr<const GridProgram> program;  ///< what backends run
  std::string type;                            ///< C++ type of the kernel
  std::string file;                            ///< file whose embedded text contains it; may be empty
  bool operator==(const GridKernel& other) const { return type == other.type; }  ///< the same C++ type
};

/// All grid kernels of the process, by name: those of the library and those of users (VSR_REGISTER_STENCIL). All
/// functions may be called from several threads at once.
class GridLibrary {
 public:
  static GridLibrary& instance();  ///< the only one

  /// Adds a kernel while the program starts or a library is loaded; a name that is taken is an Error at its first use.
  void add_at_start(GridKernel kernel);
  /// Adds a kernel of the library itself.
  void add_built_in(GridKernel kernel);
  /// The program of a name. An unknown name is an Error (not_found) with the nearest one.
  const GridProgram& find(std::string_view name) const;
  std::vector<std::string> names() const;  ///< of all kernels
  /// The text of a program, or null where none was embedded.
  const KernelSource* find_source(const GridProgram& program) const;

 private:
  GridLibrary();
  Registry<GridKernel> kernels_;
};

}  // namespace voussoir
