#pragma once

// Registration of a kernel as an element type in one line:
//
//   VSR_REGISTER_ELEMENT(MyPointKernel, Hex8, Tet4)   point kernel: "<MyPointKernel::name>.hex8", "….tet4"
//   VSR_REGISTER_ELEMENT(MyElementKernel)             whole-element kernel: "<MyElementKernel::name>"
//
// It is used at namespace scope, in a source file or in a header passed to voussoir_add_elements(). A whole-element
// kernel whose nodes form a known shape declares it: `static constexpr const char* shape = "line2";`. For other names
// and formulations, write `static const RegisterKernel<PointElement<MyKernel, Hex8, BBar>> registered{"my.hex8.bbar",
// "hex8", VSR_KERNEL_FILE_OR_NULL};`. The last argument links the type to its embedded text, for backends that compile
// it.

#if defined(__CUDACC_RTC__) || defined(VSR_REGISTER_ELEMENT)

// When a kernel is compiled from its text at run time, it has been registered already. A file that defines the macro
// before including this one registers nothing either.
#if !defined(VSR_REGISTER_ELEMENT)
#define VSR_REGISTER_ELEMENT(...) static_assert(true, "")
#endif
#define VSR_KERNEL_FILE_OR_NULL nullptr

namespace voussoir {
template <class Kernel>
struct RegisterKernel {
  constexpr explicit RegisterKernel(const char*, const char*, const char* = nullptr) {}
};
}  // namespace voussoir

#else

#include <voussoir/backends/registry.hpp>
#include <voussoir/elements/point/point_element.hpp>
#include <voussoir/elements/register_kernel.hpp>

#include <string>

namespace voussoir {

/// An object whose constructor registers a kernel; VSR_REGISTER_ELEMENT defines a static one. With shapes, Kernel is a
/// point kernel and each shape becomes a type; without, it is a whole-element kernel.
template <class Kernel, class... Shapes>
struct RegisterElement {
  /// `file` is the name of the file whose embedded text contains the kernel, or null.
  explicit RegisterElement(const char* file = nullptr) {
    if constexpr (sizeof...(Shapes) == 0) {
      if constexpr (ElementKernel<Kernel> && checks::NamesItself<Kernel>) {
        std::string shape;
        if constexpr (requires { std::string(Kernel::shape); }) shape = Kernel::shape;
        RegisterKernel<Kernel>(Kernel::name, shape, file);
      } else if constexpr (!ElementKernel<Kernel>) {
        explain_element_kernel<Kernel>();
      } else {
        static_assert(checks::NamesItself<Kernel>, "the element kernel has no static constexpr const char* name");
      }
    } else if constexpr (PointKernel<Kernel>) {
      (RegisterKernel<PointElement<Kernel, Shapes, Full> >(std::string(Kernel::name) + "." + Shapes::name, Shapes::name,
                                                           file),
       ...);
    } else {
      explain_point_kernel<Kernel>();
    }
  }
};

}  // namespace voussoir

// voussoir_add_elements() defines VSR_KERNEL_FILE where it embeds a file's text.
#if defined(VSR_KERNEL_FILE)
#define VSR_KERNEL_FILE_OR_NULL VSR_KERNEL_FILE
#else
#define VSR_KERNEL_FILE_OR_NULL nullptr
#endif

// The kernel is looked up at the macro; shapes are found without voussoir::.
#define VSR_REGISTER_ELEMENT(Kernel, ...) \
  VSR_REGISTER_ELEMENT_(Kernel, VSR_JOIN(vsr_registration_, __COUNTER__) __VA_OPT__(, ) __VA_ARGS__)
#define VSR_REGISTER_ELEMENT_(Kernel, unique, ...)                                                                   \
  namespace unique {                                                                                                 \
  using RegisteredKernel = Kernel;                                                                                   \
  namespace shapes {                                                                                                 \
  using namespace ::voussoir;                                                                                        \
  [[maybe_unused]] static const ::voussoir::RegisterElement<RegisteredKernel __VA_OPT__(, ) __VA_ARGS__> registered{ \
      VSR_KERNEL_FILE_OR_NULL};                                                                                      \
  }                                                                                                                  \
  }                                                                                                                  \
  static_assert(true, "")

#endif
