#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/partition/partition.hpp>

namespace voussoir {

/// One part of a partitioned domain, as a separate Domain.
///
/// It contains the part's elements and their nodes with the user's ids, in blocks of the same names and order (some may
/// be empty), with materials, sections and orientations. Supports, temperatures, sets and surfaces are those of the
/// whole domain, restricted to the part; on the interface every part has the supports. A multi-point equation is in the
/// part that has its nodes, together with nodes that no element uses, such as the reference node of a rigid body. Loads
/// on elements and faces are in the part of their elements; a nodal load on the interface is assigned to the owner of
/// the node only (or to the lowest part in which the node has that unknown), so that the loads of all parts add up to
/// those of the whole domain. Load cases have the same names and order.
class Subdomain {
 public:
  /// `whole` must be the partitioned domain. A multi-point equation or a rigid body that touches or crosses the
  /// interface is an Error (bad_input); DomainPartitioner avoids such partitions.
  /// `further_nodes` are nodes of the whole domain, ascending, that the subdomain gets in addition, without unknowns:
  /// for jobs with two models that must have the same nodes.
  Subdomain(const Domain& whole, const Partition& partition, int part,
            std::span<const std::int32_t> further_nodes = {});

  int part() const { return part_; }                 ///< number of the part
  Domain& domain() { return *domain_; }              ///< owned by the subdomain
  const Domain& domain() const { return *domain_; }  ///< owned by the subdomain
  /// Hands the domain over; domain() must not be called afterwards.
  std::unique_ptr<Domain> take_domain() { return std::move(domain_); }

  /// The index in the whole domain of each node of the subdomain.
  std::span<const std::int32_t> whole_nodes() const { return whole_nodes_; }
  /// The index in the subdomain of a node of the whole domain, or −1 if it is not in this part.
  std::int32_t local_node(std::int32_t whole_node) const;
  /// For each element of a block of the subdomain, its index in the block of the whole domain.
  std::span<const std::int32_t> whole_elements(std::size_t block) const { return whole_elements_[block]; }

  /// Nodes of the subdomain that belong to no other part, ascending.
  std::span<const std::int32_t> interior_nodes() const { return interior_; }
  /// Nodes of the subdomain that other parts share, ascending.
  std::span<const std::int32_t> interface_nodes() const { return interface_; }

 private:
  int part_;
  std::unique_ptr<Domain> domain_;
  std::vector<std::int32_t> whole_nodes_;
  std::vector<std::vector<std::int32_t>> whole_elements_;
  std::vector<std::int32_t> interior_, interface_;
};

/// The part of each node that no element uses but equations name; −1 for all other nodes. Throws Error (bad_input) if
/// an equation, or a group of equations that share such nodes, has nodes in several parts.
std::vector<std::int32_t> parts_of_equation_nodes(const Domain& whole, const Partition& partition);

/// All subdomains of a partitioned domain, in the order of their parts.
std::vector<std::unique_ptr<Subdomain>> make_subdomains(const Domain& whole, const Partition& partition);

}  // namespace voussoir
