#pragma once
#include <voussoir/backends/abi.hpp>
#include <voussoir/elements/law_dependence.hpp>
#include <voussoir/elements/native_program.hpp>
#include <voussoir/elements/point/point_element.hpp>
#include <voussoir/framework/domain/element_type.hpp>
#include <voussoir/framework/domain/kernel_text.hpp>

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

// Registration of an element kernel under a chosen name. Most programs use the macro of register.hpp instead.

namespace voussoir {

namespace detail {

/// Adds a program to the element library. `kernel` is the C++ type of its kernel; `file` as for RegisterKernel;
/// `energy_operations` as in KernelSource.
void register_program(std::string type_name, std::string shape, std::unique_ptr<const ElementProgram> program,
                      const std::type_info& kernel, const char* file, int energy_operations);
/// The same for programs of the library itself.
void register_built_in_program(std::string type_name, std::string shape, std::unique_ptr<const ElementProgram> program,
                               const std::type_info& kernel);

/// What a law turns out to be before it is registered (law_dependence.hpp): `possible` where that can make a
/// difference. take() then calls its argument for the element to be registered instead, or returns false.
template <class Kernel>
struct FoundElement {
  static constexpr bool possible = false;
};
/// A law whose tangent is the same everywhere: completed by its tangent tensor.
template <class Law, class Shape, class Formulation>
requires(traceable_law<Law> && !declares_nonlinear<Law>() &&
         may_be_uniform<Law>) struct FoundElement<PointElement<Law, Shape, Formulation>> {
  static constexpr bool possible = true;
  static constexpr int parameter_count = PointElement<Law, Shape, Formulation>::parameter_count;
  using Completed = UniformLaw<Law, parameter_count>;
  using type = PointElement<Completed, Shape, Formulation>;
  static bool found() { return is_as_completed<Completed, parameter_count>(); }
  template <class Take>
  static bool take(const Take& take) {
    if (!found()) return false;
    take.template operator()<type>();
    return true;
  }
};
/// A law with values, sources or an unsymmetric tangent that does not depend on the unknowns: linear, and perhaps the
/// same everywhere.
template <class Law, class Shape, class Formulation>
requires(traceable_law<Law> && !__is_final(Law) && !may_be_uniform<Law> && !declares_nonlinear<Law>() &&
         history_numbers_of<Law>() == 0 &&
         (!kernel_linear<Law>() || may_be_constant<Law>)) struct FoundElement<PointElement<Law, Shape, Formulation>> {
  static constexpr bool possible = true;
  static constexpr int parameter_count = PointElement<Law, Shape, Formulation>::parameter_count;
  static bool found_constant() {
    if constexpr (may_be_constant<Law>)
      return is_as_completed<ConstantLaw<Law>, parameter_count>();
    else
      return false;
  }
  static bool found() { return is_as_completed<LinearLaw<Law>, parameter_count>(); }
  template <class Take>
  static bool take(const Take& take) {
    if constexpr (may_be_constant<Law>)
      if (found_constant()) {
        take.template operator()<PointElement<ConstantLaw<Law>, Shape, Formulation>>();
        return true;
      }
    if constexpr (!kernel_linear<Law>())
      if (found()) {
        take.template operator()<PointElement<LinearLaw<Law>, Shape, Formulation>>();
        return true;
      }
    return false;
  }
};

}  // namespace detail

/// An object whose constructor registers an element kernel as a type, for static objects. A name clash is thrown when
/// the name is first used, or by load_library().
template <class Kernel>
struct RegisterKernel {
  /// `shape` is the name of a ShapeTopology, or ""; `file` is the file whose embedded text contains the kernel, or
  /// null.
  explicit RegisterKernel(std::string type_name, std::string shape, const char* file = nullptr) {
    if constexpr (!ElementKernel<Kernel>) {
      explain_element_kernel<Kernel>();
    } else if constexpr (detail::FoundElement<Kernel>::possible) {
      const auto add_found = [&]<class Found>() { add<Found>(type_name, shape, file); };
      if (!detail::FoundElement<Kernel>::take(add_found)) add<Kernel>(std::move(type_name), std::move(shape), file);
    } else {
      add<Kernel>(std::move(type_name), std::move(shape), file);
    }
  }

 private:
  template <class K>
  static int energy_operations() {
    if constexpr (requires { typename K::Law; })
      return detail::energy_operations<typename detail::GivenLawOf<typename K::Law>::type>();
    else
      return 0;
  }
  template <class K>
  static void add(std::string type_name, std::string shape, const char* file) {
    std::unique_ptr<const ElementProgram> program(new NativeProgram<K>(type_name));
    detail::register_program(std::move(type_name), std::move(shape), std::move(program), typeid(K), file,
                             energy_operations<K>());
  }
};

}  // namespace voussoir
