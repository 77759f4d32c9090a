#pragma once
#include <voussoir/backends/element_program.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/elements/kernel/upper_triangle.hpp>
#include <voussoir/elements/kernel_concepts.hpp>
#include <voussoir/elements/law_check.hpp>
#include <voussoir/framework/domain/kernel_text.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// An ElementKernel made into an ElementProgram for the CPU: elements are taken `pack_width` at a time, their data
// transposed into packs, and the kernel's results stored side by side.

namespace voussoir {

namespace detail {

/// How numbers of several elements come into, and out of, the number type of a kernel.
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

/// Brings the data of one group of elements after the other into an ElementInput. Shared by all kernels of equal sizes.
template <class R, int nodes, int components, int parameter_count>
class Gather {
 public:
  using Input = ElementInput<R, nodes, components, parameter_count>;
  using Lane = LaneTraits<R>;
  static constexpr int width = Lane::width;

  Gather(const ElementView& view, int first, int count, bool with_unknowns)
      : view_(view), last_(first + count - 1), with_unknowns_(with_unknowns && view.unknowns != nullptr) {
    const int rows = view.table_rows;
    R* table = one_row_;
    if (rows > 1) {
      rows_ = std::make_unique<R[]>(static_cast<std::size_t>(rows) * (parameter_count + 1));
      table = rows_.get();
    } else {
      for (int k = 0; k <= parameter_count; ++k) one_row_[k] = R(0.0);
    }
    table_ = table;
    input.table = table;
    input.table_rows = rows;
    input.expansion_reference = view.expansion_reference;
    input.has_temperature = view.temperature != nullptr || view.initial_temperature != nullptr;
    for (int a = 0; a < nodes; ++a) input.temperature[a] = input.initial_temperature[a] = R(view.start_temperature);
    for (int i = 0; i < nodes * components; ++i) input.u[i] = R(0.0);
    for (int lane = 0; lane < width; ++lane) known_record_[lane] = -1;
  }
  Gather(const Gather&) = delete;
  Gather& operator=(const Gather&) = delete;

  /// Loads the group that begins at element `begin`; lanes beyond the run repeat its last element.
  __attribute__((noinline)) void load(int begin) {
    for (int lane = 0; lane < width; ++lane) element_[lane] = begin + lane < last_ ? begin + lane : last_;
    const double* at[width];
    for (int a = 0; a < nodes; ++a) {
      for (int lane = 0; lane < width; ++lane) {
        const std::int32_t node = view_.nodes[static_cast<std::ptrdiff_t>(element_[lane]) * nodes + a];
        node_[a][lane] = node;
        at[lane] = view_.coordinates + 3 * static_cast<std::ptrdiff_t>(node);
      }
      for (int i = 0; i < 3; ++i) input.x[a][i] = Lane::load(at, i);
    }
    if (with_unknowns_) gather(view_.unknowns, input.u);
    if (view_.initial_temperature) gather_nodal(view_.initial_temperature, input.initial_temperature);
    if (view_.temperature)
      gather_nodal(view_.temperature, input.temperature);
    else if (view_.initial_temperature)
      for (int a = 0; a < nodes; ++a) input.temperature[a] = input.initial_temperature[a];
    if constexpr (parameter_count > 0) load_parameters();
  }

  /// A nodal vector at the nodes of the group that was loaded last.
  __attribute__((noinline)) void gather(const double* from, R* to) const {
    const double* at[width];
    for (int a = 0; a < nodes; ++a) {
      for (int lane = 0; lane < width; ++lane) at[lane] = from + view_.first_unknown[node_[a][lane]];
      for (int c = 0; c < components; ++c) to[a * components + c] = Lane::load(at, c);
    }
  }

  /// The same for a block of nodal vectors, whose columns stand side by side; column w begins at to[w · unknowns].
  __attribute__((noinline)) void gather_columns(const double* from, int columns, R* to) const {
    const double* at[width];
    for (int a = 0; a < nodes; ++a) {
      for (int lane = 0; lane < width; ++lane)
        at[lane] = from + static_cast<std::ptrdiff_t>(view_.first_unknown[node_[a][lane]]) * columns;
      for (int c = 0; c < components; ++c)
        for (int w = 0; w < columns; ++w)
          to[w * nodes * components + a * components + c] = Lane::load(at, c * columns + w);
    }
  }

