#include <voussoir/engines/petsc/free_motion_check.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <voussoir/engines/petsc/calls.hpp>
#include <voussoir/framework/analysis/mode_measure.hpp>

namespace voussoir::petsc {
namespace {

/// What rounding may leave of the energy of a motion without stiffness, relative to that of the diagonal alone.
constexpr double no_energy = energy_lost_in_rounding;

/// A small symmetric matrix by rows.
struct Dense {
  int size = 0;
  std::vector<double> values;

  explicit Dense(int n) : size(n), values(static_cast<std::size_t>(n * n), 0.0) {}
  double& at(int i, int j) { return values[static_cast<std::size_t>(i * size + j)]; }
  double at(int i, int j) const { return values[static_cast<std::size_t>(i * size + j)]; }
};

void sum_over_processes(MPI_Comm communicator, std::vector<double>& values) {
  VSR_MPI(
      MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, communicator));
}

/// Makes a symmetric matrix diagonal by Jacobi's rotations; the columns of the result are its eigenvectors.
Dense diagonalise(Dense& matrix) {
  const int n = matrix.size;
  Dense vectors(n);
  for (int i = 0; i < n; ++i) vectors.at(i, i) = 1;
  for (int sweep = 0; sweep < 50; ++sweep)
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        if (matrix.at(p, q) == 0) continue;
        const double angle = 0.5 * std::atan2(2 * matrix.at(p, q), matrix.at(q, q) - matrix.at(p, p));
        const double c = std::cos(angle), s = std::sin(angle);
        for (int k = 0; k < n; ++k) {
          const double a = matrix.at(k, p), b = matrix.at(k, q);
          matrix.at(k, p) = c * a - s * b;
          matrix.at(k, q) = s * a + c * b;
        }
        for (int k = 0; k < n; ++k) {
          const double a = matrix.at(p, k), b = matrix.at(q, k);
          matrix.at(p, k) = c * a - s * b;
          matrix.at(q, k) = s * a + c * b;
          const double v = vectors.at(k, p), w = vectors.at(k, q);
          vectors.at(k, p) = c * v - s * w;
          vectors.at(k, q) = s * v + c * w;
        }
      }
  return vectors;
}

using Combinations = std::vector<std::vector<double>>;  // of the motions of a share

/// Combinations that are zero at all equations that are not free.
Combinations unsupported(MPI_Comm communicator, const SystemShare& share) {
  Dense held(share.modes);
  for (std::size_t e = 0; e < share.number.size(); ++e) {
    if (share.free[e]) continue;
    const double* const motion = share.motions.data() + e * static_cast<std::size_t>(share.modes);
    for (int i = 0; i < share.modes; ++i)
      for (int j = 0; j < share.modes; ++j) held.at(i, j) += motion[i] * motion[j];
  }
  sum_over_processes(communicator, held.values);
  const Dense vectors = diagonalise(held);
  double largest = 1;
  for (int i = 0; i < share.modes; ++i) largest = std::max(largest, held.at(i, i));
  Combinations result;
  for (int i = 0; i < share.modes; ++i)
    if (std::abs(held.at(i, i)) < 1e-10 * largest) {
      auto& combination = result.emplace_back();
      for (int k = 0; k < share.modes; ++k) combination.push_back(vectors.at(k, i));
    }
  return result;
}

/// Combinations, in another basis, that move something: bodies in a line do not turn about it.
Combinations moving(MPI_Comm communicator, const SystemShare& share, const Combinations& motions) {
  const int count = static_cast<int>(motions.size());
  Dense sizes(count);
  std::vector<double> all(1, 0.0), value(motions.size());
  for (std::size_t e = 0; e < share.number.size(); ++e) {
    const double* const motion = share.motions.data() + e * static_cast<std::size_t>(share.modes);
    for (int k = 0; k < share.modes; ++k) all[0] += motion[k] * motion[k];
    if (!share.free[e]) continue;
    for (std::size_t c = 0; c < motions.size(); ++c) {
      value[c] = 0;
      for (int k = 0; k < share.modes; ++k) value[c] += motions[c][static_cast<std::size_t>(k)] * motion[k];
    }
    for (int c = 0; c < count; ++c)
      for (int d = 0; d < count; ++d)
        sizes.at(c, d) += value[static_cast<std::size_t>(c)] * value[static_cast<std::size_t>(d)];
  }
  sum_over_processes(communicator, sizes.values);
  sum_over_processes(communicator, all);
  const Dense vectors = diagonalise(sizes);
  Combinations result;
  for (int i = 0; i < count; ++i) {
    if (!(sizes.at(i, i) > 1e-10 * all[0])) continue;
    auto& combination = result.emplace_back(static_cast<std::size_t>(share.modes), 0.0);
    for (int c = 0; c < count; ++c)
      for (std::size_t k = 0; k < combination.size(); ++k)
        combination[k] += vectors.at(c, i) * motions[static_cast<std::size_t>(c)][k];
  }
  return result;
}

