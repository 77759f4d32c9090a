// LDLᵀ by the multifrontal method, with the pivots as they come.
//
// I. S. Duff, J. K. Reid: The multifrontal solution of indefinite sparse symmetric linear equations. ACM Trans. Math.
// Softw. 9 (1983). J. W. H. Liu: The multifrontal method for sparse matrix solution. SIAM Review 34 (1992).
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <voussoir/solvers/direct/detail/dense_ldlt.hpp>
#include <voussoir/solvers/direct/detail/front_tree.hpp>
#include <voussoir/solvers/direct/detail/guards.hpp>
#include <voussoir/solvers/direct/detail/methods.hpp>

namespace voussoir::detail {
namespace {

/// Everything lies in the object and is computed by the calling thread, so that threads with objects of their own work
/// side by side.
class MultifrontalFactorization final : public Factorization {
 public:
  explicit MultifrontalFactorization(const DirectOptions& options) : Factorization(options) {}

 protected:
  bool eliminates_partially() const override { return true; }

  void do_analyse(const SymmetricCsr& matrix, std::span<const std::int32_t> boundary) override {
    tree_.emplace(matrix, boundary);
    boundary_.assign(boundary.begin(), boundary.end());
    panels_.clear();
    panels_.shrink_to_fit();
    statistics_.ordering = tree_->dissected ? "METIS nested dissection" : "AMD";
    statistics_.flops = tree_->flops;
    statistics_.factor_entries = tree_->panel_entries;
    statistics_.memory_mb =
        1e-6 * (static_cast<double>(tree_->panel_entries) * sizeof(double) +
                static_cast<double>(tree_->entry_row.size() + tree_->rows.size()) * sizeof(std::int64_t));
  }

  Pivots do_factorise(const SymmetricCsr& matrix, double small) override {
    const std::size_t kept = boundary_.size();
    require_room(
        static_cast<double>(tree_->panel_entries) * sizeof(double) + static_cast<double>(kept * kept) * sizeof(double),
        "the factor of " + std::to_string(matrix.n) + " equations");
    panels_.assign(static_cast<std::size_t>(tree_->panel_entries), 0.0);
    schur_.assign(kept * kept, 0.0);
    updates_.assign(tree_->fronts.size(), {});
    local_.assign(static_cast<std::size_t>(matrix.n), 0);
    Pivots pivots;
    for (std::size_t f = 0; f < tree_->fronts.size(); ++f) {
      const FrontTree::Front& front = tree_->fronts[f];
      assemble(f, matrix);
      if (front.width == 0) continue;  // that of the boundary
      const std::int64_t done = eliminate(f);
      const double* const panel = panels_.data() + front.panel;
      // A pivot of exactly zero is reported, too.
      for (std::int64_t j = 0; j < std::min<std::int64_t>(done + 1, front.width); ++j) {
        const double pivot = panel[j * front.height + j];
        if (std::abs(pivot) <= small)
          pivots.small.push_back(tree_->equation[static_cast<std::size_t>(front.first + j)]);
        pivots.negative += pivot < 0;
      }
      if (done == front.width) continue;
      pivots.complete = false;
      break;
    }
    updates_.clear();
    return pivots;
  }

  void do_solve(double* vectors, int columns) override {
    each_block(vectors, columns, [&](int together) {
      forwards(together);
      // The kept ones count as zero.
      std::fill(work_.begin() + static_cast<std::ptrdiff_t>(tree_->eliminated) * together, work_.end(), 0.0);
      backwards(together);
    });
  }

  std::vector<double> do_schur_complement() override {
    const std::size_t m = boundary_.size();
    const auto at = [&](std::size_t b) {
      return static_cast<std::size_t>(tree_->place[static_cast<std::size_t>(boundary_[b])] - tree_->eliminated);
    };
    std::vector<double> result(m * m);
    for (std::size_t a = 0; a < m; ++a)
      for (std::size_t b = 0; b < m; ++b) {
        const std::size_t i = at(a), j = at(b);
        result[a * m + b] = schur_[std::min(i, j) * m + std::max(i, j)];
      }
    std::vector<double>().swap(schur_);
    return result;
  }

  std::vector<double> do_reduce(const double* rhs, int columns) override {
    const std::size_t m = boundary_.size(), n = tree_->equation.size();
    std::vector<double> vectors(rhs, rhs + n * static_cast<std::size_t>(columns));
    each_block(vectors.data(), columns, [&](int together) { forwards(together); });
    std::vector<double> reduced;
    for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c)
      for (std::size_t b = 0; b < m; ++b) reduced.push_back(vectors[c * n + static_cast<std::size_t>(boundary_[b])]);
    return reduced;
  }

 private:
  /// Where the places of a front are in it.
  void locate(const FrontTree::Front& front) {
    const auto rows = tree_->rows_of(front);
    for (std::size_t i = 0; i < rows.size(); ++i)
      local_[static_cast<std::size_t>(rows[i])] = static_cast<std::int32_t>(i);
  }

