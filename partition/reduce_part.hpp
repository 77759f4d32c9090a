#pragma once
#include <memory>
#include <span>
#include <string>

#include <voussoir/backends/backend.hpp>
#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/domain/reduced_part.hpp>
#include <voussoir/partition/subdomain.hpp>
#include <voussoir/solvers/direct/choice.hpp>

namespace voussoir {

/// How a part is reduced.
struct ReduceOptions {
  std::string name = "part";          ///< of the reduced part
  int modes = 0;                      ///< number of fixed-interface modes; 0: as many as `below` says
  double below = 0;                   ///< highest frequency of modes, in cycles per unit of time; 0: no limit
  bool recovery = true;               ///< whether displacements inside can be recovered later
  bool stresses = false;              ///< whether mean stresses of elements can be recovered, too
  std::string eigen_solver = "auto";  ///< a name for make_eigen_solver()
  DirectMethod method = DirectMethod::automatic;  ///< of the factorisation of the inside
};

/// Reduces a model to the nodes of its interface: by static condensation (Guyan) and, if modes are asked for, with the
/// modes of the part with its interface fixed (Craig–Bampton). Load cases of the domain become loads of the part.
///
/// The reduced stiffness is the Schur complement of the interface, so that a static analysis with the reduced part
/// gives the solution of the unreduced model. Mass is conserved: rigid motions of the interface have the kinetic energy
/// of the unreduced part. The domain may contain superelements itself.
///
/// Throws Error (bad_input) for an interface node that no element uses or that has a support, and for a model that is
/// not linear, has prescribed values other than zero or loads with a stiffness (films); and Error (singular), naming a
/// node, if the inside can move while the interface is fixed.
ReducedPart reduce_part(const Domain& domain, std::span<const std::int32_t> interface_nodes,
                        std::shared_ptr<Backend> backend, const ReduceOptions& options = {});
/// The same with the interface as a node set of the domain.
ReducedPart reduce_part(const Domain& domain, const std::string& interface_set, std::shared_ptr<Backend> backend,
                        const ReduceOptions& options = {});
/// Reduces one part of a partitioned domain to the nodes that it shares with others.
ReducedPart reduce_part(const Subdomain& subdomain, std::shared_ptr<Backend> backend,
                        const ReduceOptions& options = {});

}  // namespace voussoir
