#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/io/output_file.hpp>

namespace voussoir {

/// The kind of a result in an .frd file, with CalculiX's name, by which viewers recognise it.
enum class FrdQuantity {
  displacement,  ///< DISP: ux uy uz
  temperature,   ///< NDTEMP: T
  stress,        ///< STRESS: sxx syy szz sxy syz sxz
  strain,        ///< TOSTRAIN: exx eyy ezz exy eyz exz, shear as that of the tensor
  plastic,       ///< PE: peeq, the equivalent plastic strain
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
/// Numbers have six significant digits, as the format prescribes. Elements with nodes inside their faces (quad9, hex27,
/// wedge18) are written as the corresponding serendipity elements; all nodes are written with their values. Elements of
/// one node are omitted. The file appears complete at commit() or not at all.
class FrdWriter {
 public:
  /// A domain, and how many of its nodes are reported.
  struct Mesh {
    const Domain* domain;  ///< not owned; must outlive the writer
    std::int32_t nodes;    ///< the first nodes of the domain, up to this index, are the user's and are written
  };

  /// Writes the mesh: the nodes and elements of all domains, each id once (a body that is heated and then loaded has
  /// two domains of the same mesh). Throws Error (io) as OutputFile does, and Error (bad_input) for ids outside the
  /// range of the format.
  FrdWriter(std::filesystem::path path, bool overwrite, const std::vector<Mesh>& meshes);

  /// Starts a step, counted from 1; results added afterwards belong to it.
  void begin_step(int number, double time);
  /// Starts a state of a step over time, both counted from 1; results added afterwards are those at this time.
  void begin_state(int step, int increment, double time);
  /// Starts a natural mode of a step, both counted from 1. The shape is M-orthonormal.
  void begin_mode(int step, int mode, double frequency, double eigenvalue);
  /// Adds nodal values. Components that the field lacks are written as 0, and nodes whose values are NaN are omitted. A
  /// field without any value is not written.
  void add(const Domain& domain, FrdQuantity quantity, const NodalField& field);
  void commit();  ///< completes the file and gives it its name

  /// Counts of what has been written so far.
  struct Counts {
    int states = 0;   ///< states of the file
    int results = 0;  ///< results of all states
  };
  Counts counts() const { return {state_, results_}; }  ///< so far
  /// From now on, appends all text that is written to `copy` too; null: to the file alone.
  void set_copy(std::string* copy) { copy_ = copy; }
  /// Appends text that another writer of the same meshes has copied, after which its counts() were these.
  void append(std::string_view text, Counts counts);

 private:
  void write_header(const std::vector<Mesh>& meshes);
  void write_nodes();
  void write_elements();
  OutputFile file_;
  std::string* copy_ = nullptr;
  std::vector<Mesh> meshes_;
  int step_ = 0, increment_ = 1, results_ = 0;
  int state_ = 0;  // numbers all states of the file
  int kind_ = 0;   // as in the format: 0 static, 1 over time, 2 a mode
  int mode_ = 0;
  double time_ = 0, eigenvalue_ = 0;
};

}  // namespace voussoir
