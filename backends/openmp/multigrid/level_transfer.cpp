#include <voussoir/backends/openmp/multigrid/services.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// Vectors of a model into the finest level and back. Several devices are gathered on the first by way of the host.

namespace voussoir::cpu {

namespace {

/// to[row] = from[equation[row]], or 0 where a row is none.
template <class Number>
void gather(const double* from, const std::int32_t* equation, std::size_t rows, std::size_t columns, int threads,
            Number* to) {
  for_blocks(rows, threads, [=](std::size_t begin, std::size_t end) {
    if (!equation) {
      for (std::size_t i = begin * columns; i < end * columns; ++i) to[i] = static_cast<Number>(from[i]);
      return;
    }
    for (std::size_t row = begin; row < end; ++row)
      for (std::size_t c = 0; c < columns; ++c)
        to[row * columns + c] = equation[row] < 0
                                    ? Number{0}
                                    : static_cast<Number>(from[static_cast<std::size_t>(equation[row]) * columns + c]);
  });
}

template <class Number>
void scatter(const Number* from, const std::int32_t* equation, std::size_t rows, std::size_t columns, int threads,
             double* to) {
  for_blocks(rows, threads, [=](std::size_t begin, std::size_t end) {
    if (!equation) {
      for (std::size_t i = begin * columns; i < end * columns; ++i) to[i] = static_cast<double>(from[i]);
      return;
    }
    for (std::size_t row = begin; row < end; ++row)
      if (equation[row] >= 0)
        for (std::size_t c = 0; c < columns; ++c)
          to[static_cast<std::size_t>(equation[row]) * columns + c] = static_cast<double>(from[row * columns + c]);
  });
}

/// Rows of a level vector that belongs to this vector of a model.
template <class Number>
std::size_t require_match(const Vector& one, const Array<std::int32_t>& equation, const LevelVector& other) {
  if (one.columns() != other.columns)
    throw Error(ErrorCode::misuse, "multigrid: a vector of " + std::to_string(one.columns()) +
                                       " columns does not fit a level's vector of " + std::to_string(other.columns));
  const std::size_t rows = equation.empty() ? static_cast<std::size_t>(one.size()) : equation.size();
  require_numbers<Number>(other, static_cast<std::int64_t>(rows) * other.columns, "a vector of the finest level");
  return rows;
}

}  // namespace

void CpuMultigrid::take(const Vector& from, const Array<std::int32_t>& equation, LevelVector& to) {
  with_precision(to, [&](auto zero) {
    using Number = decltype(zero);
    const std::size_t rows = require_match<Number>(from, equation, to);
    Array<double> gathered;
    const bool several = from.layout()->devices() > 1;
    if (several) gathered = Array<double>(memory(), std::span<const double>(from.to_host()));
    DeviceSection section(*memory());
    gather(several ? gathered.read_device() : from.part(0).read_device(), equation.read_device(), rows,
           static_cast<std::size_t>(to.columns), threads_, numbers<Number>(to).write_device());
  });
}

void CpuMultigrid::give(const LevelVector& from, const Array<std::int32_t>& equation, Vector& to) {
  with_precision(from, [&](auto zero) {
    using Number = decltype(zero);
    const std::size_t rows = require_match<Number>(to, equation, from);
    Array<double> gathered;
    const bool several = to.layout()->devices() > 1;
    if (several) gathered = array<double>(to.size() * to.columns());
    {
      DeviceSection section(*memory());
      scatter(numbers<Number>(from).read_device(), equation.read_device(), rows, static_cast<std::size_t>(from.columns),
              threads_, several ? gathered.write_device() : to.part(0).write_device());
    }
    if (several) to.from_host(gathered.read_host());
  });
}

}  // namespace voussoir::cpu
