#pragma once

// Parameters of the grid kernels that the library has: plain numbers, in the order in which kernels read them.

namespace voussoir {

/// Of "grid.diffusion": Σ rate_a ∂²u/∂x_a², by second differences along the axes.
struct GridDiffusionParameters {
  double rate[3] = {1, 1, 1};  ///< diffusivity along each axis; 0 leaves the axis out
};

/// Of "grid.layered": scale · (lower (u₋ − u) + upper (u₊ − u)) along one axis, with coefficients lower and upper of
/// each node in the fields 1 and 2.
struct GridLayeredParameters {
  double scale = 1;  ///< factor
  double axis = 0;   ///< 0: x, 1: y, 2: z
};

/// Of "grid.constant": the same value everywhere.
struct GridConstantParameters {
  double value = 0;  ///< the value
};

/// Of "grid.box": a value at the nodes of a box, its surface included.
struct GridBoxParameters {
  double value = 0;             ///< the value inside
  double lower[3] = {0, 0, 0};  ///< corner of the box
  double upper[3] = {0, 0, 0};  ///< the opposite corner
};

/// Of "grid.gaussian": value · exp(−|x − centre|² / (2 width²)) over the axes that the grid has.
struct GridGaussianParameters {
  double value = 0;              ///< the value at the centre
  double centre[3] = {0, 0, 0};  ///< position of the largest value
  double width = 1;              ///< standard deviation
};

}  // namespace voussoir
