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

/// Divides a domain with the help of a GraphPartitioner.
///
///   DomainPartitioner partitioner(domain);
///   const Partition partition = partitioner.partition(MetisPartitioner(), 8);
///   std::cout << partition.describe();
///   auto parts = make_subdomains(domain, partition);
///
/// Elements that touch the nodes of one multi-point equation always stay together, so that no equation crosses the
/// interface.
class DomainPartitioner {
 public:
  /// The domain must outlive the partitioner.
  explicit DomainPartitioner(const Domain& domain) : domain_(&domain) {}

  /// The cost of each element, block by block; empty: all equal. See LoadBalancer.
  DomainPartitioner& set_weights(std::vector<double> weights);
  /// Elements, by their ids, that must end up in one part. Groups that overlap become one.
  DomainPartitioner& keep_together(std::span<const Id> elements);
  /// The elements of a set; throws Error (not_found).
  DomainPartitioner& keep_together(const std::string& element_set);

  /// Throws Error (bad_input) for fewer than one part, and for more parts than there are elements (or groups of them).
  Partition partition(const GraphPartitioner& method, int parts) const;

 private:
  const Domain* domain_;
  std::vector<double> weights_;
  std::vector<std::vector<ElementRef>> together_;
};

}  // namespace voussoir
