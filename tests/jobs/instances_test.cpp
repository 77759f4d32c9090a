#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/check_job.hpp>

#include "job_models.hpp"

// Results of decks that are assembled of instances: the same answers as flat decks, with names that their authors know.

namespace voussoir {
namespace {

using Json = nlohmann::json;

class Instances : public testing::FolderTest {
 protected:
  /// The displacement of each node of a step.
  static std::vector<double> solve(Job& job) { return run_job(job, testing::plainly()).steps.at(0).unknowns.values; }
};

const std::string nodes =
    "*NODE\n1, 0, 0, 0\n2, 2, 0, 0\n3, 2, 1, 0\n4, 0, 1, 0\n5, 0, 0, 1\n6, 2, 0, 1\n7, 2, 1, 1\n8, 0, 1, 1\n";
const std::string material = "*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.3\n";

/// Two blocks 2 × 1 × 1 in a row along x; the second one is turned by half a turn about z and moved.
const std::string assembled =
    "*PART, NAME=BLOCK\n" + nodes +
    "*ELEMENT, TYPE=C3D8I, ELSET=E\n1, 1, 2, 3, 4, 5, 6, 7, 8\n*SOLID SECTION, ELSET=E, MATERIAL=M\n"
    "*NSET, NSET=LEFT\n1, 4, 5, 8\n*SURFACE, NAME=RIGHT\nE, S4\n*SURFACE, NAME=TOP\nE, S2\n*END PART\n"
    "*ASSEMBLY, NAME=ROW\n*INSTANCE, NAME=A, PART=BLOCK\n*END INSTANCE\n"
    "*INSTANCE, NAME=B, PART=BLOCK\n2., 0., 0.\n3., 0.5, 0., 3., 0.5, 1., 180.\n*END INSTANCE\n"
    "*TIE, NAME=T\nB.RIGHT, A.RIGHT\n*END ASSEMBLY\n" +
    material +
    "*BOUNDARY\nA.LEFT, 1, 3\n*STEP\n*STATIC\n*DSLOAD\nROW.B.TOP, P, 3.\n*CLOAD\nB.LEFT, 2, 1.\n"
    "*NODE PRINT, NSET=B.LEFT\nU\n*END STEP\n";
const std::string flat =
    nodes +
    "9, 4, 0, 0\n10, 4, 1, 0\n11, 4, 0, 1\n12, 4, 1, 1\n*ELEMENT, TYPE=C3D8I, ELSET=E\n"
    "1, 1, 2, 3, 4, 5, 6, 7, 8\n2, 2, 9, 10, 3, 6, 11, 12, 7\n*SOLID SECTION, ELSET=E, MATERIAL=M\n" +
    material +
    "*NSET, NSET=LEFT\n1, 4, 5, 8\n*NSET, NSET=END\n9, 10, 11, 12\n*BOUNDARY\nLEFT, 1, 3\n"
    "*STEP\n*STATIC\n*DLOAD\n2, P2, 3.\n*CLOAD\nEND, 2, 1.\n*END STEP\n";

TEST_F(Instances, AreSolvedLikeAFlatDeck) {
  Job one = read_deck_text(assembled, "row.inp"), other = read_deck_text(flat, "flat.inp");
  const std::vector<double> a = solve(one), b = solve(other);
  // Node 1 of the turned block is the far corner (4, 1, 0), node 10 of the flat one.
  const auto at = [](const Job& job, const std::vector<double>& values, Id node) {
    return values.data() + 3 * job.domains.at(0)->node_index(node);
  };
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(at(one, a, 11)[k], at(other, b, 10)[k], 1e-10);
    EXPECT_NEAR(at(one, a, 15)[k], at(other, b, 12)[k], 1e-10);
    EXPECT_NEAR(at(one, a, 2)[k], at(other, b, 2)[k], 1e-10);
  }
  EXPECT_GT(std::abs(at(other, b, 10)[2]), 1e-2);
}

TEST_F(Instances, TablesAndSummariesHaveTheNamesOfTheirAuthor) {
  Job job = read_deck_text(assembled, "row.inp");
  ResultFiles results(job, here());
  testing::run_and_write(job, results);
  const std::string table = testing::read_all(folder_ / "row_U_B.LEFT.csv");
  EXPECT_TRUE(table.starts_with("node,name,x,y,z,ux,uy,uz\n11,B.1,4,1,0,")) << table;
  const Range* moved = results.summaries().at(0).range("displacement");
  ASSERT_NE(moved, nullptr);
  EXPECT_TRUE(moved->greatest.name.starts_with("B.")) << moved->greatest.name;
  const Json json = Json::parse(testing::read_all(folder_ / "row.results.json"));
  EXPECT_EQ(json["steps"][0]["extremes"]["displacement"]["max"]["name"], moved->greatest.name);
  const ErrorSummary::Worst& worst = results.summaries()[0].error.worst.at(0);
  EXPECT_EQ(worst.name, worst.element == 1 ? "A.1" : "B.1");
  EXPECT_EQ(json["steps"][0]["error_estimate"]["worst_elements"][0]["name"], worst.name);
  const std::string picture = testing::read_all(folder_ / "row.vtu");
  EXPECT_NE(picture.find("<!-- node_id above 10: number in B + 10 -->"), std::string::npos);
}

TEST_F(Instances, FindingsHaveTheNamesOfTheirAuthor) {
  // Nothing ties the second block.
  std::string loose = assembled;
  loose.replace(loose.find("*TIE"), loose.find("*END ASSEMBLY") - loose.find("*TIE"), "");
  Job job = read_deck_text(loose, "row.inp");
  const CheckReport report = check_job(job);
  const auto near = std::find_if(report.findings.begin(), report.findings.end(),
                                 [](const Finding& f) { return f.kind == "coincident nodes"; });
  ASSERT_NE(near, report.findings.end());
  EXPECT_NE(near->text.find("nodes A."), std::string::npos) << near->text;
  EXPECT_NE(near->text.find(" and B."), std::string::npos) << near->text;
}

}  // namespace
}  // namespace voussoir
