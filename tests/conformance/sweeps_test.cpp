#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/sweep_services.hpp>
#include <voussoir/solvers/tridiagonal/tridiagonal_batch.hpp>

#include "backends_under_test.hpp"
#include "support/expect_error.hpp"

// Tridiagonal batches on every backend, against elimination with row exchanges in quadruple precision.

namespace voussoir::conformance {
namespace {

using testing::expect_error;
#if defined(__SIZEOF_FLOAT128__) && !defined(__aarch64__)
using Quad = __float128;
#else
using Quad = long double;  // quadruple on ARM
#endif

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Coefficients and right-hand sides of a batch, each array with the shape of the unknowns.
template <class T>
struct Batch {
  SweepShape shape;
  bool periodic = false;
  std::vector<T> lower, diagonal, upper, f;
};

std::int64_t entry_of(const SweepShape& s, std::int64_t system, std::int64_t row) {
  return s.first + system / s.inner * s.outer_stride + system % s.inner * s.inner_stride + row * s.stride;
}

/// Random coefficients with |diagonal| = (dominance + up to 1) (|lower| + |upper|), of both signs. Entries outside the
/// shape are not finite: a result that used them would not be either.
template <class T>
Batch<T> random_batch(const SweepShape& shape, bool periodic, unsigned seed, double dominance = 1.05) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> one(-1, 1);
  const std::int64_t entries = 1 + entry_of(shape, shape.systems() - 1, shape.length - 1) + (shape.first > 0 ? 3 : 0);
  Batch<T> b{shape, periodic, {}, {}, {}, {}};
  for (auto* v : {&b.lower, &b.diagonal, &b.upper, &b.f}) v->assign(at(entries), std::numeric_limits<T>::quiet_NaN());
  for (std::int64_t s = 0; s < shape.systems(); ++s)
    for (std::int64_t i = 0; i < shape.length; ++i) {
      const std::size_t k = at(entry_of(shape, s, i));
      b.lower[k] = static_cast<T>(one(random));
      b.upper[k] = static_cast<T>(one(random));
      const double more = one(random);
      b.diagonal[k] = static_cast<T>((dominance + std::abs(more)) * (more < 0 ? -1 : 1) *
                                     (std::abs(double(b.lower[k])) + std::abs(double(b.upper[k]))));
      b.f[k] = static_cast<T>(one(random));
    }
  return b;
}

/// A dense solve with row exchanges, for short systems.
std::vector<Quad> dense_solution(std::vector<std::vector<Quad>> a, std::vector<Quad> f) {
  const std::size_t n = f.size();
  const auto magnitude = [](Quad x) { return x < 0 ? -x : x; };
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t p = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (magnitude(a[i][k]) > magnitude(a[p][k])) p = i;
    std::swap(a[k], a[p]);
    std::swap(f[k], f[p]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const Quad m = a[i][k] / a[k][k];
      if (m == 0) continue;
      for (std::size_t j = k; j < n; ++j) a[i][j] -= m * a[k][j];
      f[i] -= m * f[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) f[k] -= a[k][j] * f[j];
    f[k] /= a[k][k];
  }
  return f;
}

/// The solution of a system in quadruple precision: dense up to 64 rows, by elimination of rows 1 … n − 1 with row 0
/// as a border for longer ones.
template <class T>
std::vector<Quad> quad_solution(const Batch<T>& b, std::int64_t system) {
  const std::int64_t n = b.shape.length;
  std::vector<Quad> l(at(n)), d(at(n)), u(at(n)), f(at(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const std::size_t k = at(entry_of(b.shape, system, i));
    l[at(i)] = !b.periodic && i == 0 ? T(0) : b.lower[k];
    u[at(i)] = !b.periodic && i == n - 1 ? T(0) : b.upper[k];
    d[at(i)] = b.diagonal[k];
    f[at(i)] = b.f[k];
  }
  if (n <= 64) {
    std::vector<std::vector<Quad>> a(at(n), std::vector<Quad>(at(n), Quad(0)));
    for (std::int64_t i = 0; i < n; ++i) {
      a[at(i)][at((i + n - 1) % n)] += l[at(i)];
      a[at(i)][at(i)] += d[at(i)];
      a[at(i)][at((i + 1) % n)] += u[at(i)];
    }
    return dense_solution(std::move(a), std::move(f));
  }
  // y_i = f_i − l_i y_0 − u_i y_{i+1}
  for (std::int64_t i = 1; i < n; ++i) {
    const Quad from_alpha = i > 1 ? u[at(i - 1)] : Quad(0), from_f = i > 1 ? f[at(i - 1)] : Quad(0),
               from_l = i > 1 ? l[at(i - 1)] : Quad(-1);
    const Quad pivot = d[at(i)] - l[at(i)] * from_alpha;
    f[at(i)] = (f[at(i)] - l[at(i)] * from_f) / pivot;
    u[at(i)] /= pivot;
    l[at(i)] = -l[at(i)] * from_l / pivot;
  }
  // y_1 = g − h y_0, from the last row backwards
  Quad g = f[at(n - 1)], h = l[at(n - 1)] + u[at(n - 1)];
  const Quad last_g = g, last_h = h;
  for (std::int64_t i = n - 2; i > 0; --i) {
    g = f[at(i)] - u[at(i)] * g;
    h = l[at(i)] - u[at(i)] * h;
  }
  f[0] = (f[0] - l[0] * last_g - u[0] * g) / (d[0] - l[0] * last_h - u[0] * h);
  Quad next = f[0];
  for (std::int64_t i = n - 1; i > 0; --i) next = f[at(i)] = f[at(i)] - l[at(i)] * f[0] - u[at(i)] * next;
  return f;
}

/// A batch on a device of a backend, and its solution there.
template <class T>
std::vector<T> solved(Backend& backend, const Batch<T>& b, SweepOptions options, bool in_place = false) {
  options.periodic = b.periodic;
  const auto& memory = backend.memory(options.device);
  const Array<T> l(memory, std::span<const T>(b.lower)), d(memory, std::span<const T>(b.diagonal)),
      u(memory, std::span<const T>(b.upper));
  Array<T> f(memory, std::span<const T>(b.f));
  auto& sweeps = backend.service<SweepServices>();
  if (in_place) {
    sweeps.solve(b.shape, {l, d, u}, f, f, options);
    const auto y = f.read_host();
    return {y.begin(), y.end()};
  }
  Array<T> y(memory, std::span<const T>(std::vector<T>(b.f.size(), T(7))));
  sweeps.solve(b.shape, {l, d, u}, f, y, options);
  const auto result = y.read_host();
  return {result.begin(), result.end()};
}

/// Largest error of a solution relative to the largest unknown of its system.
template <class T>
double largest_error(const Batch<T>& b, const std::vector<T>& y, std::int64_t every = 1) {
  double worst = 0;
  for (std::int64_t s = 0; s < b.shape.systems(); s += every) {
    const std::vector<Quad> exact = quad_solution(b, s);
    double largest = 0, difference = 0;
    for (std::int64_t i = 0; i < b.shape.length; ++i) {
      const double e = static_cast<double>(exact[at(i)]);
      const double found = static_cast<double>(y[at(entry_of(b.shape, s, i))]);
      largest = std::max(largest, std::abs(e));
      difference = std::isfinite(found) ? std::max(difference, std::abs(found - e)) : HUGE_VAL;
    }
    worst = std::max(worst, difference / largest);
  }
  return worst;
}

template <class T>
constexpr double tolerance = sizeof(T) == 8 ? 2e-14 : 1e-5;

/// Shapes of `systems` systems: rows, columns, and lines of grids with margins, whose first entry is not entry 0.
std::vector<SweepShape> shapes(std::int64_t length, std::int64_t systems) {
  return {SweepShape::contiguous(length, systems),
          SweepShape::interleaved(length, systems),
          {.length = length, .stride = 3, .inner = systems, .inner_stride = 3 * length + 1, .first = 2},
          {.length = length,
           .stride = 5,
           .inner = 3,
           .inner_stride = 1,
           .outer = (systems + 2) / 3,
           .outer_stride = 5 * length + 2,
           .first = 4}};
}

class Sweeps : public ::testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<Backend> backend() const { return Backend::open(GetParam()); }
  bool emulated() const { return GetParam().rfind("emulated", 0) == 0; }
};
INSTANTIATE_TEST_SUITE_P(Conformance, Sweeps, ::testing::ValuesIn(single_emulated_backend()),
                         [](const auto& info) { return test_name(info.param); });

template <class T>
void expect_lengths_solved(Backend& backend, const std::vector<std::int64_t>& lengths, std::int64_t most_systems,
                           SweepOptions options = {}) {
  for (const std::int64_t length : lengths)
    for (const bool periodic : {false, true}) {
      const std::int64_t systems = std::min<std::int64_t>(most_systems, length > 5000 ? 2 : length > 500 ? 9 : 21);
      for (const SweepShape& shape : shapes(length, systems)) {
        SCOPED_TRACE("length " + std::to_string(length) + (periodic ? ", periodic" : "") + ", stride " +
                     std::to_string(shape.stride) + ", inner stride " + std::to_string(shape.inner_stride));
        const Batch<T> b = random_batch<T>(shape, periodic, static_cast<unsigned>(length));
        const std::vector<T> y = solved(backend, b, options);
        EXPECT_LE(largest_error(b, y, length > 64 ? 4 : 1), tolerance<T>);
        for (std::size_t k = 0; k < y.size(); ++k)  // what lies outside the shape stays
          if (std::isnan(b.f[k])) {
            ASSERT_EQ(y[k], T(7)) << k;
          }
        EXPECT_EQ(std::memcmp(solved(backend, b, options).data(), y.data(), y.size() * sizeof(T)), 0) << "a second run";
        const std::vector<T> in_place = solved(backend, b, options, true);
        for (std::int64_t s = 0; s < shape.systems(); ++s)
          for (std::int64_t i = 0; i < length; ++i) {
            const std::size_t k = at(entry_of(shape, s, i));
            ASSERT_EQ(in_place[k], y[k]) << "in place, system " << s << ", row " << i;
          }
      }
    }
}

const std::vector<std::int64_t> short_lengths{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100};

TEST_P(Sweeps, SolvesShortSystemsInDoublePrecision) { expect_lengths_solved<double>(*backend(), short_lengths, 21); }
TEST_P(Sweeps, SolvesShortSystemsInSinglePrecision) { expect_lengths_solved<float>(*backend(), short_lengths, 21); }
TEST_P(Sweeps, SolvesLongSystems) {
  expect_lengths_solved<double>(*backend(), {1000, 4096, 5000}, 9);
  expect_lengths_solved<float>(*backend(), {1000, 4096}, 3);
  expect_lengths_solved<double>(*backend(), {100000}, 1);
}
TEST_P(Sweeps, MethodsThatTheUserSelects) {
  const auto b = backend();
  expect_lengths_solved<double>(*b, {1, 2, 3, 9, 100, 1000}, 5, {.method = SweepMethod::sequential});
  expect_lengths_solved<float>(*b, {7, 100}, 5, {.method = SweepMethod::sequential});
  expect_lengths_solved<double>(*b, {1, 2, 3, 9, 63, 64, 65, 71, 100, 1000, 4097}, 5,
                                {.method = SweepMethod::partitioned});
  expect_lengths_solved<float>(*b, {7, 64, 100, 513}, 5, {.method = SweepMethod::partitioned});
}

/// Where systems are cut into parts, every place of a fault is found: first rows of parts, last rows, the rest.
TEST_P(Sweeps, FaultsOfSystemsInParts) {
  const auto backend = this->backend();
  const std::int64_t length = 131;
  for (const bool periodic : {true, false})
    for (const std::int64_t row : {0, 1, 15, 16, 17, 64, 127, 128, 129, 130}) {
      SCOPED_TRACE(row);
      Batch<double> b = random_batch<double>(SweepShape::contiguous(length, 3), periodic, 3);
      const std::size_t k = at(length + row);
      b.lower[k] = b.diagonal[k] = b.upper[k] = 0;
      const auto faults = backend->service<SweepServices>().make_faults(0);
      const std::vector<double> y = solved(*backend, b, {.method = SweepMethod::partitioned, .faults = faults.get()});
      EXPECT_EQ(faults->take().system, 1);
      b.shape = SweepShape::contiguous(length, 1);  // system 0 is solved all the same
      EXPECT_LE(largest_error(b, y), tolerance<double>);
    }
}

TEST_P(Sweeps, LinesOfAGridAreSolvedInPlace) {
  // The lines of a 3D grid in each direction: every value is an unknown of each of the three batches.
  const std::int64_t nx = 13, ny = 9, nz = 6;
  const auto b = backend();
  for (const SweepShape& shape :
       {SweepShape::x_lines(nx, ny, nz), SweepShape::y_lines(nx, ny, nz), SweepShape::z_lines(nx, ny, nz)}) {
    EXPECT_EQ(shape.unknowns(), nx * ny * nz);
    const Batch<double> batch = random_batch<double>(shape, true, 3);
    EXPECT_LE(largest_error(batch, solved(*b, batch, {}, true)), tolerance<double>);
  }
  EXPECT_EQ(SweepShape::y_lines(nx, ny, nz).systems(), nx * nz);
  EXPECT_EQ(entry_of(SweepShape::y_lines(nx, ny, nz), nx + 2, 4), 2 + nx * (4 + ny * 1));
}

/// One system of a contiguous batch as a batch of its own.
template <class T>
Batch<T> one_system(const Batch<T>& many, std::int64_t system, std::int64_t systems = 1) {
  const std::int64_t length = many.shape.length;
  const auto cut = [&](const std::vector<T>& v) {
    return std::vector<T>(v.begin() + system * length, v.begin() + (system + systems) * length);
  };
  return {SweepShape::contiguous(length, systems),
          many.periodic,
          cut(many.lower),
          cut(many.diagonal),
          cut(many.upper),
          cut(many.f)};
}

/// The same system alone, and among others, has the same bits: it is never mixed up with its neighbours, and is rounded
/// in the same way.
template <class T>
void expect_same_bits(Backend& backend, std::int64_t length, bool periodic, SweepMethod method) {
  SCOPED_TRACE("length " + std::to_string(length) + (periodic ? ", periodic" : ""));
  const Batch<T> many = random_batch<T>(SweepShape::contiguous(length, 19), periodic, 5);
  const std::vector<T> all = solved(backend, many, {.method = method});
  for (const std::int64_t systems : {1, 2, 7, 8, 9})
    for (const std::int64_t first : {std::int64_t{0}, std::int64_t{3}, 19 - systems}) {
      const std::vector<T> some = solved(backend, one_system(many, first, systems), {.method = method});
      EXPECT_EQ(some, std::vector<T>(all.begin() + first * length, all.begin() + (first + systems) * length))
          << systems << " systems from " << first << " on";
    }
}

TEST_P(Sweeps, ResultsDoNotDependOnTheOtherSystems) {
  const auto backend = this->backend();
  if (GetParam().rfind("openmp", 0) != 0 && GetParam().rfind("debug", 0) != 0) {
    // On a GPU, the number of systems may decide how they are distributed over threads, but not what the others are.
    const Batch<double> many = random_batch<double>(SweepShape::contiguous(50, 19), true, 5);
    const std::vector<double> all = solved(*backend, many, {});
    for (const std::int64_t first : {0, 3, 18})
      EXPECT_EQ(solved(*backend, one_system(many, first), {}),
                std::vector<double>(all.begin() + first * 50, all.begin() + (first + 1) * 50));
    return;
  }
  for (const bool periodic : {true, false})
    for (const std::int64_t length : {1, 2, 3, 7, 50, 131})
      for (const SweepMethod method : {SweepMethod::automatic, SweepMethod::sequential, SweepMethod::partitioned}) {
        expect_same_bits<double>(*backend, length, periodic, method);
        expect_same_bits<float>(*backend, length, periodic, method);
      }
}

/// One matrix for all systems gives what the same matrix gives as coefficients of each.
template <class T>
void expect_shared(Backend& backend, std::int64_t length, bool periodic) {
  SCOPED_TRACE("length " + std::to_string(length) + (periodic ? ", periodic" : ""));
  auto& sweeps = backend.service<SweepServices>();
  const std::int64_t systems = length > 500 ? 5 : 20;
  const Batch<T> matrix = random_batch<T>(SweepShape::contiguous(length, 1), periodic, 11);
  const auto& memory = backend.memory(0);
  Array<T> l(memory, std::span<const T>(matrix.lower)), d(memory, std::span<const T>(matrix.diagonal)),
      u(memory, std::span<const T>(matrix.upper));
  const auto plan = sweeps.prepare({l, d, u}, length, {.periodic = periodic});
  EXPECT_EQ(plan->length(), length);
  EXPECT_EQ(plan->periodic(), periodic);
  EXPECT_EQ(plan->is_single(), sizeof(T) == 4);
  for (T& x : d.write_host()) x = 0;  // a plan keeps what it needs
  for (const SweepShape& shape : shapes(length, systems)) {
    Batch<T> b = random_batch<T>(shape, periodic, 12);
    for (std::int64_t s = 0; s < shape.systems(); ++s)
      for (std::int64_t i = 0; i < length; ++i) {
        const std::size_t k = at(entry_of(shape, s, i));
        b.lower[k] = matrix.lower[at(i)];
        b.diagonal[k] = matrix.diagonal[at(i)];
        b.upper[k] = matrix.upper[at(i)];
      }
    for (const bool in_place : {false, true}) {
      Array<T> f(memory, std::span<const T>(b.f)), y(memory, std::span<const T>(b.f));
      sweeps.solve(*plan, shape, f, in_place ? f : y);
      const auto found = (in_place ? f : y).read_host();
      EXPECT_LE(largest_error(b, std::vector<T>(found.begin(), found.end()), length > 64 ? 4 : 1), tolerance<T>);
    }
  }
}

TEST_P(Sweeps, SharedMatrix) {
  const auto b = backend();
  for (const bool periodic : {true, false})
    for (const std::int64_t length : {1, 2, 3, 7, 8, 9, 33, 100, 1000, 4096, 5000})
      expect_shared<double>(*b, length, periodic);
  for (const std::int64_t length : {1, 5, 100, 700}) expect_shared<float>(*b, length, true);
}

// --- what is wrong is reported
// -----------------------------------------------------------------------------------------

TEST_P(Sweeps, SingularSystemsAreNamed) {
  const auto backend = this->backend();
  for (const std::int64_t length : {1, 2, 5, 64, 300}) {
    SCOPED_TRACE(length);
    Batch<double> b = random_batch<double>(SweepShape::contiguous(length, 12), true, 1);
    for (std::int64_t i = 0; i < length; ++i) {  // constants are in the null space of systems 7 and 9
      for (const std::int64_t s : {7, 9}) {
        b.lower[at(s * length + i)] = b.upper[at(s * length + i)] = -1;
        b.diagonal[at(s * length + i)] = 2;
      }
    }
    expect_error(ErrorCode::singular, {"system 7", "row"}, [&] { (void)solved(*backend, b, {}); });
    const auto faults = backend->service<SweepServices>().make_faults(0);
    EXPECT_TRUE(faults->take().good());
    const std::vector<double> y = solved(*backend, b, {.faults = faults.get()});
    const SweepOutcome outcome = faults->take();
    EXPECT_EQ(outcome.system, 7);
    EXPECT_GE(outcome.row, 0);
    EXPECT_LT(outcome.row, length);
    EXPECT_TRUE(outcome.fault == SweepFault::singular || outcome.fault == SweepFault::inaccurate);
    EXPECT_TRUE(faults->take().good()) << "a fault is reported once";
    Batch<double> rest = b;  // the other systems are solved all the same
    rest.shape = SweepShape::contiguous(length, 7);
    EXPECT_LE(largest_error(rest, y), tolerance<double>);
  }
}

TEST_P(Sweeps, ZeroRowsAndZeroPivots) {
  const auto backend = this->backend();
  Batch<double> b = random_batch<double>(SweepShape::interleaved(20, 10), false, 2);
  const auto set = [&](std::int64_t s, std::int64_t i, double l, double d, double u) {
    b.lower[at(i * 10 + s)] = l;
    b.diagonal[at(i * 10 + s)] = d;
    b.upper[at(i * 10 + s)] = u;
  };
  set(4, 11, 0, 0, 0);
  expect_error(ErrorCode::singular, {"system 4"}, [&] { (void)solved(*backend, b, {}); });
  // A solvable matrix that cannot be eliminated without exchanging rows: it is reported, not solved wrongly.
  b = random_batch<double>(SweepShape::interleaved(20, 10), false, 2);
  for (std::int64_t i = 0; i < 20; ++i) set(8, i, 1, 0, 1);
  expect_error(ErrorCode::singular, {"system 8"}, [&] { (void)solved(*backend, b, {}); });
  for (std::int64_t i = 0; i < 20; ++i) set(8, i, 1, 1e-13, 1);
  expect_error(ErrorCode::singular, {"system 8"}, [&] { (void)solved(*backend, b, {}); });
}

TEST_P(Sweeps, NumbersThatAreNotFiniteAreNamed) {
  const auto backend = this->backend();
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  for (const std::int64_t length : {1, 3, 40, 600})
    for (const double bad : {nan, infinite, -infinite})
      for (int which = 0; which < 4; ++which) {
        SCOPED_TRACE(::testing::Message() << length << ' ' << bad << ' ' << which);
        Batch<double> b = random_batch<double>(SweepShape::contiguous(length, 9), true, 4);
        (which == 0   ? b.lower
         : which == 1 ? b.diagonal
         : which == 2 ? b.upper
                      : b.f)[at(5 * length + length / 2)] = bad;
        const auto faults = backend->service<SweepServices>().make_faults(0);
        (void)solved(*backend, b, {.faults = faults.get()});
        const SweepOutcome outcome = faults->take();
        EXPECT_EQ(outcome.system, 5);
        EXPECT_NE(outcome.fault, SweepFault::none);
      }
  Batch<double> b = random_batch<double>(SweepShape::contiguous(50, 9), true, 4);
  b.f[60] = nan;
  expect_error(ErrorCode::not_finite, {"system 1"}, [&] { (void)solved(*backend, b, {}); });
}

/// Systems without dominance are either right or reported.
TEST_P(Sweeps, NoWrongAnswerWithoutDominance) {
  const auto backend = this->backend();
  int good = 0, reported = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Batch<double> b =
        random_batch<double>(SweepShape::contiguous(30 + seed, 1), seed % 2 == 0, seed, seed < 20 ? 0.3 : 0.0);
    const auto faults = backend->service<SweepServices>().make_faults(0);
    const std::vector<double> y = solved(*backend, b, {.faults = faults.get()});
    if (!faults->take().good()) {
      ++reported;
      continue;
    }
    ++good;
    EXPECT_LE(largest_error(b, y), 1e-6) << "seed " << seed;
  }
  EXPECT_GT(good, 10);
  // A pivot of 1e-7 costs nine digits: too much for a loss of 1e-12, not for the default.
  Batch<double> b = random_batch<double>(SweepShape::contiguous(3, 1), false, 1);
  b.lower = {0, 1, 1};
  b.diagonal = {1e-7, 1, 1};
  b.upper = {1, 1, 0};
  EXPECT_LE(largest_error(b, solved(*backend, b, {.method = SweepMethod::sequential})), 1e-8);
  expect_error(ErrorCode::singular, {"system 0"},
               [&] { (void)solved(*backend, b, {.method = SweepMethod::sequential, .largest_loss = 1e-12}); });
}

