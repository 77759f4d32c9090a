#include <gtest/gtest.h>

#include <support/expect_error.hpp>
#include <support/job_samples.hpp>

// Which groups of a mesh the words of a job select, where names and tags look alike.

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

/// Two cubes with a face at each end: surface 3 (x = 0) and surface 2 (x = 2).
GmshSample two_ends() {
  GmshSample sample = two_cubes();
  sample.elements.push_back({31, 3, 2, 10, {12, 21, 64, 900}});
  sample.physical[{2, 10}] = {2};
  return sample;
}

std::vector<Id> held(const Job& result, std::size_t step = 0) {
  std::vector<Id> ids;
  for (const auto& value : result.steps[step].supports->values) ids.push_back(result.domains[0]->node_id(value.node));
  return ids;
}

const std::vector<Id> at_zero = {8, 41, 70, 2}, at_two = {12, 21, 64, 900};

void expect_nodes(std::vector<Id> found, std::vector<Id> wanted) {
  std::sort(found.begin(), found.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(found, wanted);
}

TEST(JobGroups, ATagSelectsItsGroupWithoutItsNamesakes) {
  GmshSample sample = two_ends();
  sample.names[{2, 2}] = sample.names[{2, 3}] = "foot";
  for (const GmshVariant variant : all_gmsh_variants) {
    SCOPED_TRACE(static_cast<int>(variant));
    const auto read = [&](const std::string& more) {
      return read_job_text(job(more), "job.json", mesh_of(sample, variant));
    };
    expect_nodes(held(read(R"("supports": [{"group": "surface 2", "ux": 0}])")), at_two);
    expect_nodes(held(read(R"("supports": [{"group": "surface 3", "ux": 0}])")), at_zero);
    expect_nodes(held(read(R"("supports": [{"group": "surface tag 3", "ux": 0}])")), at_zero);
    std::vector<Id> both = at_zero;
    both.insert(both.end(), at_two.begin(), at_two.end());
    for (const char* word : {"foot", "surface foot", "surfaces"})
      expect_nodes(held(read(R"("supports": [{"group": ")" + std::string(word) + R"(", "ux": 0}])")), both);
    // Faces, and the area that a total force is distributed over: one end has 0.5 by 0.25.
    const Job loaded = read(
        R"("loads": [{"group": "surface 2", "pressure": 1}, {"group": "surface 3", "total_force": [1, 0, 0]},
                     {"group": "foot", "total_force": [1, 0, 0]}])");
    const auto loads = loaded.domains[0]->load_case("step 1").surface_loads();
    ASSERT_EQ(loads.size(), 3u);
    ASSERT_EQ(loaded.domains[0]->surface(loads[0].surface).size(), 1u);
    EXPECT_EQ(loaded.domains[0]->block(0).id(loaded.domains[0]->surface(loads[0].surface)[0].element), 5);
    EXPECT_NEAR(loads[1].values[0], 8.0, 1e-12);
    EXPECT_NEAR(loads[2].values[0], 4.0, 1e-12);
  }
}

TEST(JobGroups, ATagOfABodySelectsItsElementsAlone) {
  GmshSample sample = two_cubes();
  sample.physical[{3, 2}] = {9};
  sample.names[{3, 9}] = "body";
  for (const GmshVariant variant : all_gmsh_variants) {
    const Job result = read_job_text(job(R"("loads": [{"group": "volume 9", "gravity": [0, 0, -10]}])"), "job.json",
                                     mesh_of(sample, variant));
    const Domain& d = *result.domains[0];
    const std::string set = d.load_case("step 1").body_loads().at(0).element_set;
    ASSERT_EQ(d.element_set(set).size(), 1u);
    EXPECT_EQ(d.block(0).id(d.element_set(set)[0].element), 5);
    EXPECT_EQ(d.element_set("body").size(), 2u);
  }
}

