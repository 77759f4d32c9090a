#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/framework/io/deck/deck_reader.hpp>

namespace voussoir {

/// How a deck is written.
struct DeckWriteOptions {
  bool overwrite = false;                ///< whether an existing file is replaced; otherwise it is an Error
  Dialect dialect = Dialect::calculix;   ///< the program that element names are written for
  std::string title;                     ///< text of *HEADING
  std::vector<std::string> print_nodes;  ///< node sets whose unknowns and reactions every step prints
};

/// Writes a domain and its steps as a deck (.inp) that read_deck(), CalculiX and Abaqus can read: nodes,
/// elements, sets, surfaces, materials, sections, equations, supports, and a step for each of `steps` with the loads of
/// its load cases. Without steps, the deck is a model without analysis.
///
/// Names are converted to upper case, as decks are case-insensitive, and invalid characters become "_"; two names
/// that become equal are an Error. Faces of a surface NAME are in element sets NAME_S1, NAME_S2, … Pressures, heat
/// flows and films refer to these sets, since CalculiX confuses such loads if they are given by surface. Numbers have
/// up to 20 characters, as many as CalculiX reads.
///
/// What a deck cannot express is an Error that names it: tractions, springs in local axes, properties that differ from
/// element to element, beams, equations with a constant, elements without a deck type. Supports with value zero
/// are written before the first step, others in every step. The file is written atomically.
void write_deck(const Domain& domain, const std::vector<Step>& steps, const std::filesystem::path& path,
                const DeckWriteOptions& options = {});

}  // namespace voussoir
