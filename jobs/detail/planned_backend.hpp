#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/cost_model/cost_model.hpp>

namespace voussoir::detail {

/// A backend that times are predicted for, and its rates.
struct PlannedBackend {
  std::shared_ptr<Backend> backend;
  CostModel model;
};

/// Opens a backend for a plan (BackendPlan, HeatBackendPlan) and writes there what it is and where its rates come from.
/// Nothing where this machine does not have it, which is no error: the plan then says why.
template <class Plan>
std::optional<PlannedBackend> open_planned(const std::string& specification, Plan& plan) {
  plan.backend = specification;
  std::shared_ptr<Backend> backend;
  try {
    backend = Backend::open(specification);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
    plan.usable = false;
    plan.device = error.what();
    return std::nullopt;
  }
  plan.backend = backend->name();
  plan.device = backend->describe();
  ProfileSearch found = find_profile(*backend);
  plan.profile_note = found.note;
  plan.is_assumption = !found.profile;
  return PlannedBackend{backend, CostModel(found.profile ? std::move(*found.profile) : default_profile(*backend))};
}

}  // namespace voussoir::detail
