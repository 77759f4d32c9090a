#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include <voussoir/backends/condensation_services.hpp>
#include <voussoir/backends/detail/condensed_parts.hpp>
#include <voussoir/backends/error.hpp>

#include "backends_under_test.hpp"

// Dense interiors of parts eliminated on every backend, against an elimination one unknown at a time.

namespace voussoir::conformance {
namespace {

class Condensation : public ::testing::TestWithParam<std::string> {
 protected:
  /// Whether a second run could give other bits: in the emulation, which is slow, threads run one after another.
  static bool could_differ() { return !GetParam().starts_with("emulated"); }
};

double number(std::size_t i) { return std::sin(0.37 * static_cast<double>(i * i % 10007) + 0.2); }

using Dense = std::vector<std::vector<double>>;

/// A part with a few entries in each row, upper and lower triangle mixed. `sign` is that of the diagonal.
PartSystem make_part(std::int32_t interior, std::int32_t boundary, std::size_t seed, double sign = 1) {
  PartSystem part;
  part.interior = interior;
  part.boundary = boundary;
  const std::int32_t n = interior + boundary;
  part.row_start.push_back(0);
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < n; ++j) {
      const bool mine = (i + j) % 2 == 0 ? j <= i : j > i;  // one of the two places of an entry
      const bool stored = i == j || (i < j ? 7 * i + 3 * j : 7 * j + 3 * i) % 5 < 2 || std::abs(i - j) <= 2;
      if (!(i == j || mine) || !stored) continue;
      part.column.push_back(j);
      part.value.push_back(i == j
                               ? sign * (0.4 * n + 2 + number(seed + static_cast<std::size_t>(i)))
                               : number(seed + static_cast<std::size_t>(i + j) * 31 + static_cast<std::size_t>(i * j)));
    }
    part.row_start.push_back(static_cast<std::int64_t>(part.column.size()));
  }
  return part;
}

Dense dense_of(const PartSystem& part) {
  const auto n = static_cast<std::size_t>(part.interior + part.boundary);
  Dense a(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i)
    for (auto k = part.row_start[i]; k < part.row_start[i + 1]; ++k) {
      const auto j = static_cast<std::size_t>(part.column[static_cast<std::size_t>(k)]);
      a[i][j] = a[j][i] = part.value[static_cast<std::size_t>(k)];
    }
  return a;
}

/// Gauss's elimination of the interior, with right-hand sides.
struct Reference {
  explicit Reference(const PartSystem& part) : inner(static_cast<std::size_t>(part.interior)), a(dense_of(part)) {
    for (std::size_t k = 0; k < inner; ++k)
      for (std::size_t i = k + 1; i < a.size(); ++i) {
        const double l = a[i][k] / a[k][k];
        for (std::size_t j = k + 1; j < a.size(); ++j) a[i][j] -= l * a[k][j];
        a[i][k] = l;  // kept in place
      }
  }
  /// b of all unknowns becomes L⁻¹ b in the interior and the condensed load on the boundary.
  void reduce(std::vector<double>& b) const {
    for (std::size_t k = 0; k < inner; ++k)
      for (std::size_t i = k + 1; i < a.size(); ++i) b[i] -= a[i][k] * b[k];
  }
  /// With the solution on the boundary, that in the interior.
  void recover(std::vector<double>& x) const {
    for (std::size_t k = inner; k-- > 0;) {
      for (std::size_t j = k + 1; j < a.size(); ++j) x[k] -= a[k][j] * x[j];
      x[k] /= a[k][k];
    }
  }
  std::size_t inner;
  Dense a;
};

/// No interior, no boundary, less than a block, exactly one, several, more than a panel; one with negative pivots.
std::vector<PartSystem> make_parts() {
  return {make_part(5, 3, 1),    make_part(0, 40, 2), make_part(70, 0, 3),      make_part(64, 64, 4),
          make_part(130, 70, 5), make_part(1, 1, 6),  make_part(90, 30, 7, -1), make_part(280, 10, 8)};
}

void expect_near(std::span<const double> found, std::span<const double> expected, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    apart = std::max(apart, std::isfinite(found[i]) ? std::abs(expected[i] - found[i]) : 1e300);
  }
  EXPECT_LE(apart, 1e-11 * largest) << what;
}

