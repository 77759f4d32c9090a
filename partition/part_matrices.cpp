#include <voussoir/partition/part_matrices.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/element_matrix_source.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/framework/analysis/analysis_state.hpp>
#include <voussoir/partition/detail/element_unknowns.hpp>
#include <voussoir/partition/part_threads.hpp>

namespace voussoir {
namespace {

/// An element matrix in terms of free unknowns: which they are, and how its degrees of freedom follow them.
struct ElementUnknowns {
  std::vector<std::int32_t> unknowns;  ///< of the whole, ascending
  struct Term {
    int dof, at;  ///< row of the element matrix, and position in `unknowns`
    double coefficient;
  };
  std::vector<Term> terms;
};

/// Sums element matrices to the matrices of parts, or of sets that overlap: the pattern first, then the values. Each
/// matrix is summed by one thread, in the order of the elements.
class PartAssembly {
 public:
  /// With `sets`, an element belongs to each set that has all its unknowns; without, to its part.
  explicit PartAssembly(const Decomposition& decomposition, std::span<const std::vector<std::int32_t>> sets = {},
                        std::span<const double> factors = {})
      : decomposition_(decomposition),
        sets_(sets),
        factors_(factors),
        model_(decomposition.model()),
        threads_(part_threads(model_.backend())),
        unknown_of_(make_unknown_of()),
        free_(model_, unknown_of_) {
    const Domain& domain = model_.domain();
    first_of_block_.push_back(0);
    for (std::size_t b = 0; b < domain.block_count(); ++b)
      first_of_block_.push_back(first_of_block_.back() + domain.block(b).size());
    for (int b = 0; b < static_cast<int>(model_.batches().size()); ++b)
      batches_.push_back(detail::has_matrices(model_, b) ? detail::batch_equations(model_, b)
                                                         : detail::BatchEquations{});
    find_members();
  }

  std::vector<SymmetricCsr> patterns() const {
    std::vector<SymmetricCsr> result(members_.size());
    for_each_part(static_cast<int>(result.size()), threads_,
                  [&](int s) { result[static_cast<std::size_t>(s)] = pattern(static_cast<std::size_t>(s)); });
    return result;
  }

  /// Adds the elements of a group to all matrices that have them.
  void add(const ElementMatrixGroup& group, std::vector<SymmetricCsr>& matrices,
           std::vector<std::vector<double>>& sizes) const {
    if (batches_[static_cast<std::size_t>(group.batch)].dofs == 0) return;
    for_each_part(static_cast<int>(matrices.size()), threads_, [&](int s) {
      add(group, static_cast<std::size_t>(s), matrices[static_cast<std::size_t>(s)],
          sizes[static_cast<std::size_t>(s)]);
    });
  }

 private:
  /// The elements of each set, batch by batch and ascending.
  void find_members() {
    members_.assign(set_count(), std::vector<std::vector<std::int32_t>>(batches_.size()));
    std::vector<std::vector<std::int32_t>> sets_of(sets_.empty() ? 0 : static_cast<std::size_t>(decomposition_.size()));
    for (std::size_t s = 0; s < sets_.size(); ++s)
      for (const std::int32_t u : sets_[s])
        sets_of[static_cast<std::size_t>(u)].push_back(static_cast<std::int32_t>(s));
    ElementUnknowns element;
    std::vector<std::int32_t> local;
    for (std::size_t b = 0; b < batches_.size(); ++b)
      for (std::int32_t e = 0; e < elements(static_cast<int>(b)); ++e) {
        if (sets_.empty()) {
          members_[static_cast<std::size_t>(part_of(static_cast<int>(b), e))][b].push_back(e);
          continue;
        }
        take(static_cast<int>(b), e, element);
        if (element.unknowns.empty()) continue;
        for (const std::int32_t s : sets_of[static_cast<std::size_t>(element.unknowns.front())])
          if (find_local(static_cast<std::size_t>(s), element, local))
            members_[static_cast<std::size_t>(s)][b].push_back(e);
      }
  }

