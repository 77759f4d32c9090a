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
/// It contains the part's elements and their nodes under the user's ids, in blocks of the same names and order (some
/// may be empty), with materials, sections and orientations. Supports along axes and directions, temperatures, sets and
/// surfaces are those of the whole, as far as they concern the part; on the interface every part has the supports. An
/// equation is in the part that has its nodes, and with it nodes that no element uses, such as the reference node of a
/// rigid body. Loads on elements and faces come with their elements; a nodal load on the
/// interface is assigned to the owner of the node only (or to the lowest part in which the node has that unknown), so
/// that the loads of all parts add up to those of the whole. Load cases have the same names and order.
class Subdomain {
 public:
  /// `whole` must be the domain that was divided. Throws Error (bad_input) where a multi-point equation, or a rigid
  /// body, crosses the interface or touches it; DomainPartitioner keeps them together.
  Subdomain(const Domain& whole, const Partition& partition, int part);

  int part() const { return part_; }                 ///< its number
  Domain& domain() { return *domain_; }              ///< owned by the subdomain
  const Domain& domain() const { return *domain_; }  ///< owned by the subdomain

  /// The whole's node index of each node here.
  std::span<const std::int32_t> whole_nodes() const { return whole_nodes_; }
  /// Index here of a node of the whole domain, or −1.
  std::int32_t local_node(std::int32_t whole_node) const;
  /// The whole's element index, within the block, of each element of a block here.
  std::span<const std::int32_t> whole_elements(std::size_t block) const { return whole_elements_[block]; }

  /// Nodes here that no other part has, and those that others have too; ascending.
  std::span<const std::int32_t> interior_nodes() const { return interior_; }
  std::span<const std::int32_t> interface_nodes() const { return interface_; }  ///< that other parts have too

 private:
  int part_;
  std::unique_ptr<Domain> domain_;
  std::vector<std::int32_t> whole_nodes_;
  std::vector<std::vector<std::int32_t>> whole_elements_;
  std::vector<std::int32_t> interior_, interface_;
};

/// All parts of a divided domain.
std::vector<std::unique_ptr<Subdomain>> make_subdomains(const Domain& whole, const Partition& partition);

}  // namespace voussoir
