#pragma once
#include <voussoir/elements/register_kernel.hpp>

#include <string>

// The element types of the library stand in lists, one for each file of this folder: every backend that compiles
// them for itself goes through the same lists.

namespace voussoir::stock {

/// Registers the types of a list for the CPU.
struct RegisterOnCpu {
  template <class Kernel>
  void type(const std::string& name, const std::string& shape) const {
    RegisterKernel<Kernel>(name, shape);
  }
};

}  // namespace voussoir::stock

#define VSR_REGISTER_STOCK(list)                                  \
  [[maybe_unused]] static const bool vsr_registered_##list = [] { \
    ::voussoir::stock::list(::voussoir::stock::RegisterOnCpu{});  \
    return true;                                                  \
  }()
