#include <voussoir/framework/io/picture/mode_sheet.hpp>

#include <cmath>

#include <voussoir/framework/io/picture/modal_plots.hpp>
#include <voussoir/framework/mesh/sample_models.hpp>

#include "support/expect_error.hpp"
#include "support/png_file.hpp"
#include "support/scratch_folder.hpp"

namespace voussoir {
namespace {

using testing::contents;
using testing::decode;
using testing::Decoded;
using testing::expect_error;
using testing::scratch_file;

/// A shape that bends a cantilever along x upwards or sideways.
NodalField bent(const Domain& domain, int direction, double size) {
  NodalField shape{"displacement", {"ux", "uy", "uz"}, std::vector<double>(3 * domain.coordinates().size() / 3, 0.0)};
  for (std::size_t n = 0; 3 * n < shape.values.size(); ++n) {
    const double x = domain.coordinates()[3 * n];
    shape.values[3 * n + static_cast<std::size_t>(direction)] = size * x * x;
  }
  return shape;
}

/// The colours of a rectangle.
std::vector<std::array<int, 3>> part(const Decoded& png, int left, int top, int width, int height) {
  std::vector<std::array<int, 3>> pixels;
  for (int y = top; y < top + height; ++y)
    for (int x = left; x < left + width; ++x) pixels.push_back(png.at(x, y));
  return pixels;
}

TEST(ModeSheet, ShapesAreDrawnAlikeWhateverTheirSize) {
  Domain domain;
  add_box_model(domain);
  const NodalField small = bent(domain, 2, 1e-6), large = bent(domain, 2, 1e3), sideways = bent(domain, 1, 1);
  const auto path = scratch_file("sheet.png");
  ModeSheetOptions how;
  how.cell_width = 200;
  ModeSheet sheet(domain);
  sheet.add(small, "a").add(large, "a").add(sideways, "a");
  sheet.write(path, how);
  const std::string bytes = contents(path);
  const Decoded png = decode(bytes);
  ASSERT_EQ(png.width, 2u * 24 + 3 * 200);
  const int head = 24 * 200 / 440, high = static_cast<int>(png.height) - head - 62 * 200 / 440;
  const auto first = part(png, 24, head, 200, high);
  EXPECT_EQ(first, part(png, 224, head, 200, high)) << "scaled to the same largest displacement, seen from one place";
  EXPECT_NE(first, part(png, 424, head, 200, high));
  how.overwrite = true;
  sheet.write(path, how);
  EXPECT_EQ(contents(path), bytes) << "the same bits on every run";
}

TEST(ModeSheet, ItsGridFollowsTheNumberOfModes) {
  Domain domain;
  add_box_model(domain);
  const NodalField shape = bent(domain, 2, 1);
  ModeSheetOptions how;
  how.cell_width = 100;
  how.overwrite = true;
  const auto path = scratch_file("grid.png");
  for (const auto& [count, columns] : {std::pair{1, 1}, {2, 2}, {4, 2}, {6, 3}, {7, 4}, {9, 3}, {12, 4}}) {
    ModeSheet sheet(domain);
    for (int i = 0; i < count; ++i) sheet.add(shape, std::to_string(i + 1));
    sheet.write(path, how);
    EXPECT_EQ(decode(contents(path)).width, 48u + 100 * columns) << count;
  }
}

TEST(ModeSheet, DrawsBarsAndRefusesWhatCannotBeDrawn) {
  Domain bars;
  bars.add_node(1, 0, 0, 0);
  bars.add_node(2, 1, 0, 0);
  bars.add_block("bar", "truss").add(1, {1, 2});
  const NodalField shape{"displacement", {"ux", "uy", "uz"}, {0, 0, 0, 0, 0, 1}};
  const auto path = scratch_file("bars.png");
  ModeSheet(bars).add(shape, "1").write(path);
  EXPECT_GT(std::filesystem::file_size(path), 1000u);
  expect_error(ErrorCode::io, {"bars.png", "exists"}, [&] { ModeSheet(bars).add(shape, "1").write(path); });
  expect_error(ErrorCode::bad_input, {"no modes"}, [&] { ModeSheet(bars).write(scratch_file("none.png")); });
  const NodalField other{"displacement", {"ux"}, {1}};
  expect_error(ErrorCode::bad_input, {"does not fit"}, [&] { ModeSheet(bars).add(other, "1"); });
  const Domain empty;
  const NodalField nothing{"displacement", {"ux"}, {}};
  expect_error(ErrorCode::bad_input, {"no visible elements"},
               [&] { ModeSheet(empty).add(nothing, "1").write(scratch_file("none.png")); });
  ModeSheetOptions tiny;
  tiny.cell_width = 10;
  expect_error(ErrorCode::bad_input, {"100 to 2000"},
               [&] { ModeSheet(bars).add(shape, "1").write(scratch_file("none.png"), tiny); });
}

/// Two modes at 10 and 20 Hz with a quarter and three quarters of the mass along x.
ModeSet two_modes() {
  ModeSet modes;
  modes.shapes.resize(2);
  modes.participation = {{1, 0, 0, 0, 0, 0}, {std::sqrt(3), 0, 0, 0, 0, 0}};
  modes.total_mass = {4, 4, 4, 1, 1, 1};
  for (const double f : {10.0, 20.0}) modes.report.modes.push_back({eigenvalue_of(f), f});
  return modes;
}

TEST(ModeLabel, HasTheNumberAndFourDigits) {
  ModeSet modes = two_modes();
  modes.report.modes[0].frequency = 12.3449;
  modes.report.modes[1].frequency = 123456.7;
  EXPECT_EQ(mode_label(modes, 0), "1 · 12.34 Hz");
  EXPECT_EQ(mode_label(modes, 1), "2 · 123457 Hz");
  modes.report.modes[0].frequency = 0;
  modes.report.modes[1].frequency = 443;
  EXPECT_EQ(mode_label(modes, 0), "1 · 0 Hz");
  EXPECT_EQ(mode_label(modes, 1), "2 · 443.0 Hz");
}

TEST(EffectiveMassPlot, HasStepsAtTheModes) {
  const std::string svg = effective_mass_plot("Frame", two_modes()).svg();
  for (const char* word : {"Frame", "frequency [Hz]", "accumulated effective mass [%]", ">x<", ">y<", ">z<"})
    EXPECT_NE(svg.find(word), std::string::npos) << word;
  // The axes are 494 by 230 pixels from (96, 286), over 0 to 20 Hz and 0 to 100 %.
  EXPECT_NE(svg.find("\"96.00,286.00 343.00,286.00 343.00,228.50 590.00,228.50 590.00,56.00\""), std::string::npos)
      << svg;
}

}  // namespace
}  // namespace voussoir
