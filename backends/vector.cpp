#include <voussoir/backends/vector.hpp>

#include <algorithm>
#include <string>

#include <voussoir/backends/detail/copy_numbers.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/large_vector.hpp>

namespace voussoir {

using detail::copy_numbers;

Vector::Vector(std::shared_ptr<const Layout> layout, int columns) : layout_(std::move(layout)), columns_(columns) {
  if (!layout_) throw Error(ErrorCode::misuse, "a Vector needs a Layout");
  if (columns_ < 1) throw Error(ErrorCode::misuse, "a Vector has at least one column, not " + std::to_string(columns_));
  parts_.reserve(layout_->devices());
  for (int d = 0; d < layout_->devices(); ++d) {
    parts_.emplace_back(layout_->memory(d), static_cast<std::size_t>(layout_->local_size(d)) * columns_);
    // Most vectors never get ghosts, but whole parts travel to the host.
    parts_.back().clear_new_from(static_cast<std::size_t>(layout_->owned(d)) * columns_);
  }
}

Vector Vector::clone() const {
  Vector result;
  result.layout_ = layout_;
  result.columns_ = columns_;
  for (const Array<double>& part : parts_) result.parts_.push_back(part.clone());
  return result;
}

void Vector::to_host(std::span<double> values) const {
  if (static_cast<std::int64_t>(values.size()) != size() * columns_)
    throw Error(ErrorCode::misuse, "to_host: " + std::to_string(values.size()) + " places for " +
                                       std::to_string(size() * columns_) + " numbers");
  for (int d = 0; d < layout_->devices(); ++d) {
    const auto from = parts_[d].read_host();
    copy_numbers(from.data(), static_cast<std::size_t>(layout_->owned(d)) * columns_,
                 values.data() + layout_->first(d) * columns_);
  }
}

std::vector<double> Vector::to_host() const {
  std::vector<double> values = large_zeros(static_cast<std::size_t>(size()) * columns_);
  to_host(values);
  return values;
}

void Vector::from_host(std::span<const double> values) {
  if (static_cast<std::int64_t>(values.size()) != size() * columns_)
    throw Error(ErrorCode::misuse, "from_host: " + std::to_string(values.size()) + " numbers for " +
                                       std::to_string(size() * columns_) + " places");
  for (int d = 0; d < layout_->devices(); ++d) {
    auto to = parts_[d].write_host();
    const auto owned = static_cast<std::size_t>(layout_->owned(d)) * columns_;
    copy_numbers(values.data() + layout_->first(d) * columns_, owned, to.data());
    std::fill(to.begin() + static_cast<std::ptrdiff_t>(owned), to.end(), 0.0);
  }
}

}  // namespace voussoir
