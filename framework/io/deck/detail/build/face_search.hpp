#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <voussoir/framework/io/deck/detail/build/face_shape.hpp>

// The point of a surface that is nearest to a node.

namespace voussoir::deck {

/// A face, or with one node and no shape, a point.
struct SearchFace {
  const FaceShape* shape = nullptr;
  std::array<std::int32_t, FaceShape::most_nodes> nodes{};
  int count = 1;
};

/// Where a point meets a face, and how it moves with the face: by u = Σ weight_a u_a − gap Σ slope_a (normal · u_a).
/// The first sum interpolates (and continues the face's linear part to a point beside it); the second is what the turn
/// of the normal does to a point that lies off the face. Every rigid motion of small rotations is followed exactly.
struct Meeting {
  std::int32_t face = -1;
  double at[2] = {0, 0};           ///< in the reference cell
  std::array<double, 3> foot{};    ///< the nearest point of the face
  std::array<double, 3> normal{};  ///< zero where the face has no area
  double distance = 0;             ///< from the foot
  double gap = 0, overhang = 0;    ///< the part along the normal, and the length of the part along the face
  double weight[FaceShape::most_nodes] = {};
  double slope[FaceShape::most_nodes][3] = {};
};

/// Faces in a tree of boxes.
class FaceSearch {
 public:
  FaceSearch(std::span<const double> coordinates, std::vector<SearchFace> faces);
  /// The nearest face; of several at the same distance the first.
  Meeting nearest(const double* x) const;
  const SearchFace& face(std::int32_t index) const { return faces_[index]; }

 private:
  struct Box {
    double low[3], high[3];
    std::int32_t first, last;  // faces of a leaf
    std::int32_t left = -1, right = -1;
  };
  std::int32_t build(std::int32_t first, std::int32_t last);
  void corners(std::int32_t face, double (*x)[3]) const;
  Meeting meet(std::int32_t face, const double* x) const;

  std::span<const double> coordinates_;
  std::vector<SearchFace> faces_;
  std::vector<std::int32_t> order_;
  std::vector<Box> boxes_;
};

}  // namespace voussoir::deck