  SymmetricCsr pattern(std::size_t set) const {
    std::vector<std::vector<std::int32_t>> rows(unknowns_of(set).size());
    ElementUnknowns element;
    std::vector<std::int32_t> local;
    for (std::size_t b = 0; b < batches_.size(); ++b)
      for (const std::int32_t e : members_[set][b]) {
        take(static_cast<int>(b), e, element);
        if (!find_local(set, element, local)) continue;
        for (std::size_t i = 0; i < local.size(); ++i) {
          auto& row = rows[static_cast<std::size_t>(local[i])];
          row.insert(row.end(), local.begin() + static_cast<std::ptrdiff_t>(i), local.end());
          // The reference node of a rigid body is in very many elements.
          if (row.size() > 8192 && row.size() == row.capacity()) sort_unique(row);
        }
      }
    SymmetricCsr matrix;
    matrix.n = static_cast<std::int64_t>(rows.size());
    matrix.row_start.push_back(0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto& row = rows[i];
      row.push_back(static_cast<std::int32_t>(i));
      sort_unique(row);
      matrix.column.insert(matrix.column.end(), row.begin(), row.end());
      matrix.row_start.push_back(static_cast<std::int64_t>(matrix.column.size()));
      std::vector<std::int32_t>().swap(row);
    }
    matrix.value.assign(matrix.column.size(), 0.0);
    return matrix;
  }

  void add(const ElementMatrixGroup& group, std::size_t set, SymmetricCsr& matrix, std::vector<double>& size) const {
    const int dofs = batches_[static_cast<std::size_t>(group.batch)].dofs;
    ElementUnknowns element;
    std::vector<std::int32_t> local;
    std::vector<double> full(static_cast<std::size_t>(dofs * dofs)), transformed;
    const auto& members = members_[set][static_cast<std::size_t>(group.batch)];
    for (auto at = std::lower_bound(members.begin(), members.end(), group.first);
         at != members.end() && *at < group.first + group.count; ++at) {
      const std::int32_t e = *at - group.first;
      const int part = take(group.batch, *at, element);
      if (!find_local(set, element, local)) continue;
      const double* from = group.values +
                           static_cast<std::size_t>(e / element_matrix_lanes) *
                               static_cast<std::size_t>(group.entries) * element_matrix_lanes +
                           e % element_matrix_lanes;
      for (int i = 0, k = 0; i < dofs; ++i)
        for (int j = i; j < dofs; ++j, ++k)
          full[static_cast<std::size_t>(i * dofs + j)] = full[static_cast<std::size_t>(j * dofs + i)] =
              from[static_cast<std::size_t>(k) * element_matrix_lanes];
      if (!factors_.empty())
        for (double& value : full) value *= factors_[static_cast<std::size_t>(part)];
      transform(element, full, dofs, transformed);
      if (!size.empty())
        for (const auto& a : element.terms)
          for (const auto& b : element.terms)
            if (a.at == b.at)
              size[static_cast<std::size_t>(local[static_cast<std::size_t>(a.at)])] +=
                  std::abs(a.coefficient * full[static_cast<std::size_t>(a.dof * dofs + b.dof)] * b.coefficient);
      add(local, transformed, matrix);
    }
  }

  std::vector<std::int32_t> make_unknown_of() const {
    std::vector<std::int32_t> result(static_cast<std::size_t>(model_.equation_count()));
    for (std::int32_t e = 0; e < model_.equation_count(); ++e)
      result[static_cast<std::size_t>(e)] = decomposition_.unknown(e);
    return result;
  }
  std::size_t set_count() const {
    return sets_.empty() ? static_cast<std::size_t>(decomposition_.parts()) : sets_.size();
  }
  std::span<const std::int32_t> unknowns_of(std::size_t set) const {
    return sets_.empty() ? decomposition_.unknowns(static_cast<int>(set)) : std::span<const std::int32_t>(sets_[set]);
  }
  /// Local numbers of the element's unknowns in a set. False if it has none, or the set does not have them all.
  bool find_local(std::size_t set, const ElementUnknowns& element, std::vector<std::int32_t>& local) const {
    const auto own = unknowns_of(set);
    local.clear();
    for (const std::int32_t u : element.unknowns) {
      const auto at = std::lower_bound(own.begin(), own.end(), u);
      if (at == own.end() || *at != u) return false;
      local.push_back(static_cast<std::int32_t>(at - own.begin()));
    }
    return !local.empty();
  }
  int part_of(int batch, std::int32_t entry) const {
    const ElementRef ref = model_.element_of(batch, entry);
    return decomposition_.part_of_element()[static_cast<std::size_t>(
        first_of_block_[static_cast<std::size_t>(ref.block)] + ref.element)];
  }
  std::int32_t elements(int batch) const {
    const auto& one = batches_[static_cast<std::size_t>(batch)];
    return one.dofs == 0 ? 0 : static_cast<std::int32_t>(one.equations.size() / static_cast<std::size_t>(one.dofs));
  }
  static void sort_unique(std::vector<std::int32_t>& row) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }

