#pragma once
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/partition/process/process_part.hpp>

namespace voussoir::detail {

/// Adds empty fields of blocks whose elements are all in other parts, so that all pieces have the same arrays.
void complete_points(const Domain& domain, const DomainShare& share, std::vector<PointField>& points);

/// Stress and flux at the nodes that a part shares: means over the elements of all parts. Each part gives sums and
/// numbers of elements to its neighbours and gets theirs, so that all of them have the same bits.
class SharedMeans {
 public:
  /// `fields` are those of make_step_fields(), of points that complete_points() has completed. They are changed by
  /// join(); they and the part must outlive the object.
  SharedMeans(const ProcessPart& part, std::size_t domain, const std::vector<PointField>& points,
              std::deque<NodalField>& fields);
  /// A message for each entry of ProcessPart::shared.
  std::vector<std::string> messages() const;
  /// Takes the messages of the neighbours, in the same order. Those of a wrong size are an Error (bad_input).
  void join(std::span<const std::string> received);

 private:
  void count_elements(const std::vector<PointField>& points);
  std::size_t message_width() const;
  void put_own(std::int32_t node, double* to) const;
  void set_means(std::int32_t node, const double* from);

  const ProcessPart& part_;
  const Domain& domain_;
  std::deque<NodalField>& fields_;
  std::vector<std::vector<double>> counts_;  // per field: elements at each node
};

}  // namespace voussoir::detail
