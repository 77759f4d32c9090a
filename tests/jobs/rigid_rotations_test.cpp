#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/result_files.hpp>

#include "job_models.hpp"

// Rotations of rigid bodies are unknowns ux, uy, uz of a node of their own: they are no displacements, and the moments
// that hold them no forces.

namespace voussoir {
namespace {

using testing::plainly;

/// A column of three C3D8, 0.1 × 0.08 × 0.3, whose top is a rigid body with the reference node 100 at its centre; with
/// `rotation` node 200 is its ROT NODE. So small a body turns by more than it moves.
std::string column(bool rotation) {
  std::ostringstream text;
  text << "*NODE, NSET=NALL\n";
  const double corner[4][2] = {{0, 0}, {.1, 0}, {.1, .08}, {0, .08}};
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 4; ++i)
      text << 4 * k + i + 1 << ", " << corner[i][0] << ", " << corner[i][1] << ", " << 0.1 * k << "\n";
  text << "100, .05, .04, .3\n200, .05, .04, .3\n*ELEMENT, TYPE=C3D8, ELSET=EALL\n";
  for (int e = 0; e < 3; ++e) {
    text << e + 1;
    for (int j = 1; j <= 8; ++j) text << ", " << 4 * e + j;
    text << "\n";
  }
  text << "*NSET, NSET=FOOT\n1, 2, 3, 4\n*NSET, NSET=TOP\n13, 14, 15, 16\n*NSET, NSET=HEAD\n100\n"
          "*NSET, NSET=TURN\n200\n*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.25\n*DENSITY\n2.\n"
          "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*RIGID BODY, NSET=TOP, REF NODE=100"
       << (rotation ? ", ROT NODE=200" : "") << "\n";
  return text.str();
}

/// The summary of a deck's last step.
StepSummary summary_of(const std::string& text) {
  Job job = read_deck_text(text, "test.inp");
  OutputOptions nothing;
  nothing.vtu = nothing.tables = nothing.json = false;
  ResultFiles files(job, nothing);
  const StaticOptions how = plainly();
  files.finish(run_job(job, how, {}, files), {how, 0});
  return files.summaries().back();
}

std::shared_ptr<const ModeSet> modes_of(const std::string& text, Job& job) {
  class Kept : public StepReceiver {
   public:
    void step(std::size_t, StepResult) override {}
    void modes(std::size_t, std::shared_ptr<const ModeSet> modes) override { found = std::move(modes); }
    void state(std::size_t, StepState) override {}
    void end(std::size_t, StepResponse) override {}
    std::shared_ptr<const ModeSet> found;
  } kept;
  job = read_deck_text(text, "test.inp");
  run_job(job, plainly(), {}, kept);
  return kept.found;
}

const SupportReaction* support(const StepSummary& summary, const std::string& name) {
  const auto found = std::find_if(summary.supports.begin(), summary.supports.end(),
                                  [&](const SupportReaction& s) { return s.name == name; });
  return found == summary.supports.end() ? nullptr : &*found;
}

TEST(RigidRotations, AreNotTheLargestDisplacementOfAStep) {
  const std::string step = "*BOUNDARY\nFOOT, 1, 3\n*STEP\n*STATIC\n*CLOAD\n";
  const StepSummary with = summary_of(column(true) + step + "200, 3, 0.001\n*END STEP\n"),
                    without = summary_of(column(false) + step + "100, 6, 0.001\n*END STEP\n");
  for (const char* quantity : {"ux", "uy", "uz", "displacement"}) {
    const Range *a = with.range(quantity), *b = without.range(quantity);
    ASSERT_TRUE(a && b) << quantity;
    const double size = without.range("displacement")->greatest.value;
    EXPECT_NEAR(a->greatest.value, b->greatest.value, 1e-9 * size) << quantity;
    EXPECT_NEAR(a->least.value, b->least.value, 1e-9 * size) << quantity;
    EXPECT_NE(a->greatest.node, 200) << quantity;
  }
  // A corner of the top moves by the rotation times half the diagonal, 0.064; the rotation itself is 15 times as large.
  EXPECT_GT(with.range("displacement")->greatest.value, 0);
}

TEST(RigidRotations, AreNotInModalMasses) {
  for (const bool rotation : {true, false}) {
    Job job;
    const auto modes = modes_of(column(rotation) + "*BOUNDARY\nFOOT, 1, 3\n*STEP\n*FREQUENCY\n3\n*END STEP\n", job);
    ASSERT_EQ(modes->count(), 3);  // two of bending, one of torsion
    ASSERT_EQ(modes->rotation_nodes.size(), 1u);
    for (int m = 0; m < 3; ++m) {
      const NodalField& shape = modes->shapes[static_cast<std::size_t>(m)];
      double displacement = 0, turn = 0;
      for (std::int32_t n = 0; n < job.domains[0]->node_count(); ++n)
        for (int c = 0; c < 3; ++c) {
          const double value = std::abs(shape.at(n, c));
          if (std::isnan(value)) continue;
          (n == modes->rotation_nodes[0] ? turn : displacement) =
              std::max(n == modes->rotation_nodes[0] ? turn : displacement, value);
        }
      EXPECT_GT(turn, 2 * displacement) << "the test shows nothing otherwise";
      EXPECT_NEAR(modes->modal_masses[static_cast<std::size_t>(m)], 1 / (displacement * displacement),
                  1e-12 / (displacement * displacement));
    }
  }
}

// The column hangs from its reference node and is pulled at node 1, at (0, 0, 0), along x: about (0.05, 0.04, 0.3) the
// force 2 has the moment (−0.05, −0.04, −0.3) × (2, 0, 0) = (0, −0.6, 0.08), which the support holds.
TEST(RigidRotations, AreHeldByMoments) {
  const std::string load = "*CLOAD\n1, 1, 2.\n*END STEP\n";
  const StepSummary one = summary_of(column(false) + "*BOUNDARY\nHEAD, 1, 6\n*STEP\n*STATIC\n" + load);
  const SupportReaction* head = support(one, "HEAD");
  ASSERT_TRUE(head);
  const double expected[] = {0, 0.6, -0.08};
  ASSERT_EQ(head->moment.size(), 3u);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(head->moment[static_cast<std::size_t>(k)], expected[k], 1e-9) << k;
  EXPECT_NEAR(head->sum[0], -2, 1e-9);
  EXPECT_NEAR(head->sum[2], 0, 1e-9);

  // With a rotation node of its own, the moment is there, and in no sum of forces.
  const StepSummary two = summary_of(column(true) + "*BOUNDARY\nHEAD, 1, 3\nTURN, 1, 3\n*STEP\n*STATIC\n" + load);
  const SupportReaction* turn = support(two, "TURN");
  ASSERT_TRUE(turn);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(turn->moment[static_cast<std::size_t>(k)], expected[k], 1e-9) << k;
    EXPECT_NEAR(turn->sum[static_cast<std::size_t>(k)], 0, 1e-9) << k;
  }
  for (const SetReaction& set : two.set_reactions)
    if (set.node_set == "TURN") {
      EXPECT_NEAR(set.sum[1], 0, 1e-9);
    }

