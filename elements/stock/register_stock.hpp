#pragma once
#include <voussoir/elements/register_kernel.hpp>

#include <memory>
#include <typeinfo>

// What the sources made from types.cmake call on the CPU.

namespace voussoir::stock {

/// Registers a kernel of the list as an element type.
template <class Kernel>
void add(const char* type, const char* shape) {
  detail::register_built_in_program(type, shape, std::unique_ptr<const ElementProgram>(new NativeProgram<Kernel>(type)),
                                    typeid(Kernel));
}

}  // namespace voussoir::stock