TEST(JobGroups, ANameThatLooksLikeALabelIsNotMixedWithIt) {
  // Surface 3 has no name and is listed as "surface 3"; surface 2 is called so.
  GmshSample sample = two_ends();
  sample.names.erase({2, 3});
  sample.names[{2, 2}] = "surface 3";
  expect_error(ErrorCode::bad_input, {"'surface 3' matches several groups", "'surface tag 2'", "'surface tag 3'"},
               [&] { read_on(job(R"("supports": [{"group": "surface 3", "ux": 0}])"), sample); });
  expect_nodes(held(read_on(job(R"("supports": [{"group": "surface tag 3", "ux": 0}])"), sample)), at_zero);
  const Job result = read_on(job(R"("supports": [{"group": "surface 2", "ux": 0}])"), sample);
  expect_nodes(held(result), at_two);
  EXPECT_EQ(result.domains[0]->node_set("surface 3").size(), 4u);
  EXPECT_EQ(result.domains[0]->node_set("surface tag 3").size(), 4u);
}

TEST(JobGroups, ANameThatIsANumberIsToldFromATag) {
  GmshSample sample = two_ends();
  sample.names[{2, 2}] = "3";
  expect_error(ErrorCode::bad_input, {"'surface 3' matches several groups", "called '3'", "called 'left side'"},
               [&] { read_on(job(R"("supports": [{"group": "surface 3", "ux": 0}])"), sample); });
  expect_nodes(held(read_on(job(R"("supports": [{"group": "3", "ux": 0}])"), sample)), at_two);
  expect_nodes(held(read_on(job(R"("supports": [{"group": "surface tag 3", "ux": 0}])"), sample)), at_zero);
  // A group called by its own tag is one group, read in two ways.
  sample.names[{2, 2}] = "2";
  expect_nodes(held(read_on(job(R"("supports": [{"group": "surface 2", "ux": 0}])"), sample)), at_two);
}

TEST(JobGroups, NumbersSelectTagsAndTextsSelectNamesWhateverGroupsAreCalled) {
  // Surface 2 is called like the words that select surface 3 by its tag.
  for (const std::string name : {"tag 3", "surface tag 3"}) {
    GmshSample sample = two_ends();
    sample.names[{2, 2}] = name;
    expect_error(ErrorCode::bad_input,
                 {"'surface tag 3' matches several groups", "write 'surface tag 2' or {\"surface\": 3}"},
                 [&] { read_on(job(R"("supports": [{"group": "surface tag 3", "ux": 0}])"), sample); });
    const auto nodes = [&](const std::string& group) {
      return held(read_on(job(R"("supports": [{"group": )" + group + R"(, "ux": 0}])"), sample));
    };
    expect_nodes(nodes(R"({"surface": 3})"), at_zero);
    expect_nodes(nodes(R"([{"surface": 3, "comment": "the left side"}])"), at_zero);
    expect_nodes(nodes(R"("surface tag 2")"), at_two);
    expect_nodes(nodes(R"({"surface": ")" + name + R"("})"), at_two);
    expect_nodes(nodes(R"({"surface": 2})"), at_two);
  }
}

TEST(JobGroups, SelectionsByDimensionNameWhatIsWrong) {
  const auto wrong = [](ErrorCode code, const std::string& group, std::initializer_list<std::string> words) {
    expect_error(code, words,
                 [&] { read_on(job(R"("supports": [{"group": )" + group + R"(, "ux": 0}])"), two_ends()); });
  };
  wrong(ErrorCode::not_found, R"({"surface": 7})", {"no physical surface with this tag", "/supports/0/group"});
  wrong(ErrorCode::not_found, R"({"surface": 2.5})", {"no physical surface with this tag"});
  wrong(ErrorCode::not_found, R"({"surface": "7"})", {"no physical surface of this name", "left side"});
  wrong(ErrorCode::bad_input, R"({"surfaces": 2})", {"surface"});
  wrong(ErrorCode::bad_input, R"({"surface": 2, "volume": 1})", {"one dimension"});
  wrong(ErrorCode::bad_input, R"({})", {"one dimension"});
  wrong(ErrorCode::bad_input, R"({"surface": [2]})", {"/supports/0/group/surface"});
}