  Input input;

 private:
  /// One number per node.
  void gather_nodal(const double* from, R* to) const {
    const double* at[width];
    for (int a = 0; a < nodes; ++a) {
      for (int lane = 0; lane < width; ++lane) at[lane] = from + node_[a][lane];
      to[a] = Lane::load(at, 0);
    }
  }
  void load_parameters() {
    // Neighbouring elements mostly share a record, and then the packs at hand are right already.
    bool known = true;
    std::int32_t record[width];
    for (int lane = 0; lane < width; ++lane) {
      record[lane] = view_.record ? view_.record[element_[lane]] : 0;
      known = known && record[lane] == known_record_[lane];
    }
    if (known) return;
    const int size = view_.table_rows * (parameter_count + 1);
    const double* at[width];
    for (int lane = 0; lane < width; ++lane) {
      at[lane] = view_.parameters + static_cast<std::ptrdiff_t>(record[lane]) * size;
      known_record_[lane] = record[lane];
    }
    for (int k = 0; k < size; ++k) table_[k] = Lane::load(at, k);
  }

  const ElementView& view_;
  std::int32_t last_;
  bool with_unknowns_;
  std::int32_t element_[width];
  std::int32_t node_[nodes][width];
  std::int32_t known_record_[width];
  R* table_;
  R one_row_[parameter_count + 1];
  std::unique_ptr<R[]> rows_;
};

/// Faults of a group: `valid` and `health` must be positive, `finite` must be zero (a sum of 0 · result).
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

/// Sums 0 · value over `count` values, which is zero unless one of them is not finite, and copies them where asked.
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

}  // namespace detail

/// The program of kernel K on the CPU. The second argument is never given: it makes programs compiled for different
/// instruction sets different types.
template <class K, class R = NumberOf<K>>
class NativeProgram final : public ElementProgram {
  static constexpr int nodes_ = K::nodes;
  static constexpr int components_ = K::components;
  static constexpr int dofs_ = nodes_ * components_;
  static constexpr int entries_ = dofs_ * (dofs_ + 1) / 2;
  static constexpr int parameter_count_ = detail::parameter_count_of<K>();
  static constexpr int recovered_count_ = detail::recovered_count_of<K>();
  static constexpr bool no_tangent_ = detail::declares_no_tangent<K>();
  static constexpr bool has_recover_ = checks::HasRecover<K, R>;
  using GroupGather = detail::Gather<R, nodes_, components_, parameter_count_>;
  using Input = typename GroupGather::Input;
  using Lane = detail::LaneTraits<R>;
  static constexpr bool has_body_load_ = requires(const Input& e, const BodyLoad& load, R* f) {
    { K::body_load(e, load, f) } -> std::convertible_to<R>;
  };

 public:
  explicit NativeProgram(std::string name) : name_(std::move(name)) {
    for (int i = 0; i < components_; ++i) unknown_names_.emplace_back(K::unknowns[i]);
    if constexpr (parameter_count_ > 0)
      for (int i = 0; i < parameter_count_; ++i) parameter_names_.emplace_back(K::parameters[i]);
    if constexpr (has_recover_)
      for (int i = 0; i < recovered_count_; ++i) recovered_names_.emplace_back(K::recovered[i]);
    if constexpr (requires { requires K::extrapolates; }) {
      extrapolation_.resize(static_cast<std::size_t>(nodes_) * points());
      K::extrapolation(extrapolation_.data());
    }
  }

