#include <unordered_map>

#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

// Cards of Abaqus and CalculiX that are known but not read: ignored, or refused. A card that is supported leaves this
// list and has a rule in deck.cpp instead.

namespace voussoir::deck {
namespace {

constexpr std::string_view output = "result files contain all results";
constexpr std::string_view contact = "contact is not implemented; surfaces can be joined by *TIE";
constexpr std::string_view fluid = "fluids are not implemented";
constexpr std::string_view nonlinear = "materials are linear elastic";
constexpr std::string_view supported_steps =
    "steps are *STATIC, *HEAT TRANSFER, *UNCOUPLED TEMPERATURE-DISPLACEMENT, *DYNAMIC, *FREQUENCY, *MODAL DYNAMIC and "
    "*STEADY STATE DYNAMICS";
constexpr std::string_view contact_only = "it applies only to contact";

using enum UnreadCard::Fate;

constexpr UnreadCard cards[] = {
    // Ignored silently.
    {"PREPRINT", "", ignored},
    {"CONTROLS", "", ignored},
    {"MONITOR", "", ignored},
    {"PRINT", "", ignored},
    {"FILE FORMAT", "", ignored},
    {"FILE OUTPUT", "", ignored},
    {"CONTACT FILE", "", ignored},
    {"CONTACT OUTPUT", "", ignored},
    {"ENERGY OUTPUT", "", ignored},
    {"ENERGY FILE", "", ignored},
    {"ENERGY PRINT", "", ignored},
    {"INTEGRATED OUTPUT", "", ignored},
    {"FILTER", "", ignored},
    {"SOLVER CONTROLS", "", ignored},
    {"DIAGNOSTICS", "", ignored},
    // Ignored with a note.
    {"SECTION CONTROLS", "docs/decks.md describes the elements", ignored},
    {"CONTACT PRINT", output, ignored},
    {"FACE PRINT", output, ignored},
    {"SECTION PRINT", output, ignored},
    {"SECTION FILE", output, ignored},
    {"RADIATION PRINT", output, ignored},
    {"USER OUTPUT VARIABLES", output, ignored},
    {"LATENT HEAT", "it applies only to transient heat conduction", ignored},
    {"SURFACE INTERACTION", contact_only, ignored},
    {"SURFACE BEHAVIOR", contact_only, ignored},
    {"FRICTION", contact_only, ignored},
    {"CONTACT CONTROLS", contact_only, ignored},
    {"CONTACT DAMPING", contact_only, ignored},
    {"GAP CONDUCTANCE", contact_only, ignored},
    {"GAP HEAT GENERATION", contact_only, ignored},

    // Refused.
    {"SHELL SECTION", "shells are not implemented; use solid elements over the thickness", refused},
    {"SHELL GENERAL SECTION", "shells are not implemented; use solid elements over the thickness", refused},
    {"MEMBRANE SECTION", "membranes are not implemented", refused},
    {"MEMBRANE", "membranes are not implemented", refused},
    {"NODAL THICKNESS", "give one thickness in the *SOLID SECTION", refused},
    {"NORMAL", "shells are not implemented", refused},
    {"REBAR LAYER", "reinforcement is not implemented", refused},
    {"EMBEDDED ELEMENT", "reinforcement is not implemented; share the nodes", refused},
    {"COHESIVE SECTION", "cohesive elements are not implemented", refused},
    {"CONNECTOR SECTION", "connectors are not implemented; use *EQUATION or *SPRING", refused},
    {"CONNECTOR BEHAVIOR", "connectors are not implemented; use *EQUATION or *SPRING", refused},
    {"FLUID SECTION", fluid, refused},
    {"FLUID CONSTANTS", fluid, refused},
    {"SPECIFIC GAS CONSTANT", fluid, refused},
    {"MASS FLOW", fluid, refused},
    {"CFD", fluid, refused},
    {"VALUES AT INFINITY", fluid, refused},
    {"BOUNDARYF", fluid, refused},
    {"TRANSFORMF", fluid, refused},
    {"EQUATIONF", fluid, refused},
    {"CONTACT PAIR", contact, refused},
    {"CONTACT", contact, refused},
    {"CONTACT INCLUSIONS", contact, refused},
    {"CLEARANCE", contact, refused},
    {"CHANGE FRICTION", contact, refused},
    {"CHANGE SURFACE BEHAVIOR", contact, refused},
    {"GAP", "gaps are nonlinear, and steps are linear", refused},
    {"DASHPOT", "modes are undamped, and *MODAL DAMPING damps them one by one", refused},
    {"ROTARY INERTIA", "rotary inertia of points is not implemented; model the body", refused},
    {"RATE DEPENDENT", "the yield stress of *PLASTIC does not depend on the strain rate", refused},
    {"CYCLIC HARDENING", nonlinear, refused},
    {"DEFORMATION PLASTICITY", nonlinear, refused},
    {"CREEP", nonlinear, refused},
    {"VISCOELASTIC", nonlinear, refused},
    {"HYPERELASTIC", nonlinear, refused},
    {"HYPERFOAM", nonlinear, refused},
    {"NO COMPRESSION", nonlinear, refused},
    {"NO TENSION", nonlinear, refused},
    {"MOHR COULOMB", nonlinear, refused},
    {"DRUCKER PRAGER", nonlinear, refused},
    {"CONCRETE DAMAGED PLASTICITY", nonlinear, refused},
    {"USER MATERIAL", "write the law in C++: see docs/tutorials/write_a_law.md", refused},
    {"DEPVAR", "it belongs to a *USER MATERIAL", refused},
    {"CHANGE MATERIAL", "materials do not change between steps", refused},
    {"CHANGE PLASTIC", nonlinear, refused},
    {"CHANGE SOLID SECTION", "sections do not change between steps", refused},
    {"MAGNETIC PERMEABILITY", "electromagnetics are not implemented", refused},
    {"ELECTRICAL CONDUCTIVITY", "electromagnetics are not implemented", refused},
    {"ELECTROMAGNETICS", "electromagnetics are not implemented", refused},
    {"PIEZOELECTRIC", "electromagnetics are not implemented", refused},
    {"MPC", "use *EQUATION or *RIGID BODY", refused},
    {"PRE-TENSION SECTION", "bolt pretension is not implemented; cool the bolt with *TEMPERATURE", refused},
    {"CYCLIC SYMMETRY MODEL", "model the whole body", refused},
    {"SELECT CYCLIC SYMMETRY MODES", "model the whole body", refused},
    {"SUBMODEL", "results of a global model cannot be read", refused},
    {"MODEL CHANGE", "elements and contact cannot be removed or added", refused},
    {"VIEWFACTOR", "cavity radiation is not implemented", refused},
    {"CAVITY DEFINITION", "cavity radiation is not implemented", refused},
    {"DISTRIBUTION", "give one value for a section", refused},
    {"DISTRIBUTION TABLE", "give one value for a section", refused},
    {"COMPLEX FREQUENCY", supported_steps, refused},
    {"BUCKLE", supported_steps, refused},
    {"RANDOM RESPONSE", supported_steps, refused},
    {"RESPONSE SPECTRUM", "spectra are read from job files (docs/job-file.md)", refused},
    {"VISCO", supported_steps, refused},
    {"GREEN", supported_steps, refused},
    {"ROBUST DESIGN", supported_steps, refused},
    {"CRACK PROPAGATION", supported_steps, refused},
    {"SENSITIVITY", supported_steps, refused},
    {"FEASIBLE DIRECTION", supported_steps, refused},
    {"OBJECTIVE", "design sensitivities are not implemented", refused},
    {"CONSTRAINT", "design sensitivities are not implemented", refused},
    {"DESIGN VARIABLES", "design sensitivities are not implemented", refused},
    {"DESIGN RESPONSE", "design sensitivities are not implemented", refused},
    {"SUBSTRUCTURE GENERATE", "substructures are available in C++: see docs/tutorials/domain_decomposition.md",
     refused},
    {"SUBSTRUCTURE MATRIX OUTPUT", "substructures are available in C++: see docs/tutorials/domain_decomposition.md",
     refused},
    {"RETAINED NODAL DOFS", "substructures are available in C++: see docs/tutorials/domain_decomposition.md", refused},
    {"MATRIX INPUT", "matrices cannot be read", refused},
    {"MATRIX ASSEMBLE", "matrices cannot be read", refused},
    {"INERTIA RELIEF", "restrain the body by supports", refused},
    {"IMPERFECTION", "move the nodes themselves", refused},
    {"SYSTEM", "write the coordinates in global axes", refused},
    {"USER ELEMENT", "write the element in C++ and name it in a job file (docs/job-file.md, 'element')", refused},
    {"UEL PROPERTY", "write the element in C++ and name it in a job file (docs/job-file.md, 'element')", refused},
    {"IMPORT", "results of another analysis cannot be read", refused},
    {"MAP SOLUTION", "results of another analysis cannot be read", refused},
};

}  // namespace

const UnreadCard* find_unread_card(std::string_view key) {
  static const std::unordered_map<std::string, const UnreadCard*> table = [] {
    std::unordered_map<std::string, const UnreadCard*> result;
    for (const UnreadCard& card : cards) result.emplace(squeezed(card.name), &card);
    return result;
  }();
  const auto found = table.find(std::string(key));
  return found == table.end() ? nullptr : found->second;
}

}  // namespace voussoir::deck
