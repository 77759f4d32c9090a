#pragma once
#include <voussoir/backends/element_view.hpp>

// What kernels over elements are asked for. Compiled by g++, nvcc and NVRTC: nothing of the standard library here.

namespace voussoir::cuda {

/// What all kernels over elements are given.
struct ElementJob {
  ElementView view;
  int first = 0;  ///< element that the first group of lanes begins with
  int count = 0;
  double* out = nullptr;                ///< values in groups of 32 elements side by side
  unsigned long long* fault = nullptr;  ///< least of element · 4 + fault
  double factor = 1;                    ///< of the values
  int accumulate = 0;                   ///< adds to `out` instead of setting it
  const double* direction = nullptr;    ///< actions: a nodal vector
  BodyLoad load;
};

/// What a kernel computes.
enum class Routine : int {
  tangent,
  mass,
  lumped_mass,
  residual,
  action,
  mass_action,
  lumped_action,
  body_load,
  recover,
  history
};

/// What the host has to know of an element type before it can launch a kernel for its matrices.
struct TangentWays {
  int point_threads = 0;      ///< threads of an element by points (levels II and IIa); 0: has no such way
  int pair_elements = 0;      ///< elements of a block by pairs; 0: has no such way
  int pair_threads = 0;       ///< of a block
  int pair_bytes = 0;         ///< shared memory of a block
  int prefers_pairs = 0;      ///< what `automatic` stands for
  int tensor_elements = 0;    ///< elements of a block of tensor_tangents; 0: has no such way
  int tensor_threads = 0;     ///< of a block
  int tensor_bytes = 0;       ///< shared memory of a block
  int constant_elements = 0;  ///< the same of constant_tangents
  int constant_threads = 0;
  int constant_bytes = 0;
  int product_threads = 0;  ///< of a block of cluster_point_action; 0: has no such kernel
  int product_bytes = 0;    ///< shared memory of a block besides ClusterPlan::action_bytes(1)
  int kept_numbers = 0;     ///< numbers that an element stores at its points (kept_tensors.hpp); 0: has no such kernels
  int kept_points = 0;      ///< points of an element
  int kept_bytes = 0;       ///< shared memory of a block besides ClusterPlan::shared_bytes()
  int streams = 0;          ///< entries leave when they are ready, a thread per element
  int streams_mass = 0;
};

}  // namespace voussoir::cuda
