#include <voussoir/framework/io/job/job_file.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <support/expect_error.hpp>
#include <support/gmsh_text.hpp>
#include <support/job_samples.hpp>

namespace voussoir {
namespace {

using testing::all_gmsh_variants;
using testing::expect_error;
using testing::GmshSample;
using testing::GmshVariant;
using testing::job;
using testing::mesh_of;
using testing::read_on;
using testing::square;
using testing::square_job;
using testing::two_cubes;

Job read(const std::string& text, const GmshSample& sample = two_cubes()) { return read_on(text, sample); }

TEST(JobFile, EveryVariantOfAMeshGivesTheSameDomain) {
  GmshSample sample = two_cubes();
  sample.physical[{3, 2}] = {8, 9};  // the right cube is in two groups: version 2.2 writes it twice
  sample.names[{3, 9}] = "right";
  for (const GmshVariant variant : all_gmsh_variants) {
    SCOPED_TRACE(static_cast<int>(variant));
    const Job result = read_job_text(
        job(R"("loads": [{"group": "right", "gravity": [0, 0, -10]}], "supports": [{"group": "left side", "all": 0}])"),
        "job.json", mesh_of(sample, variant));
    ASSERT_EQ(result.domains.size(), 1u);
    const Domain& d = *result.domains[0];
    EXPECT_EQ(d.node_count(), 12);
    EXPECT_EQ(d.node_id(0), 2);  // in ascending ids, whatever the file's order
    EXPECT_EQ(d.node(900).position, (std::array<double, 3>{2, 0.5, 0}));
    ASSERT_EQ(d.block_count(), 1u);
    EXPECT_EQ(d.block(0).type_name(), "solid.hex8");
    EXPECT_EQ(d.element_count(), 2);
    EXPECT_EQ(d.element(11).nodes, (std::vector<Id>{70, 3, 5, 41, 8, 77, 13, 2}));
    EXPECT_EQ(d.element(5).nodes.front(), 3);
    EXPECT_EQ(d.node_set_names(), (std::vector<std::string>{"body", "curve 2", "left side", "right", "tip"}));
    EXPECT_EQ(d.node_set("left side").size(), 4u);
    EXPECT_EQ(d.element_set("right").size(), 1u);
    ASSERT_EQ(d.surface("left side").size(), 1u);
    const FaceRef face = d.surface("left side")[0];
    EXPECT_EQ(d.block(0).id(face.element), 11);
    EXPECT_EQ(face.face, 5);  // S6 of a hexahedron is 4-1-5-8, here x = 0
    ASSERT_EQ(result.steps.size(), 1u);
    EXPECT_EQ(result.steps[0].supports->values.size(), 4u);
    EXPECT_EQ(d.load_case("step 1").body_loads().at(0).element_set, "right");
  }
}

TEST(JobFile, MaterialsHaveADamping) {
  const std::string text = R"({"mesh": "m", "materials": {"s": {"young": 1, "poisson": 0, "damping": DAMPING}},
    "sections": [{"group": "volumes", "physics": "solid", "material": "s"}]})";
  const auto with = [&](const std::string& damping) {
    return std::string(text).replace(text.find("DAMPING"), 7, damping);
  };
  EXPECT_EQ(read(with(R"({"alpha": 0.4, "beta": 1e-3})")).domains[0]->block(0).material()->damping(),
            (RayleighDamping{0.4, 1e-3}));
  EXPECT_EQ(read(with(R"({"beta": 2})")).domains[0]->block(0).material()->damping(), (RayleighDamping{0, 2}));
  expect_error(ErrorCode::bad_input, {"/materials/s/damping", "gamma"}, [&] { read(with(R"({"gamma": 2})")); });
}