TEST_P(Condensation, ComplementsAreThoseOfElimination) {
  const auto backend = Backend::open(GetParam());
  const auto parts = make_parts();
  auto& service = backend->service<CondensationServices>();
  const auto condensed = service.condense(*backend, parts),
             again = could_differ() ? service.condense(*backend, parts) : nullptr;
  EXPECT_EQ(condensed->parts(), static_cast<int>(parts.size()));
  EXPECT_TRUE(condensed->doubtful().empty());
  EXPECT_GT(condensed->bytes(), 0u);
  EXPECT_GE(condensed->seconds(), 0);
  for (int p = 0; p < condensed->parts(); ++p) {
    const Reference reference(parts[static_cast<std::size_t>(p)]);
    std::vector<double> expected;
    for (std::size_t i = reference.inner; i < reference.a.size(); ++i)
      expected.insert(expected.end(), reference.a[i].begin() + static_cast<std::ptrdiff_t>(reference.inner),
                      reference.a[i].end());
    const std::vector<double> found = condensed->schur_complement(p);
    expect_near(found, expected, "part " + std::to_string(p));
    const auto n = static_cast<std::size_t>(parts[static_cast<std::size_t>(p)].boundary);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) ASSERT_EQ(found[i * n + j], found[j * n + i]) << "symmetric to the last bit";
    if (again) {
      EXPECT_EQ(again->schur_complement(p), found) << "the same bits every time";
    }
  }
}

TEST_P(Condensation, LoadsAreCondensedAndInteriorsRecovered) {
  const auto backend = Backend::open(GetParam());
  const auto parts = make_parts();
  const auto condensed = backend->service<CondensationServices>().condense(*backend, parts);
  std::size_t inner = 0, outer = 0;
  for (const PartSystem& part : parts) {
    inner += static_cast<std::size_t>(part.interior);
    outer += static_cast<std::size_t>(part.boundary);
  }
  const std::vector<Reference> references(parts.begin(), parts.end());
  for (const int columns : {1, 9}) {
    SCOPED_TRACE(columns);
    const auto count = static_cast<std::size_t>(columns);
    std::vector<double> interior(inner * count), boundary(outer * count);
    for (std::size_t i = 0; i < interior.size(); ++i) interior[i] = number(i + 11);
    for (std::size_t i = 0; i < boundary.size(); ++i) boundary[i] = number(i + 17);
    std::vector<double> reduced = boundary, solved = interior;
    condensed->condense(interior, reduced, columns);
    condensed->recover(solved, boundary, columns);
    if (could_differ()) {
      std::vector<double> again = interior;
      condensed->recover(again, boundary, columns);
      EXPECT_EQ(again, solved) << "the same bits every time";
    }
    for (std::size_t c = 0; c < count; ++c) {
      std::size_t i0 = c * inner, b0 = c * outer;
      for (std::size_t p = 0; p < parts.size(); ++p) {
        const auto ni = static_cast<std::size_t>(parts[p].interior), nb = static_cast<std::size_t>(parts[p].boundary);
        const Reference& reference = references[p];
        std::vector<double> b(interior.begin() + static_cast<std::ptrdiff_t>(i0),
                              interior.begin() + static_cast<std::ptrdiff_t>(i0 + ni));
        b.insert(b.end(), boundary.begin() + static_cast<std::ptrdiff_t>(b0),
                 boundary.begin() + static_cast<std::ptrdiff_t>(b0 + nb));
        std::vector<double> x = b;
        reference.reduce(b);
        expect_near(std::span(reduced).subspan(b0, nb), std::span(b).subspan(ni), "load, part " + std::to_string(p));
        std::copy_n(b.begin(), ni, x.begin());  // L⁻¹ b in the interior, x_b as given
        reference.recover(x);
        expect_near(std::span(solved).subspan(i0, ni), std::span(x).first(ni), "interior, part " + std::to_string(p));
        i0 += ni;
        b0 += nb;
      }
    }
  }
}

