#include <voussoir/framework/model/bodies.hpp>

#include <algorithm>
#include <climits>
#include <cmath>

#include <voussoir/framework/detail/node_range.hpp>
#include <voussoir/framework/model/detail/disjoint_sets.hpp>

namespace voussoir {
namespace {

/// Groups of unknowns that some element couples: the group of each name, from 0. One group in most models;
/// displacements and temperatures are two where solids and heat elements share nodes.
class UnknownGroups {
 public:
  explicit UnknownGroups(const AnalysisModel& model) : of_(model.unknown_names().size()) {
    for (std::size_t k = 0; k < of_.size(); ++k) of_[k] = static_cast<int>(k);
    for (std::size_t b = 0; b < model.batches().size(); ++b) {
      if (model.batches()[b].kind != BatchOrigin::Kind::block) continue;
      const auto& program = model.domain().block(model.batches()[b].block).type().program();
      for (int c = 1; c < program.components(); ++c)
        merge(model.batch_unknown(static_cast<int>(b), 0), model.batch_unknown(static_cast<int>(b), c));
    }
    std::vector<int> number(of_.size(), -1);
    for (int& group : of_) {
      if (number[static_cast<std::size_t>(group)] < 0) number[static_cast<std::size_t>(group)] = count_++;
      group = number[static_cast<std::size_t>(group)];
    }
  }

  int count() const { return count_; }
  int of(int unknown) const { return of_[static_cast<std::size_t>(unknown)]; }

 private:
  void merge(int a, int b) {
    const int keep = std::min(of(a), of(b)), gone = std::max(of(a), of(b));
    std::replace(of_.begin(), of_.end(), gone, keep);
  }

  std::vector<int> of_;
  int count_ = 0;
};

}  // namespace

Bodies::Bodies(const AnalysisModel& model) {
  const auto nodes = model.numbered_nodes();
  const auto first = model.first_equation();
  const std::size_t count = nodes.size();
  const UnknownGroups groups(model);
  const auto width = static_cast<std::size_t>(groups.count());
  // A member is a group of unknowns at a node; −1 where nothing of it is solved for.
  std::vector<std::int32_t> member(static_cast<std::size_t>(model.domain().node_count()) * width, -1);
  if (count * width > static_cast<std::size_t>(INT32_MAX))
    throw Error(ErrorCode::bad_input, "the model has more than 2^31 − 1 nodes times groups of unknowns");
  const auto place = [&](std::size_t position, std::int32_t equation) {
    return static_cast<std::size_t>(nodes[position]) * width +
           static_cast<std::size_t>(groups.of(model.component(position, equation)));
  };
  for (std::size_t k = 0; k < count; ++k)
    for (std::int32_t e = first[k]; e < first[k + 1]; ++e)
      if (!model.is_prescribed(e)) {
        const std::size_t at = place(k, e);
        member[at] = static_cast<std::int32_t>(k * width + at % width);
      }
  const auto member_of = [&](std::int32_t equation) {
    const auto at = model.place(equation);
    return member[static_cast<std::size_t>(at.node) * width + static_cast<std::size_t>(groups.of(at.component))];
  };

  detail::DisjointSets sets(static_cast<std::int32_t>(count * width));
  for (std::size_t b = 0; b < model.batches().size(); ++b) {
    if (model.batches()[b].kind != BatchOrigin::Kind::block) continue;
    const ElementBlock& block = model.domain().block(model.batches()[b].block);
    const auto group = static_cast<std::size_t>(groups.of(model.batch_unknown(static_cast<int>(b), 0)));
#pragma omp parallel for schedule(static) if (block.size() > detail::worth_threads)
    for (std::int32_t e = 0; e < block.size(); ++e) {
      std::int32_t last = -1;
      for (const std::int32_t n : block.nodes(e)) {
        const std::int32_t here = member[static_cast<std::size_t>(n) * width + group];
        if (here < 0) continue;
        if (last >= 0) sets.join(last, here);
        last = here;
      }
    }
  }
  for (const auto& d : model.constraints().dependent)
    for (const std::int32_t other : d.others)
      if (!model.is_prescribed(other)) sets.join(member_of(d.equation), member_of(other));
  for (const auto& s : model.constraints().springs)
    for (const std::int32_t e : s.equations)
      if (member_of(s.equations.front()) >= 0 && member_of(e) >= 0)
        sets.join(member_of(s.equations.front()), member_of(e));

  of_equation_.assign(static_cast<std::size_t>(model.equation_count()), -1);
  std::vector<std::int32_t> number(count * width, -1);
  std::int32_t next = 0;
  for (std::size_t k = 0; k < count; ++k)
    for (std::int32_t e = first[k]; e < first[k + 1]; ++e) {
      if (!model.is_free(e)) continue;
      const auto root = static_cast<std::size_t>(sets.find(member[place(k, e)]));
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
