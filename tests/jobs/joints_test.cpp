#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/run_job.hpp>

// Rigid bodies on joints: what can turn freely is refused by every solver, in the deck's own numbers.

namespace voussoir {
namespace {

const std::string cube =
    "*NODE, NSET=NALL\n1,0,0,0\n2,1,0,0\n3,1,1,0\n4,0,1,0\n5,0,0,1\n6,1,0,1\n7,1,1,1\n8,0,1,1\n"
    "*ELEMENT, TYPE=C3D8, ELSET=EALL\n1,1,2,3,4,5,6,7,8\n";
const std::string material = "*MATERIAL, NAME=M\n*ELASTIC\n210000.,0.3\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";

struct Way {
  const char *solver, *storage;
};
constexpr Way ways[] = {{"auto", "auto"},     {"direct", "bsr"},     {"direct:eigen", "csr"},
                        {"direct", "band"},   {"direct", "profile"}, {"direct:band", "csr"},
                        {"cg+jacobi", "csr"}, {"cg+amg", "bsr"},     {"cg", "matrix-free"}};

JobResult solve(Job& job, const Way& way) {
  StaticOptions options;
  options.backend = "openmp:1";
  options.solver = way.solver;
  options.storage = way.storage;
  return run_job(job, options);
}

/// Every way must refuse the deck with an error that has one of the pieces and names no node above `last`.
void expect_refused(const std::string& deck, const std::vector<std::string>& pieces, int last) {
  for (const Way& way : ways) {
    Job job = read_deck_text(deck, "test.inp");
    try {
      const JobResult result = solve(job, way);
      ADD_FAILURE() << way.solver << " on " << way.storage << ": no error";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_EQ(error.code(), ErrorCode::singular) << way.solver << ": " << text;
      for (const std::string& piece : pieces)
        EXPECT_NE(text.find(piece), std::string::npos) << way.solver << ": " << text;
      for (int own = last + 1; own < last + 4; ++own)
        EXPECT_EQ(text.find("node " + std::to_string(own)), std::string::npos) << way.solver << ": " << text;
    }
  }
}

TEST(Joints, ARigidBodyOnABallJointIsRefused) {
  expect_refused(cube + material +
                     "*RIGID BODY, NSET=NALL, REF NODE=1\n*BOUNDARY\n1,1,3\n"
                     "*STEP\n*STATIC\n*CLOAD\n7,3,100.\n*END STEP\n",
                 {"can rotate about an axis along x", "can rotate about an axis along z"}, 8);
}

TEST(Joints, ARigidBodyOnAHingeIsRefused) {
  // Held at nodes 1 and 7, it turns about the diagonal.
  expect_refused(cube + "*NODE\n20,0.5,0.5,0.\n" + material +
                     "*RIGID BODY, NSET=NALL, REF NODE=20\n*BOUNDARY\n1,1,3\n7,1,3\n"
                     "*STEP\n*STATIC\n*CLOAD\n20,3,100.\n*END STEP\n",
                 {"can rotate about an axis along (0.5774, 0.5774, 0.5774)"}, 20);
}

TEST(Joints, APlaneRigidBodyOnAPinIsRefused) {
  expect_refused(
      "*NODE, NSET=NALL\n1,0,0\n2,1,0\n3,1,1\n4,0,1\n*ELEMENT, TYPE=CPS4, ELSET=EALL\n1,1,2,3,4\n"
      "*MATERIAL, NAME=M\n*ELASTIC\n1000.,0.3\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n1.\n"
      "*RIGID BODY, NSET=NALL, REF NODE=1\n*BOUNDARY\n1,1,2\n*STEP\n*STATIC\n*CLOAD\n3,2,100.\n*END STEP\n",
      {"can rotate about an axis along z through (0, 0, 0)"}, 4);
}

/// A clamped cube, and a rigid one that touches it at node 7 alone.
const std::string two_cubes = cube +
                              "*NODE\n11,2,1,1\n12,2,2,1\n13,1,2,1\n14,1,1,2\n15,2,1,2\n16,2,2,2\n17,1,2,2\n"
                              "*ELEMENT, TYPE=C3D8, ELSET=EALL\n2,7,11,12,13,14,15,16,17\n"
                              "*NSET, NSET=BOT\n1,2,3,4\n*NSET, NSET=LID\n7,11,12,13,14,15,16,17\n" +
                              material;

TEST(Joints, ARigidBodyJointedToAnElasticOneIsRefused) {
  expect_refused(two_cubes +
                     "*RIGID BODY, NSET=LID, REF NODE=7\n*BOUNDARY\nBOT,1,3\n"
                     "*STEP\n*STATIC\n*CLOAD\n16,1,100.\n*END STEP\n",
                 {"mechanism", "7 of 15 nodes"}, 17);
  // The reference node may stand anywhere: the body turns about node 7 with it.
  expect_refused(two_cubes +
                     "*NODE\n30,5,5,5\n*RIGID BODY, NSET=LID, REF NODE=30\n*BOUNDARY\nBOT,1,3\n"
                     "*STEP\n*STATIC\n*CLOAD\n16,1,100.\n*END STEP\n",
                 {"mechanism"}, 30);
}

TEST(Joints, ASoundRigidBodyIsSolvedByEveryWay) {
  // The same body, held by its rotation: the elastic cube carries the load at node 7 alone.
  double expected = 0;
  for (const Way& way : ways) {
    Job job = read_deck_text(two_cubes +
                                 "*RIGID BODY, NSET=LID, REF NODE=7\n*BOUNDARY\nBOT,1,3\n7,4,6\n"
                                 "*STEP\n*STATIC\n*CLOAD\n16,1,100.\n*END STEP\n",
                             "test.inp");
    const JobResult result = solve(job, way);
    const Domain& d = *job.domains[0];
    const double ux = result.steps[0].unknowns.at(d.node_index(7), "ux");
    if (expected == 0) expected = ux;
    EXPECT_GT(ux, 0);
    EXPECT_NEAR(ux, expected, 1e-6 * expected) << way.solver;
    EXPECT_NEAR(result.steps[0].unknowns.at(d.node_index(16), "ux"), ux, 1e-9 * ux) << way.solver;
  }
}

TEST(Joints, ARigidBodyOnSoftSpringsMovesAsTheSpringsSay) {
  // Springs of 1e-4 under a body of 2e5: far softer than its elements, but nothing like rounding. All forces go
  // through the reference node, so u = F / k.
  Job job = read_deck_text(cube +
                               "*NODE\n20,0.5,0.5,0.\n*ELEMENT, TYPE=SPRING1, ELSET=S1\n31,20\n"
                               "*ELEMENT, TYPE=SPRING1, ELSET=S2\n32,20\n*ELEMENT, TYPE=SPRING1, ELSET=S3\n33,20\n"
                               "*SPRING, ELSET=S1\n1\n1e-4\n*SPRING, ELSET=S2\n2\n2e-4\n*SPRING, ELSET=S3\n3\n4e-4\n" +
                               material +
                               "*RIGID BODY, NSET=NALL, REF NODE=20\n*BOUNDARY\n20,4,6\n"
                               "*STEP\n*STATIC\n*CLOAD\n20,1,1.\n20,2,1.\n20,3,1.\n*END STEP\n",
                           "test.inp");
  const JobResult result = solve(job, ways[1]);
  const Domain& d = *job.domains[0];
  EXPECT_NEAR(result.steps[0].unknowns.at(d.node_index(7), "ux"), 1e4, 1);
  EXPECT_NEAR(result.steps[0].unknowns.at(d.node_index(7), "uy"), 5e3, 1);
  EXPECT_NEAR(result.steps[0].unknowns.at(d.node_index(7), "uz"), 2.5e3, 1);
}

TEST(Joints, RedundantEquationsOfADeckAreNamedByTheirLine) {
  Job job = read_deck_text(cube + material +
                               "*BOUNDARY\n1,1,3\n2,1,3\n3,1,3\n4,1,3\n"  // lines 16 to 20
                               "*EQUATION\n2\n5,3,3.,6,3,-1.\n"
                               "*EQUATION\n2\n5,3,1.,6,3,-0.33333333\n"
                               "*STEP\n*STATIC\n*CLOAD\n7,3,100.\n*END STEP\n",
                           "test.inp");
  const JobResult result = solve(job, ways[1]);
  bool told = false;
  for (const std::string& note : result.notes)
    told = told || (note.find("test.inp:") != std::string::npos && note.find("dropped") != std::string::npos);
  EXPECT_TRUE(told);
  const Domain& d = *job.domains[0];
  EXPECT_GT(std::abs(result.steps[0].unknowns.at(d.node_index(6), "uz")), 1e-6) << "not held by digits that lack";
}

}  // namespace
}  // namespace voussoir
