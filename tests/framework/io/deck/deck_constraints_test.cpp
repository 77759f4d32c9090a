#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "deck_text.hpp"

// Equations, rigid bodies and ties of decks.

namespace voussoir {
namespace {

using namespace voussoir::testing;

using Motion = std::map<std::pair<Id, std::string>, double>;

/// What an equation says of a motion: Σ coefficient · unknown − constant.
double defect(const Domain& d, const ConstraintEquation& e, const Motion& motion) {
  double sum = -e.constant;
  for (const auto& t : e.terms) {
    const auto it = motion.find({d.node_id(t.node), t.unknown});
    sum += t.coefficient * (it == motion.end() ? 0.0 : it->second);
  }
  return sum;
}

TEST(DeckConstraints, EquationsOfSetsGoMemberByMember) {
  const Job job = job_of(cube_model() +
                         "*NSET, NSET=A\n1, 2\n*NSET, NSET=B\n5, 6\n*EQUATION\n2\nA, 1, 1., B, 2, -2.\n"
                         "*EQUATION\n2\nTOP, 3, 1., 1, 3, -1.\n");
  const Domain& d = *job.domains[0];
  ASSERT_EQ(d.equations().size(), 6u);
  EXPECT_EQ(d.node_id(d.equations()[1].terms[0].node), 2);
  EXPECT_EQ(d.node_id(d.equations()[1].terms[1].node), 6);
  EXPECT_EQ(d.equations()[1].terms[1].unknown, "uy");
  EXPECT_EQ(d.equations()[1].terms[1].coefficient, -2.0);
  EXPECT_EQ(d.equations()[0].label.substr(0, 23), "*EQUATION at test.inp:2");
  EXPECT_EQ(d.node_id(d.equations()[5].terms[1].node), 1);
}

TEST(DeckConstraints, EquationsInLocalAxesHaveThreeTerms) {
  const Job job = job_of(cube_model() +
                         "*NSET, NSET=TURNED\n7\n*TRANSFORM, NSET=TURNED\n3,4,0, -4,3,0\n"
                         "*EQUATION\n2\n7, 1, 1., 6, 1, -1.\n");
  const Domain& d = *job.domains[0];
  ASSERT_EQ(d.equations().size(), 1u);
  const auto& terms = d.equations()[0].terms;
  ASSERT_EQ(terms.size(), 3u);        // the third direction has no part in the first axis
  EXPECT_EQ(terms[0].unknown, "uy");  // the largest first
  EXPECT_DOUBLE_EQ(terms[0].coefficient, 0.8);
  EXPECT_DOUBLE_EQ(terms[1].coefficient, 0.6);
}

TEST(DeckConstraints, EquationsOfTemperatureBelongToHeat) {
  const std::string deck = cube_model() + "*EQUATION\n2\n5, 11, 1., 6, 11, -1.\n*EQUATION\n2\n5, 1, 1., 6, 1, -1.\n";
  const Job both = job_of(deck + heat_step("*BOUNDARY\nBOTTOM, 11, 11, 3.\n") + static_step(clamped));
  ASSERT_EQ(both.domains[0]->equations().size(), 1u);
  EXPECT_EQ(both.domains[0]->equations()[0].terms[0].unknown, "T");
  ASSERT_EQ(both.domains[1]->equations().size(), 1u);
  EXPECT_EQ(both.domains[1]->equations()[0].terms[0].unknown, "ux");
}

TEST(DeckConstraints, ARigidBodyMovesAsOne) {
  const Job job = job_of(cube_model() +
                         "*NODE\n20, 3, 4, 5\n21, 0, 0, 0\n"
                         "*RIGID BODY, NSET=TOP, REF NODE=20, ROT NODE=21\n");
  const Domain& d = *job.domains[0];
  EXPECT_EQ(job.own_nodes, d.node_count());
  EXPECT_EQ(job.rotation_nodes, (std::vector<std::int32_t>{9}));
  ASSERT_EQ(d.equations().size(), 12u);
  const double u[3] = {0.1, 0.2, 0.3}, w[3] = {0.01, -0.02, 0.03};
  Motion motion;
  const char* const names[] = {"ux", "uy", "uz"};
  for (int k = 0; k < 3; ++k) motion[{20, names[k]}] = u[k], motion[{21, names[k]}] = w[k];
  for (Id n : {5, 6, 7, 8}) {
    const auto x = d.node(n).position;
    const double r[3] = {x[0] - 3, x[1] - 4, x[2] - 5};
    motion[{n, "ux"}] = u[0] + w[1] * r[2] - w[2] * r[1];
    motion[{n, "uy"}] = u[1] + w[2] * r[0] - w[0] * r[2];
    motion[{n, "uz"}] = u[2] + w[0] * r[1] - w[1] * r[0];
  }
  for (const auto& e : d.equations()) EXPECT_NEAR(defect(d, e, motion), 0, 1e-15);
}

TEST(DeckConstraints, ReferenceNodesMayBeSetsThatAreDefinedLater) {
  const std::string nodes = "*NODE\n20, 3, 4, 5\n21, 0, 0, 0\n";
  const Job job =
      job_of(cube_model() + nodes +
             "*RIGID BODY, NSET=TOP, REF NODE=REF, ROT NODE=ROT\n*NSET, NSET=REF\n20\n*NSET, NSET=ROT\n21\n");
  const Job same = job_of(cube_model() + nodes + "*RIGID BODY, NSET=TOP, REF NODE=20, ROT NODE=21\n");
  const auto& a = job.domains[0]->equations();
  const auto& b = same.domains[0]->equations();
  ASSERT_EQ(a.size(), 12u);
  ASSERT_EQ(b.size(), 12u);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < a[i].terms.size(); ++k) {
      EXPECT_EQ(a[i].terms[k].node, b[i].terms[k].node);
      EXPECT_EQ(a[i].terms[k].coefficient, b[i].terms[k].coefficient);
    }
}

TEST(DeckConstraints, ARotationNodeHasAxesLikeAnyOther) {
  const Job job = job_of(cube_model() +
                         "*NODE\n20, 3, 4, 5\n21, 0, 0, 0\n*NSET, NSET=ROT\n21\n*TRANSFORM, NSET=ROT\n3,4,0, -4,3,0\n"
                         "*RIGID BODY, NSET=TOP, REF NODE=20, ROT NODE=21\n*EQUATION\n2\n21, 2, 1., 1, 1, -1.\n" +
                         clamped + static_step("*BOUNDARY\n21, 2, 2, 0.1\n*CLOAD\n21, 1, 10.\n"));
  const Domain& d = *job.domains[0];
  const auto& load = d.load_case("step 1").nodal_loads();
  ASSERT_EQ(load.size(), 2u);
  EXPECT_EQ(d.node_id(load[0].node), 21);
  EXPECT_DOUBLE_EQ(load[0].value, 6.0);
  EXPECT_DOUBLE_EQ(load[1].value, 8.0);
  ASSERT_EQ(job.steps[0].supports->oblique.size(), 1u);
  EXPECT_NEAR(job.steps[0].supports->oblique[0].direction[0], -0.8, 1e-15);
  EXPECT_NEAR(job.steps[0].supports->oblique[0].direction[1], 0.6, 1e-15);
  EXPECT_EQ(d.equations().back().terms.size(), 3u);
}

TEST(DeckConstraints, WithoutARotationNodeTheReferenceNodeHasDofs4To6) {
  const Job job = job_of(cube_model() + "*NODE\n20, 0, 0, 1\n*RIGID BODY, NSET=TOP, REF NODE=20\n" + clamped +
                         static_step("*BOUNDARY\n20, 6, 6, 0.5\n*CLOAD\n20, 4, 7.\n"));
  const Domain& d = *job.domains[0];
  EXPECT_EQ(job.own_nodes, 9);
  EXPECT_EQ(job.rotation_nodes, (std::vector<std::int32_t>{9}));
  ASSERT_EQ(d.node_count(), 10);
  const Prescribed& p = job.steps[0].supports->values.back();
  EXPECT_EQ(p.node, 9);
  EXPECT_EQ(p.unknown, "uz");
  EXPECT_EQ(p.value, 0.5);
  const auto& load = d.load_case("step 1").nodal_loads().at(0);
  EXPECT_EQ(load.node, 9);
  EXPECT_EQ(load.unknown, "ux");
  EXPECT_EQ(load.value, 7.0);
}

TEST(DeckConstraints, ARigidBodyOfElementsInAPlaneHasOneRotation) {
  const Job job = job_of(square_model("CPE4") + "*NODE\n20, 0, 0\n*RIGID BODY, ELSET=EALL, REF NODE=20\n" +
                         static_step("*BOUNDARY\n20, 1, 2\n20, 6, 6, 0.1\n"));
  const Domain& d = *job.domains[0];
  ASSERT_EQ(d.equations().size(), 8u);
  Motion motion{{{21, "ux"}, 0.1}};
  for (Id n : {1, 2, 3, 4}) {
    motion[{n, "ux"}] = -0.1 * d.node(n).position[1];
    motion[{n, "uy"}] = 0.1 * d.node(n).position[0];
  }
  for (const auto& e : d.equations()) EXPECT_NEAR(defect(d, e, motion), 0, 1e-15);
  EXPECT_EQ(job.steps[0].supports->values.size(), 3u);
}

TEST(DeckConstraints, BeamsTurnWithTheRigidBody) {
  const Job job = job_of("*NODE\n1,0,0,0\n2,1,0,0\n3,1,1,0\n*ELEMENT, TYPE=B31, ELSET=EALL\n1,1,2\n2,1,3\n" + steel +
                         "*BEAM SECTION, ELSET=EALL, MATERIAL=STEEL, SECTION=RECT\n1.,1.\n0.,0.,1.\n"
                         "*NSET, NSET=ENDS\n2,3\n*RIGID BODY, NSET=ENDS, REF NODE=2\n");
  const Domain& d = *job.domains[0];
  // Three displacements and three rotations of node 3 follow node 2, which has rotations of its own.
  ASSERT_EQ(d.equations().size(), 6u);
  EXPECT_EQ(d.equations()[3].terms[0].unknown, "rx");
  EXPECT_EQ(d.node_id(d.equations()[3].terms[1].node), 2);
  EXPECT_EQ(d.node_count(), 3);
}

TEST(DeckConstraints, TiesJoinNodesAtOnePlace) {
  const std::string upper =
      "*NODE\n15, 0, 0, 1\n16, 1, 0, 1\n17, 1, 1, 1.001\n18, 0, 1, 1\n"
      "19, 0, 0, 2\n20, 1, 0, 2\n21, 1, 1, 2\n22, 0, 1, 2\n*ELEMENT, TYPE=C3D8, ELSET=EALL\n2, "
      "15,16,17,18,19,20,21,22\n"
      "*SURFACE, NAME=BELOW\n1, S2\n*SURFACE, NAME=ABOVE\n2, S1\n";
  const Job job = job_of(cube_model() + upper + "*TIE, NAME=GLUE\nABOVE, BELOW\n");
  const Domain& d = *job.domains[0];
  ASSERT_EQ(d.equations().size(), 12u);
  std::map<Id, Id> pairs;
  for (const auto& e : d.equations()) {
    ASSERT_EQ(e.terms.size(), 2u);
    EXPECT_EQ(e.terms[0].unknown, e.terms[1].unknown);
    EXPECT_EQ(e.terms[0].coefficient, -e.terms[1].coefficient);
    pairs[d.node_id(e.terms[0].node)] = d.node_id(e.terms[1].node);
  }
  EXPECT_EQ(pairs, (std::map<Id, Id>{{15, 5}, {16, 6}, {17, 7}, {18, 8}}));
  // Heat flows through a tie as well.
  const Job heat =
      job_of(cube_model() + upper + "*TIE, NAME=GLUE\nABOVE, BELOW\n" + heat_step("*BOUNDARY\nBOTTOM, 11, 11, 3.\n"));
  EXPECT_EQ(heat.domains[0]->equations().size(), 4u);
}

}  // namespace
}  // namespace voussoir
