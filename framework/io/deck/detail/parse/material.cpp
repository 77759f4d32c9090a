#include <algorithm>

#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

// Materials: *MATERIAL and the properties that follow it.

namespace voussoir::deck {

void Parser::read_material(Card& card) {
  const std::string name = card.required("NAME", "*MATERIAL, NAME=STEEL");
  card.done();
  const auto [entry, is_new] = deck_.materials.try_emplace(name);
  if (!is_new)
    card.fail(ErrorCode::bad_input, "the material " + in_quotes(name) +
                                        " is defined twice; the first definition is at " +
                                        deck_.where(entry->second.place));
  entry->second.place = card.place();
  material_ = name;
}

MaterialCard& Parser::current_material(const Card& card) {
  if (material_.empty()) card.fail(ErrorCode::bad_input, card.name() + " needs a *MATERIAL before it");
  return deck_.materials.find(material_)->second;
}

/// Reads rows of `values` numbers and a temperature. Eight numbers fill a line; a longer row goes on in the next.
Property Parser::read_rows(const Card& card, Property property, std::size_t values) {
  property.place = card.place();
  const std::string form =
      std::to_string(values) + (values == 1 ? " number" : " numbers") + " and optionally a temperature";
  PropertyRow row;
  Place begun;
  bool open = false;
  while (next_fields()) {
    if (!open) begun = lines_.place();
    if (!open && fields_.empty()) continue;
    open = true;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (row.values.size() < values)
        row.values.push_back(real(fields_[i], card.name() + ": number"));
      else if (i + 1 == fields_.size())
        row.temperature = real_or(fields_[i], 0, card.name() + ": temperature");
      else
        fail(card.name() + ": this row has too many values; expected: " + form);
    }
    if (row.values.size() < values) continue;
    property.rows.push_back(std::move(row));
    row = {};
    open = false;
  }
  if (open)
    fail(card.name() + ": this row has " + std::to_string(row.values.size()) + " values; expected: " + form, begun);
  if (property.rows.empty()) card.fail(ErrorCode::bad_input, card.name() + " needs a data line: " + form);
  return property;
}

void Parser::set_property(Card& card, std::optional<Property> MaterialCard::*which, Property property) {
  std::optional<Property>& place = current_material(card).*which;
  if (place)
    card.fail(ErrorCode::bad_input, card.name() + " is defined twice for the material " + in_quotes(material_) +
                                        "; the first definition is at " + deck_.where(place->place));
  place = std::move(property);
}

void Parser::read_elastic(Card& card) {
  current_material(card);
  const std::string type = card.choice("TYPE", {"ISOTROPIC", "ORTHOTROPIC", "ENGINEERING CONSTANTS", "ANISOTROPIC"});
  card.ignore({"MODULI"});
  card.refuse("DEPENDENCIES", "properties may depend only on temperature");
  card.done();
  Property property;
  std::size_t values = 2;
  property.type = "ISO";
  if (type == "ORTHOTROPIC") values = 9, property.type = "ORTHO";
  if (type == "ENGINEERING CONSTANTS") values = 9, property.type = type;
  if (type == "ANISOTROPIC") values = 21, property.type = "ANISO";
  set_property(card, &MaterialCard::elastic, read_rows(card, std::move(property), values));
}

void Parser::read_simple_property(Card& card, std::optional<Property> MaterialCard::*which) {
  current_material(card);
  card.refuse("DEPENDENCIES", "properties may depend only on temperature");
  card.done();
  set_property(card, which, read_rows(card, {}, 1));
}

void Parser::read_density(Card& card) { read_simple_property(card, &MaterialCard::density); }
void Parser::read_specific_heat(Card& card) { read_simple_property(card, &MaterialCard::specific_heat); }

/// Rows of yield stress, plastic strain and optionally a temperature, which must be the same in all rows.
void Parser::read_plastic(Card& card) {
  current_material(card);
  if (const std::string hardening = squeezed(card.value("HARDENING")); !hardening.empty() && hardening != "ISOTROPIC")
    card.fail_unsupported(ErrorCode::bad_input,
                          "*PLASTIC, HARDENING=" + hardening + " is not supported: hardening is isotropic");
  if (const std::string beyond = squeezed(card.value("EXTRAPOLATION")); !beyond.empty() && beyond != "CONSTANT")
    card.fail_unsupported(ErrorCode::bad_input, "*PLASTIC, EXTRAPOLATION=" + beyond +
                                                    " is not supported: beyond the table the yield stress is constant");
  card.refuse("RATE", "the yield stress does not depend on the strain rate");
  card.refuse("DATA TYPE", "give pairs of yield stress and plastic strain");
  card.refuse("DEPENDENCIES", "the yield stress depends on the plastic strain alone");
  card.refuse("SCALESTRESS", "give the yield stresses themselves");
  card.refuse("PROPERTIES", "give a table");
  card.refuse("USER", "give a table");
  card.done();
  Property table;
  table.place = card.place();
  while (next_fields()) {
    if (fields_.empty()) continue;
    at_most(3, card, "yield stress, plastic strain, temperature");
    PropertyRow row;
    row.values = {real(field(0), "yield stress"), real_or(field(1), 0, "plastic strain")};
    row.temperature = real_or(field(2), 0, "temperature");
    if (!table.rows.empty() && row.temperature != table.rows.front().temperature)
      fail_unsupported(
          "*PLASTIC: a yield stress that depends on the temperature is not supported: give one temperature");
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) card.fail(ErrorCode::bad_input, "*PLASTIC needs data lines: yield stress, plastic strain");
  set_property(card, &MaterialCard::plastic, std::move(table));
}

