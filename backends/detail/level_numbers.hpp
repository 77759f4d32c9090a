#pragma once
#include <string>
#include <type_traits>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/multigrid.hpp>

// The numbers of what multigrid works on, in one precision or the other, and whether they are there.

namespace voussoir::detail {

/// The numbers of a matrix or a vector in one precision.
template <class Number, class Holder>
auto& numbers(Holder& holder) {
  if constexpr (std::is_same_v<Number, float>)
    return holder.single_value;
  else
    return holder.value;
}

/// Calls work(0.0f) or work(0.0), by the precision of a vector.
template <class Work>
void with_precision(const LevelVector& x, const Work& work) {
  if (x.single_value.empty())
    work(0.0);
  else
    work(0.0f);
}

/// Numbers of a matrix or a vector that must be there, `count` of them, in the precision asked for.
template <class Number, class Holder>
void require_numbers(const Holder& holder, std::int64_t count, const char* what) {
  const auto size = static_cast<std::int64_t>(numbers<Number>(holder).size());
  if (size != count)
    throw Error(ErrorCode::misuse, std::string("multigrid: ") + what + " has " + std::to_string(size) +
                                       (std::is_same_v<Number, float> ? " single" : " double") +
                                       " precision numbers where " + std::to_string(count) + " are needed");
}

inline void require_square(const LevelMatrix& a, const char* what) {
  if (!a.is_square()) throw Error(ErrorCode::misuse, std::string("multigrid: ") + what + " needs a square matrix");
}

/// The same with values in double precision, as setting up needs it.
inline void require_square_numbers(const LevelMatrix& a, const char* what) {
  require_square(a, what);
  require_numbers<double>(a, a.entries(), "a square matrix");
}

/// A square matrix or the rows of one device, whose columns may go on with those of nodes that others own.
inline void require_own_pattern(const LevelMatrix& a, const char* what) {
  if (a.height != a.width || a.columns < a.rows)
    throw Error(ErrorCode::misuse, std::string("multigrid: ") + what + " needs a square matrix or rows of one device");
}

/// The same with values in double precision.
inline void require_own_rows(const LevelMatrix& a, const char* what) {
  require_own_pattern(a, what);
  require_numbers<double>(a, a.entries(), "a matrix");
}

/// Rows of blocks of this height with so many neighbours must fit into the small systems of an approximate inverse.
inline void require_factor_room(int height, int most) {
  if (most < 0 || (most + 1) * height > largest_factor_rows)
    throw Error(ErrorCode::misuse, "multigrid: an approximate inverse with " + std::to_string(most) +
                                       " neighbours of " + std::to_string(height) + " rows; there is room for " +
                                       std::to_string(largest_factor_rows) + " rows in all");
}

}  // namespace voussoir::detail
