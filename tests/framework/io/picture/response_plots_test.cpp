#include <voussoir/framework/io/picture/response_plots.hpp>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

std::size_t count(const std::string& text, const std::string& piece) {
  std::size_t found = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++found;
  return found;
}

TEST(ResponsePlots, ShowEveryCurveByItsName) {
  const std::vector<double> axis{0, 1, 2};
  const std::string history = history_plot("Roof", axis, {{"ux", {0, 1, 0}}, {"uy", {0, 2, 1}}}, "u [mm]").svg();
  for (const char* text : {"Roof", ">ux<", ">uy<", "u [mm]", ">time<"}) EXPECT_GE(count(history, text), 1u) << text;
  EXPECT_EQ(count(history, "<polyline") + count(history, "<path"), 2u);
  const std::string sweep = sweep_plot("Sweep", axis, {{"ux", {1, {0, 1}, 2}}}, "u").svg();
  for (const char* text : {"phase [°]", ">frequency<", ">ux<"}) EXPECT_GE(count(sweep, text), 1u) << text;
  const std::vector<std::pair<std::string, std::vector<OscillatorPeaks>>> spectra{
      {"floor 1", {{0.1, 0, 0, 1, 0, 0}, {0.2, 0, 0, 2, 0, 0}}}, {"floor 2", {{0.1, 0, 0, 3, 0, 0}}}};
  const std::string spectrum = spectrum_plot("Floors", spectra, "S_a [g]").svg();
  for (const char* text : {">floor 1<", ">floor 2<", ">period<"}) EXPECT_GE(count(spectrum, text), 1u) << text;
}

TEST(ResponsePlots, RefuseCurvesOfAnotherLength) {
  const std::vector<double> axis{0, 1, 2};
  testing::expect_error(ErrorCode::misuse, {"'ux' has 2 values for 3 points"}, [&] {
    history_plot("t", axis, {{"ux", {0, 1}}}, "u");
  });
  testing::expect_error(ErrorCode::misuse, {"'ux' has 2 values for 3 points"}, [&] {
    sweep_plot("t", axis, {{"ux", {0, 1}}}, "u");
  });
}

}  // namespace
}  // namespace voussoir