/// y = A x of this process, and its diagonal.
void multiply(const SystemShare& share, const std::vector<double>& x, std::vector<double>& y,
              std::vector<double>& diagonal) {
  if (share.product) {
    share.product(x, y);
    diagonal = share.diagonal;
    diagonal.resize(x.size(), 0.0);
    return;
  }
  const HostMatrix& m = share.matrix;
  const int s = m.block_size;
  for (std::size_t e = 0; e < x.size(); ++e) {
    y[e] = diagonal[e] = 0;
    if (!share.free[e]) continue;
    const auto row = e / static_cast<std::size_t>(s);
    for (auto k = m.row_start[row]; k < m.row_start[row + 1]; ++k)
      for (int j = 0; j < s; ++j) {
        const auto column =
            static_cast<std::size_t>(m.column[static_cast<std::size_t>(k)]) * static_cast<std::size_t>(s) +
            static_cast<std::size_t>(j);
        const double a =
            m.value[(static_cast<std::size_t>(k) * static_cast<std::size_t>(s) + e % static_cast<std::size_t>(s)) *
                        static_cast<std::size_t>(s) +
                    static_cast<std::size_t>(j)];
        if (share.free[column]) y[e] += a * x[column];
        if (column == e) diagonal[e] = a;
      }
  }
}

/// Those of the combinations, in another basis, that the matrix does not resist.
Combinations unresisted(MPI_Comm communicator, const SystemShare& share, const Combinations& motions) {
  const int count = static_cast<int>(motions.size());
  const std::size_t size = share.number.size();
  std::vector<std::vector<double>> x(motions.size(), std::vector<double>(size, 0.0));
  for (std::size_t c = 0; c < motions.size(); ++c)
    for (std::size_t e = 0; e < size; ++e)
      for (int k = 0; share.free[e] && k < share.modes; ++k)
        x[c][e] += motions[c][static_cast<std::size_t>(k)] *
                   share.motions[e * static_cast<std::size_t>(share.modes) + static_cast<std::size_t>(k)];
  Dense energy(count);
  std::vector<double> of_diagonal(1, 0.0), y(size), diagonal(size);
  for (int c = 0; c < count; ++c) {
    multiply(share, x[static_cast<std::size_t>(c)], y, diagonal);
    for (std::size_t e = 0; e < size; ++e) {
      of_diagonal[0] += diagonal[e] * x[static_cast<std::size_t>(c)][e] * x[static_cast<std::size_t>(c)][e] / count;
      for (int d = 0; d < count; ++d) energy.at(d, c) += x[static_cast<std::size_t>(d)][e] * y[e];
    }
  }
  sum_over_processes(communicator, energy.values);
  sum_over_processes(communicator, of_diagonal);
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < i; ++j) energy.at(i, j) = energy.at(j, i) = 0.5 * (energy.at(i, j) + energy.at(j, i));
  const Dense vectors = diagonalise(energy);
  Combinations result;
  for (int i = 0; i < count; ++i) {
    if (!(std::abs(energy.at(i, i)) <= no_energy * of_diagonal[0])) continue;
    auto& combination = result.emplace_back(static_cast<std::size_t>(share.modes), 0.0);
    for (int c = 0; c < count; ++c)
      for (std::size_t k = 0; k < combination.size(); ++k)
        combination[k] += vectors.at(c, i) * motions[static_cast<std::size_t>(c)][k];
  }
  return result;
}

/// The same motions with as few parts as possible, so that their text is short.
void eliminate(Combinations& motions) {
  std::size_t row = 0;
  for (std::size_t column = motions.front().size(); column-- > 0 && row < motions.size();) {
    const auto pivot =
        std::max_element(motions.begin() + static_cast<std::ptrdiff_t>(row), motions.end(),
                         [&](const auto& a, const auto& b) { return std::abs(a[column]) < std::abs(b[column]); });
    if (std::abs((*pivot)[column]) < 1e-6) continue;
    std::swap(*pivot, motions[row]);
    for (double divisor = motions[row][column]; double& value : motions[row]) value /= divisor;
    for (std::size_t other = 0; other < motions.size(); ++other) {
      if (other == row) continue;
      const double factor = motions[other][column];
      for (std::size_t k = 0; k < motions[row].size(); ++k) motions[other][k] -= factor * motions[row][k];
    }
    ++row;
  }
}

std::string text_of(const std::vector<double>& motion) {
  static constexpr std::array<const char*, 6> in_space{"moves along x", "moves along y", "moves along z",
                                                       "turns about x", "turns about y", "turns about z"};
  static constexpr std::array<const char*, 3> in_plane{"moves along x", "moves along y", "turns in its plane"};
  std::string text;
  for (std::size_t k = 0; k < motion.size(); ++k)
    if (std::abs(motion[k]) > 1e-6)
      text += (text.empty() ? "" : " and ") + std::string(motion.size() == 6 ? in_space[k] : in_plane[k]);
  return text;
}

}  // namespace

void refuse_free_motion(MPI_Comm communicator, const SystemShare& share) {
  const bool moves = share.modes == 3 || share.modes == 6;
  if (!share.symmetric || (!moves && share.modes != 1)) return;
  Combinations motions = unsupported(communicator, share);
  if (!motions.empty()) motions = moving(communicator, share, motions);
  if (!motions.empty()) motions = unresisted(communicator, share, motions);
  if (motions.empty()) return;
  std::string text = "the model is under-constrained: ";
  if (moves) {
    eliminate(motions);
    for (std::size_t i = 0; i < motions.size(); ++i) text += (i ? "; " : "it ") + text_of(motions[i]);
    text += " as a whole without resistance. Add supports or springs";
  } else {
    text +=
        "no temperature is prescribed and there is no film condition, so the temperatures are determined only up to a "
        "constant";
  }
  throw SharedError(Error(ErrorCode::singular, text), 0);
}

}  // namespace voussoir::petsc
