#pragma once
#include <voussoir/backends/element_program.hpp>

#include <string>

// Source texts of kernels, for backends that compile kernels at run time. `voussoir_add_elements(target file.hpp)`
// embeds the text of a file at build time; registrations inside that file link their element types to the text.

namespace voussoir {

/// An object whose constructor registers the text of a kernel file until the program ends.
struct EmbeddedKernelText {
  /// Registers the text of a header under its file name. Both pointers must stay valid until the program ends, as
  /// string literals do.
  EmbeddedKernelText(const char* file, const char* text);
};

/// Declares that an element program computes the C++ kernel `type_expression`, which is defined in `file`. For
/// `energy_operations` see KernelSource.
void link_kernel_text(const ElementProgram& program, const std::string& type_expression, const std::string& file,
                      int energy_operations = 0);

/// The source text of an element program, or null if none was embedded. The pointer stays valid until the program ends.
const KernelSource* find_kernel_source(const ElementProgram& program);

}  // namespace voussoir
