#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/domain/material.hpp>
#include <voussoir/framework/mesh/block_mesh.hpp>
#include <voussoir/framework/mesh/sample_models.hpp>

// What the sample models have in common. `model` names one of them in messages.

namespace voussoir::detail {

/// Dimension of an element type that a sample model can be made of; others are Errors.
int sample_dimension(const std::string& type, const char* model);
void require_positive(double value, const char* what, const char* model);
void refine(BlockMesh& mesh, const std::string& type, const Fineness& fineness, const char* model);
std::shared_ptr<const Material> elastic(const char* name, const ElasticNumbers& numbers);

/// The cross-section of something round, in bricks: a core of four, surrounded by rings of eight. It is extruded along
/// one of the global axes.
class Disc {
 public:
  using Point = BlockMesh::Point;
  /// `radii` are those of the core (its corners lie farther out than the middles of its sides) and of the rings; a core
  /// of negative radius is a hole.
  Disc(Point centre, int axis, std::vector<double> radii);

  /// A corner of the section: ring 0 is the edge of the core; eighths of the circle count from the next global axis.
  Point at(int ring, int eighth, double along) const;
  void add_core(BlockMesh& mesh, double from, double to, const std::string& part) const;
  /// What lies between ring − 1 and ring.
  void add_ring(BlockMesh& mesh, int ring, double from, double to, const std::string& part) const;

 private:
  bool hollow() const { return radii_[0] < 0; }
  Point centre_;
  int axis_;
  std::vector<double> radii_;
};

}  // namespace voussoir::detail
