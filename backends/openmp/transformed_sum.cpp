#include <voussoir/backends/openmp/transformed_sum.hpp>

#include <algorithm>

namespace voussoir::cpu {

void TransformedSum::compress() {
  // Stable, so that entries of one place are added in the order of their elements.
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.row != b.row ? a.row < b.row : a.column < b.column; });
  std::size_t kept = 0;
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    if (kept > 0 && entries_[kept - 1].row == entries_[k].row && entries_[kept - 1].column == entries_[k].column)
      entries_[kept - 1].value += entries_[k].value;
    else
      entries_[kept++] = entries_[k];
  }
  entries_.resize(kept);
}

void TransformedSum::accumulate(std::int32_t column, double value) {
  const auto c = static_cast<std::size_t>(column);
  if (!is_touched_[c]) {
    is_touched_[c] = 1;
    touched_.push_back(column);
  }
  dense_[c] += value;
}

void TransformedSum::accumulate(double factor, const Term* begin, const Term* end) {
  for (const Term* t = begin; t != end; ++t) accumulate(t->index, factor * t->value);
}

void TransformedSum::take(std::vector<Term>& terms) {
  std::sort(touched_.begin(), touched_.end());
  for (const std::int32_t column : touched_) {
    const auto c = static_cast<std::size_t>(column);
    terms.push_back({column, dense_[c]});
    dense_[c] = 0;
    is_touched_[c] = 0;
  }
  touched_.clear();
}

void TransformedSum::finish(const DependencyOf& dependency_of, const Add& add) {
  compress();
  // KT, row by row. Rows of independent equations are part of the result; those of dependent ones are kept, and for
  // each row of the result those that it takes.
  std::vector<Term> product, line;
  std::vector<std::size_t> start{0};
  std::vector<std::pair<std::int32_t, Term>> of_row;
  for (std::size_t k = 0; k < entries_.size();) {
    const std::int32_t row = entries_[k].row;
    const auto number = static_cast<std::int32_t>(start.size() - 1);
    const Dependency* own = dependency_of(row);
    for (; k < entries_.size() && entries_[k].row == row; ++k) {
      const Entry& entry = entries_[k];
      if (const Dependency* d = dependency_of(entry.column))
        for (std::size_t o = 0; o < d->others.size(); ++o) accumulate(d->others[o], entry.value * d->coefficients[o]);
      else
        accumulate(entry.column, entry.value);
      if (own && entry.column == row && row < owned_) add(row, row, entry.value);
    }
    if (!own) {
      line.clear();
      take(line);
      if (row < owned_)
        for (const Term& t : line) add(row, t.index, t.value);
      continue;
    }
    take(product);
    start.push_back(product.size());
    for (std::size_t o = 0; o < own->others.size(); ++o)
      if (own->others[o] < owned_) of_row.push_back({own->others[o], {number, own->coefficients[o]}});
  }
  entries_.clear();
  std::stable_sort(of_row.begin(), of_row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t k = 0; k < of_row.size();) {
    const std::int32_t row = of_row[k].first;
    for (; k < of_row.size() && of_row[k].first == row; ++k) {
      const auto [number, factor] = of_row[k].second;
      const auto n = static_cast<std::size_t>(number);
      accumulate(factor, product.data() + start[n], product.data() + start[n + 1]);
    }
    line.clear();
    take(line);
    for (const Term& t : line) add(row, t.index, t.value);
  }
}

}  // namespace voussoir::cpu
