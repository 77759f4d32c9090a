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

/// A subdomain condensed to its interface: stiffness and loads of the interface unknowns after all others are
/// eliminated.
///
/// With interior unknowns i and interface unknowns b of the part, K u = f becomes
///
///   S u_b = g,   S = K_bb − K_bi K_ii⁻¹ K_ib  (the Schur complement),   g = f_b − K_bi K_ii⁻¹ f_i,
///
/// and u_i = K_ii⁻¹ (f_i − K_ib u_b) recovers the interior solution. Prescribed and dependent unknowns belong to
/// neither set. The order of calls is begin, condense, load, recover; condense may be omitted while the matrix does not
/// change (AnalysisModel::same_matrix). condense, load and recover are each made of a half that works on the backend
/// and one that works with the factor alone; different threads may call the latter for different superelements at the
/// same time, unless the method is MUMPS.
class Superelement {
 public:
  /// An unknown of the interface.
  struct Unknown {
    std::int32_t node;                                 ///< index of the node in the whole domain
    int component;                                     ///< index into AnalysisModel::unknown_names()
    auto operator<=>(const Unknown&) const = default;  ///< by node, then by component
  };

  /// Numbers the subdomain on the backend. DirectMethod::automatic is the multifrontal method (part_method()); others
  /// use the backend's number of threads. The subdomain must outlive the superelement.
  Superelement(const Subdomain& subdomain, std::shared_ptr<Backend> backend,
               DirectMethod method = DirectMethod::automatic);
  ~Superelement();

  const Subdomain& subdomain() const { return subdomain_; }  ///< the subdomain passed to the constructor
  const AnalysisModel& model() const { return *model_; }     ///< the numbered model of the subdomain
  /// The free unknowns of the interface, ascending by node.
  const std::vector<Unknown>& boundary() const { return boundary_; }
  /// Number of free unknowns that are eliminated.
  std::int64_t interior_unknowns() const { return static_cast<std::int64_t>(free_.size() - boundary_.size()); }

  /// Names a part of a model that is not declared linear, for messages; empty if all of it is.
  static std::string not_linear(const AnalysisModel& model);

  /// Sets the prescribed values of a step in the state and forms its loads.
  void begin(AnalysisState& state) const;
  /// Forms and factorises the stiffness, linearised at the state. If the interior can move while the interface is
  /// fixed, throws an Error (singular) that names a node.
  void condense(const AnalysisState& state) {
    form(state);
    factorise();
  }
  void form(const AnalysisState& state);  ///< the first half of condense(): forms the stiffness, on the backend
  void factorise();                       ///< the second half of condense(): factorises and condenses it
  /// The Schur complement S, which is symmetric, by rows in the order of boundary().
  const std::vector<double>& stiffness() const { return stiffness_; }
  /// The condensed load g: the out-of-balance forces at the state, in the order of boundary().
  const std::vector<double>& load(const AnalysisState& state) {
    form_load(state);
    return condense_load();
  }
  void form_load(const AnalysisState& state);  ///< the first half of load(): forces, on the backend
  const std::vector<double>& condense_load();  ///< the second half of load()
  /// Adds the increment of the interface unknowns and the interior increment that follows from it to the state.
  void recover(std::span<const double> boundary_increment, AnalysisState& state) {
    expand(boundary_increment);
    add(state);
  }
  void expand(std::span<const double> boundary_increment);  ///< the first half of recover(): solves for the interior
  void add(AnalysisState& state) const;                     ///< the second half of recover(), on the backend

  /// The superelement as an element for register_host_element(), with tangent S and residual S u − g. Its nodes are
  /// interface_ids(), in that order. Call condense() and load() first. Throws Error (bad_input) if the interface nodes
  /// do not all have the same unknowns or have oblique supports, or if the part is not linear.
  std::shared_ptr<const HostElement> as_element() const;
  /// The user's ids of the interface nodes, ascending by index.
  std::vector<Id> interface_ids() const;

 private:
  struct Factor;

  const Subdomain& subdomain_;
  std::unique_ptr<AnalysisModel> model_;
  std::vector<std::int32_t> free_;               // equations of the model that are solved for
  std::vector<std::int32_t> place_;              // of each equation among them, or −1
  std::vector<std::int32_t> boundary_equation_;  // places among the free ones
  std::vector<Unknown> boundary_;
  std::vector<double> stiffness_, load_, right_hand_side_, increment_;
  std::unique_ptr<Factor> factor_;
};

}  // namespace voussoir
