#include <unordered_map>

#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

// Cards of Abaqus and CalculiX that are known but not read.

namespace voussoir::deck {
namespace {

constexpr std::string_view output = "result files contain all results";
constexpr std::string_view contact = "contact is not implemented; surfaces can be joined by *TIE";
constexpr std::string_view fluid = "fluids are not implemented";
constexpr std::string_view nonlinear = "materials are linear elastic";
constexpr std::string_view modes = "steps are *STATIC, or *HEAT TRANSFER, STEADY STATE";
constexpr std::string_view contact_only = "it applies only to contact";

constexpr OtherCard cards[] = {
    // Ignored silently …
    {"PREPRINT", "", true},
    {"OUTPUT", "", true},
    {"RESTART", "", true},
    {"CONTROLS", "", true},
    {"MONITOR", "", true},
    {"PRINT", "", true},
    {"FILE FORMAT", "", true},
    {"FILE OUTPUT", "", true},
    {"CONTACT FILE", "", true},
    {"CONTACT OUTPUT", "", true},
    {"ENERGY OUTPUT", "", true},
    {"ENERGY FILE", "", true},
    {"ENERGY PRINT", "", true},
    {"INTEGRATED OUTPUT", "", true},
    {"FILTER", "", true},
    {"TIME POINTS", "", true},
    {"SOLVER CONTROLS", "", true},
    {"DIAGNOSTICS", "", true},
    // … and ignored with a note.
    {"SECTION CONTROLS", "docs/decks.md describes the elements", true},
    {"CONTACT PRINT", output, true},
    {"FACE PRINT", output, true},
    {"SECTION PRINT", output, true},
    {"SECTION FILE", output, true},
    {"RADIATION PRINT", output, true},
    {"USER OUTPUT VARIABLES", output, true},
    {"LATENT HEAT", "it applies only to transient heat conduction", true},
    {"SURFACE INTERACTION", contact_only, true},
    {"SURFACE BEHAVIOR", contact_only, true},
    {"FRICTION", contact_only, true},
    {"CONTACT CONTROLS", contact_only, true},
    {"CONTACT DAMPING", contact_only, true},
    {"GAP CONDUCTANCE", contact_only, true},
    {"GAP HEAT GENERATION", contact_only, true},

    {"SHELL SECTION", "shells are not implemented; use solid elements over the thickness", false},
    {"SHELL GENERAL SECTION", "shells are not implemented; use solid elements over the thickness", false},
    {"MEMBRANE SECTION", "membranes are not implemented", false},
    {"MEMBRANE", "membranes are not implemented", false},
    {"NODAL THICKNESS", "give one thickness in the *SOLID SECTION", false},
    {"NORMAL", "shells are not implemented", false},
    {"REBAR LAYER", "reinforcement is not implemented", false},
    {"EMBEDDED ELEMENT", "reinforcement is not implemented; share the nodes", false},
    {"COHESIVE SECTION", "cohesive elements are not implemented", false},
    {"CONNECTOR SECTION", "connectors are not implemented; use *EQUATION or *SPRING", false},
    {"CONNECTOR BEHAVIOR", "connectors are not implemented; use *EQUATION or *SPRING", false},
    {"FLUID SECTION", fluid, false},
    {"FLUID CONSTANTS", fluid, false},
    {"SPECIFIC GAS CONSTANT", fluid, false},
    {"MASS FLOW", fluid, false},
    {"CFD", fluid, false},
    {"VALUES AT INFINITY", fluid, false},
    {"BOUNDARYF", fluid, false},
    {"TRANSFORMF", fluid, false},
    {"EQUATIONF", fluid, false},
    {"CONTACT PAIR", contact, false},
    {"CONTACT", contact, false},
    {"CONTACT INCLUSIONS", contact, false},
    {"CLEARANCE", contact, false},
    {"CHANGE FRICTION", contact, false},
    {"CHANGE SURFACE BEHAVIOR", contact, false},
    {"GAP", "gaps are nonlinear, and steps are linear", false},
    {"DASHPOT", "dashpots act in dynamics, which is not implemented", false},
    {"ROTARY INERTIA", "rotary inertia acts in dynamics, which is not implemented", false},
    {"PLASTIC", nonlinear, false},
    {"CYCLIC HARDENING", nonlinear, false},
    {"DEFORMATION PLASTICITY", nonlinear, false},
    {"CREEP", nonlinear, false},
    {"VISCOELASTIC", nonlinear, false},
    {"HYPERELASTIC", nonlinear, false},
    {"HYPERFOAM", nonlinear, false},
    {"NO COMPRESSION", nonlinear, false},
    {"NO TENSION", nonlinear, false},
    {"MOHR COULOMB", nonlinear, false},
    {"DRUCKER PRAGER", nonlinear, false},
    {"CONCRETE DAMAGED PLASTICITY", nonlinear, false},
    {"USER MATERIAL", "write the material in C++: see the tutorial on elements", false},
    {"DEPVAR", "it belongs to a *USER MATERIAL", false},
    {"CHANGE MATERIAL", "materials do not change between steps", false},
    {"CHANGE PLASTIC", nonlinear, false},
    {"CHANGE SOLID SECTION", "sections do not change between steps", false},
    {"MAGNETIC PERMEABILITY", "electromagnetics are not implemented", false},
    {"ELECTRICAL CONDUCTIVITY", "electromagnetics are not implemented", false},
    {"ELECTROMAGNETICS", "electromagnetics are not implemented", false},
    {"PIEZOELECTRIC", "electromagnetics are not implemented", false},
    {"MPC", "use *EQUATION or *RIGID BODY", false},
    {"PRE-TENSION SECTION", "bolt pretension is not implemented; cool the bolt with *TEMPERATURE", false},
    {"CYCLIC SYMMETRY MODEL", "model the whole body", false},
    {"SELECT CYCLIC SYMMETRY MODES", "model the whole body", false},
    {"SUBMODEL", "results of a global model cannot be read", false},
    {"MODEL CHANGE", "elements and contact cannot be removed or added", false},
    {"VIEWFACTOR", "cavity radiation is not implemented", false},
    {"CAVITY DEFINITION", "cavity radiation is not implemented", false},
    {"DISTRIBUTION", "give one value for a section", false},
    {"DISTRIBUTION TABLE", "give one value for a section", false},
    {"FREQUENCY", modes, false},
    {"COMPLEX FREQUENCY", modes, false},
    {"BUCKLE", modes, false},
    {"DYNAMIC", modes, false},
    {"MODAL DYNAMIC", modes, false},
    {"MODAL DAMPING", modes, false},
    {"STEADY STATE DYNAMICS", modes, false},
    {"RANDOM RESPONSE", modes, false},
    {"RESPONSE SPECTRUM", modes, false},
    {"BASE MOTION", modes, false},
    {"VISCO", modes, false},
    {"GREEN", modes, false},
    {"ROBUST DESIGN", modes, false},
    {"CRACK PROPAGATION", modes, false},
    {"COUPLED TEMPERATURE-DISPLACEMENT", "give a *HEAT TRANSFER, STEADY STATE step and then a *STATIC one", false},
    {"UNCOUPLED TEMPERATURE-DISPLACEMENT", "give a *HEAT TRANSFER, STEADY STATE step and then a *STATIC one", false},
    {"SENSITIVITY", modes, false},
    {"FEASIBLE DIRECTION", modes, false},
    {"OBJECTIVE", "design sensitivities are not implemented", false},
    {"CONSTRAINT", "design sensitivities are not implemented", false},
    {"DESIGN VARIABLES", "design sensitivities are not implemented", false},
    {"DESIGN RESPONSE", "design sensitivities are not implemented", false},
    {"SUBSTRUCTURE GENERATE", "substructures are available in C++: see docs/architecture.md", false},
    {"SUBSTRUCTURE MATRIX OUTPUT", "substructures are available in C++: see docs/architecture.md", false},
    {"RETAINED NODAL DOFS", "substructures are available in C++: see docs/architecture.md", false},
    {"MATRIX INPUT", "matrices cannot be read", false},
    {"MATRIX ASSEMBLE", "matrices cannot be read", false},
    {"INERTIA RELIEF", "restrain the body by supports", false},
    {"IMPERFECTION", "move the nodes themselves", false},
    {"SYSTEM", "write the coordinates in global axes", false},
    {"USER ELEMENT", "write the element in C++ and name it in a job file (docs/job-file.md, 'element')", false},
    {"UEL PROPERTY", "write the element in C++ and name it in a job file (docs/job-file.md, 'element')", false},
    {"IMPORT", "results of another analysis cannot be read", false},
    {"MAP SOLUTION", "results of another analysis cannot be read", false},
};

}  // namespace

const OtherCard* find_other_card(std::string_view key) {
  static const std::unordered_map<std::string, const OtherCard*> table = [] {
    std::unordered_map<std::string, const OtherCard*> result;
    for (const OtherCard& card : cards) result.emplace(squeezed(card.name), &card);
    return result;
  }();
  const auto found = table.find(std::string(key));
  return found == table.end() ? nullptr : found->second;
}

}  // namespace voussoir::deck
