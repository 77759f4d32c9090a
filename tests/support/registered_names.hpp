#pragma once
#include <string>
#include <vector>

#include <voussoir/solvers/registries.hpp>
#include <voussoir/solvers/static_problem.hpp>

// Solvers, preconditioners and storages that tests go through: those of the registries, so that a new one is tested
// without a change here.

namespace voussoir::test {

/// Methods of domain decomposition, alone or behind a plus sign: tests/partition goes through them.
inline bool is_decomposition(const std::string& name) {
  const std::string method = name.substr(name.find('+') + 1);
  for (const char* known : {"asm", "asm2", "ras", "ras2", "msm", "msm2", "bddc", "nn", "schur", "feti-dp"})
    if (method.substr(0, method.find(':')) == known) return true;
  return false;
}

/// Names of a registry that are built in, without methods of domain decomposition: what a test adds is not for the
/// others.
inline std::vector<std::string> built_in(const RegistryBase& registry) {
  std::vector<std::string> names;
  for (const RegistryEntry& entry : registry.entries())
    if (entry.origin == "built in" && !is_decomposition(entry.name)) names.push_back(entry.name);
  return names;
}

/// All names of solvers without those that tests add, which begin with "test-", and without methods of domain
/// decomposition.
inline std::vector<std::string> stock_solver_names() {
  std::vector<std::string> names = solver_names();
  std::erase_if(
      names, [](const std::string& name) { return name.find("test-") != std::string::npos || is_decomposition(name); });
  return names;
}

/// CG with every preconditioner.
inline std::vector<std::string> cg_solvers() {
  std::vector<std::string> names;
  for (const std::string& name : built_in(preconditioners())) names.push_back("cg+" + name);
  return names;
}

/// Storages of general use: those that are not made for one direct solver.
inline std::vector<std::string> general_storages() {
  std::vector<std::string> names = built_in(storages());
  std::erase_if(names, [](const std::string& name) { return storages().find(name).is_envelope; });
  return names;
}

}  // namespace voussoir::test