TEST_P(Condensation, TheSumOfComplementsIsAnOperator) {
  const auto backend = Backend::open(GetParam());
  const std::vector<PartSystem> parts{make_part(70, 20, 1), make_part(33, 45, 2), make_part(3, 7, 3)};
  const auto condensed = backend->service<CondensationServices>().condense(*backend, parts);
  constexpr std::size_t n = 64;
  std::vector<std::vector<std::int32_t>> equations(parts.size());
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (std::int32_t k = 0; k < parts[p].boundary; ++k)
      equations[p].push_back((5 * k + 9 * static_cast<std::int32_t>(p)) % static_cast<std::int32_t>(n - 1));
  std::vector<double> x(2 * n);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = number(i);
  std::vector<double> expected(2 * n, 0);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const Reference reference(parts[p]);
    for (std::size_t i = 0; i < equations[p].size(); ++i)
      for (std::size_t j = 0; j < equations[p].size(); ++j)
        for (std::size_t c = 0; c < 2; ++c)
          expected[2 * static_cast<std::size_t>(equations[p][i]) + c] +=
              reference.a[reference.inner + i][reference.inner + j] *
              x[2 * static_cast<std::size_t>(equations[p][j]) + c];
  }
  std::vector<std::shared_ptr<DeviceMemory>> memories;
  std::vector<std::int64_t> first{0};
  for (int d = 0; d < backend->devices(); ++d) {
    memories.push_back(backend->memory(d));
    first.push_back(static_cast<std::int64_t>(n) * (d + 1) / backend->devices());
  }
  std::vector<std::vector<std::int64_t>> ghosts(memories.size());
  for (std::size_t d = 0; d < ghosts.size(); ++d)
    for (std::int64_t e = 0; e < static_cast<std::int64_t>(n); ++e)
      if (e < first[d] || e >= first[d + 1]) ghosts[d].push_back(e);
  const auto layout = std::make_shared<const Layout>(std::move(memories), std::move(first), std::move(ghosts));
  const auto sum = condensed->make_block_sum(layout, equations);
  EXPECT_NE(sum->describe().find("3 dense blocks of 7 to 45 equations"), std::string::npos) << sum->describe();
  Vector in(layout, 2), out(layout, 2);
  in.from_host(x);
  sum->apply(in, out);
  expect_near(out.to_host(), expected, "product");
  equations[0].pop_back();
  EXPECT_THROW(condensed->make_block_sum(layout, equations), Error);
}

TEST_P(Condensation, DoubtfulInteriorsAreNamedAndLeaveOthersAlone) {
  const auto backend = Backend::open(GetParam());
  auto& service = backend->service<CondensationServices>();
  std::vector<PartSystem> parts{make_part(20, 6, 1), make_part(20, 6, 2), make_part(20, 6, 3), make_part(20, 6, 4),
                                make_part(20, 6, 5)};
  const auto sound = service.condense(*backend, parts);
  const auto entry = [&](std::size_t part, std::int32_t row, std::int32_t column) -> double& {
    PartSystem& system = parts[part];
    for (auto k = system.row_start[static_cast<std::size_t>(row)];
         k < system.row_start[static_cast<std::size_t>(row) + 1]; ++k)
      if (system.column[static_cast<std::size_t>(k)] == column) return system.value[static_cast<std::size_t>(k)];
    throw std::logic_error("no such entry");
  };
  // Part 1: an unknown without stiffness. Part 3: two unknowns with a spring between them, and nothing else.
  for (std::int32_t i = 0; i < 26; ++i)
    for (auto k = parts[1].row_start[static_cast<std::size_t>(i)];
         k < parts[1].row_start[static_cast<std::size_t>(i) + 1]; ++k)
      if (i == 7 || parts[1].column[static_cast<std::size_t>(k)] == 7) parts[1].value[static_cast<std::size_t>(k)] = 0;
  for (std::int32_t i = 0; i < 26; ++i)
    for (auto k = parts[3].row_start[static_cast<std::size_t>(i)];
         k < parts[3].row_start[static_cast<std::size_t>(i) + 1]; ++k) {
      const std::int32_t j = parts[3].column[static_cast<std::size_t>(k)];
      if (i == 4 || i == 5 || j == 4 || j == 5) parts[3].value[static_cast<std::size_t>(k)] = i == j ? 3 : 0;
    }
  try {
    entry(3, 4, 5) = -3;
  } catch (const std::logic_error&) {
    entry(3, 5, 4) = -3;
  }
  // Part 4: the diagonal of an unknown is what a cancellation left.
  parts[4].sizes.assign(20, 1.0);
  parts[4].sizes[11] = 1e9;
  const auto condensed = service.condense(*backend, parts);
  EXPECT_EQ(condensed->doubtful(), (std::vector<int>{1, 3, 4}));
  EXPECT_EQ(condensed->schur_complement(0), sound->schur_complement(0));
  EXPECT_EQ(condensed->schur_complement(2), sound->schur_complement(2));
  std::vector<std::vector<std::int32_t>> equations(5, {0, 1, 2, 3, 4, 5});
  try {
    std::vector<std::shared_ptr<DeviceMemory>> memories;
    std::vector<std::int64_t> first{0};
    for (int d = 0; d < backend->devices(); ++d) {
      memories.push_back(backend->memory(d));
      first.push_back(6);
    }
    std::vector<std::vector<std::int64_t>> ghosts(memories.size());
    (void)condensed->make_block_sum(
        std::make_shared<const Layout>(std::move(memories), std::move(first), std::move(ghosts)), equations);
    FAIL() << "the complement of part 1 is not known";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("part 1"), std::string::npos) << error.what();
  }
}

