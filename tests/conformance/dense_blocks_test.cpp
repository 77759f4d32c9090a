#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/backends/dense_block_services.hpp>

#include "backends_under_test.hpp"

// Sums of dense blocks on every backend, against sums that are taken here.

namespace voussoir::conformance {
namespace {

class DenseBlocks : public ::testing::TestWithParam<std::string> {};

/// Equal ranges of equations, and all others as ghosts.
std::shared_ptr<const Layout> coupled_layout(const Backend& backend, std::int64_t size) {
  std::vector<std::shared_ptr<DeviceMemory>> memories;
  std::vector<std::int64_t> first{0};
  const int devices = backend.devices();
  for (int d = 0; d < devices; ++d) {
    memories.push_back(backend.memory(d));
    first.push_back(size * (d + 1) / devices);
  }
  std::vector<std::vector<std::int64_t>> ghosts(static_cast<std::size_t>(devices));
  for (std::size_t d = 0; d < ghosts.size(); ++d)
    for (std::int64_t e = 0; e < size; ++e)
      if (e < first[d] || e >= first[d + 1]) ghosts[d].push_back(e);
  return std::make_shared<const Layout>(std::move(memories), std::move(first), std::move(ghosts));
}

double number(std::size_t i) { return std::sin(0.37 * static_cast<double>(i * i % 1009) + 0.2); }

TEST_P(DenseBlocks, MultiplyAndAddUp) {
  const auto backend = Backend::open(GetParam());
  // Blocks of one equation, of less than a warp, of a warp and of more; an equation in none and some in several.
  for (const std::vector<std::size_t>& sizes : {std::vector<std::size_t>{1}, {3, 31}, {32, 33, 2, 97}}) {
    constexpr std::size_t n = 131;
    std::vector<DenseBlock> blocks;
    std::vector<double> expected(2 * n, 0.0), x(2 * n);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = number(i + 5);
    for (std::size_t b = 0; b < sizes.size(); ++b) {
      DenseBlock& block = blocks.emplace_back();
      for (std::size_t k = 0; k < sizes[b]; ++k)
        block.equations.push_back(static_cast<std::int32_t>((7 * k + 11 * b) % (n - 1)));
      for (std::size_t k = 0; k < sizes[b] * sizes[b]; ++k) block.values.push_back(number(k + 1000 * b));
      for (std::size_t r = 0; r < sizes[b]; ++r)
        for (std::size_t k = 0; k < sizes[b]; ++k)
          for (std::size_t c = 0; c < 2; ++c)
            expected[2 * static_cast<std::size_t>(block.equations[r]) + c] +=
                block.values[r * sizes[b] + k] * x[2 * static_cast<std::size_t>(block.equations[k]) + c];
    }
    const auto layout = coupled_layout(*backend, n);
    const auto sum = backend->service<DenseBlockServices>().make_block_sum(*backend, layout, blocks);
    Vector in(layout, 2), out(layout, 2), again(layout, 2);
    in.from_host(x);
    sum->apply(in, out);
    const std::vector<double> found = out.to_host();
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12 * 100) << i;
    EXPECT_EQ(found[2 * (n - 1)], 0) << "in no block";
    sum->apply(in, again);
    EXPECT_EQ(again.to_host(), found) << "the same bits every time";
    // One column, and its dot product.
    std::vector<double> one(n);
    double dot = 0;
    for (std::size_t i = 0; i < n; ++i) {
      one[i] = x[2 * i];
      dot += one[i] * expected[2 * i];
    }
    Vector in1(layout), out1(layout);
    in1.from_host(one);
    EXPECT_NEAR(sum->apply_dot(in1, out1), dot, 1e-10);
    const std::vector<double> single = out1.to_host();
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(single[i], found[2 * i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, DenseBlocks, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace voussoir::conformance
