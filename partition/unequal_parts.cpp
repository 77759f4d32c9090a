#include <voussoir/partition/unequal_parts.hpp>

#include <cmath>
#include <span>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/detail/division_by_shares.hpp>

namespace voussoir {

void detail::check_shares(std::span<const double> shares) {
  if (shares.empty()) throw Error(ErrorCode::bad_input, "there are no shares; give one for each part");
  for (const double share : shares)
    if (!std::isfinite(share) || share <= 0)
      throw Error(ErrorCode::bad_input,
                  "a share of " + std::to_string(share) + " is not possible; shares are positive numbers, such as 8/1");
}

std::span<const double> detail::shares_of_parts(std::span<const double> shares, int parts) {
  if (static_cast<std::size_t>(parts) > shares.size())
    throw Error(ErrorCode::bad_input, std::to_string(parts) + " parts need as many shares, but there are " +
                                          std::to_string(shares.size()) +
                                          "; give a share for each part, or request fewer parts");
  return shares.first(static_cast<std::size_t>(parts));
}

UnequalParts::UnequalParts(Method method, std::vector<double> shares) : method_(method), shares_(std::move(shares)) {
  detail::check_shares(shares_);
}

std::string UnequalParts::name() const {
  return method_ == Method::metis        ? "metis:shares"
         : method_ == Method::coordinate ? "coordinate:shares"
                                         : "inertial:shares";
}

std::vector<std::int32_t> UnequalParts::partition(const ElementGraph& graph, int parts) const {
  const auto shares = detail::shares_of_parts(shares_, parts);
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
