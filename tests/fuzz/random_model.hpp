#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace voussoir::fuzz {

/// A small model drawn at random, as a deck: bodies of solids, plane or heat-conducting elements, joined by ties,
/// equations, rigid bodies, trusses and springs, held straight, obliquely or not at all, with materials over
/// temperature. The same seed gives the same model on every machine.
struct RandomModel {
  std::string deck;

  struct Term {
    int node = 0;
    int dof = 0;  ///< 1 … 3, or 11
    double coefficient = 0;
  };
  /// What every solution must satisfy, whoever finds it: Σ coefficient · u = 0. Only for nodes without axes of their
  /// own.
  std::vector<std::vector<Term>> equations;
};

RandomModel random_model(std::uint64_t seed);

}  // namespace voussoir::fuzz