TEST_P(Sweeps, SharedMatrixFaults) {
  const auto backend = this->backend();
  auto& sweeps = backend->service<SweepServices>();
  const auto& memory = backend->memory(0);
  const std::vector<double> minus(50, -1.0), two(50, 2.0), numbers(150, 1.0);
  const Array<double> l(memory, std::span<const double>(minus)), d(memory, std::span<const double>(two));
  expect_error(ErrorCode::singular, {"row 0"}, [&] { (void)sweeps.prepare({l, d, l}, 50, {.periodic = true}); });
  const auto plan = sweeps.prepare({l, d, l}, 50, {});  // with fixed ends it is regular
  std::vector<double> right = numbers;
  right[77] = std::numeric_limits<double>::quiet_NaN();
  Array<double> f(memory, std::span<const double>(right));
  expect_error(ErrorCode::not_finite, {"system 1"}, [&] { sweeps.solve(*plan, SweepShape::contiguous(50, 3), f, f); });
}

TEST_P(Sweeps, ArgumentsThatDoNotFit) {
  const auto backend = this->backend();
  auto& sweeps = backend->service<SweepServices>();
  const auto& memory = backend->memory(0);
  const std::vector<double> hundred(100, 2.0);
  const std::vector<float> singles(100, 2.0F);
  const Array<double> a(memory, std::span<const double>(hundred));
  Array<double> y(memory, std::span<const double>(hundred));
  const Array<float> single(memory, std::span<const float>(singles));
  Array<float> single_y(memory, std::span<const float>(singles));
  const auto solve = [&](const SweepShape& shape, const SweepOptions& options = {}) {
    sweeps.solve(shape, {a, a, a}, a, y, options);
  };
  expect_error(ErrorCode::misuse, {"too few", "101"}, [&] { solve(SweepShape::contiguous(101, 1)); });
  expect_error(ErrorCode::misuse, {"too few"},
               [&] { solve({.length = 10, .inner = 10, .inner_stride = 10, .first = 1}); });
  expect_error(ErrorCode::misuse, {"length 0"}, [&] { solve({.length = 0}); });
  expect_error(ErrorCode::misuse, {"coincide"}, [&] { solve({.length = 10, .inner = 5, .inner_stride = 9}); });
  expect_error(ErrorCode::misuse, {"coincide"}, [&] { solve({.length = 10, .stride = -1}); });
  expect_error(ErrorCode::misuse, {"device 9"}, [&] { solve(SweepShape::contiguous(10, 10), {.device = 9}); });
  expect_error(ErrorCode::misuse, {"loss"}, [&] { solve(SweepShape::contiguous(10, 10), {.largest_loss = -1}); });
  expect_error(ErrorCode::misuse, {"50", "100"}, [&] { (void)sweeps.prepare({a, a, a}, 50, {}); });
  EXPECT_NO_THROW(solve({.length = 10, .inner = 0}));  // an empty batch is solved
  const std::vector<double> zeros(100, 0.0);
  const Array<double> zero(memory, std::span<const double>(zeros));
  const auto plan = sweeps.prepare({zero, a, zero}, 100, {});
  expect_error(ErrorCode::misuse, {"length 50", "length 100"},
               [&] { sweeps.solve(*plan, SweepShape::contiguous(50, 2), a, y); });
  expect_error(ErrorCode::misuse, {"double", "float"},
               [&] { sweeps.solve(*plan, SweepShape::contiguous(100, 1), single, single_y); });
}

