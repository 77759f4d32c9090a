#include <gtest/gtest.h>

#include "backends/cpu_backends.hpp"
#include "backends/toy_elements.hpp"
#include "level_dense.hpp"
#include "support/expect_error.hpp"

// All services together: the same bits on any number of threads and in any memory, and errors.

namespace voussoir {
namespace {

using namespace levels;
using testing::expect_error;
using toy::Case;

/// All that a hierarchy of two levels is made of, and some of what is done with it.
std::vector<std::vector<double>> whole_story(Backend& backend, const Case& c) {
  MultigridServices& services = backend.service<MultigridServices>();
  std::vector<std::vector<double>> story;
  const auto model = backend.make_model(c.description());
  const auto matrix = backend.make_matrix(*model, 3);
  backend.assemble(*model, nullptr, {}, *matrix);
  LevelMatrix a = services.rows_of(*model, *matrix);
  story.push_back(numbers_of(a));
  const std::vector<Motion> motion{Motion::x, Motion::y, Motion::z};
  const Array<double> near = services.rigid_modes(*model, motion, 3, 6, {1, 1, 0}, 3);
  const Aggregates groups = services.aggregate(a, 0.02);
  const auto of_node = groups.of_node.read_host();
  story.emplace_back(of_node.begin(), of_node.end());
  Array<double> coarse;
  const LevelMatrix t = services.tentative(groups, 3, 6, near, coarse);
  story.push_back(numbers_of(t));
  story.emplace_back(coarse.read_host().begin(), coarse.read_host().end());
  LevelDiagonal inverse;
  EXPECT_EQ(services.invert_diagonal(a, inverse), -1);
  LevelMatrix p = services.product_pattern(a, t);
  services.multiply(a, t, p);
  services.smooth_prolongator(inverse, t, 0.5, p);
  LevelMatrix r = services.transposed(p);
  LevelMatrix ap = services.product_pattern(a, p);
  services.multiply(a, p, ap);
  LevelMatrix next = services.product_pattern(r, ap);
  services.multiply(r, ap, next);
  services.set_unit_diagonal_of_empty_rows(next);
  story.push_back(numbers_of(next));
  const DenseInverse end = services.invert(next);
  story.push_back(numbers_of(end));
  services.to_single(a);
  services.to_single(inverse);
  for (const int columns : {1, 5}) {
    LevelVector b = empty_vector(backend, a.rows * 3, columns, true),
                x = empty_vector(backend, a.rows * 3, columns, true),
                d = empty_vector(backend, a.rows * 3, columns, true),
                y = empty_vector(backend, a.rows * 3, columns, true);
    services.fill_with_noise(b);
    services.first_step(inverse, b, 0.5, d, x);
    services.step(a, inverse, b, x, 0.4, 0.2, d, y);
    services.residual(a, y, b, x);
    story.push_back(numbers_of(y));
    story.push_back(numbers_of(x));
    story.push_back({services.dot(x, y)});
  }
  return story;
}

TEST(MultigridBits, DoNotDependOnThreadsOrMemory) {
  const Case c(60, 50, 3, 4, true);
  const auto expected = whole_story(*make_openmp_backend(1), c);
  for (const auto& backend : {make_openmp_backend(2), make_openmp_backend(3), make_debug_backend(1)}) {
    SCOPED_TRACE(backend->describe());
    const auto found = whole_story(*backend, c);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) EXPECT_TRUE(found[k] == expected[k]) << "part " << k;
  }
}

TEST(MultigridErrors, AreMisuse) {
  const auto backend = make_openmp_backend(1);
  MultigridServices& services = backend->service<MultigridServices>();
  const LevelMatrix a = level_matrix(*backend, path(10), 1, 1);
  const LevelMatrix wide = level_matrix(*backend, sparse_blocks(5, 4, 1, 2, 1, 91), 1, 2);
  LevelVector x = empty_vector(*backend, 10, 1, false), single = empty_vector(*backend, 10, 1, true),
              y = empty_vector(*backend, 10, 1, false);
  LevelDiagonal inverse;
  expect_error(ErrorCode::misuse, {"precision"}, [&] { services.product(a, single, y); });
  expect_error(ErrorCode::misuse, {"precision"}, [&] { services.product(a, x, single); });
  expect_error(ErrorCode::misuse, {"square"}, [&] { services.aggregate(wide, 0); });
  expect_error(ErrorCode::misuse, {"square"}, [&] { services.invert(wide); });
  expect_error(ErrorCode::misuse, {"square"}, [&] { services.invert_diagonal(wide, inverse); });
  expect_error(ErrorCode::misuse, {"multiplied"}, [&] { services.product_pattern(a, wide); });
}

}  // namespace
}  // namespace voussoir
