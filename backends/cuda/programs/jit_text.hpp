#pragma once
#include <compare>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/backends/cuda/elements/element_job.hpp>
#include <voussoir/backends/cuda/programs/nvrtc.hpp>
#include <voussoir/backends/element_program.hpp>
#include <voussoir/backends/error.hpp>

// Texts on their way to and from the run-time compiler. Nothing here needs a GPU or the compiler itself.

namespace voussoir::cuda {

/// The headers that kernels include, under their <voussoir/…> names; embedded when the backend is built.
const std::vector<NamedText>& kernel_headers();

/// For which GPU code is made.
struct Target {
  std::string option;        ///< "sm_90", or "compute_90" for a GPU that is newer than the compiler
  bool machine_code = true;  ///< false: PTX
};
/// The best of the architectures a compiler knows (ascending) for a GPU, as 90 for compute capability 9.0. Throws Error
/// (unavailable) where it knows only newer ones.
Target choose_target(int gpu, std::span<const int> known);

/// A kernel of this backend that is a template over element types. `more` are its other arguments.
struct KernelTemplate {
  std::string name;
  std::string more = {};
  auto operator<=>(const KernelTemplate&) const = default;
};
/// Values of elements by a thread each.
KernelTemplate values_template(Routine routine);
/// All that the compiler is given for one kernel of an element. Lines and file of its messages are the user's.
CompileRequest jit_request(const KernelSource& source, const KernelTemplate& kernel, const Target& target,
                           const std::vector<NamedText>& headers);

/// The same for the kernel over the nodes of a grid.
CompileRequest jit_grid_request(const KernelSource& source, const Target& target,
                                const std::vector<NamedText>& headers);

/// What the compiler's messages say about a user's text: the first errors, at the user's file and line.
Error jit_error(const KernelSource& source, std::string_view messages);

}  // namespace voussoir::cuda
