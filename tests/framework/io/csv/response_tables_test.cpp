#include <voussoir/framework/io/csv/response_tables.hpp>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

TEST(ResponseTables, HaveAColumnForEachHistory) {
  const std::vector<double> times{0, 0.5};
  const CsvTable table = csv_table(times, NamedHistories{{"top ux", {1, -2}}, {"mises", {0, 0.25}}});
  EXPECT_EQ(table.text(), "time,top ux,mises\n0,1,0\n0.5,-2,0.25\n");
  testing::expect_error(ErrorCode::misuse, {"'short' has 1 values for 2 rows"}, [&] {
    csv_table(times, NamedHistories{{"short", {1}}});
  });
}

TEST(ResponseTables, HaveAmplitudeAndPhaseOfSweeps) {
  const std::vector<double> frequencies{1, 2};
  const CsvTable table = csv_table(frequencies, NamedSweeps{{"u", {{2, 0}, {0, -3}}}});
  EXPECT_EQ(table.text(), "frequency,u amplitude,u phase\n1,2,0\n2,3,-90\n");
  testing::expect_error(ErrorCode::misuse, {"'u' has 1 values"}, [&] {
    csv_table(frequencies, NamedSweeps{{"u", {1}}});
  });
}

TEST(ResponseTables, HaveARowForEachPeriodOfASpectrum) {
  const std::vector<OscillatorPeaks> spectra{{0, 0, 0, 3, 0, 3}, {0.5, 1, 2, 4, 5, 6}};
  EXPECT_EQ(csv_table(spectra).text(),
            "period,frequency,displacement,pseudo velocity,pseudo acceleration,velocity,acceleration\n"
            "0,,0,0,3,0,3\n0.5,2,1,2,4,5,6\n");
}

}  // namespace
}  // namespace voussoir
