#include <voussoir/framework/grid/grid_library.hpp>

#include <map>
#include <mutex>
#include <utility>

#include <voussoir/framework/domain/embedded_text.hpp>

namespace voussoir {

GridLibrary::GridLibrary() : kernels_("grid kernel", {"", "since GPUs have it compiled in"}) {}

GridLibrary& GridLibrary::instance() {
  // Never destroyed: backends that outlive static destruction may still ask.
  static GridLibrary* const library = new GridLibrary;
  return *library;
}

namespace {

/// Files by the C++ type of their kernels, apart from the kernels: a header may be included by several sources, of
/// which one knows its text, and the first that registers is the one that counts.
struct KernelFiles {
  std::mutex mutex;
  std::map<std::string, std::string> by_type;
  std::map<const GridProgram*, KernelSource> sources;
};
KernelFiles& kernel_files() {
  static KernelFiles* const files = new KernelFiles;
  return *files;
}

std::string description_of(const GridProgram& program) { return program.reads_neighbours() ? "stencil" : "source"; }

}  // namespace

void GridLibrary::add_at_start(GridKernel kernel) {
  if (!kernel.file.empty()) {
    const std::lock_guard lock(kernel_files().mutex);
    kernel_files().by_type[kernel.type] = kernel.file;
  }
  std::string name = kernel.program->name(), text = description_of(*kernel.program);
  kernels_.add_at_start(std::move(name), std::move(text), std::move(kernel));
}

void GridLibrary::add_built_in(GridKernel kernel) {
  std::string name = kernel.program->name(), text = description_of(*kernel.program);
  kernels_.add_built_in(std::move(name), std::move(text), std::move(kernel));
}

const GridProgram& GridLibrary::find(std::string_view name) const { return *kernels_.find(name).program; }

std::vector<std::string> GridLibrary::names() const { return kernels_.names(); }

const KernelSource* GridLibrary::find_source(const GridProgram& program) const {
  const GridKernel* kernel = kernels_.find_if(program.name());
  if (!kernel || kernel->program.get() != &program) return nullptr;
  KernelFiles& files = kernel_files();
  const std::lock_guard lock(files.mutex);
  if (const auto known = files.sources.find(&program); known != files.sources.end()) return &known->second;
  const auto file = files.by_type.find(kernel->type);
  if (file == files.by_type.end()) return nullptr;
  const char* text = find_embedded_text(file->second);
  if (!text) return nullptr;
  return &files.sources.emplace(&program, KernelSource{kernel->type, file->second, text, 0}).first->second;
}

}  // namespace voussoir
