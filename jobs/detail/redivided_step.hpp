#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/analysis/state_record.hpp>
#include <voussoir/partition/process/process_part.hpp>

// What the parts of a model have saved of a step over time, for processes that divide the model in another way: states
// and ends of steps are merged into those of the whole model, which is then divided again. Only process 0 does this.

namespace voussoir::detail {

/// The values of a field at some of its nodes; no components where it is empty.
NodalField at_nodes(const NodalField& whole, const std::vector<std::int64_t>& nodes);

/// Which nodes and elements of the whole model the numbers that a part saves belong to.
struct SavedPlaces {
  std::vector<std::int64_t> nodes;                  ///< of the whole job, per local node
  std::vector<std::vector<std::int64_t>> elements;  ///< of the whole block, per block of the domain and local element
  StatePlaces numbers;                              ///< of the part's model; none if it has no elements

  /// Of a domain of a part. `model` is null where the part has no elements, or no model yet.
  static SavedPlaces of(const ProcessPart& part, std::size_t domain, const AnalysisModel* model);
  bool has_elements() const;
  std::string to_bytes() const;
  /// Throws Error (bad_input) at `where` for damaged bytes.
  static SavedPlaces from_bytes(const std::string& bytes, const std::string& where);
};

/// What is divided again, as errors say it.
struct RedividedSource {
  std::string refusal;  ///< "the run cannot be resumed on other processes"
  std::string advice;   ///< what to do then
  std::string where;    ///< of what was saved: "the checkpoint of step 2"
};

class RedividedStep {
 public:
  /// Of a domain of any part of the model.
  RedividedStep(const ProcessPart& part, std::size_t domain, RedividedSource source);

  /// Adds a part of the former division: in the order of the processes. `saved` is what its runner has saved.
  void add(SavedPlaces places, std::string saved);
  /// What the runners of the new parts continue from: states, and on process 0 what its recorder has saved.
  std::vector<std::string> states_for(const std::vector<SavedPlaces>& parts) const;
  /// What the runners of the new parts take over of a step that was finished. Fields have all unknowns of the whole
  /// model, with NaN where a node does not have one.
  std::vector<std::string> ends_for(const std::vector<SavedPlaces>& parts) const;

 private:
  struct Former {
    SavedPlaces places;
    std::string saved;
  };
  struct Block {
    std::string name;
    std::int64_t elements = 0;  // in the whole model
  };
  const Former& first() const;
  std::vector<StateRecord> merge(const std::vector<std::vector<StateRecord>>& records, std::size_t state,
                                 const std::vector<SavedPlaces>& parts) const;
  void move_vector(const std::vector<std::vector<StateRecord>>& records, std::size_t state, std::size_t vector,
                   const std::vector<SavedPlaces>& parts, std::vector<StateRecord>& made) const;
  void move_temperatures(const std::vector<std::vector<StateRecord>>& records, std::size_t state,
                         const std::vector<SavedPlaces>& parts, std::vector<StateRecord>& made) const;
  void move_history(const std::vector<std::vector<StateRecord>>& records, std::size_t state,
                    const std::vector<SavedPlaces>& parts, std::vector<StateRecord>& made) const;
  std::vector<std::size_t> columns_of(const std::vector<std::string>& names) const;
  [[noreturn]] void fail(const std::string& why) const;

  RedividedSource source_;
  std::int64_t nodes_ = 0;          // of the whole job
  std::vector<std::string> names_;  // of the unknowns of the whole domain
  std::vector<Block> blocks_;
  std::vector<Former> former_;
};

}  // namespace voussoir::detail
