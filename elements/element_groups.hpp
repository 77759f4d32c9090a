#pragma once
#include <voussoir/backends/element_program.hpp>
#include <voussoir/elements/kernel/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

// Elements on the CPU are computed in groups, one element per SIMD lane. This header contains what all kernels share:
// gathering the data of a group, calling the kernel, checking and storing its results. It depends only on the numbers
// of nodes and components, so that it is compiled once for all formulations of a shape.

namespace voussoir::detail {

/// Conversion between numbers of several elements and the number type of a kernel.
template <class R>
struct LaneTraits;

template <>
struct LaneTraits<double> {
  static constexpr int width = 1;
  VSR_FN static double load(const double* const* from, int offset) { return from[0][offset]; }
  VSR_FN static double lane(double x, int) { return x; }
};

template <>
struct LaneTraits<Pack> {
  static constexpr int width = pack_width;
  VSR_FN static Pack load(const double* const* from, int offset) {
    return load(from, offset, std::make_integer_sequence<int, pack_width>{});
  }
  VSR_FN static double lane(const Pack& x, int i) { return x.v[i]; }

 private:
  // Inserting lanes in registers; storing them one by one and loading the pack would stall on store forwarding.
  template <int... i>
  VSR_FN static Pack load(const double* const* from, int offset, std::integer_sequence<int, i...>) {
    return Pack(Pack::Lanes{from[i][offset]...});
  }
};

/// The destination of the data of a group: the arrays of an ElementInput, whose sizes depend on the kernel.
template <class R>
struct GroupArrays {
  int parameter_count;
  Vec3<R>* x;
  R* u;
  R* temperature;
  R* initial_temperature;
  R* single_row;               ///< memory for a table of one row: parameter_count + 1 numbers
  std::int32_t* node_numbers;  ///< memory for LaneTraits<R>::width numbers per node
  R* history = nullptr;        ///< memory for the history variables of an element
  int history_count = 0;
};

/// Loads the data of groups of elements into an ElementInput.
template <class R, int nodes, int components>
class Gather {
 public:
  using Lane = LaneTraits<R>;
  static constexpr int width = Lane::width;

  __attribute__((noinline))
  Gather(const ElementView& view, const GroupArrays<R>& arrays, int first, int count, bool with_unknowns)
      : view_(view),
        arrays_(arrays),
        last_(first + count - 1),
        with_unknowns_(with_unknowns && view.unknowns != nullptr),
        table_(arrays.single_row) {
    if (view.table_rows > 1) {
      rows_ = std::make_unique<R[]>(static_cast<std::size_t>(view.table_rows) * (arrays.parameter_count + 1));
      table_ = rows_.get();
    } else {
      for (int k = 0; k <= arrays.parameter_count; ++k) arrays.single_row[k] = R(0.0);
    }
    for (int a = 0; a < nodes; ++a) arrays.temperature[a] = arrays.initial_temperature[a] = R(view.start_temperature);
    for (int i = 0; i < nodes * components; ++i) arrays.u[i] = R(0.0);
    for (int lane = 0; lane < width; ++lane) known_record_[lane] = -1;
  }
  Gather(const Gather&) = delete;
  Gather& operator=(const Gather&) = delete;

  /// The first element of the group that was loaded last.
  int first_element() const { return element_[0]; }
  /// The table of parameters of the group, for its ElementInput.
  const R* table() const { return table_; }

