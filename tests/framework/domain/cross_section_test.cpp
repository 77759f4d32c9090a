#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {
namespace {

TEST(CrossSection, OfASolidCircleAndASquare) {
  const CrossSection circle = CrossSection::ellipse(2, 2);
  EXPECT_NEAR(circle.area, M_PI, 1e-14);
  EXPECT_NEAR(circle.inertia_y, M_PI / 4, 1e-14);
  EXPECT_NEAR(circle.torsion, M_PI / 2, 1e-14);
  const CrossSection square = CrossSection::rectangle(1, 1);
  EXPECT_NEAR(square.inertia_z, 1 / 12.0, 1e-15);
  EXPECT_NEAR(square.torsion, 0.1406, 5e-5);  // Timoshenko and Goodier, table of section 109
  EXPECT_NEAR(square.shear_area_y, 5 / 6.0, 1e-15);
}

TEST(CrossSection, GivesABeamItsNumbers) {
  Domain d;
  ElementBlock& block = d.add_block("frame", "beam");
  const CrossSection tube = CrossSection::tube(0.05, 0.004);
  block.set_section(tube);
  EXPECT_EQ(block.section().at("area"), tube.area);
  EXPECT_EQ(block.section().at("inertia_y"), tube.inertia_y);
  EXPECT_EQ(block.section().at("inertia_z"), tube.inertia_z);
  EXPECT_EQ(block.section().at("torsion"), tube.torsion);
  EXPECT_EQ(block.section().at("shear_area_y"), tube.shear_area_y);
  EXPECT_EQ(block.section().at("shear_area_z"), tube.shear_area_z);
}

TEST(CrossSection, RefusesSizesThatMakeNoSense) {
  EXPECT_THROW(CrossSection::rectangle(0, 1), Error);
  EXPECT_THROW(CrossSection::ellipse(1, std::numeric_limits<double>::quiet_NaN()), Error);
  EXPECT_THROW(CrossSection::tube(0.05, 0.06), Error);
  EXPECT_THROW(CrossSection::box(1, 1, 0.6, 0.1), Error);
}

}  // namespace
}  // namespace voussoir
