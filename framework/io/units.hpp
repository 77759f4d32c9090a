#pragma once
#include <string>
#include <string_view>

namespace voussoir {

/// How the units of a model are called. Numbers have none: these are labels for tables, pictures and files, and nothing
/// is converted. Every label may be empty.
struct Units {
  std::string force, length, stress, temperature, power;

  /// "N,mm,MPa", and after these the units of temperature and of heat flow where they are wanted: "N,mm,MPa,K,mW".
  /// Throws Error (bad_input) with `where` for fewer than one or more than five, and for a label that is not a short
  /// word.
  static Units parse(std::string_view text, const std::string& where);

  bool empty() const {
    return force.empty() && length.empty() && stress.empty() && temperature.empty() && power.empty();
  }
  /// The label of a quantity by the name that it has in results: "ux", "mises", "reaction" …; empty where it has none.
  std::string of(std::string_view quantity) const;
  /// "mises [MPa]", or only the name.
  std::string labelled(const std::string& quantity) const;

  std::string moment() const;  ///< "N mm"; empty where one of them is
  std::string energy() const { return moment(); }
  std::string flux() const;            ///< "mW/mm²"
  std::string energy_density() const;  ///< "N/mm²"
  std::string volume() const;          ///< "mm³"
};

}  // namespace voussoir
