#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "deck_text.hpp"
#include "support/expect_error.hpp"

// *COUPLING and *RIGID BODY without a reference node: what their equations say of motions and of forces.

namespace voussoir {
namespace {

using namespace voussoir::testing;
using Vector = std::array<double, 3>;

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

int component(const std::string& unknown) {
  static const char* const names[] = {"ux", "uy", "uz", "rx", "ry", "rz"};
  for (int k = 0; k < 6; ++k)
    if (unknown == names[k]) return k;
  return -1;
}

bool turns(const Job& job, std::int32_t node) {
  return std::find(job.rotation_nodes.begin(), job.rotation_nodes.end(), node) != job.rotation_nodes.end();
}

/// What equations say of a rigid motion: the largest defect.
double rigid_defect(const Job& job) {
  const Domain& d = *job.domains[0];
  const Vector a{0.3, -0.7, 0.2}, w{0.11, -0.23, 0.31};
  double worst = 0;
  for (const ConstraintEquation& e : d.equations()) {
    double sum = -e.constant;
    for (const auto& t : e.terms) {
      const double* x = &d.coordinates()[3 * static_cast<std::size_t>(t.node)];
      const Vector turned = cross(w, {x[0], x[1], x[2]});
      const int k = component(t.unknown);
      sum += t.coefficient * (k >= 3 ? w[k - 3] : turns(job, t.node) ? w[k] : a[k] + turned[k]);
    }
    worst = std::max(worst, std::abs(sum));
  }
  return worst;
}

/// Forces at the coupled nodes that a force or moment on the reference node's unknown makes, by the equation that leads
/// it: resultant and moment about the origin.
std::pair<Vector, Vector> resultant(const Domain& d, const ConstraintEquation& e) {
  Vector force{}, moment{};
  for (std::size_t i = 1; i < e.terms.size(); ++i) {
    const double* x = &d.coordinates()[3 * static_cast<std::size_t>(e.terms[i].node)];
    Vector f{};
    f[component(e.terms[i].unknown)] = -e.terms[i].coefficient / e.terms[0].coefficient;
    const Vector m = cross({x[0], x[1], x[2]}, f);
    for (int k = 0; k < 3; ++k) force[k] += f[k], moment[k] += m[k];
  }
  return {force, moment};
}

const std::string reference = "*NODE\n100, 0.7, 0.2, 3.\n*SURFACE, NAME=LID\n1, S2\n";
std::string coupled(const std::string& cards) { return cube_model() + reference + cards; }

TEST(DeckCouplings, KinematicNodesFollowInTheDirectionsThatAreNamed) {
  const Job all = job_of(coupled("*COUPLING, CONSTRAINT NAME=C, REF NODE=100, SURFACE=LID\n*KINEMATIC\n"));
  EXPECT_EQ(all.domains[0]->equations().size(), 12u);
  EXPECT_LT(rigid_defect(all), 1e-14);
  const Job one = job_of(coupled("*COUPLING, CONSTRAINT NAME=C, REF NODE=100, SURFACE=LID\n*KINEMATIC\n3, 3\n"));
  EXPECT_EQ(one.domains[0]->equations().size(), 4u);
  for (const auto& e : one.domains[0]->equations()) EXPECT_EQ(e.terms[0].unknown, "uz");
  EXPECT_LT(rigid_defect(one), 1e-14);
  // In the directions of a cylinder about x = -1, y = 0; two nodes are within the radius.
  const Job radial =
      job_of(coupled("*ORIENTATION, NAME=RING, SYSTEM=CYLINDRICAL\n-1, 0, 0, -1, 0, 1\n"
                     "*COUPLING, CONSTRAINT NAME=C, REF NODE=100, SURFACE=LID, ORIENTATION=RING, "
                     "INFLUENCE RADIUS=2.15\n*KINEMATIC\n1\n"));
  EXPECT_EQ(radial.domains[0]->equations().size(), 2u);
  EXPECT_LT(rigid_defect(radial), 1e-14);
  // The older card.
  const Job old = job_of(coupled("*KINEMATIC COUPLING, REF NODE=100\nTOP, 1, 3\n"));
  EXPECT_EQ(old.domains[0]->equations().size(), 12u);
  EXPECT_LT(rigid_defect(old), 1e-14);
}

TEST(DeckCouplings, DistributingSharesForcesAndMomentsOutInEquilibrium) {
  for (const char* type : {"C3D8", "C3D20"}) {
    std::string model = cube_model();
    if (std::string(type) == "C3D20")
      model = cube_nodes +
              "*NODE\n9,.5,0,0\n10,1,.5,0\n11,.5,1,0\n12,0,.5,0\n13,.5,0,1.1\n14,1,.5,1\n15,.5,1,1\n16,0,.5,1\n"
              "17,0,0,.5\n18,1,0,.5\n19,1,1,.5\n20,0,1,.5\n*ELEMENT, TYPE=C3D20, ELSET=EALL\n"
              "1,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,\n16,17,18,19,20\n" +
              steel + solid_section;
    const Job job = job_of(model + reference +
                           "*COUPLING, CONSTRAINT NAME=C, REF NODE=100, SURFACE=LID\n"
                           "*DISTRIBUTING\n");
    const Domain& d = *job.domains[0];
    ASSERT_EQ(d.equations().size(), 6u) << type;
    EXPECT_LT(rigid_defect(job), 1e-14) << type;
    for (int k = 0; k < 3; ++k) {
      Vector unit{};
      unit[k] = 1;
      const auto [force, moment] = resultant(d, d.equations()[k]);
      const Vector expected = cross({0.7, 0.2, 3.0}, unit);
      const auto [none, turn] = resultant(d, d.equations()[3 + k]);
      for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR(force[i], unit[i], 1e-13) << type << k;
        EXPECT_NEAR(moment[i], expected[i], 1e-13) << type << k;
        EXPECT_NEAR(none[i], 0, 1e-13) << type << k;
        EXPECT_NEAR(turn[i], unit[i], 1e-13) << type << k;
      }
    }
  }
}

TEST(DeckCouplings, EdgesOfPlaneElementsAreCoupled) {
  for (const char* kind : {"*DISTRIBUTING\n", "*KINEMATIC\n"}) {
    const Job job = job_of(square_model("CPS4") +
                           "*NODE\n100, 3, 0.25\n*SURFACE, NAME=RIGHT\n1, S2\n"
                           "*COUPLING, CONSTRAINT NAME=C, REF NODE=100, SURFACE=RIGHT\n" +
                           kind);
    const Domain& d = *job.domains[0];
    ASSERT_EQ(d.equations().size(), std::string(kind) == "*KINEMATIC\n" ? 4u : 3u);
    // A rotation about z: u = ω (−y, x); the rotation itself stands in the first unknown of a node of the reader's own.
    for (const ConstraintEquation& e : d.equations()) {
      double sum = 0;
      for (const auto& t : e.terms) {
        const double* x = &d.coordinates()[3 * static_cast<std::size_t>(t.node)];
        sum += t.coefficient * (turns(job, t.node) ? 1 : t.unknown == "ux" ? -x[1] : x[0]);
      }
      EXPECT_NEAR(sum, 0, 1e-14) << kind;
    }
  }
}

TEST(DeckCouplings, DistributingWeighsNodesByTheirArea) {
  // Two faces, of areas 1 and 2: the nodes between them have the mean of both.
  const Job job =
      job_of(cube_model() +
             "*NODE\n11, 3, 0, 0\n12, 3, 1, 0\n13, 3, 0, 1\n14, 3, 1, 1\n100, 1.5, 0.5, 1\n"
             "*ELEMENT, TYPE=C3D8, ELSET=EALL\n2, 2, 11, 12, 3, 6, 13, 14, 7\n*SURFACE, NAME=LID\nEALL, S2\n"
             "*COUPLING, CONSTRAINT NAME=C, REF NODE=100, SURFACE=LID\n*DISTRIBUTING\n3, 3\n");
  const Domain& d = *job.domains[0];
  ASSERT_EQ(d.equations().size(), 1u);
  std::map<Id, double> share;
  for (std::size_t i = 1; i < d.equations()[0].terms.size(); ++i)
    share[d.node_id(d.equations()[0].terms[i].node)] = -d.equations()[0].terms[i].coefficient;
  for (Id n : {5, 8}) EXPECT_NEAR(share[n], 1.0 / 12, 1e-14);
  for (Id n : {6, 7}) EXPECT_NEAR(share[n], 3.0 / 12, 1e-14);
  for (Id n : {13, 14}) EXPECT_NEAR(share[n], 2.0 / 12, 1e-14);
  // Loads of the reference node reach its unknowns; what is not coupled is not there.
  const std::string deck =
      coupled("*COUPLING, CONSTRAINT NAME=C, REF NODE=100, SURFACE=LID\n*DISTRIBUTING\n3, 3\n" + clamped);
  EXPECT_NO_THROW(job_of(deck + static_step("*CLOAD\n100, 3, 5.\n")));
  expect_error(ErrorCode::bad_input, {"node 100 has no degree of freedom 1 to load"},
               [&] { job_of(deck + static_step("*CLOAD\n100, 1, 5.\n")); });
}

TEST(DeckCouplings, TheOlderDistributingCardHasWeights) {
  const auto deck = [](const std::string& place) {
    return cube_model() + "*NODE\n100, " + place +
           "\n*ELEMENT, TYPE=DCOUP3D, ELSET=E1\n9, 100\n"
           "*DISTRIBUTING COUPLING, ELSET=E1\n5, 3.\n6, 1.\n7, 1.\n8, 3.\n";
  };
  const Job job = job_of(deck("0.25, 0.5, 1."));
  ASSERT_EQ(job.domains[0]->equations().size(), 6u);
  EXPECT_LT(rigid_defect(job), 1e-14);
  EXPECT_TRUE(job.notes.empty());
  // A section of the coupling, as in CalculiX's decks, says nothing.
  const Job with_section = job_of(deck("0.25, 0.5, 1.") + "*SOLID SECTION, ELSET=E1, MATERIAL=STEEL\n");
  EXPECT_EQ(with_section.domains[0]->equations().size(), 6u);
  EXPECT_TRUE(with_section.notes.empty());
  // Away from the centroid of the weights, programs differ in what a force there means.
  const Job away = job_of(deck("0.5, 0.5, 1."), Dialect::abaqus);
  ASSERT_EQ(away.domains[0]->equations().size(), 6u);
  EXPECT_LT(rigid_defect(away), 1e-14);
  expect_error(ErrorCode::bad_input, {"reference node 100 is 0.25 away", "(0.25, 0.5, 1)", "--dialect abaqus"},
               [&] { job_of(deck("0.5, 0.5, 1.")); });
}

TEST(DeckCouplings, CardsThatDoNotFitAreRefused) {
  const auto refused = [](const std::string& cards, const std::string& text) {
    expect_error(ErrorCode::bad_input, {text}, [&] { job_of(coupled(cards)); });
  };
  refused("*COUPLING, REF NODE=100, SURFACE=LID\n*EQUATION\n2\n1,1,1.,2,1,-1.\n",
          "needs a *KINEMATIC or a *DISTRIBUTING");
  refused("*KINEMATIC\n1, 3\n", "needs a *COUPLING before it");
  refused("*COUPLING, REF NODE=100, SURFACE=LID\n*KINEMATIC\n1, 11\n", "not a range within 1 to 6");
  refused("*SURFACE, NAME=TWO, TYPE=NODE\n5\n6\n*COUPLING, REF NODE=100, SURFACE=TWO\n*DISTRIBUTING\n",
          "are collinear or coincide");
  refused("*COUPLING, REF NODE=100, SURFACE=LID, INFLUENCE RADIUS=0.1\n*KINEMATIC\n", "INFLUENCE RADIUS");
}

TEST(DeckCouplings, SeveralCouplingsShareTheRotationOfTheirReference) {
  const Job job =
      job_of(coupled("*SURFACE, NAME=SIDE\n1, S3\n*COUPLING, REF NODE=100, SURFACE=LID\n*KINEMATIC\n"
                     "*COUPLING, REF NODE=100, SURFACE=SIDE\n*KINEMATIC\n1, 3\n"));
  EXPECT_EQ(job.rotation_nodes.size(), 1u);
  EXPECT_LT(rigid_defect(job), 1e-14);
}

TEST(DeckCouplings, RigidBodiesNeedNoReferenceNode) {
  const Job job = job_of(cube_model() + "*RIGID BODY, NSET=TOP\n");
  const Domain& d = *job.domains[0];
  EXPECT_EQ(job.own_nodes, 8);
  EXPECT_EQ(d.node_count(), 9);
  EXPECT_EQ(d.equations().size(), 9u);
  EXPECT_LT(rigid_defect(job), 1e-14);
  const Job plane = job_of(square_model("CPS4") + "*RIGID BODY, NSET=LEFT\n");
  EXPECT_EQ(plane.domains[0]->equations().size(), 2u);
}

}  // namespace
}  // namespace voussoir