TEST(JobFile, MeshesWithoutGroupsAreNamedByDimension) {
  GmshSample sample = two_cubes();
  sample.physical = {{{2, 9}, {3}}};
  sample.names.clear();
  const std::string text = R"({"mesh": "m", "mesh_scale": 10, "materials": {"s": {"young": 1, "poisson": 0}},
    "sections": [{"group": "volumes", "physics": "solid", "formulation": "bbar", "material": "s"}],
    "supports": [{"group": "surface 3", "ux": 0.5, "along": {"direction": [0, 3, 4]}}, {"group": "points", "all": 0}]})";
  const Job result = read(text, sample);
  const Domain& d = *result.domains[0];
  EXPECT_EQ(d.block(0).type_name(), "solid.hex8.bbar");
  EXPECT_EQ(d.node(12).position[0], 20.0);
  const Supports& s = *result.steps[0].supports;
  ASSERT_EQ(s.values.size(), 5u);
  EXPECT_EQ(s.values[0].value, 0.5);
  ASSERT_EQ(s.oblique.size(), 4u);
  EXPECT_DOUBLE_EQ(s.oblique[0].direction[2], 0.8);
  EXPECT_EQ(result.steps[0].load_case, "");  // nothing acts but the supports
}

TEST(JobFile, OneNameInTwoDimensionsIsToldApart) {
  GmshSample sample = square();
  sample.names[{1, 2}] = "plate";
  const Job result = read(
      square_job(R"("supports": [{"group": "curve plate", "ux": 0}], "loads": [{"group": "plate", "pressure": 3}])"),
      sample);
  const Domain& d = *result.domains[0];
  EXPECT_EQ(d.node_set("curve plate").size(), 2u);
  EXPECT_EQ(d.node_set("surface plate").size(), 4u);
  EXPECT_EQ(d.surface("curve plate").size(), 1u);
}

TEST(JobFile, InitialTemperaturesOfGroups) {
  const auto job = [](const std::string& initial) {
    return read(square_job(R"("reference_temperature": 20, "initial_temperature": )" + initial + R"(, "loads": [
      {"name": "t", "group": "plate", "temperature": 120}],
      "steps": [{"name": "all"}, {"name": "half", "loads": {"t": 0.5}}])"),
                square());
  };
  const Job result = job(R"([{"group": "plate", "value": 30}, {"group": "right", "value": 60}])");
  const Domain& d = *result.domains[0];
  EXPECT_EQ(d.reference_temperature(), 20);
  std::vector<double> half;
  for (std::int32_t n = 0; n < d.node_count(); ++n) {
    const double right = d.coordinates()[3 * n] == 1 ? 60 : 30;
    EXPECT_EQ(d.initial_temperature(n), right) << n;
    half.push_back(right + 0.5 * (120 - right));  // half of the rise above its own start
  }
  EXPECT_EQ(d.load_case("all").temperatures(), (std::vector<double>{120, 120, 120, 120}));
  EXPECT_EQ(d.load_case("half").temperatures(), half);
  EXPECT_EQ(job("50").domains[0]->initial_temperatures(), (std::vector<double>{50, 50, 50, 50}));
  expect_error(ErrorCode::not_found, {"edge"}, [&] { job(R"([{"group": "edge", "value": 30}])"); });
  expect_error(ErrorCode::bad_input, {"value"}, [&] { job(R"([{"group": "plate"}])"); });
  EXPECT_EQ(job(R"({"group": "plate", "value": 7})").domains[0]->initial_temperature(0), 7);
  expect_error(ErrorCode::bad_input, {"initial_temperature"}, [&] { job(R"("warm")"); });
}

