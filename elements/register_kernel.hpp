#pragma once
#include <voussoir/backends/abi.hpp>
#include <voussoir/elements/native_program.hpp>
#include <voussoir/framework/domain/element_type.hpp>
#include <voussoir/framework/domain/kernel_text.hpp>

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

// Registration of an element kernel under a chosen name. Most programs use the macro of register.hpp instead.

namespace voussoir {

namespace detail {

/// Adds a program to the element library. `kernel` is the C++ type of its kernel; `file` as for RegisterKernel.
void register_program(std::string type_name, std::string shape, std::unique_ptr<const ElementProgram> program,
                      const std::type_info& kernel, const char* file);
/// The same for programs of the library itself.
void register_built_in_program(std::string type_name, std::string shape, std::unique_ptr<const ElementProgram> program,
                               const std::type_info& kernel);

}  // namespace detail

/// An object whose constructor registers an element kernel as a type, for static objects. A name clash is thrown when
/// the name is first used, or by load_library().
template <class Kernel>
struct RegisterKernel {
  /// `shape` is the name of a ShapeTopology, or ""; `file` is the file whose embedded text contains the kernel, or
  /// null.
  explicit RegisterKernel(std::string type_name, std::string shape, const char* file = nullptr) {
    if constexpr (ElementKernel<Kernel>) {
      std::unique_ptr<const ElementProgram> program(new NativeProgram<Kernel>(type_name));
      detail::register_program(std::move(type_name), std::move(shape), std::move(program), typeid(Kernel), file);
    } else {
      explain_element_kernel<Kernel>();
    }
  }
};

}  // namespace voussoir
