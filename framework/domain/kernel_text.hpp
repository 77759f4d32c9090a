#pragma once
#include <voussoir/backends/element_program.hpp>

#include <string>

// Texts of kernels, kept for backends that compile a kernel at run time. `voussoir_add_elements(target file.hpp)`
// embeds a file's text at build time; a registration inside that file links its element types to the text.

namespace voussoir {

/// Keeps the text of a kernel file from the moment this object is made until the program ends. Both pointers must stay
/// valid that long: string literals do.
struct EmbeddedKernelText {
  /// Registers the text of a header under its file name, for backends that compile kernels at run time.
  EmbeddedKernelText(const char* file, const char* text);
};

/// Says that an element program is the C++ kernel `type_expression` and that its text is that of `file`.
void link_kernel_text(const ElementProgram& program, const std::string& type_expression, const std::string& file);

/// The text that belongs to an element program, or null where none was embedded. The pointer stays valid.
const KernelSource* find_kernel_source(const ElementProgram& program);

}  // namespace voussoir
