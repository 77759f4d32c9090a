#include <algorithm>

#include <voussoir/framework/domain/element_type.hpp>
#include <voussoir/framework/io/deck/detail/build/large_displacements.hpp>

// NLGEOM: which decks can have large displacements.

namespace voussoir::deck {

bool find_large_displacements(const Build& b) {
  const auto& steps = b.deck.steps;
  const auto structural = [](const StepCard& step) { return !is_heat(*step.procedure); };
  const auto large =
      std::find_if(steps.begin(), steps.end(), [&](const StepCard& step) { return step.nlgeom && structural(step); });
  if (large == steps.end()) return false;
  for (const StepCard& step : steps)
    if (structural(step) && !step.nlgeom)
      b.fail("this step has no NLGEOM, and the step at " + b.deck.where(large->place) +
                 " has: give it to all steps, or put them into decks of their own",
             step.place);
  const std::string linear = ", whose equations are those of small rotations, is not supported with NLGEOM";
  for (const RigidBodyCard& card : b.deck.rigid_bodies) b.fail("*RIGID BODY" + linear, card.place);
  for (const CouplingCard& card : b.deck.couplings) b.fail("a coupling" + linear, card.place);
  for (const TieCard& card : b.deck.ties)
    if (!card.adjust) b.fail("*TIE, ADJUST=NO" + linear, card.place);
  return true;
}

std::string large_type(const Build& b, const ElementMeaning& meaning, const std::string& type, Place place) {
  if (type == "mass") return type;
  const std::string name = "finite_" + type;
  if (meaning.family == Family::solid && ElementLibrary::instance().find_if(name)) return name;
  std::string text = std::string(meaning.name) + ", " + describe(meaning.family);
  if (meaning.family == Family::solid)
    text += type.ends_with(".bbar")           ? " with averaged change of volume in the Abaqus dialect"
            : type.ends_with(".incompatible") ? " with incompatible modes"
            : type.ends_with(".reduced")      ? " with one integration point"
                                              : "";
  b.fail(text +
             ", is not implemented for large displacements (NLGEOM): use C3D4, C3D6, C3D10, C3D15, C3D20, C3D20R, or "
             "C3D8 of CalculiX",
         place);
}

}  // namespace voussoir::deck
