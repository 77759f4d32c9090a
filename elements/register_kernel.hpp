#pragma once
#include <voussoir/elements/native_program.hpp>
#include <voussoir/framework/domain/element_type.hpp>
#include <voussoir/framework/domain/kernel_text.hpp>

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

// Registration of an element kernel under a name of one's choice. Most people want the macro of register.hpp.

namespace voussoir {

namespace detail {

/// The C++ name of a type, namespaces and template arguments included.
inline std::string type_expression(const std::type_info& type) {
  int status = 0;
  char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 && text ? text : type.name();
  std::free(text);
  return name;
}

}  // namespace detail

/// Registers an element kernel as a type while the program starts. A clash of names is thrown when the name is used.
template <class Kernel>
struct RegisterKernel {
  /// `file` is the file whose text holds the kernel, or null where no text is embedded.
  explicit RegisterKernel(std::string type_name, std::string shape, const char* file = nullptr) {
    if constexpr (ElementKernel<Kernel>) {
      if (file) link_kernel_text(type_name, detail::type_expression(typeid(Kernel)), file);
      auto program = std::make_shared<const NativeProgram<Kernel>>(type_name);
      ElementLibrary::instance().add_at_start(
          ElementType(std::move(type_name), std::move(shape), std::move(program), typeid(Kernel)));
    } else {
      explain_element_kernel<Kernel>();
    }
  }
};

}  // namespace voussoir