TEST(JobFile, LoadsOfEveryKindReachTheLoadCase) {
  const Job result = read(square_job(R"("reference_temperature": 20, "loads": [
    {"name": "p", "group": "right", "pressure": 5},
    {"name": "p", "group": "right", "traction": [1, 2]},
    {"name": "f", "group": "lower", "total_force": [0, 8]},
    {"name": "f", "group": "origin", "total_force": [0, 8]},
    {"name": "n", "group": ["lower", "right"], "nodal_force": [0, 1, 0]},
    {"name": "g", "gravity": [0, -10]},
    {"name": "c", "group": "plate", "centrifugal": {"speed": 3, "point": [0, 0], "axis": [0, 0, 2]}},
    {"name": "t", "group": "plate", "temperature": 120}],
    "steps": [{"name": "all"}, {"name": "some", "loads": {"p": 2, "c": 4, "t": 0.5, "f": -1}}, {"loads": ["n"]}])"),
                          square());
  const Domain& d = *result.domains[0];
  ASSERT_EQ(result.steps.size(), 3u);
  EXPECT_EQ(result.steps[0].supports, result.steps[1].supports);  // one matrix for all
  EXPECT_EQ(result.steps[2].name, "step 3");
  const LoadCase& all = d.load_case("all");
  ASSERT_EQ(all.surface_loads().size(), 3u);
  EXPECT_EQ(all.surface_loads()[2].values, (std::vector<double>{0, 8, 0}));  // over a length of 1
  ASSERT_EQ(all.nodal_loads().size(), 1u + 3u);
  EXPECT_EQ(all.nodal_loads()[0].value, 8.0);
  EXPECT_EQ(all.body_loads().size(), 2u);
  EXPECT_EQ(all.temperatures(), (std::vector<double>{120, 120, 120, 120}));
  const LoadCase& some = d.load_case("some");
  EXPECT_EQ(some.surface_loads()[0].values, (std::vector<double>{10}));
  EXPECT_EQ(some.surface_loads()[2].values, (std::vector<double>{0, -8, 0}));
  EXPECT_DOUBLE_EQ(some.body_loads()[0].load.angular_velocity_squared, 36.0);  // four times the force
  EXPECT_EQ(some.temperatures()[0], 70.0);                                     // half of the rise above 20
  EXPECT_EQ(d.load_case("step 3").nodal_loads().size(), 3u);
}

TEST(JobFile, TotalForcesAreSpreadOverTheAreaThatLoadsAreIntegratedOver) {
  // Around the axis the edge from (0, 0) to (1, 0) is a disc of area π.
  const Job ring =
      read(square_job(R"("loads": [{"group": "lower", "total_force": [0, 1]}])", "axisymmetric"), square());
  EXPECT_NEAR(ring.domains[0]->load_case("step 1").surface_loads()[0].values[1], 1 / std::acos(-1.0), 1e-14);
  const std::string thick = R"({"mesh": "m", "materials": {"m": {"young": 1, "poisson": 0}}, "sections": [
    {"group": "plate", "physics": "plane_strain", "material": "m", "thickness": 0.25}],
    "loads": [{"group": "right", "total_force": [2, 0]}]})";
  EXPECT_DOUBLE_EQ(read(thick, square()).domains[0]->load_case("step 1").surface_loads()[0].values[0], 8.0);
  const Job cube = read(job(R"("loads": [{"group": "left side", "total_force": [1, 0, 0]}])"));
  EXPECT_NEAR(cube.domains[0]->load_case("step 1").surface_loads()[0].values[0], 8.0, 1e-13);  // 0.5 by 0.25
}

