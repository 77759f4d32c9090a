#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program_run.hpp"

// A bar of which one half is reduced to a superelement.

namespace voussoir::testing {

/// A bar of `cells` cells along x from `from` on, as a Gmsh mesh of version 2.2 with the numbers of a bar from x = 0:
/// groups 'bar', 'left' and 'right'.
inline std::string bar_mesh(int from, int cells, const std::string& height = "1") {
  std::string nodes, elements;
  int count = 0, element = 0;
  const auto id = [](int x, int corner) { return 4 * x + corner + 1; };
  for (int x = from; x <= from + cells; ++x)
    for (int c = 0; c < 4; ++c, ++count)
      nodes += std::to_string(id(x, c)) + " " + std::to_string(x) + " " + std::to_string(c == 1 || c == 2) + " " +
               (c >= 2 ? height : "0") + "\n";
  const auto face = [&](int tag, int x) {
    elements += std::to_string(++element) + " 3 2 " + std::to_string(tag) + " 1";
    for (int c = 0; c < 4; ++c) elements += " " + std::to_string(id(x, c));
    elements += "\n";
  };
  face(2, from);
  face(3, from + cells);
  for (int x = from; x < from + cells; ++x) {
    elements += std::to_string(++element) + " 5 2 1 1";
    for (int c = 0; c < 4; ++c) elements += " " + std::to_string(id(x, c));
    for (int c = 0; c < 4; ++c) elements += " " + std::to_string(id(x + 1, c));
    elements += "\n";
  }
  return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n3 1 \"bar\"\n2 2 \"left\"\n2 3 \"right\"\n"
         "$EndPhysicalNames\n$Nodes\n" +
         std::to_string(count) + "\n" + nodes + "$EndNodes\n$Elements\n" + std::to_string(element) + "\n" + elements +
         "$EndElements\n";
}

inline std::string bar_job(const std::string& mesh, const std::string& rest) {
  return R"({"mesh": ")" + mesh +
         R"(", "materials": {"steel": {"young": 200000, "poisson": 0.3, "density": 8e-9}},
 "sections": [{"group": "bar", "physics": "solid", "material": "steel"}])" +
         rest + "}";
}

inline constexpr const char* bar_steps =
    R"(, "steps": [{"name": "bend", "loads": {"push": 2, "weight": 1}}, {"name": "modes", "analysis": "frequency", "modes": 3}])";
inline constexpr const char* clamp = R"(, "supports": [{"group": "left", "all": 0}])";
inline constexpr const char* weight = R"({"name": "weight", "gravity": [0, 0, -9810]})";

/// A folder with the job of a bar (whole.json), that of its right half (tip.json), which is to be reduced to tip.vsup,
/// and that of its left half with tip.vsup as a superelement (root.json).
struct ReducedBar {
  explicit ReducedBar(const std::string& name, const std::string& height = "1") : path(fresh_folder(name)) {
    settings.folder = path;
    write_text(path / "whole.msh", bar_mesh(0, 8, height));
    write_text(path / "root.msh", bar_mesh(0, 4, height));
    write_text(path / "tip.msh", bar_mesh(4, 4, height));
    write_text(
        path / "whole.json",
        bar_job("whole.msh",
                clamp + std::string(R"(, "loads": [{"name": "push", "group": "right", "traction": [0, 3, 1]}, )") +
                    weight + "]" + bar_steps));
    write_text(path / "tip.json",
               bar_job("tip.msh", R"(, "loads": [{"name": "push", "group": "right", "traction": [0, 3, 1]}])"));
    write_text(
        path / "root.json",
        bar_job("root.msh", std::string(R"(, "superelements": [{"file": "tip.vsup", "name": "tip"}])") + clamp +
                                R"(, "loads": [{"name": "push", "superelement": "tip", "load_case": "step 1"}, )" +
                                weight + "]" + bar_steps));
  }
  Outcome run(std::vector<std::string> arguments) const { return run_program(arguments, settings); }
  nlohmann::json results(const std::string& name) const {
    return nlohmann::json::parse(read_text(path / (name + ".results.json")));
  }
  std::filesystem::path path;
  RunSettings settings;
};

}  // namespace voussoir::testing
