#pragma once
#include <cstdint>
#include <string>

#include <voussoir/framework/domain/domain.hpp>

namespace voussoir::testing {

/// Which kinds of constraints a random model may have.
struct RandomModelOptions {
  bool several_bodies = true;  ///< a second body, tied by equations to the first
  bool rigid_body = true;      ///< a face that follows a reference node and a rotation node
  bool oblique = true;         ///< supports along directions
  bool equations = true;       ///< with coefficients of very different sizes, in any order
  bool redundant = true;       ///< equations that follow from others
  bool contradictory = false;  ///< now and then an equation that contradicts others
  bool loose = false;          ///< now and then too few supports
};

/// Small linear models with many kinds of constraints, the same for the same seed on every machine. Nodes number some
/// dozens, so that dense algebra can check the answer.
class RandomModel {
 public:
  explicit RandomModel(std::uint32_t seed, const RandomModelOptions& options = {}) : seed_(seed), options_(options) {}
  /// Adds the model to an empty domain; without supports and equations where `constrained` is false. Returns what it is
  /// made of, for messages of tests.
  std::string build(Domain& domain, bool constrained = true) const;

 private:
  std::uint32_t seed_;
  RandomModelOptions options_;
};

}  // namespace voussoir::testing
