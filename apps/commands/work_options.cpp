#include <voussoir/apps/commands/work_options.hpp>

#include <utility>

namespace voussoir::app {
namespace {

/// Also by the numbers of FEStudio's levels.
Integration integration_named(const std::string& name) {
  for (const auto& [level, way] :
       {std::pair{"I", Integration::thread}, {"II", Integration::block}, {"IIa", Integration::blocks}})
    if (name == level) return way;
  for (const Integration way :
       {Integration::automatic, Integration::thread, Integration::block, Integration::blocks, Integration::pairs})
    if (name == to_string(way)) return way;
  throw Error(ErrorCode::bad_input,
              "there is no integration method '" + name + "'; use auto, thread (I), block (II), blocks (IIa) or pairs");
}

Assembly assembly_named(const std::string& name) {
  for (const Assembly way : {Assembly::automatic, Assembly::device, Assembly::host})
    if (name == to_string(way)) return way;
  throw Error(ErrorCode::bad_input, "there is no assembly '" + name + "'; use auto, device or host");
}

}  // namespace

WorkChoices WorkOptions::choices() const {
  WorkChoices choices;
  choices.integration = integration_named(integration);
  choices.assembly = assembly_named(assembly);
  choices.deterministic = !any_order;
  return choices;
}

void add_work_options(CLI::App& command, WorkOptions& options, const std::string& group) {
  const auto known = [](auto parse) {
    return [parse](const std::string& text) {
      try {
        (void)parse(text);
        return std::string();
      } catch (const Error& error) {
        return std::string(error.what());
      }
    };
  };
  command
      .add_option(
          "--integration", options.integration,
          "How a GPU integrates element matrices: a thread per element (I), a thread block per element (II), several "
          "elements per thread block (IIa), or a thread per pair of nodes")
      ->type_name("auto|thread|block|blocks|pairs")
      ->check(known(integration_named))
      ->capture_default_str()
      ->group(group);
  command
      .add_option(
          "--assembly", options.assembly,
          "Where element matrices of a GPU are assembled: on the device or on the host. With `--storage matrix-free`, "
          "they are integrated within the product and not assembled")
      ->type_name("auto|device|host")
      ->check(known(assembly_named))
      ->capture_default_str()
      ->group(group);
  command
      .add_flag("--any-order", options.any_order,
                "Allow sums in any order where that is faster: the last digits may differ from run to run")
      ->group(group);
}

}  // namespace voussoir::app
