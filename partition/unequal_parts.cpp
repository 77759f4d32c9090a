#include <voussoir/partition/unequal_parts.hpp>

#include <cmath>
#include <span>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/detail/division_by_shares.hpp>

namespace voussoir {

UnequalParts::UnequalParts(Method method, std::vector<double> shares) : method_(method), shares_(std::move(shares)) {
  if (shares_.empty()) throw Error(ErrorCode::bad_input, "there are no shares; give one for each part");
  for (const double share : shares_)
    if (!std::isfinite(share) || share <= 0)
      throw Error(ErrorCode::bad_input,
                  "a share of " + std::to_string(share) + " is not possible; shares are positive numbers, such as 8/1");
}

std::string UnequalParts::name() const {
  return method_ == Method::metis        ? "metis:shares"
         : method_ == Method::coordinate ? "coordinate:shares"
                                         : "inertial:shares";
}

std::vector<std::int32_t> UnequalParts::partition(const ElementGraph& graph, int parts) const {
  if (static_cast<std::size_t>(parts) > shares_.size())
    throw Error(ErrorCode::bad_input,
                std::to_string(parts) + " parts need as many shares, but there are " + std::to_string(shares_.size()));
  const auto shares = std::span<const double>(shares_).first(static_cast<std::size_t>(parts));
  using Direction = CoordinateBisection::Direction;
  switch (method_) {
    case Method::metis:
      return detail::divide_by_shares(graph, shares);
    case Method::coordinate:
      return detail::bisect_by_shares(graph, Direction::coordinate, shares);
    case Method::inertial:
      return detail::bisect_by_shares(graph, Direction::inertial, shares);
  }
  return {};
}

}  // namespace voussoir
