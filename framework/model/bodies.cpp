#include <voussoir/framework/model/bodies.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/framework/detail/node_range.hpp>
#include <voussoir/framework/model/detail/disjoint_sets.hpp>

namespace voussoir {
Bodies::Bodies(const AnalysisModel& model) {
  const auto nodes = model.numbered_nodes();
  const auto first = model.first_equation();
  const std::size_t count = nodes.size();
  // Where a node stands in the numbering, or −1 where nothing is solved for at it.
  std::vector<std::int32_t> position(static_cast<std::size_t>(model.domain().node_count()), -1);
  for (std::size_t k = 0; k < count; ++k)
    for (std::int32_t e = first[k]; e < first[k + 1]; ++e)
      if (!model.is_prescribed(e)) position[static_cast<std::size_t>(nodes[k])] = static_cast<std::int32_t>(k);
  const auto position_of = [&](std::int32_t equation) {
    return position[static_cast<std::size_t>(model.place(equation).node)];
  };

  detail::DisjointSets sets(static_cast<std::int32_t>(count));
  for (const auto& origin : model.batches()) {
    if (origin.kind != BatchOrigin::Kind::block) continue;
    const ElementBlock& block = model.domain().block(origin.block);
#pragma omp parallel for schedule(static) if (block.size() > detail::worth_threads)
    for (std::int32_t e = 0; e < block.size(); ++e) {
      std::int32_t last = -1;
      for (const std::int32_t n : block.nodes(e)) {
        const std::int32_t here = position[static_cast<std::size_t>(n)];
        if (here < 0) continue;
        if (last >= 0) sets.join(last, here);
        last = here;
      }
    }
  }
  for (const auto& d : model.constraints().dependent)
    for (const std::int32_t other : d.others)
      if (!model.is_prescribed(other)) sets.join(position_of(d.equation), position_of(other));
  for (const auto& s : model.constraints().springs)
    for (const std::int32_t e : s.equations)
      if (position_of(s.equations.front()) >= 0 && position_of(e) >= 0)
        sets.join(position_of(s.equations.front()), position_of(e));

  of_equation_.assign(static_cast<std::size_t>(model.equation_count()), -1);
  std::vector<std::int32_t> number(count, -1);
  std::int32_t next = 0;
  for (std::size_t k = 0; k < count; ++k)
    for (std::int32_t e = first[k]; e < first[k + 1]; ++e) {
      if (!model.is_free(e)) continue;
      const auto root = static_cast<std::size_t>(sets.find(static_cast<std::int32_t>(k)));
      if (number[root] < 0) number[root] = next++;
      of_equation_[static_cast<std::size_t>(e)] = number[root];
    }
  count_ = std::max(1, next);
}

std::vector<double> Bodies::norms(Backend& backend, const Vector& x) const {
  if (count_ == 1) return backend.column_norms(x);
  const auto columns = static_cast<std::size_t>(x.columns());
  const std::vector<double> values = x.to_host();
  const auto for_all = [&](const auto& work) {
    for (std::size_t e = 0; e < of_equation_.size(); ++e)
      if (of_equation_[e] >= 0)
        for (std::size_t c = 0; c < columns; ++c)
          work(static_cast<std::size_t>(of_equation_[e]) * columns + c, values[e * columns + c]);
  };
  // Entries are brought near 1 by a power of two, which is exact, before they are squared.
  std::vector<double> largest(static_cast<std::size_t>(count_) * columns, 0.0), sum(largest.size(), 0.0);
  for_all([&](std::size_t k, double v) {
    if (std::isnan(v) || std::abs(v) > largest[k]) largest[k] = std::abs(v);  // NaN stays, as nothing is above it
  });
  std::vector<double> factor(largest.size(), 1.0);
  for (std::size_t k = 0; k < largest.size(); ++k)
    if (largest[k] > 0 && std::isfinite(largest[k]))
      factor[k] = std::ldexp(1.0, std::clamp(-std::ilogb(largest[k]), -1000, 1000));
  for_all([&](std::size_t k, double v) {
    const double scaled = factor[k] * v;
    sum[k] += scaled * scaled;
  });
  for (std::size_t k = 0; k < sum.size(); ++k)
    sum[k] = std::isfinite(largest[k]) ? std::sqrt(sum[k]) / factor[k] : largest[k];
  return sum;
}

void Bodies::scale(Backend& backend, std::span<const double> factors, Vector& x) const {
  const auto columns = static_cast<std::size_t>(x.columns());
  if (factors.size() != static_cast<std::size_t>(count_) * columns)
    throw Error(ErrorCode::misuse, "Bodies::scale needs a factor for each body and column");
  if (count_ == 1) {
    const std::vector<double> nothing(columns, 0.0);
    backend.column_axpby(nothing, x, factors, x);
    return;
  }
  std::vector<double> values = x.to_host();
  for (std::size_t e = 0; e < of_equation_.size(); ++e)
    if (of_equation_[e] >= 0)
      for (std::size_t c = 0; c < columns; ++c) {
        const double factor = factors[static_cast<std::size_t>(of_equation_[e]) * columns + c];
        double& value = values[e * columns + c];
        value = factor == 0 ? 0 : factor * value;
      }
  x.from_host(values);
}

}  // namespace voussoir
