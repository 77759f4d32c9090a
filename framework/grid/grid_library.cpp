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

std::string description_of(const GridProgram& program) { return program.reads_neighbours() ? "stencil" : "source"; }

}  // namespace

void GridLibrary::add_at_start(GridKernel kernel) {
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
  static std::mutex* const mutex = new std::mutex;
  static auto* const sources = new std::map<const GridProgram*, KernelSource>;
  const std::lock_guard lock(*mutex);
  if (const auto known = sources->find(&program); known != sources->end()) return &known->second;
  const GridKernel* kernel = kernels_.find_if(program.name());
  if (!kernel || kernel->program.get() != &program || kernel->file.empty()) return nullptr;
  const char* text = find_embedded_text(kernel->file);
  if (!text) return nullptr;
  return &sources->emplace(&program, KernelSource{kernel->type, kernel->file, text, 0}).first->second;
}

}  // namespace voussoir
