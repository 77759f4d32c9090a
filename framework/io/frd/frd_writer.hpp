#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/io/output_file.hpp>

namespace voussoir {

/// What a result of an .frd file is. Viewers know these by CalculiX's names.
enum class FrdQuantity {
  displacement,  ///< DISP: ux uy uz
  temperature,   ///< NDTEMP: T
  stress,        ///< STRESS: sxx syy szz sxy syz sxz
  strain,        ///< TOSTRAIN: exx eyy ezz exy eyz exz, shear as that of the tensor
  force,         ///< FORC: ux uy uz
  flux,          ///< FLUX: qx qy qz
  heat_flow,     ///< RFL: T
};

/// Writes CalculiX's result format (.frd, ASCII), which CalculiX GraphiX, PrePoMax and FreeCAD open: the mesh once,
/// then the results of each step.
///
///   FrdWriter frd("beam.frd", false, {{&domain, domain.node_count()}});
///   frd.begin_step(1, 1.0);
///   frd.add(domain, FrdQuantity::displacement, result.unknowns);
///   frd.commit();
///
/// Numbers have six digits, as the format says. Elements of a shape with nodes inside their faces (quad9, hex27,
/// wedge18) are written as those without them, whose nodes they have, and all nodes with their values. Elements of one
/// node are left out. The file appears complete at commit() or not at all.
class FrdWriter {
 public:
  /// A domain, and how many of its nodes are the user's (from the first).
  struct Mesh {
    const Domain* domain;
    std::int32_t nodes;
  };

  /// Writes the mesh: the nodes and elements of all domains, each id once (a body that is heated and then loaded has
  /// two domains of the same mesh). Error (io) as OutputFile; Error (bad_input) for ids outside the range of the
  /// format.
  FrdWriter(std::filesystem::path path, bool overwrite, const std::vector<Mesh>& meshes);

  /// What follows belongs to this step; its number counts from 1.
  void begin_step(int number, double time);
  /// Values at nodes. Components that the field lacks are 0, nodes whose values are NaN are left out; without any value
  /// nothing is written.
  void add(const Domain& domain, FrdQuantity quantity, const NodalField& field);
  void commit();

 private:
  void write_header(const std::vector<Mesh>& meshes);
  void write_nodes();
  void write_elements();
  OutputFile file_;
  std::vector<Mesh> meshes_;
  int step_ = 0, results_ = 0;
  double time_ = 0;
};

}  // namespace voussoir
