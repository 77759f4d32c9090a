// Sections that name a registered element type, and what acts on a user's unknowns.

#include <gtest/gtest.h>

#include <support/expect_error.hpp>
#include <support/job_samples.hpp>
#include <voussoir/framework/domain/host_element.hpp>

namespace voussoir {
namespace {

using testing::expect_error;
using testing::job;
using testing::read_on;
using testing::square;

/// A lump of soil: each node exchanges water with the mean of all.
template <int count>
class Soil final : public HostElement {
 public:
  int nodes() const override { return count; }
  std::vector<std::string> unknown_names() const override { return {"head"}; }
  std::vector<std::string> parameter_names() const override { return {"conductivity", "storage"}; }
  void tangent(const HostElementData& e, std::span<double> m) const override {
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < count; ++j) m[i * count + j] = e.parameters[0] * ((i == j) - 1.0 / count);
  }
};

void register_soil() {
  static const bool done = [] {
    register_host_element("job_soil.hex8", "hex8", std::make_shared<Soil<8>>());
    register_host_element("job_soil.tri3", "tri3", std::make_shared<Soil<3>>());
    register_host_element("job_well", "", std::make_shared<Soil<1>>());
    return true;
  }();
  ASSERT_TRUE(done);
}

const std::string soil = R"("element": "job_soil", "parameters": {"conductivity": [[0, 2], [100, 3]], "storage": 0.5})";

TEST(JobElements, ASectionNamesALawOrATypeAndItsParameters) {
  register_soil();
  const Job laws = read_on(job(R"("supports": [{"group": "left side", "head": 3}], "loads": [{"inflow": 4, "group":
    "left side"}, {"film": {"coefficient": 2, "ambient": 7}, "group": "left side"}, {"source": 6}, {"nodal": {"head":
    1.5}, "group": "tip"}], "equations": [{"terms": [{"group": "tip", "unknown": "head", "coefficient": 1}]}])",
                               soil));
  ASSERT_EQ(laws.domains.size(), 1u);
  const Domain& d = *laws.domains[0];
  EXPECT_EQ(d.block(0).type_name(), "job_soil.hex8");
  const auto parameters = d.block(0).parameters();
  EXPECT_EQ(parameters.rows, 2);
  EXPECT_EQ(parameters.records, (std::vector<double>{0, 2, 0.5, 100, 3, 0.5}));
  EXPECT_EQ(laws.steps[0].procedure, Procedure::statics);
  const Supports& s = *laws.steps[0].supports;
  ASSERT_EQ(s.values.size(), 4u);
  EXPECT_EQ(s.values[0].unknown, "head");
  const LoadCase& loads = d.load_case("step 1");
  EXPECT_EQ(loads.surface_loads().size(), 2u);
  EXPECT_EQ(loads.body_loads().size(), 1u);
  ASSERT_EQ(loads.nodal_loads().size(), 1u);
  EXPECT_EQ(loads.nodal_loads()[0].unknown, "head");
  // The type itself, with a material of the job for some of its parameters.
  const Job types = read_on(R"({"mesh": "part.msh", "materials": {"clay": {"conductivity": 5}}, "sections":
    [{"group": "body", "element": "job_soil.hex8", "material": "clay", "parameters": {"storage": 1}}]})");
  EXPECT_EQ(types.domains[0]->block(0).parameters().records, (std::vector<double>{0, 5, 1}));
  // Built-in types too.
  EXPECT_EQ(read_on(job("", R"("element": "solid.hex8.bbar", "material": "steel")")).domains[0]->block(0).type_name(),
            "solid.hex8.bbar");
  // In the plane, and at points.
  const Job plane = read_on(R"({"mesh": "part.msh", "sections": [{"group": "plate", "element": "job_soil",
    "parameters": {"conductivity": 1, "storage": 0}}, {"group": "origin", "element": "job_well",
    "parameters": {"conductivity": 1, "storage": 0}}]})",
                            square());
  EXPECT_EQ(plane.domains[0]->block(0).type_name(), "job_soil.tri3");
  EXPECT_EQ(plane.domains[0]->block(1).size(), 1);
}

TEST(JobElements, ErrorsNameTheLineAndWhatToDo) {
  register_soil();
  const auto refuse = [](const std::string& text, ErrorCode code, std::initializer_list<std::string> pieces) {
    expect_error(code, pieces, [&] { read_on(text); });
  };
  refuse(job("", R"("element": "job_soyl")"), ErrorCode::not_found,
         {"job.json:3", "/sections/0/element", "'job_soyl'", "did you mean 'job_soil'?", "--load"});
  refuse(job("", R"("element": "job_soil", "physics": "solid", "material": "steel")"), ErrorCode::bad_input,
         {"either 'physics' or 'element'"});
  refuse(job("", R"("element": "job_soil", "parameters": {"storige": 1})"), ErrorCode::bad_input,
         {"/sections/0/parameters", "storige", "storage"});
  refuse(job("", R"("element": "job_soil", "parameters": {"storage": 1})"), ErrorCode::bad_input,
         {"/sections/0", "conductivity"});
  refuse(job("", R"("element": "job_soil", "material": "steel", "parameters": {"storage": [[0, 1], [1, 2]]})"),
         ErrorCode::bad_input, {"/sections/0/parameters/storage", "table"});
  refuse(job("", R"("element": "job_soil.tri3", "parameters": {"conductivity": 1, "storage": 1})"),
         ErrorCode::bad_input, {"/sections/0/group"});
  refuse(job("", R"("element": "heat.tet4", "parameters": {"conductivity": 1})"), ErrorCode::bad_input,
         {"/sections/0/element", "'tet4'", "hex8"});
  refuse(job(R"("supports": [{"group": "left side", "heat": 3}])", soil), ErrorCode::bad_input, {"heat", "head"});
  refuse(job(R"("supports": [{"group": "left side", "ux": 3}])", soil), ErrorCode::bad_input, {"'ux'", "'head'"});
  refuse(job(R"("loads": [{"nodal": {"hed": 3}, "group": "tip"}])", soil), ErrorCode::bad_input, {"'hed'", "'head'"});
  refuse(job(R"("loads": [{"inflow": 3, "group": "left side"}])"), ErrorCode::bad_input, {"one unknown per node"});
  refuse(job(R"("loads": [{"name": "f", "film": {"coefficient": 2, "ambient": 7}, "group": "left side"}],
    "steps": [{"loads": {"f": 2}}])",
             soil),
         ErrorCode::bad_input, {"film", "no factor"});
}

}  // namespace
}  // namespace voussoir
