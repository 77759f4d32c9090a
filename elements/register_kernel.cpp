#include <voussoir/elements/register_kernel.hpp>

#include <cxxabi.h>

#include <cstdlib>

namespace voussoir::detail {

namespace {

/// The C++ name of a type, namespaces and template arguments included.
std::string type_expression(const std::type_info& type) {
  int status = 0;
  char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 && text ? text : type.name();
  std::free(text);
  return name;
}

}  // namespace

void register_program(std::string type_name, std::string shape, std::unique_ptr<const ElementProgram> program,
                      const std::type_info& kernel, const char* file, int energy_operations) {
  const std::shared_ptr<const ElementProgram> shared = std::move(program);
  // Only what is registered, and so never destroyed, is linked to its text.
  if (ElementLibrary::instance().add_at_start(ElementType(std::move(type_name), std::move(shape), shared, kernel)) &&
      file)
    link_kernel_text(*shared, type_expression(kernel), file, energy_operations);
}

void register_built_in_program(std::string type_name, std::string shape, std::unique_ptr<const ElementProgram> program,
                               const std::type_info& kernel) {
  ElementLibrary::instance().add_built_in(
      ElementType(std::move(type_name), std::move(shape), std::move(program), kernel));
}

}  // namespace voussoir::detail
