#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/framework/io/deck/deck_reader.hpp>

namespace voussoir {

/// How a deck is written.
struct DeckWriteOptions {
  bool overwrite = false;  ///< replace a file of that name; otherwise it is an Error
  Dialect dialect = Dialect::calculix;
  std::string title;                     ///< of *HEADING
  std::vector<std::string> print_nodes;  ///< node sets whose unknowns and reactions every step prints
};

/// Writes a domain and what is asked of it as a deck (.inp) that read_deck(), CalculiX and Abaqus read: nodes,
/// elements, sets, surfaces, materials, sections, equations, supports, and a step for each of `steps` with the loads of
/// its load cases (none: no step, a mere model).
///
/// Names are put in capitals, as decks do not tell them apart, and what a name cannot contain becomes "_"; two names
/// that become one are an Error. Faces of a surface NAME stand in element sets NAME_S1, NAME_S2, … Pressures, heat
/// flows and films are given by these, since CalculiX mixes them up with loads given by surface. Numbers have up to 20
/// characters, as many as CalculiX reads.
///
/// What a deck cannot say is an Error that names it: tractions, springs in axes of their own, numbers that differ from
/// element to element, beams, equations with a constant, elements that have no name there. Supports that hold zero
/// stand before the first step, others in every step. The file appears when it is complete.
void write_deck(const Domain& domain, const std::vector<Step>& steps, const std::filesystem::path& path,
                const DeckWriteOptions& options = {});

}  // namespace voussoir
