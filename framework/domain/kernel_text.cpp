#include <voussoir/framework/domain/embedded_text.hpp>
#include <voussoir/framework/domain/kernel_text.hpp>

#include <map>
#include <mutex>

namespace voussoir {
namespace {

struct Texts {
  std::mutex mutex;
  std::map<std::string, const char*> by_file;
  std::map<const ElementProgram*, KernelSource> by_program;  // registered programs stay until the process ends
};

// Never destroyed: programs that outlive static destruction may still ask.
Texts& texts() {
  static Texts* const all = new Texts;
  return *all;
}

}  // namespace

EmbeddedKernelText::EmbeddedKernelText(const char* file, const char* text) {
  Texts& all = texts();
  const std::lock_guard lock(all.mutex);
  all.by_file[file] = text;
}

const char* find_embedded_text(const std::string& file) {
  Texts& all = texts();
  const std::lock_guard lock(all.mutex);
  const auto text = all.by_file.find(file);
  return text == all.by_file.end() ? nullptr : text->second;
}

void link_kernel_text(const ElementProgram& program, const std::string& type_expression, const std::string& file,
                      int energy_operations) {
  Texts& all = texts();
  const std::lock_guard lock(all.mutex);
  all.by_program.try_emplace(&program, KernelSource{type_expression, file, {}, energy_operations});
}

const KernelSource* find_kernel_source(const ElementProgram& program) {
  Texts& all = texts();
  const std::lock_guard lock(all.mutex);
  const auto source = all.by_program.find(&program);
  if (source == all.by_program.end()) return nullptr;
  // The link and the text come from static objects whose order is unknown, so they meet here, at first use.
  if (source->second.text.empty()) {
    const auto text = all.by_file.find(source->second.file);
    if (text == all.by_file.end()) return nullptr;
    source->second.text = text->second;
  }
  return &source->second;
}

}  // namespace voussoir
