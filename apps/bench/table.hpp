#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

// The rows of a benchmark as people and scripts read them.

namespace voussoir::app {

/// One measurement: our time, the floor, the target and peers, all of the same run.
struct BenchRow {
  std::string what;
  double seconds = 0;  ///< ours; 0: there is none, and `problem` says why
  double floor = 0;    ///< seconds below which nobody can be; 0: none was counted
  double target = 0;   ///< seconds that are wanted; 0: no target for this size and machine
  std::vector<std::pair<std::string, double>> peers;  ///< others' times for the same
  double difference = -1;  ///< from the reference, relative to its largest number; −1: not compared
  double tolerance = 0;    ///< that the difference must keep
  std::string note;        ///< iterations, sizes
  std::string problem;     ///< why there is no time
  bool failed = false;     ///< the problem is ours, not something that the backend does not have
  std::vector<std::pair<std::string, double>> figures;  ///< more numbers, for scripts

  bool wrong() const { return difference >= 0 && !(difference <= tolerance); }
};

/// All rows of a run. Each is printed as soon as it is there.
class BenchTable {
 public:
  /// Starts the rows of a workload: a line with its name and what it measures on, and the names of the columns.
  void begin(const std::string& workload, const std::string& model);
  void add(BenchRow row);
  /// True where every result that was timed is right and nothing failed.
  bool sound() const { return faults_ == 0; }
  nlohmann::ordered_json json() const { return rows_; }

 private:
  std::string workload_;
  nlohmann::ordered_json rows_ = nlohmann::ordered_json::array();
  int faults_ = 0;
};

/// "0.315 ms", "8.4 µs", "1.27 s"
std::string readable_time(double seconds);

}  // namespace voussoir::app
