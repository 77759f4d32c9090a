#pragma once
#include <voussoir/elements/element_groups.hpp>
#include <voussoir/elements/kernel/upper_triangle.hpp>
#include <voussoir/elements/kernel_concepts.hpp>
#include <voussoir/elements/kernel_program.hpp>
#include <voussoir/elements/law_check.hpp>
#include <voussoir/elements/law_dependence.hpp>
#include <voussoir/elements/point/point_tensors.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

// The ElementProgram of an ElementKernel on the CPU: elements are processed in groups of `pack_width`, their data is
// transposed into packs, and the results of a group are stored side by side.

namespace voussoir {

/// The program of kernel K on the CPU. The second template argument is always the default: it makes programs compiled
/// for different instruction sets different types.
template <class K, class R = NumberOf<K>>
class NativeProgram final : public detail::KernelProgram {
  static constexpr int nodes_ = K::nodes;
  static constexpr int components_ = K::components;
  static constexpr int dofs_ = nodes_ * components_;
  static constexpr bool symmetric_ = detail::symmetric_tangent_of<K>();
  static constexpr int tangent_entries_ = detail::tangent_entries(dofs_, symmetric_);
  static constexpr int history_count_ = detail::history_numbers_of<K>();
  static constexpr int parameter_count_ = detail::parameter_count_of<K>();
  static constexpr int recovered_count_ = detail::recovered_count_of<K>();
  static constexpr bool no_tangent_ = detail::declares_no_tangent<K>();
  static constexpr int point_numbers_ = [] {
    if constexpr (detail::has_point_tensors<K>())
      return K::Tensors::total;
    else
      return 0;
  }();
  static constexpr bool has_recover_ = checks::HasRecover<K, R>;
  static constexpr bool has_mass_ = checks::HasMass<K, R> || checks::HasLumpedMass<K, R>;
  using Lane = detail::LaneTraits<R>;
  using Input = ElementInput<R, nodes_, components_, parameter_count_>;
  static constexpr bool has_body_load_ = requires(const Input& e, const BodyLoad& load, R* f) {
    { K::body_load(e, load, f) } -> std::convertible_to<R>;
  };

 public:
  /// `name` is that of the element type.
  explicit NativeProgram(std::string_view name) : KernelProgram(name, Facts()) {}

  ElementStatus tangent(const ElementView& view, int first, int count, double* out) const override {
    if constexpr (no_tangent_)
      return zeros(tangent_entries_, count, out);
    else
      return run(
          {[](const void* group, R* result) { return R(K::tangent(input(group), result)); }, valid_, tangent_entries_},
          !detail::linear_of<K>(), {}, view, first, count, out);
  }

  ElementStatus mass(const ElementView& view, MassKind kind, int first, int count, double* out) const override {
    if constexpr (!has_mass_) {
      return zeros(tangent_entries_, count, out);
    } else if constexpr (!checks::HasMass<K, R>) {
      return run({lumped_mass, valid_, tangent_entries_}, false, {}, view, first, count, out);
    } else {
      const auto consistent = [](const void* group, R* result) {
        const R health = K::mass(input(group), result);
        if constexpr (!symmetric_) detail::make_whole<R, dofs_>(result);
        return health;
      };
      return run({kind == MassKind::lumped ? lumped_mass : consistent, valid_, tangent_entries_}, false, {}, view,
                 first, count, out);
    }
  }

  ElementStatus residual(const ElementView& view, int first, int count, double* out) const override {
    const auto compute = [](const void* group, R* result) {
      const Input& e = input(group);
      if constexpr (checks::HasResidual<K, R>)
        return R(K::residual(e, result));
      else
        return by_tangent(e, e.u, result);
    };
    return run({compute, valid_, dofs_}, true, {}, view, first, count, out);
  }

  ElementStatus action(const ElementView& view, const double* direction, int first, int count,
                       double* out) const override {
    if constexpr (no_tangent_) {
      return zeros(dofs_, count, out);
    } else {
      const auto compute = [](const void* group, R* result) {
        R du[dofs_];
        the(group).gather->gather(the(group).arguments.directions, du);
        if constexpr (checks::HasAction<K, R>)
          return R(K::action(input(group), du, result));
        else
          return by_tangent(input(group), du, result);
      };
      // Parameters are not judged again: a product follows a residual, and this is the innermost loop of a solver.
      return run({compute, nullptr, dofs_}, !detail::linear_of<K>(), {.directions = direction}, view, first, count,
                 out);
    }
  }

