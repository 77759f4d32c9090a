#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include <voussoir/framework/io/picture/detail/raster.hpp>
#include <voussoir/framework/io/picture/detail/surface.hpp>
#include <voussoir/framework/io/picture/picture.hpp>
#include <voussoir/framework/mesh/sample_models.hpp>

#include "support/expect_error.hpp"
#include "support/png_file.hpp"
#include "support/scratch_folder.hpp"

namespace voussoir {
namespace {

using picture::Colour;
using picture::Corner;
using picture::Image;
using testing::contents;
using testing::decode;
using testing::Decoded;
using testing::expect_error;

TEST(Png, KeepsFewColoursExactly) {
  Image image(70, 40, {1, 1, 1});
  image.rectangle(10, 5, 20, 30, {1, 0, 0});
  image.blend(0, 0, {0, 0, 1}, 1);
  const Decoded png = decode(image.png());
  EXPECT_EQ(png.width, 70u);
  EXPECT_EQ(png.height, 40u);
  EXPECT_EQ(png.at(10, 5), (std::array{255, 0, 0}));
  EXPECT_EQ(png.at(19, 29), (std::array{255, 0, 0}));
  EXPECT_EQ(png.at(20, 29), (std::array{255, 255, 255}));
  EXPECT_EQ(png.at(0, 0), (std::array{0, 0, 255}));
}

TEST(Png, KeepsManyColoursNearly) {
  Image image(256, 128, {1, 1, 1});
  for (int y = 0; y < 128; ++y)
    for (int x = 0; x < 256; ++x) image.at(x, y) = {x / 255.0F, y / 127.0F, 0.5F};
  const Decoded png = decode(image.png());
  double sum = 0;
  for (int y = 0; y < 128; ++y)
    for (int x = 0; x < 256; ++x) sum += std::abs(png.at(x, y)[0] - x) + std::abs(png.at(x, y)[1] - 255 * y / 127);
  EXPECT_LT(sum / (256 * 128), 14) << "256 colours for 32768: a step of about 16 in each direction";
}

TEST(Scale, GetsLighterEvenly) {
  // CIE lightness of the colours rises in steps that differ by less than a quarter.
  const auto lightness = [](const Colour& c) {
    double y = 0;
    const double weights[] = {0.2126, 0.7152, 0.0722};
    for (int k = 0; k < 3; ++k)
      y += weights[k] * (c[k] <= 0.04045 ? c[k] / 12.92 : std::pow((c[k] + 0.055) / 1.055, 2.4));
    return 116 * std::cbrt(y) - 16;
  };
  const double all = lightness(picture::scale_colour(1)) - lightness(picture::scale_colour(0));
  EXPECT_GT(all, 45);
  for (int i = 0; i < 8; ++i) {
    const double step = lightness(picture::scale_colour((i + 1) / 8.0)) - lightness(picture::scale_colour(i / 8.0));
    EXPECT_NEAR(step, all / 8, 0.35 * all / 8) << i;
  }
  EXPECT_EQ(picture::scale_colour(-5), picture::scale_colour(0));
  EXPECT_EQ(picture::scale_colour(7), picture::scale_colour(1));
}

TEST(Raster, ATriangleCoversThePixelsInsideIt) {
  picture::Raster raster(60, 60);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  raster.triangle({10, 10, 0, nan, {0, 0, 1}}, {50, 10, 0, nan, {0, 0, 1}}, {10, 50, 0, nan, {0, 0, 1}});
  int covered = 0;
  for (int y = 0; y < 60; ++y)
    for (int x = 0; x < 60; ++x) {
      const double px = x + 0.5, py = y + 0.5;
      if (std::abs(px + py - 60) < 0.6) continue;  // on the slanting side
      const bool inside = px > 10 && py > 10 && px + py < 60;
      EXPECT_EQ(raster.covers(x, y), inside) << x << " " << y;
      covered += raster.covers(x, y);
    }
  EXPECT_NEAR(covered, 800, 45);  // half of 40 × 40, less the slanting side
}

TEST(Raster, NearerThingsHideFartherOnes) {
  for (const bool near_first : {true, false}) {
    picture::Raster raster(64, 64);
    const auto square = [&](double depth, double value) {
      const auto corner = [&](double x, double y) { return Corner{x, y, depth, value, {0, 0, 1}}; };
      raster.triangle(corner(10, 10), corner(50, 10), corner(50, 50));
      raster.triangle(corner(10, 10), corner(50, 50), corner(10, 50));
    };
    square(near_first ? 5 : 1, near_first ? 1.0 : 0.0);
    square(near_first ? 1 : 5, near_first ? 0.0 : 1.0);
    Image image(64, 64, {1, 1, 1});
    raster.develop(image);
    const Colour yellow = image.at(30, 30);
    EXPECT_GT(yellow[0], yellow[2] + 0.3F) << "the end of the scale is yellow, its beginning blue";
    EXPECT_EQ(image.at(5, 5), (Colour{1, 1, 1}));
  }
}

TEST(Text, IsAsWideAsItIsDrawn) {
  Image image(400, 60, {1, 1, 1});
  const double width = picture::text_width("Pump 0.25 × 10²", 20);
  picture::draw_text(image, "Pump 0.25 × 10²", 50, 40, 20, {0, 0, 0});
  int left = 400, right = 0, top = 60, bottom = 0;
  for (int y = 0; y < 60; ++y)
    for (int x = 0; x < 400; ++x)
      if (image.at(x, y)[0] < 0.5F) {
        left = std::min(left, x), right = std::max(right, x);
        top = std::min(top, y), bottom = std::max(bottom, y);
      }
  EXPECT_NEAR(left, 50, 3);
  EXPECT_NEAR(right, 50 + width, 3);
  EXPECT_NEAR(top, 20, 3);     // capitals are 20 pixels high
  EXPECT_NEAR(bottom, 46, 4);  // the p hangs below the line
  EXPECT_EQ(picture::text_width("", 20), 0);
}

TEST(Text, DrawsSomethingForEverySignOfUsAscii) {
  for (char c = 33; c < 127; ++c) {
    Image image(60, 60, {1, 1, 1});
    picture::draw_text(image, std::string(1, c), 20, 40, 20, {0, 0, 0});
    double dark = 0;
    for (int y = 0; y < 60; ++y)
      for (int x = 0; x < 60; ++x) dark += 1 - image.at(x, y)[0];
    EXPECT_GT(dark, 2) << c;
  }
  Image image(60, 60, {1, 1, 1});
  picture::draw_text(image, "\xff\xc3", 20, 40, 20, {0, 0, 0});  // no UTF-8: boxes, no more
}

TEST(Surface, OfABoxIsItsOutside) {
  BoxModel model;
  model.extent = {3, 2, 1};
  model.fineness = {1, 0};
  for (const char* type : {"solid.hex8", "solid.hex20", "solid.tet4"}) {
    model.type = type;
    Domain domain;
    add_box_model(domain, model);
    const std::vector<double> x(domain.coordinates().begin(), domain.coordinates().end());
    const auto surface = picture::find_surface(domain, x);
    const std::size_t squares = 2 * (6 + 3 + 2);
    // A quadratic square is four triangles at its corners and the square between its midside nodes.
    const std::size_t pieces = std::string(type) == "solid.tet4" ? 2 : std::string(type) == "solid.hex20" ? 5 : 1;
    EXPECT_EQ(surface.polygons.size(), pieces * squares);
    double sharp = 0;
    for (const auto& edge : surface.edges)
      if (edge.sharp)
        sharp += std::hypot(x[3 * edge.a] - x[3 * edge.b], x[3 * edge.a + 1] - x[3 * edge.b + 1],
                            x[3 * edge.a + 2] - x[3 * edge.b + 2]);
    EXPECT_NEAR(sharp, 4 * (3 + 2 + 1), 1e-9) << "the twelve edges of the box";
    for (std::size_t p = 0; p < surface.polygons.size(); ++p)
      for (int i = 0; i < surface.polygons[p].corners; ++i) {
        const auto& n = surface.normals[4 * p + i];
        EXPECT_NEAR(std::max({std::abs(n[0]), std::abs(n[1]), std::abs(n[2])}), 1, 1e-9) << "no rounded corners";
      }
  }
}

class PictureOfABox : public ::testing::Test {
 protected:
  PictureOfABox() {
    BoxModel model;
    model.fineness = {0.25, 0};
    add_box_model(domain_, model);
    moved_ = {"displacement", {"ux", "uy", "uz"}, std::vector<double>(3 * domain_.node_count(), 0.0)};
    NodalField stress{"stress", {"mises"}, std::vector<double>(domain_.node_count())};
    for (std::int32_t n = 0; n < domain_.node_count(); ++n) {
      const double x = domain_.coordinates()[3 * n];
      moved_.values[3 * n + 2] = -1e-4 * x * x;
      stress.values[n] = 1e6 * x;
    }
    fields_ = {{"steel", stress}};
    folder_ = testing::empty_scratch_folder("picture");
  }
  Domain domain_;
  NodalField moved_;
  std::vector<MaterialField> fields_;
  std::filesystem::path folder_;
};

TEST_F(PictureOfABox, HasItsSizeItsColoursAndTheSameBytesAgain) {
  PictureOptions options;
  options.width = 500;
  options.height = 300;
  options.title = "A beam";
  options.subtitle = "pressed";
  Picture picture(domain_);
  picture.deform(moved_).colour(fields_, "mises", "stress in MPa", 1e-6);
  // The largest displacement, 1.6e-3, becomes at most a twentieth of the diagonal, 4.06: × 100 of 1, 2, 5.
  EXPECT_EQ(picture.deformation(), 100);
  picture.write(folder_ / "a.png", options);
  picture.write(folder_ / "b.png", options);
  const std::string bytes = contents(folder_ / "a.png");
  EXPECT_EQ(bytes, contents(folder_ / "b.png"));
  const Decoded png = decode(bytes);
  EXPECT_EQ(png.width, 500u);
  EXPECT_EQ(png.height, 300u);
  EXPECT_EQ(png.at(2, 2), (std::array{255, 255, 255}));
  // Both ends of the scale are seen on the body: blue on the left, yellow on the right.
  int blue = 500, yellow = 0;
  for (int y = 60; y < 290; ++y)
    for (int x = 5; x < 400; ++x) {
      const auto c = png.at(x, y);
      if (c[2] > c[0] + 60) blue = std::min(blue, x);
      if (c[0] > c[2] + 60) yellow = std::max(yellow, x);
    }
  EXPECT_LT(blue, yellow);
  EXPECT_GT(yellow, 200);
}

/// A field of one value but for one node.
std::vector<MaterialField> peaked_field(const Domain& domain, std::int32_t node, double peak, double elsewhere) {
  NodalField stress{"stress", {"mises"}, std::vector<double>(domain.node_count(), elsewhere)};
  stress.values[node] = peak;
  return {{"steel", stress}};
}

TEST(PictureScale, KnowsThePeakAtAMidsideNodeAndInside) {
  for (const char* type : {"solid.tet10", "solid.hex20", "solid.wedge15", "solid.hex8"}) {
    BoxModel model;
    model.extent = {2, 2, 2};
    model.fineness = {1, 0};
    model.type = type;
    Domain domain;
    add_box_model(domain, model);
    const auto x = domain.coordinates();
    // Each node in turn has the peak: corners, midside nodes, and those that no face shows.
    const std::vector<double> position(x.begin(), x.end());
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      const ColourScale scale =
          Picture(domain).colour(peaked_field(domain, n, 144.3e6, 115.2e6), "mises", "MPa", 1e-6).scale();
      ASSERT_NEAR(scale.greatest, 144.3, 1e-9) << type << " node " << n;
      ASSERT_EQ(scale.greatest_at, domain.node_id(n)) << type;
      ASSERT_NEAR(scale.least, 115.2, 1e-9) << type;
      ASSERT_TRUE(scale.clipped_high || scale.high >= 144.3 * (1 - 1e-12))
          << "the bar reaches the maximum, or says not";
    }
  }
}

TEST(PictureScale, SaysWhereItDoesNotReachTheExtremes) {
  BoxModel model;
  model.fineness = {0.1, 0};
  Domain domain;
  add_box_model(domain, model);
  NodalField field{"stress", {"mises"}, std::vector<double>(domain.node_count())};
  for (std::int32_t n = 0; n < domain.node_count(); ++n) field.values[n] = domain.coordinates()[3 * n];  // 0 … 4
  const auto scale = [&] { return Picture(domain).colour(field, "mises", "").scale(); };
  EXPECT_FALSE(scale().clipped_high);
  EXPECT_EQ(scale().high, 4);
  EXPECT_EQ(scale().low, 0);
  std::int32_t corner = 0;
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    if (domain.coordinates()[3 * n] > 3.99) corner = n;
  field.values[corner] = 28.5;  // as at a re-entrant corner
  EXPECT_TRUE(scale().clipped_high);
  EXPECT_NEAR(scale().high, 4, 0.2);
  EXPECT_EQ(scale().greatest, 28.5);
  field.values[corner] = 4.3;  // the scale reaches what is not far
  EXPECT_FALSE(scale().clipped_high);
  EXPECT_EQ(scale().high, 4.3);
  field.values[corner] = -20;
  EXPECT_TRUE(scale().clipped_low);
  EXPECT_FALSE(scale().clipped_high);
  EXPECT_NEAR(scale().low, 0, 0.2);
  EXPECT_EQ(scale().least, -20);
  // All alike: still a scale.
  std::fill(field.values.begin(), field.values.end(), 7.0);
  EXPECT_LT(scale().low, 7);
  EXPECT_GT(scale().high, 7);
  std::fill(field.values.begin(), field.values.end(), std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(std::isnan(scale().greatest));
}

TEST_F(PictureOfABox, ShowsThatTheScaleIsClipped) {
  BoxModel model;
  model.fineness = {0.1, 0};
  Domain domain;
  add_box_model(domain, model);
  NodalField field{"stress", {"mises"}, std::vector<double>(domain.node_count(), 1.0)};
  for (std::int32_t n = 0; n < domain.node_count(); ++n) field.values[n] += domain.coordinates()[3 * n];
  PictureOptions options;
  options.width = 900;
  options.height = 600;
  // Colour above the bar, where its pointed end is: the bar begins at 0.26 of the height, 150 from the right at 900
  // rows.
  const auto coloured_above = [&](const char* name) {
    Picture(domain).colour(field, "mises", "MPa").write(folder_ / name, options);
    const Decoded png = decode(contents(folder_ / name));
    int found = 0;
    for (int y = 600 * 26 / 100 - 10; y < 600 * 26 / 100 - 1; ++y)
      for (int x = 900 - 100; x < 900 - 100 + 18; ++x) {
        const auto c = png.at(x, y);
        if (c[0] > c[2] + 60) ++found;
      }
    return found;
  };
  EXPECT_EQ(coloured_above("reaching.png"), 0);
  field.values[0] = 400;
  EXPECT_GT(coloured_above("clipped.png"), 40);
}

TEST_F(PictureOfABox, ColoursLinesToo) {
  Domain truss;
  truss.add_node(1, 0, 0, 0);
  truss.add_node(2, 1, 0, 0);
  truss.add_node(3, 1, 0, 1);
  ElementBlock& bars = truss.add_block("bars", "truss");
  bars.set_material(std::make_shared<IsotropicMaterial>("steel", 1.0, 0.3));
  bars.add(10, {1, 2});
  bars.add(11, {2, 3});
  Picture picture(truss);
  picture.colour_elements({-1, 5}, "axial stress");
  EXPECT_EQ(picture.scale().greatest, 5);
  EXPECT_EQ(picture.scale().greatest_at, 11) << "the element";
  EXPECT_EQ(picture.scale().least, -1);
  PictureOptions options;
  options.width = 500;
  options.height = 300;
  picture.write(folder_ / "truss.png", options);
  const Decoded png = decode(contents(folder_ / "truss.png"));
  int blue = 0, yellow = 0;
  for (int y = 60; y < 290; ++y)
    for (int x = 5; x < 400; ++x) {
      const auto c = png.at(x, y);
      blue += c[2] > c[0] + 60;
      yellow += c[0] > c[2] + 60;
    }
  EXPECT_GT(blue, 150);
  EXPECT_GT(yellow, 150);
  expect_error(ErrorCode::bad_input, {"picture", "3 values for 2 elements"}, [&] {
    picture.colour_elements({1, 2, 3}, "");
  });
}

TEST_F(PictureOfABox, ShowsPlaneModelsToo) {
  PlateModel model;
  Domain plate;
  add_plate_model(plate, model);
  PictureOptions options;
  options.view = {0, 0, 1};
  options.up = {0, 1, 0};
  options.width = options.height = 200;
  options.shadow = false;
  Picture(plate).write(folder_ / "plate.png", options);
  const Decoded png = decode(contents(folder_ / "plate.png"));
  // A quarter of a plate of 2 × 1: seen from above, its middle is covered and the hole at its corner is not.
  EXPECT_NE(png.at(100, 100), (std::array{255, 255, 255}));
  EXPECT_EQ(png.at(100, 20), (std::array{255, 255, 255}));
}

TEST_F(PictureOfABox, SaysWhatIsWrong) {
  Picture picture(domain_);
  NodalField short_field{"u", {"ux"}, {1, 2}};
  expect_error(ErrorCode::bad_input, {"picture", "do not fit"}, [&] { picture.deform(short_field); });
  expect_error(ErrorCode::not_found, {"mises2"}, [&] { picture.colour(fields_, "mises2", ""); });
  PictureOptions options;
  options.width = 10;
  expect_error(ErrorCode::bad_input, {"x.png", "64 to 16384"}, [&] { picture.write(folder_ / "x.png", options); });
  options.width = 100;
  options.view = {0, 0, 2};
  expect_error(ErrorCode::bad_input, {"x.png", "view", "up"}, [&] { picture.write(folder_ / "x.png", options); });
  Domain empty;
  expect_error(ErrorCode::bad_input, {"x.png", "no visible elements"},
               [&] { Picture(empty).write(folder_ / "x.png"); });
  EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "nothing is left behind";
  options.view = {1, 1, 1};
  picture.write(folder_ / "x.png", options);
  expect_error(ErrorCode::io, {"x.png"}, [&] { picture.write(folder_ / "x.png", options); });
  options.overwrite = true;
  picture.write(folder_ / "x.png", options);
}

}  // namespace
}  // namespace voussoir
