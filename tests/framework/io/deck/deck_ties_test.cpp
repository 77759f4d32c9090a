#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "deck_text.hpp"
#include "support/expect_error.hpp"

// *TIE of meshes that do not match: which nodes are tied to which face with which weights, and what is moved or named.

namespace voussoir {
namespace {

using namespace voussoir::testing;

/// What equations say of a rigid motion u = a + ω × x: the largest defect.
double rigid_defect(const Domain& d) {
  const double a[3] = {0.3, -0.7, 0.2}, w[3] = {0.11, -0.23, 0.31};
  double worst = 0;
  for (const ConstraintEquation& e : d.equations()) {
    double sum = -e.constant;
    for (const auto& t : e.terms) {
      const double* x = &d.coordinates()[3 * static_cast<std::size_t>(t.node)];
      const double u[3] = {a[0] + w[1] * x[2] - w[2] * x[1], a[1] + w[2] * x[0] - w[0] * x[2],
                           a[2] + w[0] * x[1] - w[1] * x[0]};
      sum += t.coefficient * u[t.unknown == "ux" ? 0 : t.unknown == "uy" ? 1 : 2];
    }
    worst = std::max(worst, std::abs(sum));
  }
  return worst;
}

/// Weights of a node's equation for an unknown, by master node.
std::map<Id, double> weights(const Domain& d, Id slave, const std::string& unknown) {
  for (const ConstraintEquation& e : d.equations())
    if (d.node_id(e.terms[0].node) == slave && e.terms[0].unknown == unknown) {
      std::map<Id, double> found;
      for (std::size_t i = 1; i < e.terms.size(); ++i) found[d.node_id(e.terms[i].node)] = -e.terms[i].coefficient;
      return found;
    }
  return {};
}

std::string notes(const Job& job) {
  std::string all;
  for (const JobNote& n : job.notes) all += n.where + ": " + n.text + "\n";
  return all;
}

/// A small cube of 0.5 on top of the unit cube, its foot at (x, y, z).
std::string small_cube(double x, double y, double z) {
  std::string text = "*NODE\n";
  const double corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  for (int i = 0; i < 8; ++i)
    text += std::to_string(11 + i) + ", " + std::to_string(x + 0.5 * corner[i][0]) + ", " +
            std::to_string(y + 0.5 * corner[i][1]) + ", " + std::to_string(z + 0.5 * corner[i][2]) + "\n";
  return text +
         "*ELEMENT, TYPE=C3D8, ELSET=EALL\n2, 11,12,13,14,15,16,17,18\n*SURFACE, NAME=BELOW\n1, S2\n"
         "*SURFACE, NAME=ABOVE\n2, S1\n";
}

TEST(DeckTies, NodesAreTiedToTheFaceByItsShapeFunctions) {
  const Job job = job_of(cube_model() + small_cube(0.25, 0.5, 1) + "*TIE, NAME=GLUE\nABOVE, BELOW\n");
  const Domain& d = *job.domains[0];
  ASSERT_EQ(d.equations().size(), 12u);
  const auto inside = weights(d, 11, "uy");  // at (1/4, 1/2)
  ASSERT_EQ(inside.size(), 4u);
  EXPECT_NEAR(inside.at(5), 0.375, 1e-14);
  EXPECT_NEAR(inside.at(6), 0.125, 1e-14);
  EXPECT_NEAR(inside.at(7), 0.125, 1e-14);
  EXPECT_NEAR(inside.at(8), 0.375, 1e-14);
  const auto on_edge = weights(d, 13, "ux");  // at (3/4, 1)
  ASSERT_EQ(on_edge.size(), 2u);
  EXPECT_NEAR(on_edge.at(7), 0.75, 1e-14);
  EXPECT_NEAR(on_edge.at(8), 0.25, 1e-14);
  EXPECT_LT(rigid_defect(d), 1e-14);
  EXPECT_EQ(notes(job), "");
  // Heat flows through as well.
  const Job heat = job_of(cube_model() + small_cube(0.25, 0.5, 1) + "*TIE, NAME=GLUE\nABOVE, BELOW\n" +
                          heat_step("*BOUNDARY\nBOTTOM, 11, 11, 3.\n"));
  ASSERT_EQ(heat.domains[0]->equations().size(), 4u);
  EXPECT_NEAR(weights(*heat.domains[0], 11, "T").at(8), 0.375, 1e-14);
}

TEST(DeckTies, PositionToleranceIsTakenAsGiven) {
  // The mean diagonal of the larger faces is √2, and 2.5 % of it 0.035: a gap of 0.2 needs a tolerance.
  const std::string apart = cube_model() + small_cube(0.25, 0.5, 1.2);
  expect_error(ErrorCode::bad_input, {"all 4 nodes of slave surface 'ABOVE' are too far from master 'BELOW'"},
               [&] { job_of(apart + "*TIE, NAME=GLUE\nABOVE, BELOW\n"); });
  const Job job = job_of(apart + "*TIE, NAME=GLUE, POSITION TOLERANCE=0.25\nABOVE, BELOW\n");
  EXPECT_EQ(job.domains[0]->equations().size(), 12u);
  EXPECT_NE(notes(job).find("4 nodes of its slave surface were moved onto the master surface, by at most 0.2"),
            std::string::npos)
      << notes(job);
  EXPECT_DOUBLE_EQ(job.domains[0]->node(11).position[2], 1.0);
  EXPECT_DOUBLE_EQ(job.domains[0]->node(15).position[2], 1.7) << "only the surface is moved";
  // Smaller than usual counts too.
  expect_error(ErrorCode::bad_input, {"node 11 is 0.02 away, the tolerance is 0.01"}, [&] {
    job_of(cube_model() + small_cube(0.25, 0.5, 1.02) + "*TIE, NAME=GLUE, POSITION TOLERANCE=0.01\nABOVE, BELOW\n");
  });
}

TEST(DeckTies, NodesBesideTheMasterAreNamedAndLeftFree) {
  const Job job = job_of(cube_model() + small_cube(0.75, 0.25, 1) + "*TIE, NAME=GLUE\nABOVE, BELOW\n");
  EXPECT_EQ(job.domains[0]->equations().size(), 6u);
  EXPECT_TRUE(weights(*job.domains[0], 12, "ux").empty());
  EXPECT_NE(notes(job).find("2 of the 4 nodes of slave surface 'ABOVE' are too far from master 'BELOW' to be tied "
                            "(nodes 12, 13)"),
            std::string::npos)
      << notes(job);
  // CalculiX takes the tolerance for the distance from the surface alone, Abaqus in all directions.
  const std::string wide = cube_model() + small_cube(0.75, 0.25, 1) +
                           "*TIE, NAME=GLUE, POSITION TOLERANCE=0.3\n"
                           "ABOVE, BELOW\n";
  EXPECT_EQ(job_of(wide).domains[0]->equations().size(), 6u);
  const Job abaqus = job_of(wide, Dialect::abaqus);
  EXPECT_EQ(abaqus.domains[0]->equations().size(), 12u);
  EXPECT_LT(rigid_defect(*abaqus.domains[0]), 1e-14);
}

TEST(DeckTies, WithoutAdjustANodeOffTheFaceTurnsWithIt) {
  const Job job = job_of(cube_model() + small_cube(0.25, 0.5, 1.2) +
                         "*TIE, NAME=GLUE, POSITION TOLERANCE=0.25, ADJUST=NO\nABOVE, BELOW\n");
  const Domain& d = *job.domains[0];
  ASSERT_EQ(d.equations().size(), 12u);
  EXPECT_DOUBLE_EQ(d.node(11).position[2], 1.2);
  EXPECT_LT(rigid_defect(d), 1e-14) << "the arm of 0.2 turns with the face";
  // Along the normal, z, the gap adds nothing; across it the normal's turn does, by the uz of the four masters.
  for (const ConstraintEquation& e : d.equations())
    if (d.node_id(e.terms[0].node) == 11) {
      EXPECT_EQ(e.terms.size(), e.terms[0].unknown == "uz" ? 5u : 9u) << e.terms[0].unknown;
    }
}

TEST(DeckTies, CurvedFacesAndTrianglesAreMetToo) {
  // A C3D20 whose top is a saddle, and a C3D10 whose first face lies on it, off by a little.
  const double corner[8][3] = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {0, 0, 1}, {2, 0, 1}, {2, 2, 1}, {0, 2, 1}};
  const int edge[12][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                           {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
  std::string text = "*NODE\n";
  std::string element = "1";
  const auto add = [&](int id, double x, double y, double z) {
    if (z >= 1) z += 0.1 * (x - 1) * (x - 1) - 0.05 * (y - 1);
    text += std::to_string(id) + ", " + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + "\n";
    element += (id == 11 ? ",\n" : ", ") + std::to_string(id);
  };
  for (int i = 0; i < 8; ++i) add(i + 1, corner[i][0], corner[i][1], corner[i][2]);
  for (int i = 0; i < 12; ++i) {
    const double *p = corner[edge[i][0]], *q = corner[edge[i][1]];
    add(9 + i, (p[0] + q[0]) / 2, (p[1] + q[1]) / 2, (p[2] + q[2]) / 2);
  }
  text +=
      "31, 0.3, 0.4, 1.1\n32, 1.5, 0.5, 1.06\n33, 0.6, 1.7, 1\n34, 0.6, 0.6, 2\n"
      "35, 0.9, 0.45, 1.05\n36, 1.05, 1.1, 1\n37, 0.45, 1.05, 1.03\n38, 0.45, 0.5, 1.5\n39, 1.05, 0.55, 1.5\n"
      "40, 0.6, 1.15, 1.5\n";
  text += "*ELEMENT, TYPE=C3D20, ELSET=EALL\n" + element +
          "\n*ELEMENT, TYPE=C3D10, ELSET=EALL\n2, 31,32,33,34,35,36,37,38,39,40\n";
  text += steel + solid_section + "*SURFACE, NAME=SADDLE\n1, S2\n*SURFACE, NAME=FOOT\n2, S1\n";
  for (const std::string adjust : {"YES", "NO"}) {
    const Job job = job_of(text + "*TIE, NAME=GLUE, POSITION TOLERANCE=0.2, ADJUST=" + adjust + "\nFOOT, SADDLE\n");
    const Domain& d = *job.domains[0];
    EXPECT_EQ(d.equations().size(), 18u);
    EXPECT_LT(rigid_defect(d), 1e-12) << adjust;
    if (adjust == "NO") continue;
    // The nodes now lie on the surface, which its shape functions describe exactly.
    for (Id n : {31, 32, 33, 35, 36, 37}) {
      const auto x = d.node(n).position;
      EXPECT_NEAR(x[2], 1 + 0.1 * (x[0] - 1) * (x[0] - 1) - 0.05 * (x[1] - 1), 1e-9) << n;
    }
  }
}

TEST(DeckTies, EdgesOfPlaneElementsAreTied) {
  const std::string plane =
      "*NODE\n1, 0, 0\n2, 2, 0\n3, 2, 1\n4, 0, 1\n5, 1, 0\n6, 2, 0.5\n7, 1, 1.1\n8, 0, 0.5\n"
      "11, 0.5, 1.07\n12, 1.5, 1.08\n13, 1.5, 2\n14, 0.5, 2\n"
      "*ELEMENT, TYPE=CPS8, ELSET=EALL\n1, 1,2,3,4,5,6,7,8\n*ELEMENT, TYPE=CPS4, ELSET=EALL\n2, 11,12,13,14\n" +
      steel + solid_section + "*SURFACE, NAME=LOW\n1, S3\n*SURFACE, NAME=HIGH\n2, S1\n";
  const Job job = job_of(plane + "*TIE, NAME=GLUE\nHIGH, LOW\n");
  const Domain& d = *job.domains[0];
  ASSERT_EQ(d.equations().size(), 4u);
  EXPECT_LT(rigid_defect(d), 1e-12);
  EXPECT_NEAR(d.node(11).position[1], 1 + 0.1 * (1 - std::pow(d.node(11).position[0] - 1, 2)), 1e-9);
  const Job kept = job_of(plane + "*TIE, NAME=GLUE, ADJUST=NO\nHIGH, LOW\n");
  EXPECT_LT(rigid_defect(*kept.domains[0]), 1e-12);
}

TEST(DeckTies, SharedNodesAreLeftAlone) {
  // Node 5 belongs to both surfaces.
  const Job job = job_of(cube_model() +
                         "*NODE\n16, .5, 0, 1\n17, .5, 1, 1\n18, 0, 1, 1\n19, 0, 0, 2\n20, .5, 0, 2\n21, .5, 1, 2\n"
                         "22, 0, 1, 2\n*ELEMENT, TYPE=C3D8, ELSET=EALL\n2, 5,16,17,18,19,20,21,22\n"
                         "*SURFACE, NAME=BELOW\n1, S2\n*SURFACE, NAME=ABOVE\n2, S1\n*TIE, NAME=GLUE\nABOVE, BELOW\n");
  EXPECT_EQ(job.domains[0]->equations().size(), 9u);
  EXPECT_TRUE(weights(*job.domains[0], 5, "ux").empty());
}

}  // namespace
}  // namespace voussoir