  int action_columns() const override { return most_columns_; }
  ElementStatus actions(const ElementView& view, const double* directions, int columns, int first, int count,
                        double* out) const override {
    if constexpr (no_tangent_) {
      return zeros(dofs_ * columns, count, out);
    } else {
      const auto compute = [](const void* group, R* result) {
        const int columns = the(group).arguments.columns;
        R du[most_columns_ * dofs_], r[most_columns_ * dofs_];
        the(group).gather->gather_columns(the(group).arguments.directions, columns, du);
        const R health = multiply_columns(input(group), columns, du, r);
        for (int w = 0; w < columns; ++w)
          for (int i = 0; i < dofs_; ++i) result[i * columns + w] = r[w * dofs_ + i];
        return health;
      };
      return run({compute, nullptr, dofs_ * columns}, !detail::linear_of<K>(),
                 {.directions = directions, .columns = columns}, view, first, count, out);
    }
  }

  int point_numbers() const override { return point_numbers_; }
  ElementStatus point_tensors(const ElementView& view, int first, int count, double* out) const override {
    if constexpr (point_numbers_ > 0) {
      const auto compute = [](const void* group, R* result) {
        using Tensors = typename K::Tensors;
        return R(Tensors::tensors(input(group), 0, 1, [result](int q, int place, const R& value) {
          result[q * Tensors::numbers + place] = value;
        }));
      };
      return run({compute, valid_, point_numbers_}, !detail::linear_of<K>(), {}, view, first, count, out);
    } else {
      return {};
    }
  }
  ElementStatus point_products(const ElementView& view, const double* tensors, const double* directions, int columns,
                               int first, int count, double* out) const override {
    if constexpr (point_numbers_ > 0) {
      return run({multiply_tensors, nullptr, dofs_ * columns}, false,
                 {.directions = directions, .columns = columns, .tensors = tensors, .first = first}, view, first, count,
                 out);
    } else {
      return {};
    }
  }

  ElementStatus body_load(const ElementView& view, const BodyLoad& load, int first, int count,
                          double* out) const override {
    if constexpr (has_body_load_) {
      const auto compute = [](const void* group, R* result) {
        return R(K::body_load(input(group), *the(group).arguments.load, result));
      };
      return run({compute, valid_, dofs_}, true, {.load = &load}, view, first, count, out);
    } else {
      return zeros(dofs_, count, out);
    }
  }

  ElementStatus history(const ElementView& view, int first, int count, double* out) const override {
    if constexpr (history_count_ > 0)
      return run(
          {[](const void* group, R* result) { return R(K::advance(input(group), result)); }, valid_, history_count_},
          true, {}, view, first, count, out);
    else
      return {};
  }

  ElementStatus recover(const ElementView& view, int first, int count, double* out) const override {
    if constexpr (has_recover_)
      return run({[](const void* group, R* result) { return R(K::recover(input(group), result)); }, valid_,
                  point_count() * recovered_count_},
                 true, {}, view, first, count, out);
    else
      return {};
  }

 private:
  using Gather = detail::Gather<R, nodes_, components_>;

  /// What a routine is given beside the elements.
  struct Arguments {
    const double* directions = nullptr;
    int columns = 1;
    const BodyLoad* load = nullptr;
    const double* tensors = nullptr;  ///< those of element `first` and the following
    int first = 0;
  };
  /// What a routine reads of a group of elements.
  struct Group {
    Input input;
    const Gather* gather;
    Arguments arguments;
  };
  static const Group& the(const void* group) { return *static_cast<const Group*>(group); }
  static const Input& input(const void* group) { return the(group).input; }

  struct Facts : detail::KernelFacts {
    const char* names[components_ + parameter_count_ + recovered_count_];

    Facts() {
      nodes = nodes_;
      components = components_;
      lanes = Lane::width;
      points = point_count();
      has_tangent = !no_tangent_;
      has_mass = has_mass_;
      linear = detail::linear_of<K>();
      symmetric = symmetric_;
      history_count = history_count_;
      reads_temperature = detail::reads_temperature_of<K>();
      takes_body_load = has_body_load_;
      if constexpr (requires { K::geometry; }) axisymmetric = K::geometry == Geometry::axisymmetric;
      const char** name = names;
      for (int i = 0; i < components_; ++i) *name++ = K::unknowns[i];
      unknowns = {names, name};
      if constexpr (parameter_count_ > 0) {
        for (int i = 0; i < parameter_count_; ++i) *name++ = K::parameters[i];
        parameters = {name - parameter_count_, name};
      }
      if constexpr (has_recover_ && recovered_count_ > 0) {
        for (int i = 0; i < recovered_count_; ++i) *name++ = K::recovered[i];
        recovered = {name - recovered_count_, name};
      }
      if constexpr (requires { requires K::extrapolates; })
        extrapolation = [](double* nodes_by_points) { K::extrapolation(nodes_by_points); };
      if constexpr (requires { typename K::Law::GivenLaw; })
        defect = detail::completed_law_defect<typename K::Law, parameter_count_>;
      else if constexpr (requires { typename K::Law; })
        defect = detail::law_defect<typename K::Law, parameter_count_>;
    }
  };

