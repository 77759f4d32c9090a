#include <array>
#include <cmath>
#include <numbers>

#include <voussoir/jobs/detail/modal_files.hpp>
#include <voussoir/jobs/detail/print_tables.hpp>

// What CalculiX 2.20 writes of modes into its .dat.

namespace voussoir::detail {
namespace {

/// Fortran's e13.7 and the like, with a blank or more before it.
std::string column(double value, std::size_t width) {
  const std::string text = fortran_exponent(value);
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

std::string integer(int value, std::size_t width) {
  const std::string text = std::to_string(value);
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

using Row = std::array<double, ModeSet::directions>;

std::string table(const char* heading, const ModeSet& modes, bool masses) {
  std::string text = "\n     " + std::string(heading) +
                     "\n\nMODE NO.   X-COMPONENT     Y-COMPONENT     Z-COMPONENT     X-ROTATION      Y-ROTATION      "
                     "Z-ROTATION\n\n";
  Row total{};
  for (int m = 0; m < modes.count(); ++m) {
    text += integer(m + 1, 7);
    for (int d = 0; d < ModeSet::directions; ++d) {
      const double factor = modes.participation[static_cast<std::size_t>(m)][static_cast<std::size_t>(d)];
      const double value = masses ? factor * factor : factor;
      total[static_cast<std::size_t>(d)] += value;
      text += column(value, 16);
    }
    text += "\n";
  }
  if (!masses) return text;
  text += "TOTAL  ";
  for (const double value : total) text += column(value, 16);
  return text + "\n";
}

}  // namespace

std::string calculix_modes_text(const ModeSet& modes) {
  std::string text =
      "\n     E I G E N V A L U E   O U T P U T\n\n MODE NO    EIGENVALUE                       FREQUENCY   \n"
      "                                     REAL PART            IMAGINARY PART\n"
      "                           (RAD/TIME)      (CYCLES/TIME     (RAD/TIME)\n\n";
  for (int m = 0; m < modes.count(); ++m) {
    const double frequency = modes.frequency(m);
    text += integer(m + 1, 7) + column(modes.eigenvalue(m), 16) + column(2 * std::numbers::pi * frequency, 16) +
            column(frequency, 16) + column(0, 16) + "\n";
  }
  text += table("P A R T I C I P A T I O N   F A C T O R S", modes, false);
  text += table("E F F E C T I V E   M O D A L   M A S S", modes, true);
  // Here with the mass at supports, which CalculiX leaves out.
  text +=
      "\n     T O T A L   E F F E C T I V E   M A S S\n\nMODE NO.   X-COMPONENT     Y-COMPONENT     Z-COMPONENT     "
      "X-ROTATION      Y-ROTATION      Z-ROTATION\n\n       ";
  for (const double mass : modes.total_mass) text += column(mass, 16);
  return text + "\n";
}

std::string calculix_mode_heading(int mode) {
  return "\n                    E I G E N V A L U E    N U M B E R " + integer(mode, 5) + "\n\n";
}

}  // namespace voussoir::detail