  // Moments are also reported where only rotations are constrained.
  const StepSummary three =
      summary_of(column(false) + "*BOUNDARY\nFOOT, 1, 3\nHEAD, 6, 6\n*STEP\n*STATIC\n*CLOAD\n13, 1, 2.\n*END STEP\n");
  const SupportReaction* held = support(three, "HEAD");
  ASSERT_TRUE(held);
  EXPECT_NE(held->moment[2], 0);
  EXPECT_NEAR(held->sum[0], 0, 1e-12);
}

// In a plane the one rotation is about z: a row of CPE4 clamped at its rigid end, with a force across at the other.
TEST(RigidRotations, AreHeldByAMomentInAPlaneToo) {
  std::ostringstream text;
  text << "*NODE\n";
  for (int i = 0; i <= 4; ++i) text << 2 * i + 1 << ", " << i << ", 0\n" << 2 * i + 2 << ", " << i << ", 1\n";
  text << "100, 0, 0.5\n*ELEMENT, TYPE=CPE4, ELSET=EALL\n";
  for (int i = 0; i < 4; ++i)
    text << i + 1 << ", " << 2 * i + 1 << ", " << 2 * i + 3 << ", " << 2 * i + 4 << ", " << 2 * i + 2 << "\n";
  text << "*NSET, NSET=END\n1, 2\n*NSET, NSET=HEAD\n100\n*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.25\n"
          "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n1.\n*RIGID BODY, NSET=END, REF NODE=100\n"
          "*BOUNDARY\nHEAD, 1, 2\nHEAD, 6, 6\n*STEP\n*STATIC\n*CLOAD\n9, 2, 3.\n*END STEP\n";
  const StepSummary summary = summary_of(text.str());
  const SupportReaction* head = support(summary, "HEAD");
  ASSERT_TRUE(head);
  EXPECT_NEAR(head->moment[2], -12, 1e-8);
  EXPECT_NEAR(head->sum[1], -3, 1e-9);
}

}  // namespace
}  // namespace voussoir
