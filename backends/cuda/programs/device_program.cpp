#include <voussoir/backends/cuda/programs/device_program.hpp>

#include <map>

namespace voussoir::cuda {

namespace {

std::map<std::string, std::shared_ptr<const DeviceProgram>>& native_programs() {
  static std::map<std::string, std::shared_ptr<const DeviceProgram>> programs;
  return programs;
}

}  // namespace

void add_native_program(const std::string& name, std::shared_ptr<const DeviceProgram> program) {
  native_programs()[name] = std::move(program);
}

const DeviceProgram* find_native_program(const std::string& name) {
  const auto it = native_programs().find(name);
  return it == native_programs().end() ? nullptr : it->second.get();
}

const DeviceProgram& device_program(const ElementProgram& program, std::string* why) {
  if (const DeviceProgram* native = find_native_program(program.name())) return *native;
  std::string reason;
  if (program.route() != Route::host)
    if (const DeviceProgram* jit = find_jit_program(program, reason)) {
      if (why) *why = reason;
      return *jit;
    }
  if (why) *why = program.route() == Route::host ? "the element type is written for the host" : reason;
  static const std::unique_ptr<DeviceProgram> host = make_host_program();
  return *host;
}

MatrixMix MatrixMix::of(const MatrixTerms& terms, const ElementBatch& batch) {
  MatrixMix mix{0, 0, terms.mass_kind};
  if (batch.element_count == 0) return mix;
  if (batch.program->has_tangent()) mix.stiffness = terms.stiffness_of(batch.description);
  if (batch.program->has_mass()) mix.mass = terms.mass_of(batch.description);
  return mix;
}

}  // namespace voussoir::cuda
