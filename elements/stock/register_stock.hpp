#pragma once
#include <voussoir/elements/register_kernel.hpp>

#include <initializer_list>
#include <memory>
#include <string_view>
#include <typeinfo>

// Registration of the built-in element types. The sources generated from types.cmake call these functions.

namespace voussoir::stock {

/// Registers an element type whose program is created by `make`. `kernel` is the C++ type of its kernel.
void add_program(const char* type, const char* shape, const std::type_info& kernel,
                 std::unique_ptr<const ElementProgram> (*make)(std::string_view name));

/// Reserves the names of built-in element types in a part of the library that is loaded on demand. `file` is its name.
void add_types_on_demand(const char* file, std::initializer_list<const char*> names);

/// Registers a built-in kernel as an element type.
template <class Kernel>
void add(const char* type, const char* shape) {
  add_program(type, shape, typeid(Kernel), [](std::string_view name) {
    return std::unique_ptr<const ElementProgram>(new NativeProgram<Kernel>(name));
  });
}

}  // namespace voussoir::stock
