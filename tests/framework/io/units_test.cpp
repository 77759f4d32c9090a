#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/io/picture/line_plot.hpp>
#include <voussoir/framework/io/units.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

TEST(Units, NameEveryQuantity) {
  const Units units = Units::parse("N, mm,MPa,K,mW", "");
  EXPECT_EQ(units.force, "N");
  EXPECT_EQ(units.length, "mm");
  EXPECT_EQ(units.labelled("mises"), "mises [MPa]");
  EXPECT_EQ(units.labelled("ux"), "ux [mm]");
  EXPECT_EQ(units.of("Mz"), "N mm");
  EXPECT_EQ(units.of("temperature"), "K");
  EXPECT_EQ(units.of("flux"), "mW/mm²");
  EXPECT_EQ(units.of("volume"), "mm³");
  EXPECT_EQ(units.labelled("exx"), "exx") << "strains have none";
  EXPECT_EQ(units.labelled("rx"), "rx");
  const Units few = Units::parse("kN,m", "");
  EXPECT_EQ(few.labelled("mises"), "mises") << "what is not named has no label";
  EXPECT_EQ(few.moment(), "kN m");
  EXPECT_TRUE(Units().empty());
  EXPECT_EQ(Units().labelled("mises"), "mises");
  EXPECT_EQ(Units().moment(), "");
  EXPECT_EQ(Units::parse(",,psi", "").of("sxx"), "psi");
}

TEST(Units, RefuseWhatIsNoUnit) {
  expect_error(ErrorCode::bad_input, {"--units", "more than five"}, [] { Units::parse("a,b,c,d,e,f", "--units"); });
  expect_error(ErrorCode::bad_input, {"N,mm,MPa"}, [] { Units::parse("", "--units"); });
  expect_error(ErrorCode::bad_input, {"N,mm,MPa"}, [] { Units::parse(",,", "--units"); });
  for (const char* wrong : {"N,=mm", "<N>,mm", "N,a very long name of a unit", "N\n,mm", "\x1b[1m,mm"})
    expect_error(ErrorCode::bad_input, {"is not a unit"}, [&] { Units::parse(wrong, ""); });
}

TEST(LinePlot, IsAnSvgWithItsCurves) {
  LinePlot plot("Path <A> & more", "distance [mm]");
  plot.panel("stress [MPa]")
      .curve("mises", {{0, 1}, {1, 2}, {2, std::nan("")}, {3, 4}, {4, 3}})
      .curve("principal1", {{0, -3}, {4, 5}});
  plot.panel("displacement").curve("ux", {{0, 0}, {4, 0}});
  plot.mark(2, "lead");
  const std::string svg = plot.svg();
  EXPECT_TRUE(svg.starts_with("<?xml"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("Path &lt;A&gt; &amp; more"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  std::size_t pieces = 0;
  for (std::size_t at = svg.find("<polyline"); at != std::string::npos; at = svg.find("<polyline", at + 1)) ++pieces;
  EXPECT_EQ(pieces, 4u) << "the curve with a gap is two";
  for (const char* text : {">mises<", ">principal1<", ">ux<", ">lead<", ">distance [mm]<"})
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  EXPECT_NE(LinePlot("empty", "x").svg().find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace voussoir