TEST(JobFile, HeatAndStaticsShareNodesAndPassTemperaturesOn) {
  const Job result =
      read(R"({"mesh": "m", "materials": {"m": {"young": 1, "poisson": 0, "conductivity": [[0, 1], [100, 2]]}},
    "sections": [{"group": "plate", "physics": "plane_stress", "material": "m"},
                 {"group": "plate", "physics": "plane_heat", "material": "m"}],
    "supports": [{"group": "lower", "T": 10}, {"group": "lower", "ux": 0, "uy": 0}],
    "loads": [{"name": "flux", "group": "right", "heat_flux": 4}, {"name": "q", "group": "right", "total_heat": 6},
              {"name": "s", "heat_source": 7}, {"name": "film", "group": "right", "convection": {"film": 2, "sink": 30}},
              {"name": "spot", "group": "origin", "nodal_heat": 9},
              {"name": "sky", "group": "right", "radiation": {"emissivity": 0.5, "sink": 20, "stefan_boltzmann": 4e-8,
               "absolute_zero": -273}}],
    "steps": [{"name": "warm", "analysis": "heat", "title": "warming"},
              {"name": "bend", "analysis": "static", "temperatures_from": "warm"}],
    "print": [{"at": "nodes", "group": "lower", "values": ["reaction", "temperature"], "totals": "also"},
              {"at": "elements", "values": "heat_flux"}]})",
           square());
  ASSERT_EQ(result.domains.size(), 2u);
  EXPECT_EQ(result.domains[0]->node_count(), result.domains[1]->node_count());
  EXPECT_EQ(result.domains[0]->block(0).type_name(), "plane_stress.tri3");
  EXPECT_EQ(result.domains[1]->block(0).type_name(), "plane_heat.tri3");
  const JobStep& warm = result.steps[0];
  EXPECT_EQ(warm.procedure, Procedure::steady_heat);
  EXPECT_EQ(warm.domain, 1u);
  EXPECT_EQ(warm.title, "warming");
  ASSERT_EQ(result.domains[1]->load_case("warm").surface_loads().size(), 4u);
  const auto& sky = result.domains[1]->load_case("warm").surface_loads()[3];
  EXPECT_EQ(sky.kind, "radiation");
  EXPECT_EQ(sky.values, (std::vector<double>{2e-8, 20, -273}));
  ASSERT_EQ(warm.prints.size(), 2u);
  EXPECT_EQ(warm.prints[0].quantities, (std::vector<std::string>{"NT"}));
  EXPECT_EQ(warm.prints[0].totals, PrintRequest::Totals::also);
  EXPECT_EQ(warm.prints[0].set, "lower");
  EXPECT_EQ(warm.prints[1].quantities, (std::vector<std::string>{"HFL"}));
  const JobStep& bend = result.steps[1];
  EXPECT_EQ(bend.heated_by, std::optional<std::size_t>(0));
  EXPECT_EQ(bend.load_case, "");
  EXPECT_EQ(bend.supports->values.size(), 4u);
  ASSERT_EQ(bend.prints.size(), 1u);
  EXPECT_EQ(bend.prints[0].quantities, (std::vector<std::string>{"RF"}));
}

TEST(JobFile, AStepMayNameItsProcedure) {
  const Job job = read_on(testing::job(R"("steps": [{"name": "a"}, {"name": "b", "procedure": "mine"}])"));
  EXPECT_EQ(job.steps.at(0).procedure_name, "");
  EXPECT_EQ(job.steps.at(1).procedure_name, "mine");
}

TEST(JobFile, CannotLoadCode) {
  testing::expect_error(ErrorCode::bad_input, {"job.json", "'load'"},
                        [] { read_on(testing::job(R"("load": ["libmine.so"])")); });
}

