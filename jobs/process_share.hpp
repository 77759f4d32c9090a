#pragma once
#include <cstdint>
#include <map>
#include <string>

// What results.json says of the processes of a run, and of a model that no process holds as a whole.

namespace voussoir {

/// The share of one process in a run.
struct ProcessShare {
  std::string machine;           ///< name of the machine
  std::string backend;           ///< Backend::describe()
  int processors = 1;            ///< that the process may use
  int threads = 0;               ///< host threads of its backend
  std::int64_t elements = 0;     ///< elements of its part
  std::int64_t nodes = 0;        ///< nodes of its part, those that other parts share included
  std::int64_t owned_nodes = 0;  ///< nodes whose equations it stores
  std::int64_t part_bytes = 0;   ///< encoded size of its part of the job
  std::int64_t peak_bytes = 0;   ///< largest memory of the process so far, as the system reports it
};

/// Sizes of the whole model, for the process that has only a part of it.
struct WholeSizes {
  std::int64_t nodes = 0;                                ///< without auxiliary nodes of the deck reader
  std::int64_t elements = 0;                             ///< of the largest of the job's models
  std::map<std::string, std::int64_t> elements_by_type;  ///< of all of them
};

}  // namespace voussoir
