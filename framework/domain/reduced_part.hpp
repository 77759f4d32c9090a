#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/domain/id.hpp>

// A part of a structure, reduced to its interface: what another model needs in order to use it as one element, a
// superelement, and what is needed to recover the results inside. reduce_part() (partition/reduce_part.hpp) makes one,
// add_superelement() (framework/domain/superelement_instance.hpp) uses one, and docs/superelements.md describes both.

namespace voussoir {

/// A part of a structure, reduced to its interface, as a value: it needs neither the part's model nor a backend.
///
/// Its coordinates are the unknowns of the interface, node by node, followed by the amplitudes of the fixed-interface
/// modes (Craig and Bampton, AIAA Journal 6, 1968). Without modes this is static condensation (Guyan, AIAA Journal 3,
/// 1965). Dense matrices are stored by rows. There are no units: combined parts must use the same system of units.
struct ReducedPart {
  std::string name;  ///< for messages and results

  // --- interface -------------------------------------------------------------------------------------------------
  std::vector<std::string> unknowns;          ///< of every interface node, such as ux, uy, uz
  std::vector<Id> interface_nodes;            ///< in the user's numbering
  std::vector<double> interface_coordinates;  ///< three for each interface node
  bool axisymmetric = false;                  ///< a body of revolution about the axis y, described by a plane mesh
  std::string plane;                          ///< "stress" or "strain" for elements of that plane state, else empty

  // --- matrices --------------------------------------------------------------------------------------------------
  std::vector<double> eigenvalues;  ///< squares of the angular frequencies of the fixed-interface modes, ascending
  std::vector<double> stiffness;    ///< size() × size(), symmetric
  std::vector<double> mass;         ///< size() × size(), symmetric; empty for a part without mass

  /// Reduced forces on the part, and those displacements due to them that the coordinates do not represent.
  struct Load {
    std::string name;           ///< of the load case of the part
    std::vector<double> force;  ///< size() numbers
    /// Displacements with all coordinates at zero, less those that the modes represent: rows() numbers, or none if
    /// there is no recovery.
    std::vector<double> displacement;
    std::vector<double> stress;  ///< their stresses, and thermal stress: stress_rows() numbers, or none
  };
  std::vector<Load> loads;  ///< the load cases of the part
  /// Loads of a unit acceleration along x, y, z (a force per mass, such as gravity); empty for a part without mass.
  std::vector<Load> accelerations;

  /// rᵀMr of the unreduced part with its rigid motions r, 6 × 6: translations along x, y, z, rotations about the axes
  /// through the origin. All zero without mass.
  std::array<double, 36> rigid_mass{};
  /// Whether the part follows rigid motions of its interface without strain: it has no supports and no springs to
  /// ground inside. Only then do models that use it have the mass and the base motion of the unreduced structure. The
  /// only rigid motion of an axisymmetric part is that along its axis.
  bool follows_rigid_motions = true;

  // --- recovery --------------------------------------------------------------------------------------------------
  // Displacements of the part are recovery · coordinates + Σ factor · displacement of the loads; stresses likewise.

  /// An unknown of the part.
  struct Row {
    Id node;                                      ///< in the user's numbering
    int unknown;                                  ///< index into `part_unknowns`
    bool operator==(const Row&) const = default;  ///< the same unknown
  };
  std::vector<std::string> part_unknowns;  ///< names of all unknowns of the part
  std::vector<Row> row;                    ///< the unknowns that can be recovered; empty if there is no recovery
  std::vector<double> recovery;            ///< row.size() × size()

  /// Elements of one type, for pictures of the recovered results.
  struct Block {
    std::string name;           ///< of the block
    std::string type;           ///< element type, such as solid.hex8
    std::vector<Id> elements;   ///< numbers of its elements
    std::vector<Id> nodes;      ///< nodes of its elements, element by element
    int nodes_per_element = 0;  ///< of the type
    bool has_stress = false;    ///< whether its elements have rows of `stress_recovery`
  };
  std::vector<Id> nodes;            ///< all nodes of the part, if there is recovery
  std::vector<double> coordinates;  ///< three for each of them
  std::vector<Block> blocks;        ///< all blocks that have a shape

  /// Names of the stress components: sxx syy szz sxy syz sxz.
  static const std::vector<std::string>& stress_names();
  /// Means over the points of each element of blocks with stresses, six for each: stress_rows() × size(), or empty.
  std::vector<double> stress_recovery;

  // --- sizes -----------------------------------------------------------------------------------------------------
  std::size_t interface_size() const { return interface_nodes.size() * unknowns.size(); }  ///< interface unknowns
  std::size_t modes() const { return eigenvalues.size(); }                                 ///< fixed-interface modes
  std::size_t size() const { return interface_size() + modes(); }                          ///< all coordinates
  std::size_t rows() const { return row.size(); }                                          ///< recovered unknowns
  std::size_t stress_rows() const;                                                         ///< recovered stresses
  std::size_t bytes() const;                                                               ///< memory of all numbers

  /// Checks sizes, names, symmetry, and that all numbers are finite. Throws Error (bad_input) at `where`.
  void check(const std::string& where) const;
  /// The load of that name. Throws Error (not_found) that lists the available loads.
  const Load& load(const std::string& load_name) const;

  /// Displacements inside the part, in the order of `row`, for values of the coordinates and loads with factors. Throws
  /// Error (misuse) for other sizes, and Error (bad_input) for a part without recovery.
  std::vector<double> displacements(std::span<const double> coordinates_of_part, std::span<const double> load_factors,
                                    std::array<double, 3> acceleration) const;
  /// Stresses, likewise. Empty for a part without stresses.
  std::vector<double> stresses(std::span<const double> coordinates_of_part, std::span<const double> load_factors,
                               std::array<double, 3> acceleration) const;

 private:
  std::vector<double> recovered(const std::vector<double>& matrix, std::size_t count, std::vector<double> Load::*values,
                                std::span<const double> coordinates_of_part, std::span<const double> load_factors,
                                std::array<double, 3> acceleration) const;
};

/// "stress" or "strain" if the name of an element type, such as plane_stress.quad8, says so; else empty.
std::string plane_state(const std::string& element_type);

/// A 64-bit checksum of bytes (FNV-1a by Fowler, Noll and Vo), which detects damage, not manipulation.
std::uint64_t part_checksum(std::span<const char> bytes, std::uint64_t start = 14695981039346656037ull);

}  // namespace voussoir