TEST(JobFile, LinesAndPointsBecomeStructures) {
  const auto numbers = [](const std::string& profile) {
    const Job r = read(R"({"mesh": "m", "materials": {"m": {"young": [[0, 200], [100, 100]], "poisson": 0.25}},
      "sections": [{"group": "curves", "physics": "beam", "material": "m", "direction": [0, 0, 1], )" +
                           profile + R"(}, {"group": "origin", "physics": "mass", "mass": 5}],
      "equations": [{"terms": [{"group": "origin", "unknown": "ux", "coefficient": 1},
                               {"node": 3, "unknown": "ry", "coefficient": -2}], "constant": 0.5}],
      "loads": [{"group": "origin", "nodal_moment": [0, 0, 6]}]})",
                       square());
    EXPECT_EQ(r.domains[0]->equations().at(0).terms.at(1).unknown, "ry");
    EXPECT_EQ(r.domains[0]->load_case("step 1").nodal_loads().at(0).unknown, "rz");
    EXPECT_EQ(r.domains[0]->block(1).type_name(), "mass");
    EXPECT_EQ(r.domains[0]->block(0).material()->value("shear_modulus", 100), 40.0);
    EXPECT_EQ(r.domains[0]->block(0).material()->temperatures().size(), 2u);
    return r.domains[0]->block(0).section();
  };
  const double pi = std::acos(-1.0);
  auto s = numbers(R"("profile": {"rectangle": [2, 1]})");  // 2 along the direction
  EXPECT_EQ(s.at("area"), 2.0);
  EXPECT_NEAR(s.at("inertia_z"), 8.0 / 12, 1e-15);
  EXPECT_NEAR(s.at("inertia_y"), 2.0 / 12, 1e-15);
  EXPECT_NEAR(s.at("torsion"), 0.2287 * 2, 1e-4);  // Timoshenko and Goodier, table of 109: a/b = 2
  EXPECT_NEAR(s.at("shear_area_y"), 5.0 / 3, 1e-15);
  EXPECT_EQ(s.at("orientation_z"), 1.0);
  s = numbers(R"("profile": {"circle": 2})");
  EXPECT_NEAR(s.at("inertia_y"), pi / 4, 1e-15);
  EXPECT_NEAR(s.at("torsion"), pi / 2, 1e-15);
  EXPECT_NEAR(s.at("shear_area_z"), pi * 6 / 7, 1e-14);
  s = numbers(R"("profile": {"pipe": [2, 0.5]})");
  EXPECT_NEAR(s.at("area"), pi * 0.75, 1e-15);
  s = numbers(R"("area": 1, "inertia_y": 2, "inertia_z": 3, "torsion": 4)");
  EXPECT_EQ(s.at("shear_area_y"), 0.0);  // rigid in shear
}

TEST(JobFile, MaterialsMayHaveAxes) {
  const Job result = read(
      R"({"mesh": "m", "materials": {"wood": {"E1": 3, "E2": 2, "E3": 1, "nu12": 0, "nu13": 0, "nu23": 0, "G12": 1,
      "G13": 1, "G23": 1}}, "sections": [{"group": "body", "physics": "solid", "material": "wood",
      "orientation": {"axis_from": [9, 0, 0], "axis_to": [9, 0, 1]}}], "ignore": ["surfaces"]})");
  EXPECT_EQ(result.domains[0]->block(0).type().name(), "polar_orthotropic_solid.hex8");
  EXPECT_TRUE(result.domains[0]->block(0).orientation().varies());
}

