#pragma once
#include <string>
#include <string_view>

namespace voussoir {

/// The names of a model's units: labels for tables, pictures and files. Nothing is converted. Any label may be empty.
struct Units {
  std::string force,  ///< "N"
      length,         ///< "mm"
      stress,         ///< "MPa"
      temperature,    ///< "K"
      power;          ///< unit of heat flow, "mW"

  /// Parses a list of units of force, length, stress, temperature and heat flow, in this order: "N,mm,MPa,K,mW". Units
  /// at the end may be omitted. Throws Error (bad_input) with `where` for an empty list, more than five units, and a
  /// label that is not a short word.
  static Units parse(std::string_view text, const std::string& where);

  /// Whether all labels are empty.
  bool empty() const {
    return force.empty() && length.empty() && stress.empty() && temperature.empty() && power.empty();
  }
  /// The unit of a quantity by its name in results: "ux", "mises", "reaction" …; empty if it has none.
  std::string of(std::string_view quantity) const;
  /// The name of a quantity followed by its unit, if it has one: "mises [MPa]".
  std::string labelled(const std::string& quantity) const;

  // Derived units; empty if a label that they need is empty.
  std::string moment() const;                      ///< "N mm"
  std::string energy() const { return moment(); }  ///< "N mm"
  std::string flux() const;                        ///< heat flow per area, "mW/mm²"
  std::string energy_density() const;              ///< energy per volume, "N/mm²"
  std::string volume() const;                      ///< "mm³"
};

}  // namespace voussoir
