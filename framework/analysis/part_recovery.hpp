#pragma once
#include <memory>
#include <span>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/domain/superelement_instance.hpp>

namespace voussoir {

/// Recovers results inside a superelement from those of the model that uses it.
///
///   const PartRecovery inside(wing);
///   const NodalField u = inside.displacements(domain, result.unknowns, case_factors);   // at the nodes of the part
class PartRecovery {
 public:
  /// Makes a mesh of the part. Throws Error (bad_input) for a part that was reduced without recovery, and Error
  /// (not_found) if an element type of the part is not registered.
  explicit PartRecovery(std::shared_ptr<const SuperelementInstance> instance);

  const SuperelementInstance& instance() const { return *instance_; }  ///< as given
  /// The mesh of the part in its own numbering, without materials: for the fields below.
  const Domain& mesh() const { return *mesh_; }

  /// The unknowns at all nodes of the part, from those of the model that uses it. `case_factors` are the factors of the
  /// model's load cases, in their order; empty for modes, on which no loads act.
  NodalField displacements(const Domain& model, const NodalField& unknowns,
                           std::span<const double> case_factors = {}) const;
  /// The same, given the loads of the part itself: for a superelement inside a reduced part.
  NodalField displacements(const Domain& model, const NodalField& unknowns,
                           const SuperelementInstance::Acting& acting) const;
  /// Mean stresses of the elements, one point for each. Empty if the part was reduced without stresses.
  std::vector<PointField> stresses(const Domain& model, const NodalField& unknowns,
                                   std::span<const double> case_factors = {}) const;
  /// The same, given the loads of the part itself.
  std::vector<PointField> stresses(const Domain& model, const NodalField& unknowns,
                                   const SuperelementInstance::Acting& acting) const;

 private:
  std::vector<double> coordinates(const Domain& model, const NodalField& unknowns) const;

  std::shared_ptr<const SuperelementInstance> instance_;
  std::unique_ptr<Domain> mesh_;
};

}  // namespace voussoir
