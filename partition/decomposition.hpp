#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <voussoir/framework/model/analysis_model.hpp>
#include <voussoir/partition/partition.hpp>

namespace voussoir {

/// The equations of a numbered model, divided as its elements are: the base of every decomposition method.
///
/// The **unknowns** are the free equations of the model, numbered from 0 in ascending order. A part has each unknown
/// that one of its elements acts on. Multi-point equations and supports along directions are eliminated before: a
/// dependent unknown acts on those that it depends on, so a part whose element has a dependent unknown has the unknowns
/// behind it, wherever their nodes are. Constraints may therefore touch and cross interfaces. With R_p the restriction
/// to part p, the matrix of the model is A = Σ R_pᵀ A_p R_p (PartMatrices).
///
/// Unknowns of two or more parts form the **interface**; all others are interior to their part. An unknown that no
/// element acts on belongs to part 0.
class Decomposition {
 public:
  /// The model must outlive the decomposition and keep its numbering. A partition of another domain is an Error
  /// (misuse); a model with penalty constraints, whose springs belong to no part, is an Error (bad_input).
  Decomposition(const AnalysisModel& model, const Partition& partition);

  const AnalysisModel& model() const { return *model_; }                              ///< the model of the constructor
  int parts() const { return static_cast<int>(unknowns_.size()); }                    ///< number of parts
  std::int32_t size() const { return static_cast<std::int32_t>(equations_.size()); }  ///< number of unknowns

  /// The equation of the model behind each unknown, ascending.
  std::span<const std::int32_t> equations() const { return equations_; }
  /// The unknown of an equation, or −1 where the equation is prescribed or dependent.
  std::int32_t unknown(std::int32_t equation) const { return unknown_of_[static_cast<std::size_t>(equation)]; }

  /// The part-to-whole map: the unknowns of a part, ascending. A position in this list is the **local number**.
  std::span<const std::int32_t> unknowns(int part) const { return unknowns_[static_cast<std::size_t>(part)]; }
  /// Local numbers of the unknowns that no other part has, ascending.
  std::span<const std::int32_t> interior(int part) const { return interior_[static_cast<std::size_t>(part)]; }
  /// Local numbers of the unknowns that other parts share, ascending.
  std::span<const std::int32_t> boundary(int part) const { return boundary_[static_cast<std::size_t>(part)]; }
  /// Positions in interface() of the unknowns of boundary(), in the same order.
  std::span<const std::int32_t> interface_places(int part) const { return places_[static_cast<std::size_t>(part)]; }

  /// The unknowns of two or more parts, ascending.
  std::span<const std::int32_t> interface() const { return interface_; }
  /// The parts of an unknown, ascending.
  std::span<const std::int32_t> parts_of(std::int32_t unknown) const {
    const auto u = static_cast<std::size_t>(unknown);
    return std::span(parts_of_).subspan(first_part_[u], first_part_[u + 1] - first_part_[u]);
  }
  /// The lowest part of an unknown.
  std::int32_t owner(std::int32_t unknown) const { return parts_of_[first_part_[static_cast<std::size_t>(unknown)]]; }

  /// The part of each element, block by block.
  std::span<const std::int32_t> part_of_element() const { return part_of_element_; }

 private:
  const AnalysisModel* model_;
  std::vector<std::int32_t> part_of_element_;
  std::vector<std::int32_t> equations_, unknown_of_;
  std::vector<std::vector<std::int32_t>> unknowns_, interior_, boundary_, places_;
  std::vector<std::int32_t> interface_;
  std::vector<std::size_t> first_part_;
  std::vector<std::int32_t> parts_of_;
};

/// What an interface class is.
enum class InterfaceKind {
  face,   ///< several nodes that two parts share
  edge,   ///< several nodes that three or more parts share
  corner  ///< a single node
};
/// The name of a kind: "face", "edge", "corner".
const char* to_string(InterfaceKind kind);

/// Neighbouring interface nodes that the same parts share: a face, an edge or a corner of the decomposition.
struct InterfaceClass {
  InterfaceKind kind = InterfaceKind::corner;  ///< by the number of parts and of nodes
  std::vector<std::int32_t> parts;             ///< that share it, ascending
  std::vector<std::int32_t> nodes;             ///< of the domain, ascending
  std::vector<std::int32_t> unknowns;          ///< of the decomposition, ascending
};

/// Numbers the interface: every interface unknown is in one class. Nodes belong to one class if the same parts share
/// them and a chain of elements connects them along the class, so that two parts which touch at two places have two
/// faces. Nodes whose unknowns have different parts, as multi-point equations may cause, are corners. Classes ascend by
/// their first node.
std::vector<InterfaceClass> interface_classes(const Decomposition& decomposition);

}  // namespace voussoir