  /// The unknowns of an element; returns its part.
  int take(int batch, std::int32_t entry, ElementUnknowns& element) const {
    const int dofs = batches_[static_cast<std::size_t>(batch)].dofs;
    const auto& equations = batches_[static_cast<std::size_t>(batch)].equations;
    element.unknowns.clear();
    element.terms.clear();
    const std::size_t at = static_cast<std::size_t>(entry) * static_cast<std::size_t>(dofs);
    for (int i = 0; i < dofs; ++i)
      free_.each(equations[at + static_cast<std::size_t>(i)], [&](std::int32_t unknown, double coefficient) {
        element.terms.push_back({i, unknown, coefficient});
        element.unknowns.push_back(unknown);
      });
    sort_unique(element.unknowns);
    for (auto& term : element.terms)
      term.at = static_cast<int>(std::lower_bound(element.unknowns.begin(), element.unknowns.end(), term.at) -
                                 element.unknowns.begin());
    return part_of(batch, entry);
  }

  /// TᵀKT of one element.
  static void transform(const ElementUnknowns& element, const std::vector<double>& full, int dofs,
                        std::vector<double>& out) {
    const std::size_t m = element.unknowns.size();
    out.assign(m * m, 0.0);
    for (const auto& a : element.terms)
      for (const auto& b : element.terms)
        out[static_cast<std::size_t>(a.at) * m + static_cast<std::size_t>(b.at)] +=
            a.coefficient * full[static_cast<std::size_t>(a.dof * dofs + b.dof)] * b.coefficient;
  }

  static void add(const std::vector<std::int32_t>& local, const std::vector<double>& values, SymmetricCsr& matrix) {
    const std::size_t m = local.size();
    for (std::size_t i = 0; i < m; ++i) {
      auto at = matrix.row_start[static_cast<std::size_t>(local[i])];
      for (std::size_t j = i; j < m; ++j) {
        while (matrix.column[static_cast<std::size_t>(at)] != local[j]) ++at;
        matrix.value[static_cast<std::size_t>(at)] += values[i * m + j];
      }
    }
  }

  const Decomposition& decomposition_;
  const std::span<const std::vector<std::int32_t>> sets_;
  const std::span<const double> factors_;
  const AnalysisModel& model_;
  const int threads_;
  const std::vector<std::int32_t> unknown_of_;
  const detail::FreeCombinations free_;
  std::vector<std::int64_t> first_of_block_;
  std::vector<detail::BatchEquations> batches_;
  std::vector<std::vector<std::vector<std::int32_t>>> members_;  // of each set and batch
};

/// What elements are integrated with at zero unknowns and all load cases at factor 1.
struct RestTerms {
  std::vector<double> factors;
  ElementState state;
  MatrixTerms terms;

  explicit RestTerms(const AnalysisModel& model) {
    const std::vector<double> cases(model.domain().load_case_count(), 1.0);
    factors = model.batch_factors(cases);
    state.temperature = model.temperatures(cases);
    terms.batch_factors = factors;
  }
};

}  // namespace

