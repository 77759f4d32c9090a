// Eigen has a few files under the LGPL; none of them is used here, and this makes the compiler say so.
#ifndef EIGEN_MPL2_ONLY
#define EIGEN_MPL2_ONLY
#endif
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <voussoir/solvers/direct/detail/guards.hpp>
#include <voussoir/solvers/direct/detail/methods.hpp>
#include <voussoir/solvers/direct/detail/nested_dissection.hpp>

namespace voussoir::detail {

namespace {

// 64-bit places, because the factor of a large model has more entries than 32 bits can count.
using Place = std::int64_t;
using Sparse = Eigen::SparseMatrix<double, Eigen::ColMajor, Place>;

// Eigen asks an ordering by default construction, so the one to use is passed at its side.
struct ChosenOrdering {
  using PermutationType = Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, Place>;
  static thread_local const std::vector<std::int32_t>* given;

  template <class Matrix>
  void operator()(const Matrix& matrix, PermutationType& permutation) {
    if (given == nullptr || given->empty()) {
      Eigen::AMDOrdering<Place>()(matrix, permutation);
      return;
    }
    permutation.resize(static_cast<Eigen::Index>(given->size()));
    for (std::size_t k = 0; k < given->size(); ++k) permutation.indices()(static_cast<Eigen::Index>(k)) = (*given)[k];
  }
};

thread_local const std::vector<std::int32_t>* ChosenOrdering::given = nullptr;

class Ldlt : public Eigen::SimplicialLDLT<Sparse, Eigen::Lower, ChosenOrdering> {
 public:
  /// Bytes that the analysis found the factor to need, also where it then could not have them; 0 before that.
  double bytes() const {
    const auto columns = m_matrix.outerSize();
    if (columns == 0 || m_matrix.outerIndexPtr() == nullptr) return 0;
    return static_cast<double>(m_matrix.outerIndexPtr()[columns]) * (sizeof(double) + sizeof(Place));
  }
};

class EigenFactorization final : public Factorization {
 public:
  explicit EigenFactorization(const DirectOptions& options) : Factorization(options) {}

 protected:
  void do_analyse(const SymmetricCsr& matrix, std::span<const std::int32_t>) override {
    // The rows of an upper triangle are the columns of a lower one.
    lower_.resize(matrix.n, matrix.n);
    lower_.resizeNonZeros(matrix.entries());
    std::copy(matrix.row_start.begin(), matrix.row_start.end(), lower_.outerIndexPtr());
    std::copy(matrix.column.begin(), matrix.column.end(), lower_.innerIndexPtr());
    std::copy(matrix.value.begin(), matrix.value.end(), lower_.valuePtr());
    const std::vector<std::int32_t> order = nested_dissection(matrix);
    statistics_.ordering = order.empty() ? "AMD" : "METIS nested dissection";
    ChosenOrdering::given = &order;
    try {
      ldlt_.analyzePattern(lower_);
    } catch (const std::bad_alloc&) {
      ChosenOrdering::given = nullptr;
      throw_out_of_memory(ldlt_.bytes(), "the factor");
    } catch (...) {
      ChosenOrdering::given = nullptr;
      throw;
    }
    ChosenOrdering::given = nullptr;
  }

  Pivots do_factorise(const SymmetricCsr& matrix, double small) override {
    std::copy(matrix.value.begin(), matrix.value.end(), lower_.valuePtr());
    ldlt_.factorize(lower_);
    const auto diagonal = ldlt_.vectorD();
    const auto& new_place = ldlt_.permutationP().indices();
    Pivots pivots;
    Place end = matrix.n;
    if (ldlt_.info() != Eigen::Success) {
      // It stopped at the first pivot that is zero; D is complete up to there.
      pivots.complete = false;
      end = 1;
      while (end < matrix.n && diagonal(end - 1) != 0) ++end;
    }
    for (std::int64_t i = 0; i < matrix.n; ++i) {
      const Place place = new_place.size() == matrix.n ? new_place(i) : i;
      if (place >= end) continue;
      if (std::abs(diagonal(place)) <= small) pivots.small.push_back(static_cast<std::int32_t>(i));
      pivots.negative += diagonal(place) < 0;
    }
    if (!pivots.complete) return pivots;
    const auto& factor = ldlt_.matrixL().nestedExpression();
    statistics_.factor_entries = factor.nonZeros() + matrix.n;
    statistics_.memory_mb = static_cast<double>(factor.nonZeros()) * (sizeof(double) + sizeof(Place)) / 1e6 +
                            48e-6 * static_cast<double>(matrix.n);
    statistics_.flops = 0;
    for (Eigen::Index j = 0; j < factor.outerSize(); ++j) {
      const double below = static_cast<double>(factor.outerIndexPtr()[j + 1] - factor.outerIndexPtr()[j]);
      statistics_.flops += below * (below + 2);
    }
    return pivots;
  }

  void do_solve(double* vectors, int columns) override {
    Eigen::Map<Eigen::MatrixXd> x(vectors, lower_.rows(), columns);
    x = ldlt_.solve(x).eval();
  }

 private:
  Sparse lower_;
  Ldlt ldlt_;
};

}  // namespace

std::unique_ptr<Factorization> make_eigen(const DirectOptions& options) {
  return std::make_unique<EigenFactorization>(options);
}

}  // namespace voussoir::detail
