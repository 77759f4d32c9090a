#pragma once

// Registration of a grid kernel (neighbourhood.hpp) in one line, at namespace scope:
//
//   VSR_REGISTER_STENCIL(MyStencil)      a stencil or a source, found by MyStencil::name
//
// In a header that is passed to voussoir_add_elements(), the text of the kernel is embedded, and backends with a
// compiler of their own build it for their device; elsewhere such backends compute it on the host.

#include <voussoir/elements/grid/neighbourhood.hpp>

#if defined(__CUDACC_RTC__) || defined(VSR_REGISTER_STENCIL)

// When a kernel is compiled from its text at run time, it has been registered already. A file that defines the macro
// before including this one registers nothing either.
#if !defined(VSR_REGISTER_STENCIL)
#define VSR_REGISTER_STENCIL(...) static_assert(true, "")
#endif

#else

#include <voussoir/backends/registry.hpp>
#include <voussoir/elements/grid/native_stencil.hpp>
#include <voussoir/framework/grid/grid_library.hpp>

#include <concepts>
#include <string>
#include <typeinfo>

namespace voussoir {

namespace detail {

/// Adds a program to the library of grid kernels.
void register_stencil(std::unique_ptr<const GridProgram> program, const std::type_info& kernel, const char* file);

template <class Kernel>
concept GridKernelHasName = requires {
  { Kernel::name } -> std::convertible_to<const char*>;
};
template <class Kernel>
concept GridKernelHasParameters = requires {
  typename Kernel::Parameters;
};

}  // namespace detail

/// An object whose constructor registers a grid kernel; VSR_REGISTER_STENCIL defines a static one.
template <class Kernel>
struct RegisterStencil {
  /// `file` is the name of the file whose embedded text contains the kernel, or null.
  explicit RegisterStencil(const char* file = nullptr) {
    if constexpr (!detail::GridKernelHasName<Kernel>) {
      static_assert(detail::GridKernelHasName<Kernel>, "the grid kernel has no static constexpr const char* name");
    } else if constexpr (!detail::GridKernelHasParameters<Kernel>) {
      static_assert(detail::GridKernelHasParameters<Kernel>,
                    "the grid kernel has no Parameters: struct Parameters {} where it needs none");
    } else if constexpr (!detail::GridSourceKernel<Kernel> && !detail::GridStencilKernel<Kernel, SearchedNode>) {
      static_assert(detail::GridSourceKernel<Kernel>,
                    "the grid kernel has neither apply(const Node& u, const Parameters&) nor source(x, y, z, t, u, "
                    "const Parameters&)");
    } else {
      detail::register_stencil(std::make_unique<NativeStencil<Kernel> >(Kernel::name), typeid(Kernel), file);
    }
  }
};

}  // namespace voussoir

// voussoir_add_elements() defines VSR_KERNEL_FILE where it embeds a file's text.
#if defined(VSR_KERNEL_FILE)
#define VSR_STENCIL_FILE_OR_NULL VSR_KERNEL_FILE
#else
#define VSR_STENCIL_FILE_OR_NULL nullptr
#endif

#define VSR_REGISTER_STENCIL(Kernel)                                                                      \
  [[maybe_unused]] static const ::voussoir::RegisterStencil<Kernel> VSR_JOIN(vsr_stencil_, __COUNTER__) { \
    VSR_STENCIL_FILE_OR_NULL                                                                              \
  }

#endif