TEST_P(Condensation, WrongInputIsRefused) {
  const auto backend = Backend::open(GetParam());
  auto& service = backend->service<CondensationServices>();
  const auto refused = [&](auto&& change) {
    std::vector<PartSystem> parts{make_part(4, 3, 1), make_part(4, 3, 2)};
    change(parts[1]);
    try {
      (void)service.condense(*backend, parts);
    } catch (const Error& error) {
      return std::string(error.what()).find("part 1") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refused([](PartSystem& part) { part.column[3] = 7; }));
  EXPECT_TRUE(refused([](PartSystem& part) { part.value.pop_back(); }));
  EXPECT_TRUE(refused([](PartSystem& part) { part.boundary = 2; }));
  EXPECT_TRUE(refused([](PartSystem& part) { part.sizes = {1}; }));
  const std::vector<PartSystem> parts{make_part(4, 3, 1)};
  const auto condensed = service.condense(*backend, parts);
  std::vector<double> interior(4), boundary(2);
  EXPECT_THROW(condensed->condense(interior, boundary), Error);
  EXPECT_THROW(condensed->recover(interior, boundary), Error);
  const auto none = service.condense(*backend, {});
  EXPECT_EQ(none->parts(), 0);
}

TEST_P(Condensation, LogicalDevicesShareTheMemoryOfTheirGpu) {
  if (!GetParam().starts_with("emulated")) GTEST_SKIP() << "only the emulation has a known memory: 4 GiB";
  const auto backend = Backend::open(GetParam());
  auto& service = backend->service<CondensationServices>();
  // Eight parts take 1.7 GB and fourteen 3.0 GB; half of the memory may be used, on however many logical devices.
  const auto is_preferred = [&](std::size_t parts) {
    const std::vector<std::int32_t> interior(parts, 4000), boundary(parts, 1000);
    return service.is_preferred(*backend, interior, boundary);
  };
  EXPECT_TRUE(is_preferred(8));
  EXPECT_FALSE(is_preferred(14));
}

INSTANTIATE_TEST_SUITE_P(Conformance, Condensation, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

TEST(CondensationGroups, PaddingIsLimitedAndDevicesShareTheWork) {
  std::vector<std::int32_t> interior, boundary;
  for (int p = 0; p < 40; ++p) {
    interior.push_back(900 + 13 * (p % 7));
    boundary.push_back(400 + 11 * (p % 5));
  }
  interior.push_back(3000);
  boundary.push_back(700);
  const auto groups = detail::group_parts(1, interior, boundary);
  ASSERT_EQ(groups.size(), 2u) << "parts of about the same size together, the large one alone";
  EXPECT_EQ(groups[0].members, std::vector<int>{40});
  double padded = 0, own = 0;
  for (const auto& group : groups)
    for (const int p : group.members) {
      EXPECT_GE(group.interior, interior[static_cast<std::size_t>(p)]);
      EXPECT_GE(group.boundary, boundary[static_cast<std::size_t>(p)]);
      padded += detail::condensation_flops(group.interior, group.boundary);
      own += detail::condensation_flops(interior[static_cast<std::size_t>(p)], boundary[static_cast<std::size_t>(p)]);
    }
  EXPECT_LT(padded, 1.5 * own);
  std::vector<double> load(3, 0.0);
  std::vector<int> seen(41, 0);
  for (const auto& group : detail::group_parts(3, interior, boundary))
    for (const int p : group.members) {
      load[static_cast<std::size_t>(group.device)] +=
          detail::condensation_flops(interior[static_cast<std::size_t>(p)], boundary[static_cast<std::size_t>(p)]);
      ++seen[static_cast<std::size_t>(p)];
    }
  EXPECT_EQ(seen, std::vector<int>(41, 1));
  EXPECT_LT(*std::max_element(load.begin(), load.end()), 1.3 * own / 3);
}

}  // namespace
}  // namespace voussoir::conformance
