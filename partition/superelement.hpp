#pragma once
#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <voussoir/framework/analysis/integrator.hpp>
#include <voussoir/framework/domain/host_element.hpp>
#include <voussoir/framework/model/analysis_model.hpp>
#include <voussoir/partition/subdomain.hpp>
#include <voussoir/solvers/direct/choice.hpp>

namespace voussoir {

/// A whole subdomain seen from outside: stiffness and loads at its interface, everything inside eliminated.
///
/// With interior unknowns i and interface unknowns b of the part, K u = f becomes
///
///   S u_b = g,   S = K_bb − K_bi K_ii⁻¹ K_ib  (the Schur complement),   g = f_b − K_bi K_ii⁻¹ f_i,
///
/// and u_i = K_ii⁻¹ (f_i − K_ib u_b) recovers the interior solution. Unknowns that are prescribed or dependent belong
/// to neither. The order of calls is begin, condense, load, recover; condense may be left out while the matrix stays
/// the same (AnalysisModel::same_matrix).
class Superelement {
 public:
  /// An interface unknown: node index of the whole domain, and which of the node's unknowns.
  struct Unknown {
    std::int32_t node;                                 ///< index in the whole domain
    int component;                                     ///< index into AnalysisModel::unknown_names()
    auto operator<=>(const Unknown&) const = default;  ///< by node, then by component
  };

  /// Numbers the subdomain on the backend, whose number of threads the factorisation takes over. The subdomain must
  /// outlive the superelement.
  Superelement(const Subdomain& subdomain, std::shared_ptr<Backend> backend,
               DirectMethod method = DirectMethod::automatic);
  ~Superelement();

  const Subdomain& subdomain() const { return subdomain_; }  ///< as given
  const AnalysisModel& model() const { return *model_; }     ///< of the part alone
  /// Free unknowns at the interface, ascending by node.
  const std::vector<Unknown>& boundary() const { return boundary_; }
  /// Free unknowns that are eliminated.
  std::int64_t interior_unknowns() const { return static_cast<std::int64_t>(free_.size() - boundary_.size()); }

  /// A description of what in a model is not declared linear; empty if everything is.
  static std::string not_linear(const AnalysisModel& model);

  /// Puts prescribed values in place and forms the loads of a step.
  void begin(AnalysisState& state) const;
  /// Forms and factorises the stiffness. Throws Error (singular), naming a node, where the inside can move while the
  /// interface is fixed. Elements that are not linear are linearised at the state.
  void condense(const AnalysisState& state);
  /// S, by rows (it is symmetric), in the order of boundary().
  const std::vector<double>& stiffness() const { return stiffness_; }
  /// g: forces out of balance at the state, condensed.
  const std::vector<double>& load(const AnalysisState& state);
  /// Takes the increment of the interface unknowns, and what it means inside, into the state.
  void recover(std::span<const double> boundary_increment, AnalysisState& state);

  /// The superelement as an element like any other, with S as tangent and S u − g as residual, for
  /// register_host_element(). Its nodes are interface_ids(), in that order. Throws Error (bad_input) where the
  /// interface nodes do not all have the same unknowns or have oblique supports, and where the part is not linear.
  std::shared_ptr<const HostElement> as_element() const;
  /// The user's ids of the interface nodes.
  std::vector<Id> interface_ids() const;

 private:
  struct Factor;

  const Subdomain& subdomain_;
  std::unique_ptr<AnalysisModel> model_;
  std::vector<std::int32_t> free_;               // equations of the model that are solved for
  std::vector<std::int32_t> place_;              // of each equation among them, or −1
  std::vector<std::int32_t> boundary_equation_;  // places among the free ones
  std::vector<Unknown> boundary_;
  std::vector<double> stiffness_, load_, right_hand_side_;
  std::unique_ptr<Factor> factor_;
};

}  // namespace voussoir
