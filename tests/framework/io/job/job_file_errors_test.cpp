// Every message of the reader of job files, with the job that provokes it.

#include <voussoir/framework/io/job/job_file.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <source_location>

#include <support/expect_error.hpp>
#include <support/gmsh_text.hpp>
#include <support/job_samples.hpp>

namespace voussoir {
namespace {

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

void wrong(const std::string& text, std::initializer_list<std::string> pieces,
           const std::source_location& here = std::source_location::current(), const GmshSample& sample = two_cubes()) {
  expect_error(
      ErrorCode::bad_input, pieces, [&] { read(text, sample); }, here);
}
void missing(const std::string& text, std::initializer_list<std::string> pieces,
             const std::source_location& here = std::source_location::current()) {
  expect_error(
      ErrorCode::not_found, pieces, [&] { read(text); }, here);
}

// ------------------------------------------------------------------------------------------------------------

TEST(JobFileErrors, SyntaxIsToldWithLineAndColumn) {
  wrong("", {"job.json:1:1", "not JSON"});
  wrong("{\n  \"mesh\": }", {"job.json:2:11", "not JSON", "unexpected '}'"});
  wrong("{\n  \"mesh\": 1e999}", {"job.json:2", "not JSON", "1e999"});
  wrong("{\"a\": \"\xff\"}", {"job.json:1", "not JSON"});
  wrong("{\"mesh\": \"a\",\n \"mesh\": \"b\"}", {"job.json:2:", "'mesh' is given twice"});
  wrong(std::string(1000, '['), {"job.json:1:41", "nested too deeply"});
  wrong("[]", {"job.json:1", "an object {…} is expected here, not a list"});
}

TEST(JobFileErrors, KeysAndValuesOfTheWrongKind) {
  wrong(R"({"meshh": "a"})", {"job.json:1, /meshh", "did you mean 'mesh'?"});
  wrong("{}", {"job.json:1", "'mesh' is missing"});
  wrong(R"({"mesh": ""})", {"/mesh", "not an empty string"});
  wrong(R"({"mesh": "m", "comment": 1})", {"'sections' is missing"});
  wrong(job(R"("title": 4)"), {"job.json:4, /title", "a string in double quotes is expected here, not a number"});
  wrong(job(R"("mesh_scale": 0)"), {"/mesh_scale", "greater than zero"});
  wrong(job(R"("mesh_scale": "big")"), {"/mesh_scale", "a number is expected here, not a string"});
  wrong(job(R"("loads": [{"gravity": [1]}])"), {"/loads/0/gravity", "two or three numbers", "not a list"});
  wrong(job(R"("loads": [{"gravity": [1, null]}])"), {"/loads/0/gravity/1", "a number is expected here, not null"});
  wrong(job(R"("loads": [{"gravity": true}])"), {"/loads/0/gravity", "not true or false"});
}

TEST(JobFileErrors, Materials) {
  const auto material = [](const std::string& m) {
    return R"({"mesh": "m", "materials": {"s": )" + m +
           R"(}, "sections": [{"group": "body", "physics": "solid", "material": "s"}]})";
  };
  wrong(material(R"({"yuong": 1})"), {"/materials/s/yuong", "did you mean 'young'?"});
  wrong(material(R"({"young": 1, "k1": 2})"), {"/materials/s", "define two materials"});
  wrong(material(R"({"young": [[0, 1, 2]]})"), {"/materials/s/young/0", "[temperature, value]"});
  wrong(material(R"({"young": [[5, 1], [5, 2]]})"), {"/materials/s/young", "must increase"});
  wrong(material(R"({"young": []})"), {"/materials/s/young", "the table is empty"});
  wrong(material(R"({"young": 1})"), {"/sections/0", "'poisson' is required", "material 's'"});
}

TEST(JobFileErrors, Sections) {
  const auto section = [](const std::string& s) { return job("", s); };
  wrong(section(R"("material": "steel")"), {"/sections/0", "'physics' is missing"});
  wrong(section(R"("physics": "sold")"), {"/sections/0/physics", "did you mean 'solid'?"});
  wrong(section(R"("physics": "solid")"), {"'material' is missing"});
  missing(section(R"("physics": "solid", "material": "stel")"), {"/sections/0/material", "did you mean 'steel'?"});
  wrong(section(R"("physics": "plane_stress", "material": "steel")"),
        {"/sections/0/group", "'body' is a group of volumes, but plane_stress elements are surfaces"});
  wrong(section(R"("physics": "solid", "material": "steel", "thickness": 1)"), {"/sections/0/thickness", "not valid"});
  wrong(section(R"("physics": "solid", "material": "steel", "formulation": "redused")"), {"did you mean 'reduced'?"});
  wrong(
      section(R"("physics": "solid", "material": "steel", "orientation": {"axis1": [1, 0, 0], "axis_to": [0, 0, 1]})"),
      {"/sections/0/orientation", "either 'axis1' and 'axis2'"});
  wrong(section(R"("physics": "solid", "material": "steel", "orientation": {"axis1": [1, 0, 0], "axis2": [2, 0, 0]})"),
        {"/sections/0/orientation", "parallel"});
  wrong(section(R"("physics": "solid", "material": "steel", "orientation": {"axis1": [0, 0, 0], "axis2": [2, 0, 0]})"),
        {"/sections/0/orientation/axis1", "must not be zero"});
  wrong(R"({"mesh": "m", "sections": []})", {"/sections", "there is no section"});
  const std::string two = R"({"mesh": "m", "materials": {"s": {"young": 1, "poisson": 0}}, "sections": [
    {"group": "body", "physics": "solid", "material": "s"}, )";
  wrong(two + R"({"group": "body", "physics": "solid", "material": "s"}]})",
        {"job.json:2, /sections/1", "have a section already", "/sections/0"});
  wrong(two + R"({"group": "left side", "physics": "plane_strain", "material": "s"}]})",
        {"/sections/1", "cannot be combined"});
  const auto plate = [](const std::string& s) {
    return R"({"mesh": "m", "materials": {"s": {"young": 1, "poisson": 0}, "o": {"E1": 1}}, "sections": [)" + s + "]}";
  };
  const auto here = std::source_location::current();
  wrong(plate(R"({"group": "plate", "physics": "plane_stress", "material": "s", "formulation": "bbar"})"),
        {"/sections/0/formulation", "no plane_stress.tri3.bbar", "write 'default'"}, here, square());
  wrong(plate(R"({"group": "lower", "physics": "plane_truss", "material": "s"})"), {"'area' is missing"}, here,
        square());
  wrong(plate(R"({"group": "lower", "physics": "plane_truss", "material": "s", "area": 0})"),
        {"/sections/0/area", "greater than zero"}, here, square());
  wrong(plate(R"({"group": "lower", "physics": "plane_truss", "material": "o", "area": 1})"),
        {"/sections/0", "no plane_truss elements for orthotropic materials"}, here, square());
  wrong(plate(R"({"group": "lower", "physics": "plane_spring", "kx": -1})"), {"/kx", "must not be negative"}, here,
        square());
  wrong(plate(R"({"group": "lower", "physics": "plane_spring", "kx": 1})"),
        {"/sections", "'right' have no section", "'ignore'"}, here, square());
  const auto beam = [&](const std::string& b) {
    return plate(R"({"group": "curves", "physics": "beam", "material": "s", "direction": [0, 0, 1], )" + b + "}");
  };
  wrong(beam(R"("profile": {"circle": 1}, "area": 3)"), {"/area", "the profile gives 'area' already"}, here, square());
  wrong(beam(R"("profile": {"circle": 1, "pipe": [1, 2]})"), {"/profile", "give one of"}, here, square());
  wrong(beam(R"("profile": {"pipe": [1, 2]})"), {"/profile/pipe", "at most half"}, here, square());
  wrong(beam(R"("profile": {"rectangle": [1]})"), {"/profile/rectangle", "two numbers"}, here, square());
  GmshSample curved = square();
  curved.elements[1] = {2, 8, 1, 1, {1, 2, 4}};
  wrong(plate(R"({"group": "lower", "physics": "plane_truss", "material": "s", "area": 1})"),
        {"have the shape line2", "has line3", "Mesh.ElementOrder=1"}, here, curved);
}

TEST(JobFileErrors, AnElementThatIsWrittenTwiceHasOneSection) {
  GmshSample sample = two_cubes();
  sample.physical[{3, 2}] = {8, 9};
  sample.names[{3, 9}] = "right";
  const std::string text = R"({"mesh": "m", "materials": {"s": {"young": 1, "poisson": 0}}, "sections": [
    {"group": "body", "physics": "solid", "material": "s"}, {"group": "right", "physics": "solid", "material": "s"}]})";
  expect_error(ErrorCode::bad_input, {"/sections/1", "element 1000 of 'right'", "has one section"},
               [&] { read_job_text(text, "job.json", mesh_of(sample, GmshVariant::text22)); });
  expect_error(ErrorCode::bad_input, {"/sections/1", "have a section already"},
               [&] { read_job_text(text, "job.json", mesh_of(sample, GmshVariant::text41)); });
}

