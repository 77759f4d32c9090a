#include <voussoir/partition/host_operator.hpp>

#include <voussoir/backends/error.hpp>

namespace voussoir {

HostOperator::HostOperator(std::shared_ptr<const Layout> layout, std::vector<std::int32_t> equations)
    : layout_(std::move(layout)), equations_(std::move(equations)) {
  unknowns_ = equations_.empty() ? static_cast<std::size_t>(layout_->size()) : equations_.size();
  for (const std::int32_t e : equations_)
    if (e < 0 || e >= layout_->size())
      throw Error(ErrorCode::misuse, "equation " + std::to_string(e) + " is not one of the layout");
}

void HostOperator::apply(const Vector& x, Vector& y) const {
  if (x.size() != layout_->size() || y.size() != layout_->size() || x.columns() != y.columns())
    throw Error(ErrorCode::misuse, "the vectors do not have the size of the operator");
  std::vector<double> all = x.to_host(), in(unknowns_), out(unknowns_);
  const auto columns = static_cast<std::size_t>(x.columns());
  for (std::size_t c = 0; c < columns; ++c) {
    const auto at = [&](std::size_t i) {
      return (equations_.empty() ? i : static_cast<std::size_t>(equations_[i])) * columns + c;
    };
    for (std::size_t i = 0; i < unknowns_; ++i) in[i] = all[at(i)];
    multiply(in, out);
    for (std::size_t i = 0; i < unknowns_; ++i) all[at(i)] = out[i];
  }
  y.from_host(all);
}

double HostOperator::apply_dot(const Vector& x, Vector& y) const {
  apply(x, y);
  const std::vector<double> a = x.to_host(), b = y.to_host();
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::shared_ptr<const Layout> plain_layout(Backend& backend, std::int64_t size, bool coupled) {
  std::vector<std::shared_ptr<DeviceMemory>> memories;
  std::vector<std::int64_t> first{0};
  const int devices = backend.devices();
  for (int d = 0; d < devices; ++d) {
    memories.push_back(backend.memory(d));
    first.push_back(size * (d + 1) / devices);
  }
  std::vector<std::vector<std::int64_t>> ghosts(static_cast<std::size_t>(devices));
  if (coupled)
    for (std::size_t d = 0; d < ghosts.size(); ++d)
      for (std::int64_t e = 0; e < size; ++e)
        if (e < first[d] || e >= first[d + 1]) ghosts[d].push_back(e);
  return std::make_shared<const Layout>(std::move(memories), std::move(first), std::move(ghosts));
}

}  // namespace voussoir
