#include <gtest/gtest.h>

#include <string>

#include <voussoir/framework/io/deck/deck_reader.hpp>

#include "support/expect_error.hpp"

// Cards that are read and have no effect are noted, and combinations of elements that have none are refused.

namespace voussoir {
namespace {

using testing::expect_error;

/// Two squares side by side, of the types that are given; the second one begins at line 10.
std::string two_squares(const std::string& left, const std::string& right) {
  return "*NODE, NSET=NALL\n1, 1, 0\n2, 2, 0\n3, 3, 0\n4, 1, 1\n5, 2, 1\n6, 3, 1\n*ELEMENT, TYPE=" + left +
         ", ELSET=A\n1, 1, 2, 5, 4\n*ELEMENT, TYPE=" + right +
         ", ELSET=B\n2, 2, 3, 6, 5\n*MATERIAL, NAME=M\n*ELASTIC\n100., 0.3\n*DENSITY\n1.\n*CONDUCTIVITY\n1.\n"
         "*SOLID SECTION, ELSET=A, MATERIAL=M\n1.\n*SOLID SECTION, ELSET=B, MATERIAL=M\n1.\n*BOUNDARY\n1, 1, 2\n4, 1, "
         "2\n";
}

const std::string static_step = "*STEP\n*STATIC\n*CLOAD\n3, 1, 1.\n*END STEP\n";

std::string notes_of(const Job& job, const std::string& piece) {
  std::string found;
  for (const JobNote& note : job.notes)
    if (note.text.find(piece) != std::string::npos) found += note.where + ": " + note.text + "\n";
  return found;
}

TEST(UnusedCards, AxisymmetricElementsStandAlone) {
  const auto read = [](const std::string& a, const std::string& b) {
    return read_deck_text(two_squares(a, b) + static_step, "test.inp");
  };
  for (const std::string other : {"CPS4", "CPE4"}) {
    expect_error(ErrorCode::bad_input, {"test.inp:10", other, "CAX4, at test.inp:8"}, [&] { read("CAX4", other); });
    expect_error(ErrorCode::bad_input, {"test.inp:8", other, "CAX4, at test.inp:10"}, [&] { read(other, "CAX4"); });
  }
  EXPECT_EQ(notes_of(read("CPE4", "CPE4"), "plane stress"), "");
  const std::string note = notes_of(read("CPE4", "CPS4"), "plane stress");
  EXPECT_NE(note.find("test.inp:8"), std::string::npos) << note;
  EXPECT_NE(note.find("CPS4, at test.inp:10"), std::string::npos) << note;
  EXPECT_NO_THROW(read("CAX4", "CAX4"));
}

TEST(UnusedCards, TimePointsThatNothingRefersTo) {
  const std::string points = "*TIME POINTS, NAME=P\n0.1\n", step = "*STEP\n*DYNAMIC, DIRECT\n0.1, 0.2\n";
  const auto notes = [&](const std::string& request) {
    return notes_of(read_deck_text(two_squares("CPS4", "CPS4") + points + step + request + "*END STEP\n", "test.inp"),
                    "*TIME POINTS 'P'");
  };
  EXPECT_NE(notes("").find("test.inp:26"), std::string::npos) << notes("");
  EXPECT_EQ(notes("*NODE PRINT, NSET=NALL, TIME POINTS=P\nU\n"), "");
  EXPECT_EQ(notes("*NODE FILE, TIME POINTS=P\nU\n"), "");
  EXPECT_EQ(notes("*OUTPUT, FIELD, TIME POINTS=P\n"), "");
  EXPECT_EQ(notes("*OUTPUT, HISTORY, TIME POINTS=P\n*NODE OUTPUT, NSET=NALL\nU\n"), "");
}

TEST(UnusedCards, DampingIsNotedWhereItDoesNotAct) {
  std::string deck = two_squares("CPS4", "CPS4");
  deck.insert(deck.find("*CONDUCTIVITY"), "*DAMPING, ALPHA=1.\n");
  const std::string dynamic = "*STEP\n*DYNAMIC, DIRECT\n0.1, 0.2\n", piece = "has no effect in static";
  EXPECT_EQ(notes_of(read_deck_text(deck + dynamic + "*END STEP\n", "test.inp"), piece), "");
  EXPECT_NE(notes_of(read_deck_text(deck + static_step, "test.inp"), piece), "");
  expect_error(ErrorCode::bad_input, {"test.inp:", "*DAMPING in a *DYNAMIC step"},
               [&] { read_deck_text(deck + dynamic + "*DAMPING, ALPHA=2.\n*END STEP\n", "test.inp"); });
}

}  // namespace
}  // namespace voussoir
