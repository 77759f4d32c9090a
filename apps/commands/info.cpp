#include <fmt/core.h>
#include <sys/utsname.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/load_option.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/registry.hpp>
#include <voussoir/backends/user_library.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/framework/domain/element_type.hpp>
#include <voussoir/framework/io/deck/deck_elements.hpp>
#include <voussoir/framework/io/safe_text.hpp>
#include <voussoir/jobs/memory_estimate.hpp>
#include <voussoir/partition/graph_partitioner.hpp>
#include <voussoir/solvers/direct/choice.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* element_types = "element type";  // the kind of ElementLibrary

struct InfoOptions {
  bool elements = false, decks = false, json = false;
};

/// What the program was built with.
Json build() {
  Json object;
#if defined(__clang__)
  object["compiler"] = std::string("clang ") + __clang_version__;
#else
  object["compiler"] = std::string("gcc ") + __VERSION__;
#endif
#if defined(NDEBUG)
  object["assertions"] = false;
#else
  object["assertions"] = true;
#endif
#if defined(__OPTIMIZE__)
  object["optimised"] = true;
#else
  object["optimised"] = false;
#endif
#if defined(__AVX512F__)
  object["vectors"] = "AVX-512";
#elif defined(__AVX2__)
  object["vectors"] = "AVX2";
#elif defined(__SSE2__)
  object["vectors"] = "SSE2";
#elif defined(__ARM_FEATURE_SVE)
  object["vectors"] = "SVE";
#elif defined(__ARM_NEON)
  object["vectors"] = "NEON";
#else
  object["vectors"] = "none";
#endif
  object["metis"] = MetisPartitioner::available();
  return object;
}

std::string processor_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  return {};
}

Json machine() {
  utsname system{};
  uname(&system);
  const MainMemory memory = main_memory();
  Json object{{"system", std::string(system.sysname) + " " + system.release},
              {"architecture", system.machine},
              {"processors", std::thread::hardware_concurrency()},
              {"memory_bytes", static_cast<std::int64_t>(memory.all)},
              {"free_memory_bytes", static_cast<std::int64_t>(memory.available)}};
  if (const std::string model = processor_model(); !model.empty()) object["processor"] = model;
  return object;
}

Json formats() {
  return {{{"ending", ".inp"}, {"what", "Abaqus and CalculiX decks"}, {"reads", true}, {"writes", true}},
          {{"ending", ".msh"},
           {"what", "Gmsh meshes: versions 1 to 4.1 read, 2.2 and 4.1 written, text and binary"},
           {"reads", true},
           {"writes", true}},
          {{"ending", ".json"}, {"what", "job files"}, {"reads", true}, {"writes", false}},
          {{"ending", ".vtu .pvd"}, {"what", "results for ParaView"}, {"reads", false}, {"writes", true}},
          {{"ending", ".frd"},
           {"what", "results for CalculiX GraphiX, PrePoMax and FreeCAD"},
           {"reads", false},
           {"writes", true}},
          {{"ending", ".dat"}, {"what", "tables in CalculiX's layout"}, {"reads", false}, {"writes", true}},
          {{"ending", ".csv"}, {"what", "the same tables, comma-separated"}, {"reads", false}, {"writes", true}},
          {{"ending", ".results.json"}, {"what", "a summary for scripts"}, {"reads", false}, {"writes", true}}};
}

/// What is chosen by name, kind by kind, with where it comes from. Element types have a list of their own.
Json registered() {
  Json kinds;
  for (const RegistryBase* registry : RegistryBase::all()) {
    if (registry->kind() == element_types) continue;
    Json& list = kinds[registry->kind()] = Json::array();
    for (const RegistryEntry& entry : registry->entries())
      list.push_back({{"name", entry.name}, {"description", entry.description}, {"origin", entry.origin}});
  }
  return kinds;
}

