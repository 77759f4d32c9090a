#pragma once
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/partition/decomposition.hpp>
#include <voussoir/partition/dense_interiors.hpp>
#include <voussoir/partition/part_map.hpp>
#include <voussoir/solvers/direct/lu.hpp>
#include <voussoir/solvers/direct/symmetric_matrix.hpp>

namespace voussoir {

/// How a method divides a model, read from the options of its name: asm:parts=8,cut=rcb,overlap=2.
struct DecompositionOptions {
  int parts = 0;  ///< number of parts; 0: one for every 2000 unknowns, from 2 to 64, and not more than elements
  std::string cut = "auto";                       ///< for make_partitioner()
  int overlap = 1;                                ///< layers of elements (Schwarz)
  std::string part_solver = "direct";             ///< for make_part_solver()
  Interiors interiors = Interiors::automatic;     ///< schur, bddc, nn: how interiors are eliminated
  std::string schur = "implicit";                 ///< schur: how S is multiplied, implicit, explicit or auto
  Weighting weighting = Weighting::stiffness;     ///< how interface values are shared (bddc, nn)
  std::string primal = "cef";                     ///< bddc: constraints at corners, edges and faces
  std::string interface_preconditioner = "bddc";  ///< schur: bddc, nn, jacobi or none
  std::string coarse = "rigid";                   ///< Schwarz methods of two levels: rigid or geneo
  double threshold = 0.1;                         ///< geneo: eigenvalues below it give coarse vectors

  /// Reads KEY=VALUE, separated by commas. `keys` lists those that the method has. Unknown keys and wrong values are an
  /// Error (bad_input) at `where`.
  static DecompositionOptions parse(const std::string& text, std::initializer_list<std::string_view> keys,
                                    const std::string& where);
};

/// Divides the elements of a model by these options, wherever multi-point equations are.
Partition make_partition(const AnalysisModel& model, const DecompositionOptions& options);

/// The matrix of a system over the unknowns of a decomposition, on the host. A system that is not symmetric or cannot
/// be assembled is an Error (bad_input) at `where`.
SymmetricCsr assembled_matrix(const LinearSOE& soe, const Decomposition& decomposition, const std::string& where);
/// The same for a system that need not be symmetric.
GeneralCsr assembled_rows(const LinearSOE& soe, const Decomposition& decomposition, const std::string& where);

}  // namespace voussoir
