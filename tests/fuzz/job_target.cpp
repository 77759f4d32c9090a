#include <voussoir/framework/io/job/job_file.hpp>

#include "fuzz/target.hpp"

namespace {

/// One hexahedron with its faces in groups, and a square and a line beside it: enough for every section and load.
constexpr std::string_view mesh_text = R"($MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
6
0 1 "corner"
1 2 "edge"
2 3 "bottom"
2 4 "top"
2 5 "plate"
3 6 "body"
$EndPhysicalNames
$Nodes
12
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
5 0 0 1
6 1 0 1
7 1 1 1
8 0 1 1
9 5 0 0
10 6 0 0
11 6 1 0
12 5 1 0
$EndNodes
$Elements
7
1 15 2 1 1 1
2 1 2 2 1 1 2
3 3 2 3 1 1 4 3 2
4 3 2 4 2 5 6 7 8
5 3 2 5 3 9 10 11 12
6 5 2 6 1 1 2 3 4 5 6 7 8
7 1 2 2 2 9 10
$EndElements
)";

}  // namespace

void read_input(std::string_view bytes) {
  static const voussoir::GmshMesh mesh = voussoir::read_gmsh_bytes(mesh_text, "mesh.msh");
  try {
    voussoir::read_job_text(bytes, "fuzz.json", mesh);
  } catch (const voussoir::Error&) {
  }
}
