#include <algorithm>
#include <cmath>

#include <voussoir/framework/domain/cross_section.hpp>
#include <voussoir/framework/io/deck/detail/build/build.hpp>
#include <voussoir/framework/io/detail/derived_table.hpp>

// Sections: thickness and area, the cross-sections of beams, springs, masses.

namespace voussoir::deck {
namespace {

/// The cross-section that a card describes. Local y is the deck's axis 1, local z its axis 2.
struct BeamSection {
  const Build& build;
  const SectionCard& section;

  double at(std::size_t k, const char* what) const {
    if (k >= section.values.size())
      build.fail("SECTION=" + section.shape + " needs its " + what + "; the line has only " +
                     std::to_string(section.values.size()) + " numbers",
                 section.place);
    return section.values[k];
  }
  double positive(std::size_t k, const char* what) const {
    const double value = at(k, what);
    if (!(value > 0)) build.fail("the " + std::string(what) + " of the beam's section is not positive", section.place);
    return value;
  }

  CrossSection general() const {
    if (at(2, "inertia I12") != 0)
      build.fail("I12 of the section is not zero; give I11 and I22 about principal axes, and align n1 with them",
                 section.place);
    const double area = positive(0, "area");
    return {area, positive(1, "inertia I11"), positive(3, "inertia I22"), positive(4, "torsion constant J"), area,
            area};
  }

  CrossSection numbers(double nu) const {
    if (section.shape == "RECT") return CrossSection::rectangle(positive(0, "width"), positive(1, "height"), nu);
    if (section.shape == "CIRC") {
      // Abaqus gives the radius; CalculiX the thickness along axes 1 and 2, the second as the first where left out.
      const double first = positive(0, "size");
      if (build.options.dialect == Dialect::abaqus) return CrossSection::ellipse(2 * first, 2 * first, nu);
      return CrossSection::ellipse(first, section.values.size() > 1 ? positive(1, "size along axis 2") : first, nu);
    }
    if (section.shape == "PIPE") {
      const double outer = positive(0, "outer radius"), thickness = positive(1, "wall thickness");
      if (thickness > outer) build.fail("the wall of the pipe is thicker than its outer radius", section.place);
      return CrossSection::tube(outer, thickness, nu);
    }
    if (section.shape == "BOX") {
      const double a = positive(0, "width"), b = positive(1, "height");
      const double t1 = positive(2, "wall thickness t1"), t2 = positive(3, "wall thickness t2");
      if (positive(4, "wall thickness t3") != t1 || positive(5, "wall thickness t4") != t2)
        build.fail(
            "opposite walls of the box differ in thickness, so its centroid is not at the centre; use "
            "*BEAM GENERAL SECTION",
            section.place);
      if (!(2 * t1 < a && 2 * t2 < b)) build.fail("the walls of the box are thicker than the box", section.place);
      return CrossSection::box(a, b, t1, t2);
    }
    if (section.shape == "GENERAL") return general();
    build.fail(ErrorCode::not_found,
               "SECTION=" + section.shape + " is not supported" +
                   suggestion(section.shape, {"RECT", "CIRC", "PIPE", "BOX", "GENERAL"}),
               section.place);
  }
};

/// Gives a block what a beam needs of its material and its cross-section. Shear areas depend on Poisson's ratio, and so
/// on temperature where that does.
void apply_numbers(ElementBlock& block, const BeamSection& section, const std::shared_ptr<const Material>& given) {
  const std::vector<double> knots = given->temperatures();
  const auto nu = [&](double t) { return given->value("poisson", t); };
  const double first = nu(knots.empty() ? 0 : knots.front());
  const CrossSection s = section.numbers(first);
  block.set_section("area", s.area).set_section("inertia_y", s.inertia_y).set_section("inertia_z", s.inertia_z);
  block.set_section("torsion", s.torsion);
  if (std::all_of(knots.begin(), knots.end(), [&](double t) { return nu(t) == first; })) {
    block.set_material(with_shear_modulus(given));
    block.set_section("shear_area_y", s.shear_area_y).set_section("shear_area_z", s.shear_area_z);
    return;
  }
  const auto material = std::make_shared<Material>(*with_shear_modulus(given));
  material->set_table("shear_area_y",
                      derived_table(knots, [&](double t) { return section.numbers(nu(t)).shear_area_y; }));
  material->set_table("shear_area_z",
                      derived_table(knots, [&](double t) { return section.numbers(nu(t)).shear_area_z; }));
  block.set_material(material);
}

void apply_beam(Build& b, ElementBlock& block, const SectionCard& section,
                const std::shared_ptr<const Material>& material) {
  if (!material->law().empty())
    b.fail("beams need an isotropic material, and '" + material->name() + "' is not", section.place);
  apply_numbers(block, BeamSection{b, section}, material);
  const std::array<double, 3> n1 = section.direction.value_or(std::array<double, 3>{0, 0, -1});
  const double length = std::hypot(n1[0], n1[1], n1[2]);
  if (!(length > 0)) b.fail("the direction n1 of the beam's section is zero", section.place);
  for (std::int32_t e = 0; e < block.size(); ++e) {
    const double* p = &b.coordinates[3 * static_cast<std::size_t>(block.nodes(e)[0])];
    const double* q = &b.coordinates[3 * static_cast<std::size_t>(block.nodes(e)[1])];
    const double d[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]};
    const double across =
        std::hypot(d[1] * n1[2] - d[2] * n1[1], d[2] * n1[0] - d[0] * n1[2], d[0] * n1[1] - d[1] * n1[0]);
    if (!(across > 1e-6 * length * std::hypot(d[0], d[1], d[2])))
      b.fail(
          "beam element " + b.deck.instances.element(block.id(e)) +
              " has no length or is parallel to the direction n1 of its section; give an n1 normal to the beam in the "
              "section's second line",
          section.place);
  }
  block.set_section("orientation_x", n1[0]).set_section("orientation_y", n1[1]).set_section("orientation_z", n1[2]);
}

void apply_spring(Build& b, ElementBlock& block, const SectionCard& section, const ElementMeaning& meaning) {
  if (section.nonlinear || section.spring.size() > 1)
    b.fail("*SPRING, NONLINEAR is not supported; give one stiffness", section.place);
  if (section.spring.empty()) b.fail("*SPRING has no stiffness; add it", section.place);
  const double stiffness = section.spring.front().first;
  if (!(stiffness >= 0)) b.fail("the stiffness of the spring is negative", section.place);
  if (!section.orientation.empty())
    b.fail("*SPRING with ORIENTATION is not supported; use SPRINGA, which acts along the line between its nodes",
           section.place);
  if (meaning.name == "SPRINGA") {
    block.set_section("stiffness", stiffness);
    return;
  }
  const int count = block.type().program().components();
  if (section.spring_dofs.empty())
    b.fail("*SPRING for " + std::string(meaning.name) + " elements needs the degree of freedom on its first line",
           section.place);
  const int dof = section.spring_dofs.front();
  if (section.spring_dofs.size() > 1 && meaning.name == "SPRING2" && section.spring_dofs[1] != dof)
    b.fail("a SPRING2 between different degrees of freedom (" + std::to_string(dof) + " and " +
               std::to_string(section.spring_dofs[1]) + ") is not supported; use *EQUATION to couple them",
           section.place);
  if (dof < 1 || dof > count)
    b.fail("degree of freedom " + std::to_string(dof) + " of the spring does not exist; " +
               (count == 2 ? "a plane model has 1 and 2" : "use 1 to 6"),
           section.place);
  static const char* const names[] = {"kx", "ky", "kz", "krx", "kry", "krz"};
  for (int k = 0; k < count; ++k) block.set_section(names[k], k == dof - 1 ? stiffness : 0.0);
}

}  // namespace