  const std::string& name() const override { return name_; }
  Route route() const override { return Route::native; }
  int nodes() const override { return nodes_; }
  int components() const override { return components_; }
  std::span<const std::string> unknown_names() const override { return unknown_names_; }
  std::span<const std::string> parameter_names() const override { return parameter_names_; }
  int lanes() const override { return Lane::width; }
  bool has_tangent() const override { return !no_tangent_; }
  bool has_mass() const override { return checks::HasMass<K, R> || checks::HasLumpedMass<K, R>; }
  bool linear() const override {
    // A law that reads the temperature is not linear where the temperature is the unknown.
    return (detail::linear_of<K>() && !(unknowns_temperature() && detail::reads_temperature_of<K>())) ||
           detail::declares_no_tangent<K>();
  }
  bool reads_temperature() const override { return detail::reads_temperature_of<K>(); }
  std::string defect() const override {
    if constexpr (requires { typename K::Law; })
      return detail::law_defect<typename K::Law, parameter_count_>();
    else
      return {};
  }
  bool axisymmetric() const override {
    if constexpr (requires { K::geometry; })
      return K::geometry == Geometry::axisymmetric;
    else
      return false;
  }
  bool takes_body_load() const override { return has_body_load_; }

  ElementStatus tangent(const ElementView& view, int first, int count, double* out) const override {
    if constexpr (no_tangent_)
      return nothing(entries_, count, out);
    else
      return run<entries_, true>(
          view, first, count, out, !detail::linear_of<K>(),
          [](const GroupGather& group, R* result) { return R(K::tangent(group.input, result)); });
  }

  ElementStatus mass(const ElementView& view, MassKind kind, int first, int count, double* out) const override {
    if constexpr (checks::HasMass<K, R> || checks::HasLumpedMass<K, R>) {
      constexpr bool consistent_exists = checks::HasMass<K, R>;
      const bool lumped = kind == MassKind::lumped || !consistent_exists;
      return run<entries_, true>(view, first, count, out, false, [lumped](const GroupGather& group, R* result) {
        if constexpr (checks::HasLumpedMass<K, R>) {
          if (lumped) return R(K::lumped_mass(group.input, result));
        }
        if constexpr (consistent_exists) {
          const R health = K::mass(group.input, result);
          if (lumped) detail::lump<R, nodes_, components_>(result);
          return health;
        }
        return R(1.0);
      });
    } else {
      return nothing(entries_, count, out);
    }
  }

  ElementStatus residual(const ElementView& view, int first, int count, double* out) const override {
    return run<dofs_, true>(view, first, count, out, true, [](const GroupGather& group, R* result) {
      if constexpr (checks::HasResidual<K, R>) {
        return R(K::residual(group.input, result));
      } else {
        R upper[entries_];
        const R health = K::tangent(group.input, upper);
        detail::multiply_upper<R, dofs_>(upper, group.input.u, result);
        return health;
      }
    });
  }

  ElementStatus action(const ElementView& view, const double* direction, int first, int count,
                       double* out) const override {
    if constexpr (no_tangent_) {
      return nothing(dofs_, count, out);
    } else {
      // Parameters are not judged again: a product follows a residual, and this is the innermost loop of a solver.
      return run<dofs_, false>(view, first, count, out, !detail::linear_of<K>(),
                               [direction](const GroupGather& group, R* result) {
                                 R du[dofs_];
                                 group.gather(direction, du);
                                 if constexpr (checks::HasAction<K, R>) {
                                   return R(K::action(group.input, du, result));
                                 } else {
                                   R upper[entries_];
                                   const R health = K::tangent(group.input, upper);
                                   detail::multiply_upper<R, dofs_>(upper, du, result);
                                   return health;
                                 }
                               });
    }
  }

  int action_columns() const override { return most_columns_; }
  ElementStatus actions(const ElementView& view, const double* directions, int columns, int first, int count,
                        double* out) const override {
    if constexpr (no_tangent_) {
      return nothing(dofs_ * columns, count, out);
    } else {
      return run<dofs_, false, most_columns_>(
          view, first, count, out, !detail::linear_of<K>(),
          [directions, columns](const GroupGather& group, R* result) {
            R du[most_columns_ * dofs_], r[most_columns_ * dofs_];
            group.gather_columns(directions, columns, du);
            const R health = multiply_columns(group.input, columns, du, r);
            for (int w = 0; w < columns; ++w)
              for (int i = 0; i < dofs_; ++i) result[i * columns + w] = r[w * dofs_ + i];
            return health;
          },
          columns);
    }
  }

