#pragma once
#include <string>

#include <support/gmsh_text.hpp>
#include <voussoir/framework/io/job/job_file.hpp>

// Small jobs on small meshes, to be varied by the tests of job files.

namespace voussoir::testing {

inline GmshMesh mesh_of(const GmshSample& sample, GmshVariant variant = GmshVariant::text41) {
  return read_gmsh_bytes(gmsh_bytes(sample, variant), "part.msh");
}

/// A job on the two cubes; `more` are further keys.
inline std::string job(const std::string& more = "",
                       const std::string& section = R"("physics": "solid", "material": "steel")") {
  return R"({"mesh": "part.msh",
  "materials": {"steel": {"young": 200e9, "poisson": 0.25, "density": 8000}},
  "sections": [{"group": "body", )" +
         section + "}]" + (more.empty() ? "" : ",\n  " + more) + "}";
}

inline Job read_on(const std::string& text, const GmshSample& sample = two_cubes()) {
  return read_job_text(text, "job.json", mesh_of(sample));
}

/// A square of side 1 of two triangles, its lower edge, its corner at the origin and its right edge.
inline GmshSample square() {
  GmshSample m;
  m.nodes = {{1, {0, 0, 0}}, {2, {1, 0, 0}}, {3, {1, 1, 0}}, {4, {0, 1, 0}}};
  m.elements = {{1, 15, 0, 1, {1}},   {2, 1, 1, 1, {1, 2}},    {3, 1, 1, 2, {2, 3}},
                {4, 1, 1, 3, {1, 3}}, {5, 2, 2, 1, {1, 2, 3}}, {6, 2, 2, 1, {1, 3, 4}}};
  m.physical = {{{0, 1}, {1}}, {{1, 1}, {1}}, {{1, 2}, {2}}, {{1, 3}, {3}}, {{2, 1}, {1}}};
  m.names = {{{0, 1}, "origin"}, {{1, 1}, "lower"}, {{1, 2}, "right"}, {{1, 3}, "inner"}, {{2, 1}, "plate"}};
  return m;
}
inline std::string square_job(const std::string& more, const std::string& physics = "plane_stress") {
  return R"({"mesh": "part.msh", "materials": {"m": {"young": 1, "poisson": 0, "conductivity": 1, "density": 1}},
  "sections": [{"group": "plate", "physics": ")" +
         physics + R"(", "material": "m"}], )" + more + "}";
}

}  // namespace voussoir::testing