Json gather(const InfoOptions& options) {
  Json info{{"version", version()}, {"build", build()}, {"machine", machine()}};
  info["backends"] = Json::array();
  for (const BackendInfo& b : Backend::available())
    info["backends"].push_back({{"name", b.name}, {"usable", b.usable}, {"reason", b.reason}});
  const auto backend = Backend::open("auto");
  info["auto_backend"] = {{"name", backend->name()},
                          {"description", backend->describe()},
                          {"devices", backend->devices()},
                          {"services", backend->services()},
                          {"threads", backend->threads()}};
  info["direct_solvers"] = Json::array();
  for (const DirectMethod method : direct_methods()) {
    const std::string reason = why_unavailable(method);
    info["direct_solvers"].push_back({{"name", to_string(method)}, {"usable", reason.empty()}, {"reason", reason}});
  }
  info["solvers"] = solver_names();
  info["storages"] = soe_names();
  info["registered"] = registered();
  info["libraries"] = Json::array();
  for (const UserLibrary& library : loaded_libraries())
    info["libraries"].push_back({{"path", library.path}, {"registered", library.registered}});
  info["formats"] = formats();
  info["element_type_count"] = ElementLibrary::instance().names().size();
  if (options.elements) {
    info["element_types"] = Json::array();
    for (const ElementType* type : ElementLibrary::instance().all()) {
      const ElementProgram& program = type->program();
      info["element_types"].push_back(
          {{"name", type->name()},
           {"shape", type->shape()},
           {"origin", ElementLibrary::instance().origin(type->name())},
           {"nodes", program.nodes()},
           {"route", to_string(backend->route(program))},
           {"route_reason", backend->route_reason(program)},
           {"unknowns", std::vector<std::string>(program.unknown_names().begin(), program.unknown_names().end())},
           {"parameters",
            std::vector<std::string>(program.parameter_names().begin(), program.parameter_names().end())}});
    }
  }
  if (options.decks) {
    info["deck_elements"] = Json::array();
    for (const DeckElement& e : deck_elements())
      info["deck_elements"].push_back(
          {{"name", e.name}, {"calculix", e.calculix}, {"abaqus", e.abaqus}, {"heat", e.heat}});
  }
  return info;
}

std::string words(const Json& list) {
  std::string text;
  for (const auto& word : list) text += (text.empty() ? "" : " ") + word.get<std::string>();
  return text;
}

std::string string_of(const Json& object, const char* key) { return object.value(key, std::string()); }

/// What a backend runs on, a line for each device; or why it does not run.
void print_backend(const Json& backend) {
  const bool usable = backend["usable"].get<bool>();
  const std::string reason = string_of(backend, "reason");
  std::size_t end = usable ? reason.find("; ") : std::string::npos;
  show("  {:<8} {:<4} {}\n", string_of(backend, "name"), usable ? "yes" : "no", reason.substr(0, end));
  while (end != std::string::npos) {
    const std::size_t begin = end + 2;
    end = reason.find("; ", begin);
    show("  {:<8} {:<4} {}\n", "", "", reason.substr(begin, end == std::string::npos ? end : end - begin));
  }
}

/// The entries of every registry, and of the libraries that were loaded.
void print_registered(const Json& info) {
  for (const auto& [kind, entries] : info["registered"].items()) {
    show("\n{}\n", bold(kind + (kind.ends_with("s") ? "" : "s")));
    for (const Json& entry : entries) {
      const std::string origin = string_of(entry, "origin");
      show("  {:<16} {}{}\n", string_of(entry, "name"), string_of(entry, "description"),
           origin == "built in" ? "" : " (" + origin + ")");
    }
  }
  if (info["libraries"].empty()) return;
  show("\n{}\n", bold("loaded libraries"));
  for (const Json& library : info["libraries"]) {
    show("  {}\n", string_of(library, "path"));
    for (const Json& what : library["registered"]) show("    {}\n", what.get<std::string>());
  }
}

