#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/partition/graph_partitioner.hpp>
#include <voussoir/partition/partition.hpp>
#include <voussoir/partition/subdomain.hpp>

namespace voussoir {

/// Divides a domain into parts by a GraphPartitioner.
///
///   DomainPartitioner partitioner(domain);
///   const Partition partition = partitioner.partition(MetisPartitioner(), 8);
///   std::cout << partition.describe();
///   auto parts = make_subdomains(domain, partition);
///
/// Elements at the nodes of one multi-point equation are kept in one part, so that no equation crosses the interface,
/// unless cut_equations() allows it: a Subdomain cannot have such equations, a Decomposition can.
class DomainPartitioner {
 public:
  /// The domain must outlive the partitioner.
  explicit DomainPartitioner(const Domain& domain) : domain_(&domain) {}

  /// Sets the computational cost of each element, block by block; empty if all are equal. See LoadBalancer.
  DomainPartitioner& set_weights(std::vector<double> weights);
  /// Keeps these elements, given by their ids, in one part. Groups that overlap are merged.
  DomainPartitioner& keep_together(std::span<const Id> elements);
  /// Keeps the elements of a set in one part. An unknown set is an Error (not_found).
  DomainPartitioner& keep_together(const std::string& element_set);

  /// Whether parts may meet between the nodes of a multi-point equation; false by default.
  DomainPartitioner& cut_equations(bool allowed = true) {
    cuts_equations_ = allowed;
    return *this;
  }

  /// The largest possible number of parts: elements, or groups of elements that stay together.
  std::int64_t group_count() const;

  /// Divides the domain. Fewer than one part, and more parts than there are elements (or groups of elements that stay
  /// together), are an Error (bad_input).
  Partition partition(const GraphPartitioner& method, int parts) const;

 private:
  /// Per element the first element of its group, block by block.
  std::vector<std::int32_t> groups() const;

  const Domain* domain_;
  std::vector<double> weights_;
  std::vector<std::vector<ElementRef>> together_;
  bool cuts_equations_ = false;
};

}  // namespace voussoir
