#include <fmt/core.h>

#include <map>
#include <memory>
#include <string>

#include <voussoir/apps/command.hpp>
#include <voussoir/backends/backend.hpp>
#include <voussoir/framework/domain/element_type.hpp>
#include <voussoir/solvers/direct/choice.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir::app {
namespace {

void print_info(bool with_elements) {
  fmt::print("voussoir {}\n\nbackends\n", VOUSSOIR_VERSION);
  for (const auto& b : Backend::available())
    fmt::print("  {:<8} {:<4} {}\n", b.name, b.usable ? "yes" : "no", b.reason);
  const auto backend = Backend::open("auto");
  fmt::print("  auto is {}\n\ndirect solvers\n", backend->describe());
  for (const auto method :
       {DirectMethod::mumps, DirectMethod::eigen, DirectMethod::cholmod, DirectMethod::band, DirectMethod::profile}) {
    const std::string reason = why_unavailable(method);
    fmt::print("  {:<8} {:<4} {}\n", to_string(method), reason.empty() ? "yes" : "no", reason);
  }
  const auto types = ElementLibrary::instance().all();
  fmt::print("\nelement types: {}", types.size());
  if (!with_elements) {
    fmt::print(" (list them with --elements)\n");
    return;
  }
  fmt::print(", with their route on {}\n", backend->name());
  for (const ElementType* type : types) {
    std::string parameters, unknowns;
    for (const auto& p : type->program().parameter_names()) parameters += (parameters.empty() ? "" : " ") + p;
    for (const auto& u : type->program().unknown_names()) unknowns += (unknowns.empty() ? "" : " ") + u;
    fmt::print("  {:<44} {:<7} {:<18} {}\n", type->name(), to_string(backend->route(type->program())), unknowns,
               parameters);
  }
}

}  // namespace

void add_info_command(CLI::App& program) {
  CLI::App* info = program.add_subcommand("info", "Version, backends with reasons, solvers, element types");
  auto with_elements = std::make_shared<bool>(false);
  info->add_flag("--elements", *with_elements, "List every element type with its route, unknowns and parameters");
  info->callback([with_elements] { print_info(*with_elements); });
}

}  // namespace voussoir::app