TEST(JobFile, WhatNoStepUsesIsNoted) {
  const Job result = read(job(R"("supports": [{"name": "held", "group": "tip", "all": 0}],
    "loads": [{"name": "w", "gravity": [0, 0, -1]}, {"name": "p", "group": "left side", "pressure": 1}],
    "steps": [{"loads": ["p"], "supports": []}])"));
  ASSERT_EQ(result.notes.size(), 2u);
  EXPECT_NE(result.notes[0].text.find("load 'w'"), std::string::npos);
  EXPECT_EQ(result.notes[0].where, "job.json:5, /loads/0");
  EXPECT_NE(result.notes[1].text.find("support 'held'"), std::string::npos);
}

TEST(JobFile, PointsPathsAndUnits) {
  const Job result = read(job(R"("points": [{"name": "tip", "at": [1, 0.5, 0.25]}, {"at": [0, 0]}],
    "paths": {"from": [0, 0, 0], "to": [2, 0, 0], "points": 11}, "units": "N, mm, MPa")"));
  ASSERT_EQ(result.points.size(), 2u);
  EXPECT_EQ(result.points[0].name, "tip");
  EXPECT_EQ(result.points[0].position, (std::array{1.0, 0.5, 0.25}));
  EXPECT_EQ(result.points[1].name, "P2");
  EXPECT_NE(result.points[1].where.find("/points/1"), std::string::npos) << result.points[1].where;
  ASSERT_EQ(result.paths.size(), 1u);
  EXPECT_EQ(result.paths[0].name, "1");
  EXPECT_EQ(result.paths[0].points, 11);
  EXPECT_EQ(result.paths[0].to[0], 2);
  EXPECT_EQ(result.units.stress, "MPa");
  const auto wrong = [](const std::string& more, std::initializer_list<std::string> parts) {
    testing::expect_error(ErrorCode::bad_input, parts, [&] { read(job(more)); });
  };
  wrong(R"("points": [{"name": "a"}])", {"/points/0", "at"});
  wrong(R"("points": [{"at": [1, 2, 3], "nmae": "a"}])", {"/points/0", "nmae", "name"});
  wrong(R"("points": [{"name": "a", "at": [1, 2]}, {"name": "a", "at": [1, 3]}])", {"/points/1", "'a'"});
  wrong(R"("paths": [{"from": [1, 2], "to": [3, 4], "points": 1}])", {"/paths/0/points", "from 2"});
  wrong(R"("paths": [{"from": [1, 2], "to": [3, 4], "points": 2.5}])", {"/paths/0/points", "an integer"});
  wrong(R"("units": "N,mm,MPa,K,W,s")", {"/units", "five"});
}

// --- what the documentation shows
// --------------------------------------------------------------------------------------

const std::filesystem::path docs = std::filesystem::path(VSR_TEST_SOURCE_DIR) / "docs";

TEST(JobFileExamples, AreRead) {
  const Job bracket = read_job_file(docs / "examples/bracket.json");
  EXPECT_EQ(bracket.name, "bracket");
  EXPECT_EQ(bracket.domains[0]->block(0).type_name(), "solid.tet10");
  EXPECT_EQ(bracket.steps.size(), 2u);
  EXPECT_TRUE(bracket.notes.empty());
  const auto& traction = bracket.domains[0]->load_case("in use").surface_loads().at(1);
  EXPECT_NEAR(traction.values[2], -500 / (0.01 * 0.04), 1e-4);
  const Job plate = read_job_file(docs / "examples/plate.json");
  EXPECT_EQ(plate.steps.at(0).prints.size(), 2u);
  EXPECT_EQ(plate.domains[0]->node(2).position[0], 0.1);
  const Job fin = read_job_file(docs / "examples/fin.json");
  EXPECT_EQ(fin.domains.size(), 2u);
}

TEST(JobFileExamples, FollowTheSchema) {
  if (std::system("python3 -c 'import jsonschema' > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "python3-jsonschema is not installed";
  const std::string script = R"(
import json, pathlib, sys, jsonschema
docs = pathlib.Path(sys.argv[1])
schema = json.loads((docs / 'job.schema.json').read_text())
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
bad = [f'{p.name}: {e.message}' for p in sorted((docs / 'examples').glob('*.json')) for e in validator.iter_errors(json.loads(p.read_text()))]
wrong = [{}, {'mesh': 'm', 'sections': [{'group': 'a', 'physics': 'sold'}]}, {'mesh': 'm', 'sections': [], 'meshh': 1},
         {'mesh': 'm', 'sections': [{'group': 'a', 'physics': 'mass', 'mass': 1}], 'loads': [{'group': 'a'}]},
         {'mesh': 'm', 'sections': [{'group': 'a', 'physics': 'solid', 'element': 'mine'}]}]
right = [{'mesh': 'm', 'materials': {'s': {'young': 1, 'damping': {'alpha': 1, 'beta': 2}}},
          'sections': [{'group': 'a', 'element': 'mine', 'parameters': {'k': 1, 'c': [[0, 1], [9, 2]]}}],
          'supports': [{'group': 'a', 'head': 1}], 'loads': [{'group': 'a', 'inflow': 2}, {'source': 1},
          {'group': 'a', 'film': {'coefficient': 1, 'ambient': 0}}, {'group': 'a', 'nodal': {'head': 1}}]}]
bad += [f'{e.message}' for r in right for e in validator.iter_errors(r)]
bad += [f'accepted: {w}' for w in wrong if validator.is_valid(w)]
print('\n'.join(bad))
sys.exit(bool(bad))
)";
  const auto path = std::filesystem::temp_directory_path() / ("voussoir_schema_" + std::to_string(::getpid()) + ".py");
  std::ofstream(path) << script;
  EXPECT_EQ(std::system(("python3 " + path.string() + " " + docs.string()).c_str()), 0);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace voussoir