TEST(JobFileErrors, Groups) {
  const auto support = [](const std::string& group) {
    return job(R"("supports": [{"group": )" + group + R"(, "all": 0}])");
  };
  missing(support("\"left sied\""), {"job.json:4, /supports/0/group", "did you mean 'left side'?"});
  missing(support("\"nothing alike\""), {"available are", "'body'", "'surfaces'"});
  wrong(support("[]"), {"/supports/0/group", "list of groups is empty"});
  wrong(support(R"(["left side", "tip"])"), {"/supports/0/group/1", "another dimension"});
  wrong(job(R"("loads": [{"group": "points", "pressure": 1}])"), {"these are points, but a pressure acts on surfaces"});
  GmshSample sample = two_cubes();
  sample.names[{2, 77}] = "ghost";
  const auto here = std::source_location::current();
  wrong(support("\"ghost\""), {"'ghost' has a name but no elements"}, here, sample);
  sample = square();
  std::erase_if(sample.elements, [](const auto& e) { return e.type == 15; });
  wrong(square_job(R"("supports": [{"group": "points", "ux": 0}])"), {"the mesh has no points"}, here, sample);
  sample = square();
  sample.nodes.push_back({50, {9, 9, 0}});
  sample.nodes.push_back({51, {9, 8, 0}});
  sample.elements.push_back({60, 1, 1, 7, {50, 51}});
  sample.physical[{1, 7}] = {7};
  wrong(square_job(R"("supports": [{"group": "curve 7", "ux": 0}])"), {"no element with a section uses a node"}, here,
        sample);
  wrong(square_job(R"("loads": [{"group": "curve 7", "pressure": 1}])"),
        {"/loads/0/group", "curve element 60 of 'curve 7' is not a face"}, here, sample);
  wrong(square_job(R"("loads": [{"group": "inner", "pressure": 1}])"), {"curve element 4 of 'inner' is inside"}, here,
        sample);
  EXPECT_EQ(read(square_job(R"("loads": [{"group": "inner", "traction": [1, 0]}])"), sample)
                .domains[0]
                ->surface("inner")
                .size(),
            1u);  // a force on an inner face acts once
  const std::string ignored =
      R"({"mesh": "m", "materials": {"s": {"young": 1, "poisson": 0}}, "ignore": "plate",
      "sections": [{"group": "right", "physics": "plane_truss", "area": 1, "material": "s"}], "ignore": "lower"})";
  wrong(ignored, {"'ignore' is given twice"}, here, sample);
  GmshSample parts = two_cubes();
  parts.physical[{3, 2}] = {9};
  parts.names[{3, 9}] = "right";
  wrong(job(), {"/sections", "elements of 'right' have no section"}, here, parts);
  EXPECT_EQ(read(job(R"("ignore": ["right"])"), parts).domains[0]->node_count(), 8);
  wrong(job(R"("ignore": "right", "loads": [{"group": "right", "gravity": [0, 0, 1]}])"),
        {"/loads/0/group", "no element of 'right' has a section"}, here, parts);
}