  /// Loads the group that begins at element `begin`; lanes beyond the run repeat its last element.
  __attribute__((noinline)) void load(int begin) {
    for (int lane = 0; lane < width; ++lane) element_[lane] = begin + lane < last_ ? begin + lane : last_;
    const double* at[width];
    for (int a = 0; a < nodes; ++a) {
      for (int lane = 0; lane < width; ++lane) {
        const std::int32_t node = view_.nodes[static_cast<std::ptrdiff_t>(element_[lane]) * nodes + a];
        arrays_.node_numbers[a * width + lane] = node;
        at[lane] = view_.coordinates + 3 * static_cast<std::ptrdiff_t>(node);
      }
      for (int i = 0; i < 3; ++i) arrays_.x[a][i] = Lane::load(at, i);
    }
    if (with_unknowns_) gather(view_.unknowns, arrays_.u);
    if (view_.initial_temperature) gather_nodal(view_.initial_temperature, arrays_.initial_temperature);
    if (view_.temperature)
      gather_nodal(view_.temperature, arrays_.temperature);
    else if (view_.initial_temperature)
      for (int a = 0; a < nodes; ++a) arrays_.temperature[a] = arrays_.initial_temperature[a];
    if (arrays_.parameter_count > 0) load_parameters();
    if (arrays_.history_count > 0 && view_.history)
      std::memcpy(static_cast<void*>(arrays_.history),
                  view_.history + static_cast<std::ptrdiff_t>(begin) * arrays_.history_count,
                  sizeof(R) * static_cast<std::size_t>(arrays_.history_count));
  }

  /// A nodal vector at the nodes of the group that was loaded last.
  __attribute__((noinline)) void gather(const double* from, R* to) const {
    const double* at[width];
    for (int a = 0; a < nodes; ++a) {
      for (int lane = 0; lane < width; ++lane) at[lane] = from + view_.first_unknown[node(a, lane)];
      if (view_.slot) {
        gather_slots(at, a, 1, to + a * components, 1, 0);
        continue;
      }
      for (int c = 0; c < components; ++c) to[a * components + c] = Lane::load(at, c);
    }
  }

  /// The same for a block of nodal vectors, whose columns stand side by side; column w begins at to[w · unknowns].
  __attribute__((noinline)) void gather_columns(const double* from, int columns, R* to) const {
    const double* at[width];
    for (int a = 0; a < nodes; ++a) {
      for (int lane = 0; lane < width; ++lane)
        at[lane] = from + static_cast<std::ptrdiff_t>(view_.first_unknown[node(a, lane)]) * columns;
      if (view_.slot) {
        gather_slots(at, a, columns, to + a * components, columns, nodes * components);
        continue;
      }
      for (int c = 0; c < components; ++c)
        for (int w = 0; w < columns; ++w)
          to[w * nodes * components + a * components + c] = Lane::load(at, c * columns + w);
    }
  }

 private:
  std::int32_t node(int a, int lane) const { return arrays_.node_numbers[a * width + lane]; }
  /// The unknowns of node `a` where components are not its first ones; `step` apart in `to` for each column.
  void gather_slots(const double* const (&at)[width], int a, int columns, R* to, int count, int step) const {
    const double* own[width];
    for (int c = 0; c < components; ++c) {
      for (int lane = 0; lane < width; ++lane)
        own[lane] = at[lane] + view_.slot[static_cast<std::ptrdiff_t>(node(a, lane)) * components + c] * columns;
      for (int w = 0; w < count; ++w) to[w * step + c] = Lane::load(own, w);
    }
  }
  /// One number per node.
  void gather_nodal(const double* from, R* to) const {
    const double* at[width];
    for (int a = 0; a < nodes; ++a) {
      for (int lane = 0; lane < width; ++lane) at[lane] = from + node(a, lane);
      to[a] = Lane::load(at, 0);
    }
  }
  void load_parameters() {
    // Neighbouring elements mostly share a record, and then the packs are already loaded.
    bool known = true;
    std::int32_t record[width];
    for (int lane = 0; lane < width; ++lane) {
      record[lane] = view_.record ? view_.record[element_[lane]] : 0;
      known = known && record[lane] == known_record_[lane];
    }
    if (known) return;
    const int size = view_.table_rows * (arrays_.parameter_count + 1);
    const double* at[width];
    for (int lane = 0; lane < width; ++lane) {
      at[lane] = view_.parameters + static_cast<std::ptrdiff_t>(record[lane]) * size;
      known_record_[lane] = record[lane];
    }
    for (int k = 0; k < size; ++k) table_[k] = Lane::load(at, k);
  }