// --- TridiagonalBatch
// --------------------------------------------------------------------------------------------------

TEST_P(Sweeps, TridiagonalBatchOverAllDevices) {
  const auto backend = this->backend();
  const std::int64_t length = 21, systems = 11;
  for (const BatchLayout layout : {BatchLayout::contiguous, BatchLayout::interleaved}) {
    const SweepShape shape = layout == BatchLayout::contiguous ? SweepShape::contiguous(length, systems)
                                                               : SweepShape::interleaved(length, systems);
    Batch<double> b = random_batch<double>(shape, true, 8);
    TridiagonalBatch<double> batch(backend, length, systems, {.periodic = true, .layout = layout});
    EXPECT_EQ(batch.devices(), backend->devices());
    std::int64_t sum = 0;
    for (int d = 0; d < batch.devices(); ++d) {
      EXPECT_EQ(batch.first_system(d), sum);
      sum += batch.systems(d);
    }
    EXPECT_EQ(sum, systems);
    expect_error(ErrorCode::misuse, {"set_shared_matrix"}, [&] { (void)batch.solve(std::span<const double>(b.f)); });
    batch.set_matrices(std::span<const double>(b.lower), std::span<const double>(b.diagonal),
                       std::span<const double>(b.upper));
    EXPECT_LE(largest_error(b, batch.solve(std::span<const double>(b.f))), tolerance<double>);
    b.f[at(entry_of(shape, 10, 3))] = std::numeric_limits<double>::quiet_NaN();  // on the last device
    expect_error(ErrorCode::not_finite, {"system 10"}, [&] { (void)batch.solve(std::span<const double>(b.f)); });
    b.f[at(entry_of(shape, 10, 3))] = 1;
    const std::vector<double> minus(at(length), -1.0), more(at(length), 2.5);
    batch.set_shared_matrix(minus, more, minus);
    for (auto* v : {&b.lower, &b.upper}) v->assign(v->size(), -1.0);
    b.diagonal.assign(b.diagonal.size(), 2.5);
    EXPECT_LE(largest_error(b, batch.solve(std::span<const double>(b.f))), tolerance<double>);
    expect_error(ErrorCode::bad_input, {"lower", "3", "21"},
                 [&] { batch.set_shared_matrix(std::vector<double>(3, 1.0), more, minus); });
  }
  expect_error(ErrorCode::bad_input, {"at least 1"}, [&] { TridiagonalBatch<float>(backend, 0, 3); });
}

