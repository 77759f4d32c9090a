#pragma once
#include <cstdint>
#include <vector>

// Dense kernels of the multifrontal method. Matrices are stored by columns. All of them run in the calling thread and
// sum in a fixed order, so that results have the same bits whatever other threads do.

namespace voussoir::detail {

/// Packed operands of subtract_product(), kept between calls.
struct ProductBuffers {
  std::vector<double> a, b;
};

/// C −= A Bᵀ with C of m × n, A of m × k and B of n × k numbers. The arguments after each matrix are the distances of
/// its columns.
void subtract_product(double* c, std::int64_t c_stride, const double* a, std::int64_t a_stride, const double* b,
                      std::int64_t b_stride, std::int64_t m, std::int64_t n, std::int64_t k, ProductBuffers& buffers);

/// The lower triangle of C −= A Bᵀ for square C of n × n. Entries above the diagonal may be changed, too.
void subtract_lower_product(double* c, std::int64_t c_stride, const double* a, std::int64_t a_stride, const double* b,
                            std::int64_t b_stride, std::int64_t n, std::int64_t k, ProductBuffers& buffers);

/// The factorisation of a panel, the first columns of a front.
struct PanelOutcome {
  std::int64_t done = 0;  ///< columns eliminated: all, or those before a pivot of exactly zero
};

/// Factorises the first `width` columns of a symmetric matrix with `height` rows, of which only the part on and below
/// the diagonal is used: A = L D Lᵀ. D takes the place of the diagonal, L that of the rest. `scaled` becomes L D for
/// the rows below the first `width`, with columns of height − width numbers, as the update of the remaining matrix
/// needs it.
PanelOutcome factorise_panel(double* panel, std::int64_t height, std::int64_t width, std::vector<double>& scaled,
                             ProductBuffers& buffers);

/// Right-hand sides that are solved for together.
inline constexpr int solve_block = 8;

/// Replaces the first `width` rows of x by L₁₁⁻¹ x₁ and the others by x₂ − L₂₁ x₁. x has `columns` numbers for each
/// row, 1 or solve_block of them.
void solve_panel_forwards(const double* panel, std::int64_t height, std::int64_t width, double* x, int columns);
/// Replaces the first `width` rows of x by L₁₁⁻ᵀ (D⁻¹ x₁ − L₂₁ᵀ x₂).
void solve_panel_backwards(const double* panel, std::int64_t height, std::int64_t width, double* x, int columns);

}  // namespace voussoir::detail