TEST(JobFileErrors, ANameThatTwoDimensionsHave) {
  GmshSample sample = square();
  sample.names[{1, 2}] = "plate";
  wrong(square_job(R"("supports": [{"group": "plate", "ux": 0}])"),
        {"job.json:2, /supports/0/group", "'curve plate' or 'surface plate'"}, std::source_location::current(), sample);
}

TEST(JobFileErrors, Loads) {
  const auto load = [](const std::string& l) { return job(R"("loads": [)" + l + "]"); };
  wrong(load(R"({"group": "left side"})"), {"/loads/0", "has no type", "'pressure'"});
  wrong(load(R"({"group": "left side", "presure": 1})"), {"/loads/0/presure", "did you mean 'pressure'?"});
  wrong(load(R"({"group": "left side", "pressure": 1, "traction": [0, 0, 1]})"), {"define two loads"});
  wrong(load(R"({"pressure": 1})"), {"/loads/0", "'group' is missing"});
  wrong(load(R"({"group": "body", "pressure": 1})"), {"'body' is a group of volumes, but a pressure acts on surfaces"});
  wrong(load(R"({"group": "curve 2", "total_force": [0, 0, 1]})"),
        {"a total force is distributed over surfaces or points"});
  wrong(load(R"({"group": "left side", "heat_flux": 1})"), {"'heat_flux' concerns heat", "physics such as 'heat'"});
  wrong(load(R"({"group": "tip", "nodal_moment": [0, 0, 1]})"), {"/loads/0/nodal_moment", "no", "'rz'", "'ux'"});
  wrong(load(R"({"centrifugal": {"speed": 1, "point": [0, 0, 0], "axis": [0, 0, 0]}})"), {"/axis", "must not be zero"});
  wrong(load(R"({"centrifugal": {"sped": 1}})"), {"did you mean 'speed'?"});
  const auto here = std::source_location::current();
  wrong(square_job(R"("loads": [{"group": "right", "convection": {"film": 0, "sink": 1}}])", "plane_heat"),
        {"/loads/0/convection/film", "greater than zero"}, here, square());
  const auto radiation = [&](const std::string& numbers) {
    return square_job(R"("loads": [{"name": "sky", "group": "right", "radiation": {)" + numbers + "}}]", "plane_heat");
  };
  wrong(radiation(R"("emissivity": 1.5, "sink": 20, "stefan_boltzmann": 5.67e-8, "absolute_zero": -273.15)"),
        {"/loads/0/radiation/emissivity", "at most 1"}, here, square());
  wrong(radiation(R"("emissivity": 0.5, "sink": -300, "stefan_boltzmann": 5.67e-8, "absolute_zero": -273.15)"),
        {"/loads/0/radiation/sink", "below 'absolute_zero'"}, here, square());
  wrong(radiation(R"("emissivity": 0.5, "sink": 20, "absolute_zero": 0)"), {"'stefan_boltzmann' is missing"}, here,
        square());
  wrong(square_job(R"("loads": [{"group": "right", "pressure": 1}])", "plane_heat"),
        {"'pressure' concerns displacements", "physics such as 'solid'"}, here, square());
  wrong(square_job(R"("loads": [{"group": "right", "nodal_force": [0, 0, 1]}])"), {"unknown 'uz'"}, here, square());
  wrong(R"({"mesh": "m", "materials": {"s": {"young": 1, "poisson": 0}},
    "sections": [{"group": "curves", "physics": "plane_truss", "area": 1, "material": "s"}],
    "loads": [{"group": "plate", "pressure": 1}]})",
        {"/loads/0/pressure", "faces", "use a nodal load"}, here, square());
  GmshSample flat = two_cubes();
  for (auto& node : flat.nodes) node.x[2] = 0;
  wrong(job(R"("loads": [{"group": "left side", "total_force": [1, 0, 0]}])"), {"have no area"}, here, flat);
}