  static constexpr int point_count() {
    if constexpr (has_recover_ && requires {
                    { K::points } -> std::convertible_to<int>;
                  })
      return K::points;
    else
      return has_recover_ ? 1 : 0;
  }

  /// Columns that are done at once: what is kept of them stays in the cache.
  static constexpr int most_columns_ = 4;

  static constexpr R (*valid_)(const void*) = [] {
    R (*function)(const void*) = nullptr;
    if constexpr (checks::HasValid<K, R>) function = [](const void* group) { return R(K::valid(input(group))); };
    return function;
  }();

  static R lumped_mass(const void* group, R* result) requires(has_mass_) {
    R health;
    if constexpr (checks::HasLumpedMass<K, R>) {
      health = K::lumped_mass(input(group), result);
    } else {
      health = K::mass(input(group), result);
      detail::lump<R, nodes_, components_>(result);
    }
    if constexpr (!symmetric_) detail::make_whole<R, dofs_>(result);
    return health;
  }

  /// Tangent times du, the tangent stored for the moment.
  static R by_tangent(const Input& e, const R* du, R* result) {
    R matrix[tangent_entries_];
    const R health = K::tangent(e, matrix);
    detail::multiply_tangent<R, dofs_, symmetric_>(matrix, du, result);
    return health;
  }

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
      R matrix[tangent_entries_];
      const R health = K::tangent(e, matrix);
      for (int w = 0; w < columns; ++w)
        detail::multiply_tangent<R, dofs_, symmetric_>(matrix, du + w * dofs_, r + w * dofs_);
      return health;
    }
  }

  /// Products of stored tangents at points, columns one after another.
  static R multiply_tensors(const void* group, R* result) requires(point_numbers_ > 0) {
    using Tensors = typename K::Tensors;
    const Arguments& arguments = the(group).arguments;
    const int columns = arguments.columns;
    R du[most_columns_ * dofs_], r[dofs_];
    the(group).gather->gather_columns(arguments.directions, columns, du);
    const double* own =
        arguments.tensors +
        static_cast<std::ptrdiff_t>(the(group).gather->first_element() - arguments.first) * point_numbers_;
    const auto tensor = [own](int q, int place) {
      R entry;  // the memory need not have the alignment of R
      std::memcpy(static_cast<void*>(&entry),
                  own + static_cast<std::ptrdiff_t>(q * Tensors::numbers + place) * Lane::width, sizeof(R));
      return entry;
    };
    for (int w = 0; w < columns; ++w) {
      Tensors::product(tensor, du + w * dofs_, r);
      for (int i = 0; i < dofs_; ++i) result[i * columns + w] = r[i];
    }
    return R(1.0);
  }

  static __attribute__((noinline)) ElementStatus run(const detail::GroupRoutine<R>& routine, bool with_unknowns,
                                                     const Arguments& arguments, const ElementView& view, int first,
                                                     int count, double* out) {
    if (count <= 0) return {};
    if (parameter_count_ > 0 && !view.parameters) return {ElementFault::bad_parameter, first};
    Group group;
    Input& e = group.input;
    R single_row[parameter_count_ + 1];
    std::int32_t node_numbers[nodes_ * Lane::width];
    R history[history_count_ > 0 ? history_count_ : 1];
    Gather gather(view,
                  {parameter_count_, e.x, e.u, e.temperature, e.initial_temperature, single_row, node_numbers, history,
                   history_count_},
                  first, count, with_unknowns);
    e.expansion_reference = view.expansion_reference;
    e.has_temperature = view.temperature != nullptr || view.initial_temperature != nullptr;
    e.table = gather.table();
    e.table_rows = view.table_rows;
    e.history = history_count_ > 0 && view.history ? history : nullptr;
    e.history_stride = 1;
    e.time = view.time;
    e.time_step = view.time_step;
    group.gather = &gather;
    group.arguments = arguments;
    return detail::run_groups(gather, routine, &group, first, count, out);
  }
};

}  // namespace voussoir