  /// The entries of the matrix and what the children left, in their order.
  void assemble(std::size_t number, const SymmetricCsr& matrix) {
    const FrontTree::Front& front = tree_->fronts[number];
    locate(front);
    const std::int64_t height = front.height, width = front.width, below = height - width;
    double* const panel = panels_.data() + front.panel;
    std::vector<double>& rest = width == 0 ? schur_ : updates_[number];
    if (width > 0) rest.assign(static_cast<std::size_t>(below * below), 0.0);
    // Column j of the front, counted from its first row.
    const auto column = [&](std::int64_t j) {
      return j < width ? panel + j * height : rest.data() + (j - width) * below - width;
    };
    const std::int32_t columns = width == 0 ? front.height : front.width;
    for (std::int32_t j = 0; j < columns; ++j) {
      double* const to = column(j);
      const auto c = static_cast<std::size_t>(front.first + j);
      for (auto k = tree_->entry_start[c]; k < tree_->entry_start[c + 1]; ++k)
        to[local_[static_cast<std::size_t>(tree_->entry_row[static_cast<std::size_t>(k)])]] +=
            matrix.value[static_cast<std::size_t>(tree_->entry_source[static_cast<std::size_t>(k)])];
    }
    std::vector<std::int32_t>& at = child_rows_;
    for (const std::int32_t child : tree_->children[number]) {
      const FrontTree::Front& from = tree_->fronts[static_cast<std::size_t>(child)];
      const auto rows = tree_->rows_of(from).subspan(static_cast<std::size_t>(from.width));
      at.clear();
      for (const std::int32_t row : rows) at.push_back(local_[static_cast<std::size_t>(row)]);
      std::vector<double>& update = updates_[static_cast<std::size_t>(child)];
      for (std::size_t j = 0; j < at.size(); ++j) {
        double* const to = column(at[j]);
        const double* const values = update.data() + j * at.size();
        for (std::size_t i = j; i < at.size(); ++i) to[at[i]] += values[i];
      }
      std::vector<double>().swap(update);
    }
  }

  /// Returns the number of columns eliminated.
  std::int64_t eliminate(std::size_t number) {
    const FrontTree::Front& front = tree_->fronts[number];
    const std::int64_t height = front.height, width = front.width, below = height - width;
    double* const panel = panels_.data() + front.panel;
    const std::int64_t done = factorise_panel(panel, height, width, scaled_, buffers_).done;
    if (done == width)
      subtract_lower_product(updates_[number].data(), below, scaled_.data(), below, panel + width, height, below, width,
                             buffers_);
    return done;
  }

  /// Calls work(columns) with one or solve_block right-hand sides in work_, by places, and takes the result.
  template <class Work>
  void each_block(double* vectors, int columns, Work work) {
    const std::size_t n = tree_->equation.size();
    for (int first = 0; first < columns;) {
      const int left = columns - first, together = left == 1 ? 1 : solve_block, some = std::min(left, together);
      work_.assign(n * static_cast<std::size_t>(together), 0.0);
      const auto each = [&](auto&& visit) {
        for (std::size_t k = 0; k < n; ++k)
          for (std::size_t c = 0; c < static_cast<std::size_t>(some); ++c)
            visit(work_[k * static_cast<std::size_t>(together) + c],
                  vectors[(static_cast<std::size_t>(first) + c) * n + static_cast<std::size_t>(tree_->equation[k])]);
      };
      each([](double& inside, double& outside) { inside = outside; });
      work(together);
      each([](double& inside, double& outside) { outside = inside; });
      first += some;
    }
  }

  void gather(const FrontTree::Front& front, int together) {
    const auto rows = tree_->rows_of(front);
    const auto count = static_cast<std::size_t>(together);
    front_work_.resize(rows.size() * count);
    for (std::size_t i = 0; i < rows.size(); ++i)
      std::copy_n(work_.data() + static_cast<std::size_t>(rows[i]) * count, count, front_work_.data() + i * count);
  }
  void scatter(const FrontTree::Front& front, std::size_t some, int together) {
    const auto rows = tree_->rows_of(front);
    const auto count = static_cast<std::size_t>(together);
    for (std::size_t i = 0; i < some; ++i)
      std::copy_n(front_work_.data() + i * count, count, work_.data() + static_cast<std::size_t>(rows[i]) * count);
  }
  void forwards(int together) {
    for (const FrontTree::Front& front : tree_->fronts) {
      if (front.width == 0) continue;
      gather(front, together);
      solve_panel_forwards(panels_.data() + front.panel, front.height, front.width, front_work_.data(), together);
      scatter(front, static_cast<std::size_t>(front.height), together);
    }
  }
  void backwards(int together) {
    for (std::size_t f = tree_->fronts.size(); f-- > 0;) {
      const FrontTree::Front& front = tree_->fronts[f];
      if (front.width == 0) continue;
      gather(front, together);
      solve_panel_backwards(panels_.data() + front.panel, front.height, front.width, front_work_.data(), together);
      scatter(front, static_cast<std::size_t>(front.width), together);
    }
  }

  std::optional<FrontTree> tree_;
  std::vector<std::int32_t> boundary_;
  std::vector<double> panels_;                // L and D of all fronts
  std::vector<double> schur_;                 // of the boundary, by places
  std::vector<std::vector<double>> updates_;  // what fronts leave to their parents, until those take it
  std::vector<std::int32_t> local_, child_rows_;
  std::vector<double> scaled_, work_, front_work_;
  ProductBuffers buffers_;
};

}  // namespace

std::unique_ptr<Factorization> make_multifrontal(const DirectOptions& options) {
  return std::make_unique<MultifrontalFactorization>(options);
}

}  // namespace voussoir::detail