TEST(JobFileErrors, Supports) {
  const auto support = [](const std::string& s) { return job(R"("supports": [{"group": "tip")" + s + "}]"); };
  wrong(support(""), {"/supports/0", "prescribes nothing"});
  wrong(support(R"(, "uz": 0, "T": 1)"), {"define two supports"});
  wrong(support(R"(, "T": 1)"), {"concerns heat"});
  wrong(support(R"(, "rx": 0)"), {"/supports/0/rx", "'rx'", "'uz'"});
  wrong(support(R"(, "u": 0)"), {"/supports/0/u", "not valid"});
  wrong(support(R"(, "along": {"direction": [0, 0, 0]})"), {"/along/direction", "must not be zero"});
  wrong(support(R"(, "along": {"value": 1})"), {"/along", "'direction' is missing"});
  wrong(square_job(R"("supports": [{"group": "right", "along": {"direction": [1, 0, 1]}}])"), {"'uz'"},
        std::source_location::current(), square());
}

TEST(JobFileErrors, Equations) {
  const auto equation = [](const std::string& e) { return job(R"("equations": [)" + e + "]"); };
  wrong(equation(R"({"terms": []})"), {"/equations/0", "no terms"});
  wrong(equation(R"({"terms": [{"unknown": "ux", "coefficient": 1}]})"), {"/equations/0/terms/0", "'node'"});
  wrong(equation(R"({"terms": [{"node": 1.5, "unknown": "ux", "coefficient": 1}]})"), {"/node", "an integer"});
  wrong(equation(R"({"terms": [{"node": 1000, "unknown": "ux", "coefficient": 1}]})"), {"uses a node 1000"});
  wrong(equation(R"({"terms": [{"group": "left side", "unknown": "ux", "coefficient": 1}]})"), {"has 4 nodes"});
  wrong(equation(R"({"terms": [{"node": 3, "unknown": "rx", "coefficient": 1}]})"), {"/unknown", "'rx'"});
  wrong(equation(R"({"terms": [{"node": 3, "unknown": "ux", "coefficient": 0}]})"),
        {"/equations/0", "first term is zero"});
  const std::string both = R"({"mesh": "m", "materials": {"m": {"young": 1, "poisson": 0, "conductivity": 1}},
    "sections": [{"group": "plate", "physics": "plane_stress", "material": "m"},
                 {"group": "plate", "physics": "plane_heat", "material": "m"}],
    "equations": [{"terms": [{"node": 1, "unknown": "ux", "coefficient": 1}, {"node": 1, "unknown": "T", "coefficient": 1}]}]})";
  wrong(both, {"/equations/0/terms/1", "cannot couple"}, std::source_location::current(), square());
}