Orientation make_orientation(Build& b, const std::string& name, Place place) {
  const auto it = b.deck.orientations.find(name);
  if (it == b.deck.orientations.end())
    b.fail(ErrorCode::not_found, "there is no orientation '" + name + "'" + suggestion_from(name, b.deck.orientations),
           place);
  const OrientationCard& card = it->second;
  try {
    const Orientation o =
        card.cylindrical ? Orientation::cylindrical(card.a, card.b) : Orientation::rectangular(card.a, card.b);
    return card.turn_axis != 0 ? o.turned(card.turn_axis, card.turn) : o;
  } catch (const Error& error) {
    b.fail("*ORIENTATION: " + error.text(), card.place);
  }
}

void apply_section(Build& b, const Model& m, ElementBlock& block, const SectionCard& section,
                   const ElementMeaning& meaning) {
  if (meaning.family == Family::spring) return apply_spring(b, block, section, meaning);
  if (meaning.family == Family::mass) {
    if (section.values.empty()) b.fail("*MASS has no mass; add it", section.place);
    if (!(section.values[0] >= 0)) b.fail("the mass is negative", section.place);
    block.set_section("mass", section.values[0]);
    return;
  }
  const auto material = build_material(b, section.material, m.physics, section.place);
  if (meaning.family == Family::beam) return apply_beam(b, block, section, material);
  if (meaning.family == Family::truss) {
    if (!material->law().empty())
      b.fail("trusses need an isotropic material, and '" + material->name() + "' is not", section.place);
    if (section.values.empty() || !(section.values[0] > 0))
      b.fail("the section of trusses needs an area above zero; give it on the line after *SOLID SECTION",
             section.place);
    block.set_material(material);
    block.set_section("area", section.values[0]);
    return;
  }
  if (material->law() == "anisotropic" && meaning.family != Family::solid)
    b.fail("*ELASTIC, TYPE=ANISO of material '" + material->name() + "' can be used only with solid elements, and " +
               std::string(meaning.name) + " is " + describe(meaning.family),
           section.place);
  block.set_material(material);
  if (!section.orientation.empty()) block.set_orientation(make_orientation(b, section.orientation, section.place));
  const bool has_thickness = is_plane(meaning.family) && meaning.family != Family::axisymmetric;
  if (has_thickness && !section.values.empty()) {
    if (section.values[0] < 0) b.fail("the thickness is negative", section.place);
    if (section.values[0] > 0) block.set_section("thickness", section.values[0]);
  }
}

}  // namespace voussoir::deck
