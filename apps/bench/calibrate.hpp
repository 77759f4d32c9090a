#pragma once
#include <string>

namespace voussoir::app {

/// What `voussoir bench calibrate` and `voussoir bench model` measure.
struct CostBench {
  std::string backend = "openmp";
  bool quick = false;
  int size = 0;      ///< points per side of the grid of pyramids; 0: 160 on a CPU, 640 elsewhere
  std::string json;  ///< file for the numbers; empty: none
  std::string svg;   ///< file for the plots of `model`; empty: none
};

/// Measures a backend, prints the profile as a table and keeps it in the user's folder of profiles. A quick one is not
/// kept.
void bench_calibrate(const CostBench& options);

/// Measures explicit steps on long vectors over N and pyramids over h, beside the predictions of a profile measured in
/// the same run. Throws Error where nothing could be compared.
void bench_model(const CostBench& options);

}  // namespace voussoir::app
