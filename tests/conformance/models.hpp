#pragma once
#include <string>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>

namespace voussoir::conformance {

/// A model that every backend must answer alike.
struct TestModel {
  std::string name;
  void (*build)(Domain& domain);
  bool uniform = true;   ///< the same number of unknowns on every node, so that block storage fits
  bool iterates = true;  ///< conditioned well enough for every preconditioner
};

/// Models with 1, 2, 3, 4 and 6 unknowns per node and mixtures, of one field and of several, with supports, equations,
/// all kinds of loads, tables over temperature, orientations and elements of route host.
const std::vector<TestModel>& test_models();

}  // namespace voussoir::conformance
