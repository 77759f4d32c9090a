#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/apps/bench/rig.hpp>
#include <voussoir/framework/analysis/analysis_state.hpp>
#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/framework/model/device_distribution.hpp>

// Models on several devices, for the workloads that compare numbers of devices.

namespace voussoir::app {

/// The backends to compare, the one with one device first: logical devices in these numbers where the backend names one
/// GPU or is `debug`; the first of the devices and all of them where it names several. A backend that always has one
/// device is an Error (unavailable).
std::vector<std::string> device_lists(const std::string& backend, std::span<const int> counts);

/// A model on one of the backends, with its matrix and its right-hand side.
struct DividedSystem {
  std::shared_ptr<Backend> backend;
  double numbering = 0;  ///< seconds
  std::unique_ptr<AnalysisModel> model;
  std::unique_ptr<LinearSOE> soe;
  AnalysisState state;
  DeviceDistribution distribution;

  DividedSystem(const BenchRig& rig, const Domain& domain, const std::string& spec, std::unique_ptr<LinearSOE> storage);

  /// The solution in the domain's order, since each number of devices has a numbering of its own.
  std::vector<double> solution() const;
};

}  // namespace voussoir::app
