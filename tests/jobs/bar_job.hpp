#pragma once
#include <fstream>
#include <string>

#include <voussoir/framework/io/job/job_file.hpp>

#include "job_models.hpp"

namespace voussoir {

/// Tests of job files that differ in their steps.
class BarJob : public testing::FolderTest {
 protected:
  /// Two bars in a row, 2 long, held at the left; E = 100, ρ = 1, A = 1.
  Job read(const std::string& steps) {
    std::ofstream(folder_ / "bar.msh")
        << "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n0 1 \"left\"\n0 2 "
           "\"right\"\n1 3 \"bar\"\n$EndPhysicalNames\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 2 0 "
           "0\n$EndNodes\n$Elements\n4\n1 15 2 1 1 1\n2 15 2 2 2 3\n3 1 2 3 3 1 2\n4 1 2 3 3 2 "
           "3\n$EndElements\n";
    std::ofstream(folder_ / "bar.json")
        << R"({"mesh": "bar.msh", "materials": {"steel": {"young": 100, "poisson": 0.3, "density": 1}},
 "sections": [{"group": "bar", "physics": "truss", "material": "steel", "area": 1}],
 "supports": [{"name": "wall", "group": "left", "ux": 0.01},
              {"name": "across", "group": "bar", "uy": 0, "uz": 0}],
 "loads": [{"name": "pull", "group": "right", "nodal_force": [1, 0, 0]}],
 "steps": )"
        << steps << "}";
    return read_job_file(folder_ / "bar.json");
  }
};

}  // namespace voussoir
