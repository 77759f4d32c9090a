#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <voussoir/framework/model/analysis_model.hpp>

namespace voussoir::detail {

/// How much the elements of a model have deformed since a reference state: the changes of the distances between the
/// nodes of each element. Rigid motions do not count. Only elements that are not linear are considered, since the
/// tangents of the others do not depend on the displacements. Computed on the host.
class LengthChanges {
 public:
  explicit LengthChanges(const AnalysisModel& model);  ///< of its elements with displacements as unknowns

  /// Takes displacements as the reference.
  void set_reference(const Vector& unknowns);
  /// The displacements of the reference; without a layout where there is none.
  const Vector& reference() const { return reference_; }

  /// The deformation of the element that has deformed most.
  struct Largest {
    double change = 0;  ///< |ln(L / L₀)| of the distance L of two nodes, L₀ at the reference
    double rate = 0;    ///< |dL/dt| / L, per time
  };
  /// The largest change and the largest rate at displacements and velocities. Both are infinite if a distance is not
  /// finite or zero. Does nothing and returns zeros without a reference.
  Largest largest(const Vector& unknowns, const Vector& velocity) const;

 private:
  using Positions = std::vector<double>;  // 3 per node
  Positions positions(const Vector& values, bool at_rest_too) const;

  const AnalysisModel& model_;
  /// The elements of one block.
  struct Group {
    std::size_t nodes = 0;           // per element
    std::vector<std::int32_t> node;  // places in equation_, element by element
  };
  std::vector<Group> groups_;
  std::vector<std::array<std::int32_t, 3>> equation_;  // of ux, uy, uz of each node; −1: none
  Positions at_rest_;
  Vector reference_;
  Positions before_;  // positions of the reference
};

}  // namespace voussoir::detail