TEST(JobGroups, ANameWithADimensionInFrontIsToldFromTheDimensionOfAName) {
  GmshSample sample = square();
  sample.names[{1, 1}] = "surface plate";  // a curve; the surface is called "plate"
  const Job result = read_on(square_job(R"("loads": [{"group": "surface plate", "pressure": 3}])"), sample);
  EXPECT_EQ(result.domains[0]->surface("surface plate").size(), 1u);
  expect_error(ErrorCode::bad_input, {"'surface plate' matches several groups", "'curve tag 1' or 'surface tag 1'"},
               [&] { read_on(square_job(R"("supports": [{"group": "surface plate", "ux": 0}])"), sample); });
}

TEST(JobGroups, AListIsNotTheGroupThatIsCalledLikeIt) {
  GmshSample sample = square();
  sample.names[{1, 3}] = "lower + right";
  const Job result = read_on(
      square_job(
          R"("supports": [{"group": ["lower", "right"], "ux": 0}], "loads": [{"group": "lower + right", "nodal_force": [1, 0]}])"),
      sample);
  expect_nodes(held(result), {1, 2, 3});
  EXPECT_EQ(result.domains[0]->load_case("step 1").nodal_loads().size(), 2u);
}

TEST(JobGroups, AGroupThatIsListedTwiceActsOnce) {
  GmshSample sample = square();
  sample.physical[{1, 1}] = {1, 4};  // version 2.2 writes this edge twice
  sample.names[{1, 4}] = "bottom";
  for (const GmshVariant variant : all_gmsh_variants)
    for (const char* list : {R"(["lower", "lower"])", R"(["lower", "bottom"])"}) {
      const Job result =
          read_job_text(square_job(R"("loads": [{"group": )" + std::string(list) + R"(, "total_force": [0, 8]}])"),
                        "job.json", mesh_of(sample, variant));
      const auto& load = result.domains[0]->load_case("step 1").surface_loads().at(0);
      EXPECT_EQ(result.domains[0]->surface(load.surface).size(), 1u);
      EXPECT_EQ(load.values[1], 8.0);
    }
}

TEST(JobGroups, AnIgnoredElementHasNoSection) {
  GmshSample sample = two_cubes();
  sample.physical[{3, 2}] = {8, 9};
  sample.names[{3, 9}] = "void";
  for (const GmshVariant variant : all_gmsh_variants)
    expect_error(ErrorCode::bad_input, {"/ignore/0", "elements of 'void' have a section"},
                 [&] { read_job_text(job(R"("ignore": ["void"])"), "job.json", mesh_of(sample, variant)); });
  // A tag of several with one name is ignored alone.
  sample.physical[{3, 2}] = {9};
  sample.names[{3, 9}] = "body";
  const std::string text = R"({"mesh": "m", "materials": {"s": {"young": 1, "poisson": 0}}, "ignore": ["volume 9"],
    "sections": [{"group": "volume 8", "physics": "solid", "material": "s"}]})";
  EXPECT_EQ(read_on(text, sample).domains[0]->element_count(), 1);
  expect_error(ErrorCode::bad_input, {"/ignore/0", "have a section"}, [&] {
    std::string both = text;
    read_on(both.replace(both.find(R"(["volume 9"])"), 12, R"(["body"])"), sample);
  });
}

TEST(JobGroups, WhatHasNoGroupIsSelectedByTheNameThatMessagesGiveIt) {
  GmshSample sample = two_ends();
  sample.physical.erase({2, 10});
  expect_nodes(held(read_on(job(R"("supports": [{"group": "surfaces without group", "ux": 0}])"), sample)), at_two);
  expect_error(ErrorCode::not_found, {"did you mean 'surfaces without group'"},
               [&] { read_on(job(R"("supports": [{"group": "surface without group", "ux": 0}])"), sample); });
}

TEST(JobGroups, OneTagHasOneName) {
  const std::string text =
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n3 1 \"a\"\n3 1 \"b\"\n$EndPhysicalNames\n";
  expect_error(ErrorCode::bad_input, {"part.msh:7", "the physical volume 1 already has another name"},
               [&] { read_gmsh_bytes(text, "part.msh"); });
}

}  // namespace
}  // namespace voussoir