TEST(JobFileErrors, APlaceIsToldOnce) {
  const auto once = [](const std::string& text, const std::string& place) {
    try {
      read(text);
      ADD_FAILURE() << "no error for " << place;
    } catch (const Error& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find(place), std::string::npos) << what;
      EXPECT_EQ(what.find("job.json:"), what.rfind("job.json:")) << what;
    }
  };
  once(R"({"mesh": "m", "materials": {"steel": {"young": "abc"}}, "sections": []})", "/materials/steel/young");
  once(R"({"mesh": "m", "materials": {"m": {"young": 1, "poisson": 0}}, "sections":
    [{"group": "body", "physics": "solid", "material": "m", "formulation": "bbarr"}]})",
       "/sections/0/formulation");
}

TEST(JobFileErrors, LoadsThatWouldDoNothing) {
  const auto load = [](const std::string& l) { return job(R"("loads": [)" + l + "]"); };
  wrong(load(R"({"gravity": [0, 0]})"), {"/loads/0/gravity", "three numbers are expected here"});
  wrong(load(R"({"gravity": [0, -9.81]})"), {"/loads/0/gravity", "three numbers are expected here"});
  wrong(load(R"({"gravity": [0, 0, 0]})"), {"/loads/0/gravity", "the vector is zero"});
  wrong(load(R"({"group": "tip", "nodal_force": [0, 0, 0]})"), {"/loads/0/nodal_force", "the vector is zero"});
  const auto light = [](const std::string& l) {
    return R"({"mesh": "m", "materials": {"m": {"young": 1, "poisson": 0}}, "sections":
      [{"group": "body", "physics": "solid", "material": "m"}], "loads": [)" +
           l + "]}";
  };
  wrong(light(R"({"gravity": [0, 0, 1]})"), {"job.json:2, /loads/0/gravity", "give the materials a 'density'"});
  wrong(light(R"({"centrifugal": {"speed": 1, "point": [0, 0, 0], "axis": [0, 0, 1]}})"), {"'density'"});
}