/// The lists that were asked for, each under one line.
void print_lists(const Json& info, const InfoOptions& options) {
  if (options.elements) {
    show("{} {}, with their route on {}, unknowns and parameters\n", bold("element types:"),
         info["element_type_count"].get<int>(), string_of(info["auto_backend"], "name"));
    for (const Json& type : info["element_types"]) {
      show("  {:<44} {:<7} {:<18} {}\n", string_of(type, "name"), string_of(type, "route"), words(type["unknowns"]),
           words(type["parameters"]));
      if (const std::string reason = string_of(type, "route_reason"); !reason.empty())
        show("  {:<44} {}\n", "", reason);
      if (const std::string origin = string_of(type, "origin"); origin != "built in")
        show("  {:<44} from {}\n", "", origin);
    }
  }
  if (!options.decks) return;
  show("{}{} {:<34} {:<34} {}\n", options.elements ? "\n" : "", bold(fmt::format("{:<11}", "in decks")),
       "with CalculiX's meaning", "with Abaqus's meaning (--dialect abaqus)", "for heat");
  for (const Json& e : info["deck_elements"])
    show("  {:<9} {:<34} {:<34} {}\n", string_of(e, "name"), string_of(e, "calculix"), string_of(e, "abaqus"),
         string_of(e, "heat"));
}

void print_text(const Json& info, const InfoOptions& options) {
  if (options.elements || options.decks) return print_lists(info, options);
  const Json &build = info["build"], &machine = info["machine"];
  show("{}\n", bold("voussoir " + string_of(info, "version")));
  show("  built with  {}, {}, vectors by {}; METIS: {}\n", string_of(build, "compiler"),
       build["optimised"].get<bool>() ? "optimised" : "not optimised", string_of(build, "vectors"),
       build["metis"].get<bool>() ? "yes" : "no");
  show("  machine     {}, {}, {}, {} of memory, {} of it free\n", string_of(machine, "system"),
       string_of(machine, "architecture") +
           (machine.contains("processor") ? ", " + string_of(machine, "processor") : std::string()),
       counted(machine["processors"].get<long long>(), "processor"),
       readable_bytes(machine["memory_bytes"].get<double>()),
       readable_bytes(machine["free_memory_bytes"].get<double>()));
  show("\n{}\n", bold("backends (--backend)"));
  for (const Json& b : info["backends"]) print_backend(b);
  show("  auto is {}\n", string_of(info["auto_backend"], "description"));
  show("\n{}\n", bold("direct solvers (--solver direct:NAME)"));
  for (const Json& s : info["direct_solvers"])
    show("  {:<8} {:<4} {}\n", string_of(s, "name"), s["usable"].get<bool>() ? "yes" : "no", string_of(s, "reason"));
  show("  --solver accepts auto {}\n  --storage accepts auto {}\n", words(info["solvers"]), words(info["storages"]));
  print_registered(info);
  show("\n{}\n", bold("files"));
  for (const Json& f : info["formats"])
    show("  {:<14} {:<6} {:<7} {}\n", string_of(f, "ending"), f["reads"].get<bool>() ? "reads" : "",
         f["writes"].get<bool>() ? "writes" : "", string_of(f, "what"));
  show("\n{} {} (--elements lists them, --decks their names in decks)\n", bold("element types:"),
       info["element_type_count"].get<int>());
}

constexpr const char* info_examples =
    R"(Examples:
  voussoir info                what this machine can run on, and why not on the rest
  voussoir info --elements     every element type with its route, unknowns and parameters
  voussoir info --decks        what C3D8R and the others mean here
  voussoir info --load libmine.so   with the elements, solvers, … of a library of your own
  voussoir info --json         the same for scripts)";

}  // namespace

void add_info_command(CLI::App& program) {
  CLI::App* info =
      program.add_subcommand("info", "Show version, build, available backends, solvers, file formats, element types");
  auto options = std::make_shared<InfoOptions>();
  add_load_option(*info);
  info->add_flag("--elements", options->elements, "List every element type with its route, unknowns and parameters");
  info->add_flag("--decks", options->decks, "List the element names of decks and their meaning");
  info->add_flag("--json", options->json, "Print only a JSON document on standard output");
  info->footer(info_examples);
  info->callback([options] {
    const Json gathered = gather(*options);
    if (options->json)
      fmt::print("{}\n", printable_json(gathered.dump(2, ' ', false, Json::error_handler_t::replace)));
    else
      print_text(gathered, *options);
  });
}

}  // namespace voussoir::app
