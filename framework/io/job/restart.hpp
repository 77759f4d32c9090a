#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// *RESTART: what a job leaves for a later one that continues it, and what a job continues.

namespace voussoir {

/// A file that a deck was read from: the deck itself, a file that it includes, temperatures.
struct DeckFile {
  std::string name;                        ///< for messages
  std::string_view text;                   ///< its contents
  std::shared_ptr<const void> owner = {};  ///< keeps the text in memory; null: the caller does
  int steps = 0;                           ///< of a deck that *RESTART, READ has read: its steps that were kept
};

/// Whether a restart file gets the state at the end of a step.
enum class RestartWrite {
  none,   ///< it does not
  added,  ///< beside the states of earlier steps
  alone   ///< in place of them (OVERLAY)
};

/// The text of a deck for restart files (*RESTART, WRITE); no files: none is asked for.
struct RestartDeck {
  std::vector<DeckFile> files = {};  ///< in the order in which they were opened
  std::string dialect = {};          ///< "calculix" or "abaqus": how it was read
};

/// What a job continues (*RESTART, READ).
struct RestartStart {
  std::string file;       ///< path of the restart file
  std::string where;      ///< file and line of the card
  std::string job;        ///< what the job that wrote the file was solved with: checksums by step
  std::string bytes;      ///< the state at the end of the last step that was read
  std::size_t steps = 0;  ///< number of steps of the job that are not solved again
};

}  // namespace voussoir