bool Parser::has_plastic_section() const {
  return std::any_of(deck_.sections.begin(), deck_.sections.end(), [&](const SectionCard& section) {
    const auto material = deck_.materials.find(section.material);
    return material != deck_.materials.end() && material->second.plastic;
  });
}

/// Plastic materials are known in statics and dynamics. Their *STATIC steps have increments, which is decided where
/// they are read.
void Parser::check_plasticity() {
  const bool used = has_plastic_section();
  for (const auto& [name, material] : deck_.materials) {
    if (!material.plastic) continue;
    for (const StepCard& step : deck_.steps) {
      if (step.procedure && (is_heat(*step.procedure) || step.dynamic.explicit_method)) continue;
      const bool late = step.procedure == Procedure::statics && !step.stress_of_heat && used;
      const bool knows =
          !step.stress_of_heat && (step.procedure == Procedure::nonlinear_statics ||
                                   step.procedure == Procedure::statics || step.procedure == Procedure::dynamic);
      if (knows && !late) continue;
      note_unsupported(Unsupported(
          ErrorCode::bad_input,
          late ? "*PLASTIC and the section of its material must stand before the first *STEP, which is at " +
                     deck_.where(step.place)
               : "*PLASTIC is not supported in steps other than *STATIC and *DYNAMIC, and the step at " +
                     deck_.where(step.place) + " is of another kind",
          deck_.where(material.plastic->place)));
      break;
    }
  }
}

/// Of a material: kept for analyses with rates; build_steps() notes the steps that it does not act in. Damping that is
/// not Rayleigh's is ignored with a note.
void Parser::read_damping(Card& card) {
  DampingCard damping{card.number("ALPHA", 0), card.number("BETA", 0), card.place()};
  for (const char* other : {"STRUCTURAL", "COMPOSITE"})
    if (card.number(other, 0) != 0)
      note("*DAMPING, " + std::string(other) + "= is ignored: damping is that of Rayleigh, ALPHA= and BETA=",
           card.place());
  card.done();
  if (in_step_ && step().procedure == Procedure::dynamic && (damping.alpha != 0 || damping.beta != 0))
    card.fail_unsupported(ErrorCode::bad_input,
                          "*DAMPING in a *DYNAMIC step is not supported: give it to the materials");
  if (in_step_ || material_.empty()) {
    note("*DAMPING is ignored here: it belongs to a *MATERIAL; modes are damped by *MODAL DAMPING", card.place());
    return skip_data();
  }
  std::optional<DampingCard>& place = current_material(card).damping;
  if (place)
    card.fail(ErrorCode::bad_input, card.name() + " is defined twice for the material " + in_quotes(material_) +
                                        "; the first definition is at " + deck_.where(place->place));
  place = damping;
}

void Parser::read_directed_property(Card& card, std::optional<Property> MaterialCard::*which, double zero) {
  current_material(card);
  const std::string type = card.choice("TYPE", {"ISOTROPIC", "ORTHOTROPIC", "ANISOTROPIC"});
  card.refuse("DEPENDENCIES", "properties may depend only on temperature");
  card.refuse("USER", "give a table");
  card.done();
  Property property;
  property.zero = zero;
  property.type = type == "ISOTROPIC" ? "ISO" : type == "ORTHOTROPIC" ? "ORTHO" : "ANISO";
  const std::size_t values = type == "ISOTROPIC" ? 1 : type == "ORTHOTROPIC" ? 3 : 6;
  set_property(card, which, read_rows(card, std::move(property), values));
}

void Parser::read_expansion(Card& card) {
  const double zero = card.number("ZERO", 0);
  read_directed_property(card, &MaterialCard::expansion, zero);
}

void Parser::read_conductivity(Card& card) { read_directed_property(card, &MaterialCard::conductivity, 0); }

void Parser::read_physical_constants(Card& card) {
  if (const double never = 1e300, zero = card.number("ABSOLUTE ZERO", never); zero != never) deck_.absolute_zero = zero;
  if (const double never = 1e300, boltzmann = card.number("STEFAN BOLTZMANN", never); boltzmann != never) {
    if (!(boltzmann > 0)) card.fail(ErrorCode::bad_input, "*PHYSICAL CONSTANTS, STEFAN BOLTZMANN must be positive");
    deck_.stefan_boltzmann = boltzmann;
  }
  card.ignore({"NEWTON GRAVITY", "UNIVERSAL GAS"});
  card.done();
}

}  // namespace voussoir::deck
