#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <array>

#include "backends/cpu_backends.hpp"
#include "backends/toy_elements.hpp"
#include "level_dense.hpp"

// The finest level of multigrid: the rows of a matrix by nodes, vectors that go there and back, and the rigid motions.

namespace voussoir {
namespace {

using namespace levels;
using toy::Case;
using toy::numbers;

/// The rows of a matrix by nodes, from what it says of itself on the host.
Dense rows_by_nodes(const HostMatrix& m, const std::vector<std::int32_t>& first_equation, int height) {
  const int nodes = static_cast<int>(first_equation.size()) - 1;
  std::vector<int> place;  // of each equation
  for (int n = 0; n < nodes; ++n)
    for (std::int32_t e = first_equation[static_cast<std::size_t>(n)];
         e < first_equation[static_cast<std::size_t>(n) + 1]; ++e)
      place.push_back(n * height + e - first_equation[static_cast<std::size_t>(n)]);
  Dense dense = Dense::Identity(nodes * height, nodes * height);
  for (const int p : place) dense(p, p) = 0;
  const int b = m.block_size;
  for (std::int64_t row = 0; row < m.block_rows(); ++row)
    for (std::int64_t k = m.row_start[static_cast<std::size_t>(row)];
         k < m.row_start[static_cast<std::size_t>(row) + 1]; ++k)
      for (int i = 0; i < b * b; ++i)
        dense(place[static_cast<std::size_t>(row * b + i / b)],
              place[static_cast<std::size_t>(m.column[static_cast<std::size_t>(k)] * b + i % b)]) =
            m.value[static_cast<std::size_t>(k * b * b + i)];
  return dense;
}

struct FinestCase {
  int components, block_size;
  bool spare;  ///< some nodes have an equation more
};

class FinestLevel : public ::testing::TestWithParam<FinestCase> {
 protected:
  static Case make() {
    Case c(9, 7, GetParam().components, 4, true);
    if (GetParam().spare) {
      c.dependencies.clear();
      c.add_spare_equations();
    }
    return c;
  }
};

TEST_P(FinestLevel, HasTheRowsOfTheMatrix) {
  const Case c = make();
  const int height = GetParam().components + (GetParam().spare ? 1 : 0);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const auto model = backend->make_model(c.description());
    const auto matrix = backend->make_matrix(*model, GetParam().block_size);
    backend->assemble(*model, nullptr, {}, *matrix);
    LevelMatrix rows = backend->service<MultigridServices>().rows_of(*model, *matrix);
    ASSERT_EQ(rows.height, height);
    ASSERT_EQ(rows.width, height);
    EXPECT_EQ(dense_of(rows), rows_by_nodes(matrix->to_host(), c.first_equation, height));

    const HostMatrix given = matrix->to_host();
    const auto whole = backend->make_matrix(model->layout(), given);
    EXPECT_EQ(dense_of(backend->service<MultigridServices>().rows_of(*model, *whole)),
              rows_by_nodes(given, c.first_equation, height));

    MatrixTerms terms;
    terms.stiffness = 0.5;
    terms.mass = 2;
    backend->assemble(*model, nullptr, terms, *matrix);
    const Dense second = rows_by_nodes(matrix->to_host(), c.first_equation, height);
    ASSERT_NE(dense_of(rows), second);
    backend->service<MultigridServices>().update_rows(*model, *matrix, rows, false);
    EXPECT_EQ(dense_of(rows), second);
    backend->service<MultigridServices>().to_single(rows);
    const auto single = rows.single_value.read_host();
    const std::vector<float> rounded(single.begin(), single.end());
    backend->service<MultigridServices>().update_rows(*model, *matrix, rows, false);
    EXPECT_EQ(dense_of(rows), second);
    EXPECT_TRUE(rows.single_value.empty());
    backend->service<MultigridServices>().update_rows(*model, *matrix, rows, true);
    EXPECT_TRUE(rows.value.empty());
    const auto again = rows.single_value.read_host();
    EXPECT_EQ(std::vector<float>(again.begin(), again.end()), rounded);
  }
}

TEST_P(FinestLevel, TakesAndGivesVectors) {
  const Case c = make();
  const int height = GetParam().components + (GetParam().spare ? 1 : 0);
  const int nodes = static_cast<int>(c.first_equation.size()) - 1;
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const auto model = backend->make_model(c.description());
    const Array<std::int32_t> equation = backend->service<MultigridServices>().equations_of(*model, height);
    EXPECT_EQ(equation.empty(), !GetParam().spare);
    for (const int columns : {1, 5})
      for (const bool single : {false, true}) {
        auto values = numbers(static_cast<std::size_t>(c.equations() * columns), 3);
        if (single)
          for (double& v : values) v = static_cast<float>(v);
        const Vector from = toy::vector_of(model->layout(), values, columns);
        LevelVector level = empty_vector(*backend, nodes * height, columns, single);
        backend->service<MultigridServices>().take(from, equation, level);
        const Dense taken = dense_of(level);
        for (int n = 0; n < nodes; ++n)
          for (int r = 0; r < height; ++r)
            for (int k = 0; k < columns; ++k) {
              const std::int32_t e = c.first_equation[static_cast<std::size_t>(n)] + r;
              const bool exists = e < c.first_equation[static_cast<std::size_t>(n) + 1];
              ASSERT_EQ(taken(n * height + r, k), exists ? values[static_cast<std::size_t>(e * columns + k)] : 0.0);
            }
        Vector back(model->layout(), columns);
        backend->service<MultigridServices>().give(level, equation, back);
        EXPECT_EQ(back.to_host(), values);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, FinestLevel,
                         ::testing::Values(FinestCase{1, 1, false}, FinestCase{2, 2, false}, FinestCase{3, 3, false},
                                           FinestCase{3, 1, false}, FinestCase{6, 6, false}, FinestCase{1, 1, true},
                                           FinestCase{3, 1, true}));

TEST(RigidModes, AreWhatARigidBodyDoes) {
  // Nodes with displacements and rotations: a rotation ω about the centre moves a point by ω × x and turns it by ω.
  Case c(5, 4, 6, 4, true);
  for (std::size_t n = 0; 3 * n < c.coordinates.size(); ++n) c.coordinates[3 * n + 2] = 0.03 * static_cast<double>(n);
  const std::vector<Motion> motion{Motion::x,          Motion::y,          Motion::z,
                                   Motion::rotation_x, Motion::rotation_y, Motion::rotation_z};
  const Eigen::Vector3d centre(0.2, 0.1, -0.3);
  const double length = 2.5;
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const auto model = backend->make_model(c.description());
    const Array<double> modes = backend->service<MultigridServices>().rigid_modes(
        *model, motion, 6, 6, {centre[0], centre[1], centre[2]}, length);
    const auto found = modes.read_host();
    const auto nodes = static_cast<std::size_t>(c.equations()) / 6;
    for (std::size_t n = 0; n < nodes; ++n)
      for (int m = 0; m < 6; ++m) {
        const Eigen::Vector3d point =
            (Eigen::Vector3d(c.coordinates[3 * n], c.coordinates[3 * n + 1], c.coordinates[3 * n + 2]) - centre);
        const Eigen::Vector3d shift = m < 3 ? Eigen::Vector3d::Unit(m) : Eigen::Vector3d::Zero().eval();
        const Eigen::Vector3d turn =
            m < 3 ? Eigen::Vector3d::Zero().eval() : (Eigen::Vector3d::Unit(m - 3) / length).eval();
        Eigen::Matrix<double, 6, 1> expected;
        expected << shift + turn.cross(point), turn;
        for (int r = 0; r < 6; ++r) {
          const auto row = 6 * n + static_cast<std::size_t>(r);
          ASSERT_NEAR(found[row * 6 + static_cast<std::size_t>(m)],
                      c.is_free(static_cast<int>(row)) ? expected[r] : 0.0, 1e-14)
              << "node " << n << ", row " << r << ", mode " << m;
        }
      }
  }
}

TEST(RigidModes, OfPlanesAndOfValues) {
  const Case plane(4, 3, 2, 4, false), scalar(4, 3, 1, 4, false);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const auto model = backend->make_model(plane.description());
    const std::vector<Motion> xy{Motion::x, Motion::y};
    const Array<double> modes = backend->service<MultigridServices>().rigid_modes(*model, xy, 2, 3, {0.1, 0.2, 0}, 0.5);
    const auto found = modes.read_host();
    for (std::size_t n = 0; 3 * n < plane.coordinates.size(); ++n) {
      const double x = (plane.coordinates[3 * n] - 0.1) / 0.5, y = (plane.coordinates[3 * n + 1] - 0.2) / 0.5;
      const std::array<double, 6> expected{1, 0, -y, 0, 1, x};
      for (std::size_t k = 0; k < 6; ++k)
        ASSERT_NEAR(found[6 * n + k], plane.is_free(static_cast<int>(2 * n + k / 3)) ? expected[k] : 0.0, 1e-14);
    }
    const auto other = backend->make_model(scalar.description());
    // One motion for every row, as models of several fields have them.
    std::vector<Motion> every(static_cast<std::size_t>(scalar.equations()), Motion::value);
    every[7] = Motion::nothing;
    const Array<double> ones = backend->service<MultigridServices>().rigid_modes(*other, every, 1, 1, {0, 0, 0}, 1);
    const auto value = ones.read_host();
    for (int e = 0; e < scalar.equations(); ++e)
      ASSERT_EQ(value[static_cast<std::size_t>(e)], scalar.is_free(e) && e != 7 ? 1.0 : 0.0);
  }
}

}  // namespace
}  // namespace voussoir
