#pragma once
#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/domain/reduced_part.hpp>

namespace voussoir {

class ElementType;

/// How a reduced part is put into a domain.
struct SuperelementOptions {
  std::string name;  ///< of the instance and of its block; empty: the name of the part
  /// Largest distance between an interface node of the domain and that of the part, relative to the extent of the
  /// interface.
  double tolerance = 1e-6;
  /// Whether interface nodes that the domain does not have are added; otherwise they are an Error.
  bool add_nodes = false;
  /// Number of the element; 0: the next one after the largest in the domain.
  Id element = 0;
};

/// A reduced part in a domain: one element, a superelement, between the interface nodes and nodes of its own, whose
/// unknowns are the amplitudes of the part's modes.
///
///   const auto wing = add_superelement(domain, read_reduced_part("wing.vsup"));
///   wing->apply(domain.add_load_case("gust"), "gust");        // a load case of the part
///
/// Gravity of the domain acts on it as on any other element. Loads of the part act only where apply() is called.
class SuperelementInstance {
 public:
  const ReducedPart& part() const { return *part_; }                               ///< as given
  const std::shared_ptr<const ReducedPart>& shared_part() const { return part_; }  ///< the same, with shared ownership
  const std::string& name() const { return name_; }                                ///< of the block, too
  /// Numbers of the nodes that hold the amplitudes of the modes, unknowns.size() on each. Amplitudes are scaled by
  /// powers of two, so that their stiffness is of the size of that of the interface; coordinates() removes the scaling.
  const std::vector<Id>& mode_nodes() const { return mode_nodes_; }

  /// Adds a load of the part, times a factor, to a load case of the domain. Throws Error (not_found) for a load that
  /// the part does not have.
  void apply(LoadCase& load_case, const std::string& load_of_part, double factor = 1);

  /// The coordinates of the part, from a value of each unknown: value(node index, unknown).
  template <class Value>
  std::vector<double> coordinates(const Domain& domain, Value value) const {
    std::vector<double> result;
    for (std::size_t i = 0; i < part_->size(); ++i) {
      const auto [node, unknown] = place(i);
      result.push_back(scale_[i] * value(domain.node_index(node), part_->unknowns[unknown]));
    }
    return result;
  }
  /// The loads of the part and the acceleration that act when load case i of the domain acts with case_factors[i]; none
  /// if `case_factors` is empty.
  struct Acting {
    std::vector<double> load_factors;             ///< one for each load of the part
    std::array<double, 3> acceleration{0, 0, 0};  ///< force per mass
  };
  Acting acting(const Domain& domain, std::span<const double> case_factors) const;  ///< at these factors of load cases

 private:
  friend std::shared_ptr<SuperelementInstance> add_superelement(Domain& domain, std::shared_ptr<const ReducedPart> part,
                                                                const SuperelementOptions& options);
  struct Applied {
    std::string load_case;
    std::size_t load;
    double factor;
  };
  /// The node of a coordinate, and the unknown there.
  std::pair<Id, std::size_t> place(std::size_t coordinate) const;

  std::shared_ptr<const ReducedPart> part_;
  std::string name_;
  std::vector<Id> mode_nodes_;
  std::vector<double> scale_;  // coordinates of the part over the unknowns of the domain
  std::vector<Applied> applied_;
};

/// Adds a reduced part to a domain; add the nodes and elements that it is connected to first. Interface nodes are
/// identified by their numbers. Throws Error (bad_input) that names the node for an interface node that is missing or
/// lies elsewhere, or whose other elements have other unknowns.
std::shared_ptr<SuperelementInstance> add_superelement(Domain& domain, std::shared_ptr<const ReducedPart> part,
                                                       const SuperelementOptions& options = {});

/// The name of the element type of a reduced part, which is registered in the ElementLibrary. It follows from the
/// numbers of the part: parts with the same numbers share a type, and it has the same name in all processes.
std::string superelement_type(const std::shared_ptr<const ReducedPart>& part);

/// Whether this is the name of the element type of a superelement.
bool is_superelement_type(const std::string& type);

/// The reduced part of the element type of a superelement; null for other types.
std::shared_ptr<const ReducedPart> reduced_part_of(const ElementType& type);

/// All superelements of a domain, in the order in which they were added. They live as long as the domain.
std::vector<std::shared_ptr<SuperelementInstance>> superelements_of(const Domain& domain);

}  // namespace voussoir