  ElementStatus body_load(const ElementView& view, const BodyLoad& load, int first, int count,
                          double* out) const override {
    if constexpr (has_body_load_)
      return run<dofs_, true>(view, first, count, out, true, [&load](const GroupGather& group, R* result) {
        return R(K::body_load(group.input, load, result));
      });
    else
      return nothing(dofs_, count, out);
  }

  int points() const override {
    if constexpr (has_recover_ && requires {
                    { K::points } -> std::convertible_to<int>;
                  })
      return K::points;
    else
      return has_recover_ ? 1 : 0;
  }
  std::span<const std::string> recovered_names() const override { return recovered_names_; }
  ElementStatus recover(const ElementView& view, int first, int count, double* out) const override {
    if constexpr (has_recover_) {
      constexpr int points = [] {
        if constexpr (requires {
                        { K::points } -> std::convertible_to<int>;
                      })
          return K::points;
        else
          return 1;
      }();
      return run<points * recovered_count_, true>(
          view, first, count, out, true,
          [](const GroupGather& group, R* result) { return R(K::recover(group.input, result)); });
    } else {
      return {};
    }
  }
  std::span<const double> extrapolation() const override { return extrapolation_; }

  const KernelSource* source() const override { return find_kernel_source(name_); }

 private:
  bool unknowns_temperature() const {
    return std::find(unknown_names_.begin(), unknown_names_.end(), "T") != unknown_names_.end();
  }

  /// Columns that are done at once: what is kept of them stays in the cache.
  static constexpr int most_columns_ = 4;

  /// Tangent times du, columns one after another.
  static R multiply_columns(const Input& e, int columns, const R* du, R* r) {
    const auto direction = [du](int w, int a, int i) { return du[w * dofs_ + a * components_ + i]; };
    if constexpr (requires { K::template actions<most_columns_>(e, columns, direction, r); }) {
      return R(K::template actions<most_columns_>(e, columns, direction, r));
    } else if constexpr (checks::HasAction<K, R>) {
      R health = R(1.0);
      for (int w = 0; w < columns; ++w) health = R(K::action(e, du + w * dofs_, r + w * dofs_));
      return health;
    } else {
      R upper[entries_];
      const R health = K::tangent(e, upper);
      for (int w = 0; w < columns; ++w) detail::multiply_upper<R, dofs_>(upper, du + w * dofs_, r + w * dofs_);
      return health;
    }
  }

  /// Gathers, computes and stores group by group. `compute(gathered, result)` writes `values_of_one` numbers for each
  /// of `columns`, `most` at most, and returns the element's health.
  template <int values_of_one, bool judge_parameters, int most = 1, class Compute>
  static ElementStatus run(const ElementView& view, int first, int count, double* out, bool with_unknowns,
                           const Compute& compute, int columns = 1) {
    if (count <= 0) return {};
    if (parameter_count_ > 0 && !view.parameters) return {ElementFault::bad_parameter, first};
    GroupGather group(view, first, count, with_unknowns);
    // A kernel writes straight into the caller's memory where its alignment allows.
    const bool direct = reinterpret_cast<std::uintptr_t>(out) % alignof(R) == 0;
    R buffer[most * values_of_one];
    const int values = most == 1 ? values_of_one : columns * values_of_one;
    ElementStatus status;
    for (int begin = first; begin < first + count; begin += Lane::width, out += values * Lane::width) {
      group.load(begin);
      R valid = R(1.0);
      if constexpr (judge_parameters && checks::HasValid<K, R>) valid = K::valid(group.input);
      R* result = direct ? reinterpret_cast<R*>(out) : buffer;
      const R health = compute(group, result);
      const R finite = detail::scan(static_cast<const R*>(result), values, direct ? nullptr : out);
      status.merge(detail::judge(valid, health, finite, begin, first + count));
    }
    return status;
  }

  static ElementStatus nothing(int values, int count, double* out) {
    const int groups = (count + Lane::width - 1) / Lane::width;
    for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(groups) * values * Lane::width; ++i) out[i] = 0;
    return {};
  }

  std::string name_;
  std::vector<std::string> unknown_names_, parameter_names_, recovered_names_;
  std::vector<double> extrapolation_;
};

}  // namespace voussoir
