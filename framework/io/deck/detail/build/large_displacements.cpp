#include <algorithm>

#include <voussoir/framework/domain/element_type.hpp>
#include <voussoir/framework/io/deck/detail/build/large_displacements.hpp>

// NLGEOM and *PLASTIC: which decks can have large displacements, and which elements plastic materials.

namespace voussoir::deck {
namespace {

bool is_structural(const StepCard& step) { return !is_heat(*step.procedure); }
bool is_explicit(const StepCard& step) { return step.dynamic.explicit_method.has_value(); }
bool has_explicit_steps(const Build& b) { return std::any_of(b.deck.steps.begin(), b.deck.steps.end(), is_explicit); }
/// Whether all steps of a structure are explicit.
bool is_explicit_only(const Build& b) {
  return std::all_of(b.deck.steps.begin(), b.deck.steps.end(),
                     [](const StepCard& step) { return !is_structural(step) || is_explicit(step); });
}

bool is_plastic(const Build& b, const SectionCard& section) {
  const auto material = b.deck.materials.find(section.material);
  return material != b.deck.materials.end() && material->second.plastic;
}

/// Explicit steps begin with displacements and velocities, not with plastic strains, and have other plastic elements.
void check_one_method(const Build& b) {
  const StepCard* first = nullptr;
  for (const StepCard& step : b.deck.steps) {
    if (!is_structural(step)) continue;
    if (first && is_explicit(step) != is_explicit(*first))
      b.fail("with *PLASTIC, *DYNAMIC, EXPLICIT cannot be combined with other steps of a structure (" +
                 b.deck.where(first->place) + "); put them into decks of their own",
             step.place);
    if (!first) first = &step;
  }
}

/// "C3D8I, a solid with incompatible modes".
std::string describe_element(const ElementMeaning& meaning, const std::string& type) {
  std::string text = std::string(meaning.name) + ", " + describe(meaning.family);
  if (meaning.family == Family::solid)
    text += type.ends_with(".bbar")           ? " with averaged change of volume in the Abaqus dialect"
            : type.ends_with(".incompatible") ? " with incompatible modes"
            : type.ends_with(".hex8.reduced") ? " with one integration point"
                                              : "";
  return text;
}

}  // namespace

const SectionCard* find_plastic_section(const Build& b) {
  if (std::none_of(b.deck.steps.begin(), b.deck.steps.end(), is_structural)) return nullptr;
  const auto& sections = b.deck.sections;
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [&](const SectionCard& section) { return is_plastic(b, section); });
  return found == sections.end() ? nullptr : &*found;
}

bool find_large_displacements(Build& b) {
  const auto& steps = b.deck.steps;
  const auto large = std::find_if(steps.begin(), steps.end(),
                                  [&](const StepCard& step) { return step.nlgeom && is_structural(step); });
  const SectionCard* const plastic = find_plastic_section(b);
  if (large == steps.end() && !plastic) return false;
  for (const StepCard& step : steps)
    if (large != steps.end() && is_structural(step) && !step.nlgeom)
      b.fail("this step has no NLGEOM, and the step at " + b.deck.where(large->place) +
                 " has: give it to all steps, or put them into decks of their own",
             step.place);
  if (plastic) check_one_method(b);
  if (large == steps.end() && !has_explicit_steps(b)) return false;
  if (large == steps.end())
    b.note("*PLASTIC: displacements and strains are large, as with *STEP, NLGEOM",
           b.deck.materials.find(plastic->material)->second.plastic->place);
  const std::string linear = ", whose equations are those of small rotations, is not supported with " +
                             std::string(plastic ? "*PLASTIC" : "NLGEOM");
  for (const RigidBodyCard& card : b.deck.rigid_bodies) b.fail("*RIGID BODY" + linear, card.place);
  for (const CouplingCard& card : b.deck.couplings) b.fail("a coupling" + linear, card.place);
  for (const TieCard& card : b.deck.ties)
    if (!card.adjust) b.fail("*TIE, ADJUST=NO" + linear, card.place);
  return true;
}

std::string large_type(const Build& b, const ElementMeaning& meaning, const std::string& type,
                       const SectionCard& section, Place place) {
  if (type == "mass") return type;
  const std::string name = "finite_" + type;
  const ElementLibrary& library = ElementLibrary::instance();
  const bool known = meaning.family == Family::solid && library.find_if(name) != nullptr &&
                     (type != "solid.hex8.reduced" || is_explicit_only(b));
  const bool plastic = is_plastic(b, section);
  if (known && (!plastic || library.find_if("plastic_" + name))) return name;
  if (plastic)
    b.fail(describe_element(meaning, type) + ", is not supported with *PLASTIC" +
               (has_explicit_steps(b) ? " in *DYNAMIC, EXPLICIT: use C3D8R, C3D4, C3D10, C3D20, C3D20R, or C3D8 of "
                                        "CalculiX"
                                      : ": use C3D4, C3D10, C3D20, C3D20R, or C3D8 of CalculiX"),
           place);
  b.fail(describe_element(meaning, type) + ", is not supported with large displacements (" +
             (find_plastic_section(b) ? "*PLASTIC" : "NLGEOM") +
             "): use C3D4, C3D6, C3D10, C3D15, C3D20, C3D20R, C3D8 of CalculiX, or " +
             (is_explicit_only(b) ? "C3D8R" : "C3D8R where all steps are *DYNAMIC, EXPLICIT"),
         place);
}

void require_plastic_type(const Build& b, const ElementMeaning& meaning, const std::string& type,
                          const SectionCard& section, Place place) {
  if (!find_plastic_section(b) || !is_plastic(b, section)) return;
  if (meaning.family == Family::solid && ElementLibrary::instance().find_if("plastic_" + type)) return;
  b.fail(describe_element(meaning, type) +
             ", is not supported with *PLASTIC: use C3D4, C3D10, C3D20, C3D20R, or C3D8 of CalculiX",
         place);
}

}  // namespace voussoir::deck
