#pragma once
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/domain/material.hpp>

namespace voussoir {

/// A point of a hardening curve.
struct HardeningPoint {
  double stress = 0;  ///< yield stress: Kirchhoff stress in uniaxial tension
  double strain = 0;  ///< equivalent plastic strain, logarithmic
};

/// An elastic-plastic material: von Mises yield condition with isotropic hardening. It changes element types
/// such as finite_solid.hex8 to plastic_finite_solid.hex8, for dynamics and for statics in increments.
///
///   auto copper = std::make_shared<PlasticMaterial>("copper", std::vector<HardeningPoint>{{400, 0}, {500, 1}});
///   copper->set("young", 117e3).set("poisson", 0.35).set("density", 8.93e-9);
///
/// The yield stress is linear between the points of the table, and constant beyond the last one.
class PlasticMaterial : public Material {
 public:
  /// The largest number of points of a table.
  static constexpr int most_points = 16;

  /// Throws Error (bad_input) for a table that has a defect().
  PlasticMaterial(std::string name, std::vector<HardeningPoint> table)
      : Material(std::move(name)), table_(std::move(table)) {
    if (const std::string text = defect(table_); !text.empty())
      throw Error(ErrorCode::bad_input, text, "material '" + Material::name() + "'");
    set("yield1", table_.front().stress);
    const int count = static_cast<int>(table_.size());
    for (int k = 0; k < most_points; ++k) {
      const std::string number = std::to_string(k + 1);
      const HardeningPoint begin = table_[static_cast<std::size_t>(std::min(k, count - 1))];
      const HardeningPoint end = table_[static_cast<std::size_t>(std::min(k + 1, count - 1))];
      const double slope = k + 1 < count ? (end.stress - begin.stress) / (end.strain - begin.strain) : 0.0;
      set("hardening" + number, slope);
      if (k > 0) set("strain" + number, begin.strain);
    }
  }

  std::string law() const override { return "plastic"; }               ///< see Material::law()
  const std::vector<HardeningPoint>& table() const { return table_; }  ///< as given
  double last_strain() const { return table_.back().strain; }          ///< beyond which the yield stress is constant

  /// What is wrong with a hardening table, in a sentence; empty if nothing is.
  static std::string defect(const std::vector<HardeningPoint>& table) {
    if (table.empty()) return "the hardening table is empty; give pairs of yield stress and plastic strain";
    if (table.size() > most_points)
      return "the hardening table has " + std::to_string(table.size()) + " rows, and at most " +
             std::to_string(most_points) + " are supported; choose fewer points of the curve";
    if (!(table[0].stress > 0))
      return "the first yield stress is " + short_number(table[0].stress, 6) + ", and it must be positive";
    if (table[0].strain != 0)
      return "the first row of a hardening table has the plastic strain 0, where yielding begins; here it is " +
             short_number(table[0].strain, 6);
    for (std::size_t k = 1; k < table.size(); ++k) {
      const std::string row = "row " + std::to_string(k + 1) + " of the hardening table: ";
      if (!(table[k].strain > table[k - 1].strain))
        return row + "plastic strains must increase, and " + short_number(table[k].strain, 6) + " is not above " +
               short_number(table[k - 1].strain, 6);
      if (!(table[k].stress >= table[k - 1].stress))
        return row + "the yield stress falls from " + short_number(table[k - 1].stress, 6) + " to " +
               short_number(table[k].stress, 6) + ", and softening is not supported";
    }
    return {};
  }

 private:
  std::vector<HardeningPoint> table_;
};

}  // namespace voussoir