TEST(JobFileErrors, StepsAndTables) {
  const auto steps = [](const std::string& s) {
    return job(R"("loads": [{"name": "w", "gravity": [0, 0, 1]},
      {"name": "r", "centrifugal": {"speed": 1, "point": [0, 0], "axis": [1, 0]}}],
      "supports": [{"name": "held", "group": "tip", "all": 0}], "steps": )" +
               s);
  };
  wrong(steps("[]"), {"/steps", "the list is empty"});
  wrong(steps(R"([{"name": "a"}, {"name": "a"}])"), {"/steps/1", "is called 'a' too"});
  missing(steps(R"([{"loads": ["v"]}])"), {"/steps/0/loads/0", "there is no load 'v'", "'w'"});
  missing(steps(R"([{"supports": ["hold"]}])"), {"/steps/0/supports/0", "no support 'hold'", "did you mean 'held'?"});
  wrong(steps(R"([{"loads": ["w", "w"]}])"), {"/steps/0/loads/1", "named twice"});
  wrong(steps(R"([{"loads": {"r": -1}}])"), {"/steps/0/loads/r", "must not be negative"});
  wrong(steps(R"([{"analysis": "heat"}])"), {"/steps/0/analysis", "concerns heat"});
  wrong(steps(R"([{"analysis": "buckling"}])"), {"/steps/0/analysis", "not valid"});
  missing(steps(R"([{"temperatures_from": "x"}])"), {"/steps/0/temperatures_from", "no earlier heat step"});
  const auto print = [](const std::string& p) { return job(R"("print": [)" + p + "]"); };
  wrong(print(R"({"values": "stress"})"), {"/print/0", "'at' is missing"});
  wrong(print(R"({"at": "nodes", "values": "stress"})"), {"/print/0/values", "not valid", "'displacement'"});
  wrong(print(R"({"at": "nodes", "values": []})"), {"/print/0/values", "list is empty"});
  wrong(print(R"({"at": "nodes", "values": "temperature"})"), {"not a result of a step of linear statics"});
  wrong(print(R"({"at": "elements", "values": "stress", "totals": "yes"})"), {"/print/0/totals", "not valid"});
  wrong(print(R"({"at": "elements", "values": "stress", "group": "tip"})"), {"a table of elements is of volumes"});

  const auto both = [](const std::string& s) {
    return R"({"mesh": "m", "materials": {"m": {"young": 1, "poisson": 0, "conductivity": 1}},
    "sections": [{"group": "plate", "physics": "plane_stress", "material": "m"},
                 {"group": "plate", "physics": "plane_heat", "material": "m"}],
    "loads": [{"name": "air", "group": "right", "convection": {"film": 1, "sink": 2}}]
    )" + s +
           "}";
  };
  const auto here = std::source_location::current();
  wrong(both(""), {"job.json:1", "give 'steps'"}, here, square());
  wrong(both(R"(, "steps": [{}])"), {"/steps/0", "'analysis' is missing"}, here, square());
  wrong(both(R"(, "steps": [{"analysis": "static", "loads": ["air"]}])"),
        {"belongs to heat conduction, but the step is static"}, here, square());
  wrong(both(R"(, "steps": [{"analysis": "heat", "loads": {"air": 2}}])"), {"convection, which has no factor"}, here,
        square());
  wrong(both(R"(, "steps": [{"analysis": "heat", "temperatures_from": "a"}])"), {"only a static step"}, here, square());
}

TEST(JobFileErrors, FilesThatAreNotThere) {
  expect_error(ErrorCode::io, {"nowhere.json", "cannot be opened"}, [] { read_job_file("nowhere.json"); });
  expect_error(ErrorCode::io, {"job.json:1, /mesh", "nowhere.msh"},
               [] { read_job_text(R"({"mesh": "nowhere.msh"})", "job.json", std::filesystem::path()); });
}

TEST(JobFileErrors, AMeshInMemoryMustHaveTheNodesOfItsElements) {
  GmshMesh mesh = mesh_of(two_cubes());
  for (auto& b : mesh.batches)
    if (b.shape == "hex8") b.nodes[3] = 4711;
  expect_error(ErrorCode::bad_input, {"/sections/0", "node 4711"}, [&] { read_job_text(job(), "job.json", mesh); });
}

}  // namespace
}  // namespace voussoir