/// The same bits for any number of threads.
TEST(SweepThreads, SameBits) {
  const Batch<double> b = random_batch<double>(SweepShape::contiguous(500, 101), true, 6);
  const std::vector<double> reference = solved(*Backend::open("openmp:1"), b, {});
  for (const char* name : {"openmp:2", "openmp:3", "debug"}) EXPECT_EQ(solved(*Backend::open(name), b, {}), reference);
}
/// Systems so long that threads share one of them: against quadruple precision, and the same bits for any number of
/// threads and in any batch.
TEST(SweepThreads, LongSystemsAreCut) {
  for (const bool periodic : {true, false})
    for (const std::int64_t length : {16384, 20011, 40000}) {
      SCOPED_TRACE(length);
      for (const SweepShape& shape : {SweepShape::contiguous(length, 2), SweepShape::interleaved(length, 2)}) {
        const Batch<double> b = random_batch<double>(shape, periodic, 6);
        const std::vector<double> reference = solved(*Backend::open("openmp:1"), b, {});
        EXPECT_LE(largest_error(b, reference), tolerance<double>);
        for (const char* name : {"openmp:2", "openmp:3"}) EXPECT_EQ(solved(*Backend::open(name), b, {}), reference);
        if (shape.stride == 1) {
          const std::vector<double> last = solved(*Backend::open("openmp:2"), one_system(b, 1), {});
          EXPECT_EQ(last, std::vector<double>(reference.begin() + length, reference.end()));
        }
      }
    }
}

}  // namespace
}  // namespace voussoir::conformance
