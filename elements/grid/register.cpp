#include <voussoir/elements/grid/register.hpp>

#include <cxxabi.h>

#include <cstdlib>

#include <voussoir/elements/grid/stock_stencils.hpp>

namespace voussoir::detail {

namespace {

/// The C++ name of a kernel, namespaces included.
std::string kernel_expression(const std::type_info& type) {
  int status = 0;
  char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 && text ? text : type.name();
  std::free(text);
  return name;
}

template <class Kernel>
void add_stock_stencil() {
  GridLibrary::instance().add_built_in(
      {std::make_shared<NativeStencil<Kernel>>(Kernel::name), kernel_expression(typeid(Kernel)), {}});
}

[[maybe_unused]] const bool stock_stencils_added = [] {
  add_stock_stencil<DiffusionStencil>();
  add_stock_stencil<LayeredStencil>();
  add_stock_stencil<ConstantSource>();
  add_stock_stencil<BoxSource>();
  add_stock_stencil<GaussianSource>();
  return true;
}();

}  // namespace

void register_stencil(std::unique_ptr<const GridProgram> program, const std::type_info& kernel, const char* file) {
  GridLibrary::instance().add_at_start({std::move(program), kernel_expression(kernel), file ? file : ""});
}

}  // namespace voussoir::detail