PartMatrices::PartMatrices(const Decomposition& decomposition, const ElementState& state, const MatrixTerms& terms)
    : decomposition_(&decomposition), factors_(static_cast<std::size_t>(decomposition.parts()), 1.0) {
  const AnalysisModel& model = decomposition.model();
  PartAssembly assembly(decomposition);
  matrices_ = assembly.patterns();
  sizes_.resize(matrices_.size());
  if (!model.constraints().dependent.empty())
    for (std::size_t p = 0; p < sizes_.size(); ++p) sizes_[p].assign(static_cast<std::size_t>(matrices_[p].n), 0.0);
  model.translating([&] {
    ElementMatrixStore store(model.backend(), model.device_model(), state, terms);
    ElementMatrixGroup group;
    while (store.next(group)) assembly.add(group, matrices_, sizes_);
  });
  for (const SymmetricCsr& matrix : matrices_) check_values(matrix);
}

PartMatrices PartMatrices::at_rest(const Decomposition& decomposition) {
  const RestTerms rest(decomposition.model());
  return PartMatrices(decomposition, rest.state, rest.terms);
}

SymmetricCsr PartMatrices::assembled() const {
  const auto n = static_cast<std::size_t>(decomposition_->size());
  SymmetricCsr whole;
  whole.n = static_cast<std::int64_t>(n);
  whole.row_start.push_back(0);
  std::vector<std::int64_t> next(matrices_.size(), 0);  // the next local row of each part
  std::vector<std::pair<std::int32_t, double>> row;
  for (std::size_t u = 0; u < n; ++u) {
    row.clear();
    for (const std::int32_t p : decomposition_->parts_of(static_cast<std::int32_t>(u))) {
      const SymmetricCsr& matrix = matrices_[static_cast<std::size_t>(p)];
      const auto own = decomposition_->unknowns(p);
      const auto i = static_cast<std::size_t>(next[static_cast<std::size_t>(p)]++);
      for (auto k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k)
        row.emplace_back(own[static_cast<std::size_t>(matrix.column[static_cast<std::size_t>(k)])],
                         matrix.value[static_cast<std::size_t>(k)]);
    }
    if (decomposition_->parts_of(static_cast<std::int32_t>(u)).size() > 1)
      std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (k > 0 && row[k].first == row[k - 1].first) {
        whole.value.back() += row[k].second;
      } else {
        whole.column.push_back(row[k].first);
        whole.value.push_back(row[k].second);
      }
    }
    whole.row_start.push_back(static_cast<std::int64_t>(whole.column.size()));
  }
  return whole;
}

void PartMatrices::scale(int part, double factor) {
  if (!(factor > 0) || !std::isfinite(factor))
    throw Error(ErrorCode::bad_input, "the factor of a part matrix must be positive and finite",
                "part " + std::to_string(part));
  for (double& value : matrices_[static_cast<std::size_t>(part)].value) value *= factor;
  for (double& size : sizes_[static_cast<std::size_t>(part)]) size *= factor;
  factors_[static_cast<std::size_t>(part)] *= factor;
}

std::vector<SymmetricCsr> overlapping_neumann(const Decomposition& decomposition,
                                              std::span<const std::vector<std::int32_t>> sets,
                                              const ElementState& state, const MatrixTerms& terms,
                                              std::span<const double> factors) {
  if (sets.empty()) return {};
  const AnalysisModel& model = decomposition.model();
  PartAssembly assembly(decomposition, sets, factors);
  std::vector<SymmetricCsr> matrices = assembly.patterns();
  std::vector<std::vector<double>> sizes(matrices.size());
  model.translating([&] {
    ElementMatrixStore store(model.backend(), model.device_model(), state, terms);
    ElementMatrixGroup group;
    while (store.next(group)) assembly.add(group, matrices, sizes);
  });
  for (const SymmetricCsr& matrix : matrices) check_values(matrix);
  return matrices;
}

std::vector<SymmetricCsr> overlapping_neumann_at_rest(const Decomposition& decomposition,
                                                      std::span<const std::vector<std::int32_t>> sets) {
  const RestTerms rest(decomposition.model());
  return overlapping_neumann(decomposition, sets, rest.state, rest.terms);
}

std::size_t PartMatrices::bytes() const {
  std::size_t sum = 0;
  for (const SymmetricCsr& matrix : matrices_)
    sum +=
        matrix.value.size() * (sizeof(double) + sizeof(std::int32_t)) + matrix.row_start.size() * sizeof(std::int64_t);
  return sum;
}

}  // namespace voussoir
