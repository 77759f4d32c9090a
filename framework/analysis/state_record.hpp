#pragma once
#include <array>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/framework/analysis/analysis_state.hpp>

// Saved states as numbers with places, for programs that divide a model in another way than the one that was saved:
// what save_state() and restore_state() put between a model and bytes.

namespace voussoir {

/// The contents of a saved state. Its numbers are in the order of the model's StatePlaces.
struct StateRecord {
  /// The model that the numbers belong to.
  struct Model {
    std::vector<std::string> unknown_names;
    std::int64_t node_count = 0;    ///< of the domain
    std::uint64_t fingerprint = 0;  ///< of the numbers of its nodes and of their unknowns
  };
  /// A vector of all equations.
  struct Numbers {
    std::vector<double> values;  ///< empty: the state does not have it
    /// Whether these are forces, of which each process of a ProcessGroup has a share, rather than unknowns, which are
    /// equal on all of them.
    bool are_shares = false;
  };
  /// What the elements of a block remember.
  struct History {
    std::string block, type;      ///< names of the block and of its elements' program
    std::vector<double> numbers;  ///< element by element, each with the same number of them
  };

  std::optional<Model> model;  ///< none: history alone, of any model with these blocks
  std::string name;            ///< see AnalysisState
  double time = 0, time_step = 0, prescribed_factor = 1;
  std::vector<std::pair<std::string, double>> case_factors;  ///< by the names of load cases
  std::array<Numbers, 4> vectors;  ///< unknowns, rate, second rate and loads, or what a method keeps in their places
  /// Of StatePlaces::temperature_nodes. Empty, or NaN at a node: the initial temperature, unless it is an unknown.
  std::vector<double> temperature;
  std::vector<History> history;  ///< of blocks whose elements remember something
};

/// The nodes and unknowns of the numbers in a model's states, by ascending node.
struct StatePlaces {
  StateRecord::Model model;
  std::vector<std::int32_t> nodes;              ///< per number of a vector: index of its node in the domain
  std::vector<std::int32_t> unknowns;           ///< per number of a vector: index into unknown_names
  std::vector<std::int32_t> temperature_nodes;  ///< per number of a temperature field: index of its node
};

StatePlaces state_places(const AnalysisModel& model);

/// A state as numbers. `shares` says which of its four vectors are forces; of a state they are its loads.
StateRecord record_of(const AnalysisModel& model, const AnalysisState& state,
                      std::array<bool, 4> shares = {false, false, false, true});

/// Writes a record as save_state() does. Throws Error (io) where the stream fails.
void write_record(const StateRecord& record, std::ostream& to);
/// Reads the next record of a stream. Throws Error (bad_input) for bytes that are damaged or not a state.
StateRecord read_record(std::istream& from);

}  // namespace voussoir