  const ElementView& view_;
  const GroupArrays<R> arrays_;
  std::int32_t last_;
  bool with_unknowns_;
  std::int32_t element_[width];
  std::int32_t known_record_[width];
  R* table_;
  std::unique_ptr<R[]> rows_;
};

/// The first fault of a group: `valid` and `health` must be positive, `finite` (a sum of 0 · result) must be zero.
template <class R>
ElementStatus judge(const R& valid, const R& health, const R& finite, int begin, int end) {
  using Lane = LaneTraits<R>;
  for (int lane = 0; lane < Lane::width && begin + lane < end; ++lane) {
    if (!(Lane::lane(valid, lane) > 0)) return {ElementFault::bad_parameter, begin + lane};
    if (!(Lane::lane(health, lane) > 0)) return {ElementFault::inverted, begin + lane};
    if (!(Lane::lane(finite, lane) == 0)) return {ElementFault::not_finite, begin + lane};
  }
  return {};
}

/// The sum of 0 · value over `count` values, which is zero unless one of them is not finite. Copies the values to
/// `copy_to`, if given.
template <class R>
R scan(const R* values, int count, double* copy_to) {
  if (copy_to) std::memcpy(copy_to, values, sizeof(R) * count);
  // Four sums, so that the additions do not wait for each other.
  R sum[4] = {R(0.0), R(0.0), R(0.0), R(0.0)};
  int k = 0;
  for (; k + 4 <= count; k += 4)
    for (int i = 0; i < 4; ++i) sum[i] += values[k + i] * R(0.0);
  for (; k < count; ++k) sum[0] += values[k] * R(0.0);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// A routine of a kernel, as run_groups() calls it. `group` points to the kernel's own data of a group.
template <class R>
struct GroupRoutine {
  R (*compute)(const void* group, R* result);  ///< writes `values` numbers and returns the element's health
  R (*valid)(const void* group);               ///< null: parameters are not judged
  int values;
};

/// Gathers, computes and stores group by group. `fixed` is the number of values if it is a compile-time constant, or 0.
template <int fixed, class R, class AnyGather>
ElementStatus run_fixed(AnyGather& gather, const GroupRoutine<R>& routine, const void* group, int first, int count,
                        double* out) {
  constexpr int width = LaneTraits<R>::width;
  const int values = fixed > 0 ? fixed : routine.values;
  // A kernel writes straight into the caller's memory where its alignment allows.
  const bool direct = reinterpret_cast<std::uintptr_t>(out) % alignof(R) == 0;
  std::unique_ptr<R[]> buffer;
  if (!direct) buffer = std::make_unique<R[]>(static_cast<std::size_t>(values));
  const auto compute = routine.compute;
  const auto judge_parameters = routine.valid;
  ElementStatus status;
  for (int begin = first; begin < first + count; begin += width, out += values * width) {
    gather.load(begin);
    const R valid = judge_parameters ? judge_parameters(group) : R(1.0);
    R* result = direct ? reinterpret_cast<R*>(out) : buffer.get();
    const R health = compute(group, result);
    const R finite = scan(static_cast<const R*>(result), values, direct ? nullptr : out);
    status.merge(judge(valid, health, finite, begin, first + count));
  }
  return status;
}

/// As run_fixed(). Results with one value per unknown, such as products, profit from a loop of constant length.
template <class R, int nodes, int components>
__attribute__((noinline)) ElementStatus run_groups(Gather<R, nodes, components>& gather, const GroupRoutine<R>& routine,
                                                   const void* group, int first, int count, double* out) {
  if (routine.values == nodes * components)
    return run_fixed<nodes * components>(gather, routine, group, first, count, out);
  return run_fixed<0>(gather, routine, group, first, count, out);
}

}  // namespace voussoir::detail
