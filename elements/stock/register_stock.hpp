#pragma once
#include <voussoir/elements/register_kernel.hpp>

#include <memory>
#include <string_view>
#include <typeinfo>

// What the sources made from types.cmake call on the CPU.

namespace voussoir::stock {

/// Registers an element type whose program `make` makes. `kernel` is the C++ type of its kernel.
void add_program(const char* type, const char* shape, const std::type_info& kernel,
                 std::unique_ptr<const ElementProgram> (*make)(std::string_view name));

/// Registers a kernel of the list as an element type.
template <class Kernel>
void add(const char* type, const char* shape) {
  add_program(type, shape, typeid(Kernel), [](std::string_view name) {
    return std::unique_ptr<const ElementProgram>(new NativeProgram<Kernel>(name));
  });
}

}  // namespace voussoir::stock
