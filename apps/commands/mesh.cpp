#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/number_checks.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/framework/domain/element_type.hpp>
#include <voussoir/framework/io/deck/deck_writer.hpp>
#include <voussoir/framework/io/gmsh/gmsh_writer.hpp>
#include <voussoir/framework/mesh/sample_models.hpp>

namespace voussoir::app {
namespace {

/// What all shapes have in common.
struct MeshOptions {
  std::string output;
  std::string type = "hex8";
  Fineness fineness;
  std::string format = "binary";
  bool force = false;
};

// As help and shell completion want them.
const std::string wedge_types = "|wedge6|wedge15";
const std::string pump_types = "hex8|hex8.full|hex8.reduced|hex20|hex20.reduced|tet4|tet10";
const std::string solid_types = pump_types + wedge_types;
const std::string plate_types = "quad4|quad8|quad8.reduced|tri3|tri6|" + solid_types;

/// "hex8" → "solid.hex8"; names with a family of their own stay.
std::string full_type(const std::string& name) {
  for (const char* family : {"solid.", "plane_stress.", "plane_strain."})
    if (name.starts_with(family)) return name;
  const bool plane = name.starts_with("quad") || name.starts_with("tri");
  // The wedge that decks have (C3D6) is the one with two points.
  return (plane ? "plane_stress." : "solid.") + name + (name == "wedge6" ? ".reduced" : "");
}

/// A name of the list, or a variant of one that there is (hex8.bbar, plane_strain.quad8).
CLI::Validator one_of_types(const std::string& types) {
  return {[types](std::string& name) {
            std::string all;
            bool near = false;
            const std::string full = full_type(name);
            for (std::size_t begin = 0; begin <= types.size();) {
              const std::size_t end = std::min(types.find('|', begin), types.size());
              const std::string choice = types.substr(begin, end - begin);
              if (name == choice) return std::string();
              const std::string without_family = full.substr(full.find('.') + 1);
              near = near || without_family == choice || without_family.starts_with(choice + ".");
              all += (all.empty() ? "" : ", ") + choice;
              begin = end + 1;
            }
            if (near && ElementLibrary::instance().find_if(full)) return std::string();
            return "there are no elements '" + name + "' for this shape; there are " + all;
          },
          ""};
}

void add_common(CLI::App& command, MeshOptions& options, const std::string& types) {
  command.add_option("output", options.output, "File to write: .inp (a deck, ready to run) or .msh (Gmsh, mesh only)")
      ->type_name("FILE")
      ->required();
  command.add_option("-t,--type", options.type, "Element type; plane elements are in plane stress")
      ->type_name(types)
      ->check(one_of_types(types))
      ->capture_default_str();
  CLI::Option* size = command.add_option("-s,--size", options.fineness.size, "Length of element edges")
                          ->type_name("X")
                          ->check(above_zero());
  command.add_option("-n,--dofs", options.fineness.dofs, "Approximate number of unknowns, instead of a size")
      ->type_name("N")
      ->check(whole_number_between(1, 1000000000000))
      ->excludes(size);
  command.add_option("--format", options.format, "Format of .msh files: version 4.1, binary or ASCII, or version 2.2")
      ->type_name("binary|ascii|2.2")
      ->check(CLI::IsMember({"binary", "ascii", "2.2"}).description(""))
      ->capture_default_str();
  command.add_flag("-f,--force", options.force, "Replace an existing file");
}

void add_material(CLI::App& command, ElasticNumbers& numbers) {
  command.add_option("--young", numbers.young, "Young's modulus")->type_name("X")->capture_default_str();
  command.add_option("--poisson", numbers.poisson, "Poisson's ratio")->type_name("X")->capture_default_str();
  command.add_option("--density", numbers.density, "Mass per volume")->type_name("X")->capture_default_str();
}

void write(const Domain& domain, const std::vector<SampleStep>& steps, const MeshOptions& options,
           const std::string& title, std::vector<std::string> print_nodes) {
  const std::filesystem::path path = options.output;
  const bool deck = path.extension() == ".inp";
  if (deck) {
    DeckWriteOptions how;
    how.overwrite = options.force;
    how.title = title;
    how.print_nodes = std::move(print_nodes);
    std::vector<Step> asked;
    for (const SampleStep& s : steps) asked.push_back({s.name, s.load_cases, 1});
    write_deck(domain, asked, path, how);
  } else {
    GmshWriteOptions how;
    how.overwrite = options.force;
    how.format = options.format == "binary"  ? GmshFormat::binary_4_1
                 : options.format == "ascii" ? GmshFormat::ascii_4_1
                                             : GmshFormat::ascii_2_2;
    write_gmsh(domain, path, how);
  }
  const int dimension = domain.block(0).type().program().components();
  show("{}: {} nodes, {} elements ({}), {} unknowns\n", options.output, domain.node_count(), domain.element_count(),
       domain.block(0).type_name(), std::int64_t{domain.node_count()} * dimension);
  if (deck)
    show("Next: voussoir run {}\n", options.output);
  else
    show("A mesh has no loads: write a job file that names its groups, then voussoir run JOB.json\n");
}

/// The fineness that was asked for, or the model's own.
void choose(Fineness& fineness, const MeshOptions& options) {
  if (options.fineness.size > 0 || options.fineness.dofs > 0) fineness = options.fineness;
}

/// Refuses what cannot be written before the work of meshing, not after.
void check_output(const MeshOptions& options) {
  const std::filesystem::path path = options.output;
  if (path.extension() != ".inp" && path.extension() != ".msh")
    throw Error(ErrorCode::bad_input, "the file extension determines the format: .inp for a deck, .msh for Gmsh",
                options.output);
  if (!options.force && std::filesystem::exists(path))
    throw Error(ErrorCode::io, "the file exists; write to another one, or replace it with --force", options.output);
}

void add_box(CLI::App& mesh) {
  CLI::App* command =
      mesh.add_subcommand("box", "A cantilever: a box along x, clamped at x = 0, with pressure on its top");
  struct Data {
    MeshOptions options;
    BoxModel model;
  };
  auto data = std::make_shared<Data>();
  add_common(*command, data->options, solid_types);
  command->add_option("--extent", data->model.extent, "Length, width and height")
      ->type_name("X Y Z")
      ->capture_default_str();
  command->add_option("--pressure", data->model.pressure, "On the top")->type_name("X")->capture_default_str();
  add_material(*command, data->model.material);
  command->footer(
      "By beam theory the end deflects by 3 p L^4 / (2 E h^3).\n"
      "Example: voussoir mesh box beam.inp --type hex20 --extent 10 1 1 --size 0.25");
  command->callback([data] {
    check_output(data->options);
    choose(data->model.fineness, data->options);
    data->model.type = full_type(data->options.type);
    Domain domain;
    const auto steps = add_box_model(domain, data->model);
    write(domain, steps, data->options, "A cantilever of solid elements under pressure on its top", {"xmax"});
  });
}

void add_cylinder(CLI::App& mesh) {
  CLI::App* command = mesh.add_subcommand("cylinder", "A cylinder under tension, or a tube under internal pressure");
  struct Data {
    MeshOptions options;
    CylinderModel model;
  };
  auto data = std::make_shared<Data>();
  add_common(*command, data->options, solid_types);
  command->add_option("--radius", data->model.radius, "Outer radius")->type_name("X")->capture_default_str();
  command->add_option("--inner-radius", data->model.inner_radius, "0: solid; otherwise a tube")
      ->type_name("X")
      ->capture_default_str();
  command->add_option("--length", data->model.length, "Length, along z")->type_name("X")->capture_default_str();
  command
      ->add_option("--pressure", data->model.pressure,
                   "Internal pressure of the tube, or tension at the end of the cylinder")
      ->type_name("X")
      ->capture_default_str();
  add_material(*command, data->model.material);
  command->footer("Example: voussoir mesh cylinder tube.inp --inner-radius 0.3 --type hex20 --size 0.1");
  command->callback([data] {
    check_output(data->options);
    choose(data->model.fineness, data->options);
    data->model.type = full_type(data->options.type);
    Domain domain;
    const auto steps = add_cylinder_model(domain, data->model);
    write(domain, steps, data->options,
          data->model.inner_radius > 0 ? "A tube under internal pressure" : "A cylinder under tension", {"top"});
  });
}

void add_plate(CLI::App& mesh) {
  CLI::App* command = mesh.add_subcommand("plate", "A plate with a hole under tension along x; plane or solid");
  struct Data {
    MeshOptions options;
    PlateModel model;
    bool whole = false;
  };
  auto data = std::make_shared<Data>();
  data->options.type = "quad8";
  add_common(*command, data->options, plate_types);
  command->add_option("--width", data->model.width, "Length of the whole plate, along x")
      ->type_name("X")
      ->capture_default_str();
  command->add_option("--height", data->model.height, "Width of the whole plate, along y")
      ->type_name("X")
      ->capture_default_str();
  command->add_option("--radius", data->model.radius, "Of the hole")->type_name("X")->capture_default_str();
  command->add_option("--thickness", data->model.thickness, "Along z")->type_name("X")->capture_default_str();
  command->add_option("--tension", data->model.tension, "Tensile stress at the ends")
      ->type_name("X")
      ->capture_default_str();
  command->add_flag("--whole", data->whole, "The whole plate; otherwise a quarter with symmetry conditions");
  add_material(*command, data->model.material);
  command->footer(
      "For a small hole, the stress at its edge is three times the tension (Kirsch).\n"
      "Example: voussoir mesh plate plate.inp --radius 0.05 --size 0.02 --whole");
  command->callback([data] {
    check_output(data->options);
    choose(data->model.fineness, data->options);
    data->model.type = full_type(data->options.type);
    data->model.quarter = !data->whole;
    Domain domain;
    const auto steps = add_plate_model(domain, data->model);
    write(domain, steps, data->options, "A plate with a hole under tension", {"hole"});
  });
}

void add_pump(CLI::App& mesh) {
  CLI::App* command = mesh.add_subcommand("pump", "A pump on a welded frame under gravity and a lateral load");
  struct Data {
    MeshOptions options;
    PumpModel model;
  };
  auto data = std::make_shared<Data>();
  add_common(*command, data->options, pump_types);
  add_material(*command, data->model.frame);
  command->add_option("--pump-density", data->model.pump.density, "Equivalent mass per volume of the pump")
      ->type_name("X")
      ->capture_default_str();
  command->add_option("--pump-young", data->model.pump.young, "Young's modulus of the pump")
      ->type_name("X")
      ->capture_default_str();
  command->add_option("--gravity", data->model.gravity, "Vertical acceleration, downwards")
      ->type_name("X")
      ->capture_default_str();
  command->add_option("--lateral", data->model.lateral, "Lateral acceleration (second step)")
      ->type_name("X")
      ->capture_default_str();
  command->footer(
      "Examples: voussoir mesh pump pump.inp --dofs 200000\n"
      "          voussoir mesh pump large.msh --dofs 1858824 --type hex20");
  command->callback([data] {
    check_output(data->options);
    choose(data->model.fineness, data->options);
    data->model.type = full_type(data->options.type);
    Domain domain;
    const auto steps = add_pump_model(domain, data->model);
    write(domain, steps, data->options, "A pump on a frame", {"nozzle"});
  });
}

}  // namespace

void add_mesh_command(CLI::App& program) {
  CLI::App* mesh = program.add_subcommand("mesh", "Generate a model of any size and write it as a deck or a Gmsh mesh");
  mesh->require_subcommand(1);
  mesh->footer(
      "A deck comes with materials, supports and loads, ready for `voussoir run` and for CalculiX. Units are metres,\n"
      "newtons and kilograms, unless all values are given in other units.\n\n"
      "Examples:\n"
      "  voussoir mesh box beam.inp                                   a cantilever of hex8\n"
      "  voussoir mesh cylinder tube.inp --inner-radius 0.3 -t hex20  a tube under pressure\n"
      "  voussoir mesh plate plate.inp --whole                        a plate with a hole, plane stress\n"
      "  voussoir mesh pump pump.inp --dofs 200000                    a pump on a frame\n"
      "  voussoir mesh pump pump.msh --size 0.02                      the same for Gmsh, by element size\n\n"
      "`voussoir mesh SHAPE --help` lists the options of a shape.");
  add_box(*mesh);
  add_cylinder(*mesh);
  add_plate(*mesh);
  add_pump(*mesh);
}

}  // namespace voussoir::app
