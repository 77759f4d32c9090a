#pragma once
#include <voussoir/backends/cuda/elements/element_job.hpp>
#include <voussoir/backends/cuda/runtime/shared_memory.hpp>
#include <voussoir/elements/kernel/element_kernel.hpp>
#include <voussoir/elements/kernel/kernel_traits.hpp>
#include <voussoir/elements/kernel/small_algebra.hpp>
#include <voussoir/elements/kernel/upper_triangle.hpp>

// Kernels that compute values of elements, a thread per element. nvcc compiles them for the stock elements, NVRTC for
// the elements of users: nothing of the standard library here.

namespace voussoir::cuda {

namespace detail {

using namespace voussoir::detail;

template <class K>
using DeviceInput = ElementInput<double, K::nodes, K::components, parameter_count_of<K>()>;

template <class K>
inline constexpr bool has_tangent = !declares_no_tangent<K>();
template <class K>
inline constexpr bool has_mass = requires(const DeviceInput<K>& e, double* out) {
  K::mass(e, out);
};
template <class K>
inline constexpr bool has_lumped_mass = requires(const DeviceInput<K>& e, double* out) {
  K::lumped_mass(e, out);
};
template <class K>
inline constexpr bool has_body_load = requires(const DeviceInput<K>& e, const BodyLoad& load, double* f) {
  K::body_load(e, load, f);
};
template <class K>
inline constexpr bool has_recover = requires(const DeviceInput<K>& e, double* out) {
  K::recover(e, out);
};

template <class K>
VSR_FN constexpr int points_of() {
  if constexpr (requires { int(K::points); })
    return K::points;
  else
    return 1;
}

/// Whether kernel K has a routine at all.
template <class K, Routine routine>
inline constexpr bool has_routine = routine == Routine::tangent || routine == Routine::action ? has_tangent<K>
                                    : routine == Routine::residual                            ? true
                                    : routine == Routine::body_load                           ? has_body_load<K>
                                    : routine == Routine::recover                             ? has_recover<K>
                                    : routine == Routine::history ? history_numbers_of<K>() > 0
                                                                  : (has_mass<K> || has_lumped_mass<K>);

/// Values per element of a routine.
template <class K, Routine routine>
VSR_FN constexpr int values_of() {
  constexpr int dofs = K::nodes * K::components;
  if constexpr (routine == Routine::tangent || routine == Routine::mass || routine == Routine::lumped_mass)
    return tangent_entries(dofs, symmetric_tangent_of<K>());
  else if constexpr (routine == Routine::history)
    return history_numbers_of<K>();
  else if constexpr (routine == Routine::recover)
    return points_of<K>() * recovered_count_of<K>();
  else
    return dofs;
}

/// Which of a node's unknowns component c of an element is.
VSR_FN int slot_of(const ElementView& view, int node, int components, int c) {
  return view.slot ? view.slot[static_cast<long long>(node) * components + c] : c;
}

/// Initial temperature and temperature of a node.
VSR_FN void load_temperature(const ElementView& view, int node, double& initial, double& temperature) {
  initial = view.initial_temperature ? view.initial_temperature[node] : view.start_temperature;
  temperature = view.temperature ? view.temperature[node] : initial;
}

/// Time, and the history of element e: groups of 32 elements side by side.
template <class K>
VSR_FN void load_history(const ElementView& view, int e, DeviceInput<K>& in) {
  in.time = view.time;
  in.time_step = view.time_step;
  in.history = nullptr;
  in.history_stride = 32;
  if constexpr (history_numbers_of<K>() > 0)
    if (view.history)
      in.history = view.history + static_cast<long long>(e / 32) * history_numbers_of<K>() * 32 + e % 32;
}

/// Reads what element e has besides positions and unknowns.
template <class K>
VSR_FN void load_circumstances(const ElementView& view, int e, DeviceInput<K>& in) {
  const int* nodes = view.nodes + static_cast<long long>(e) * K::nodes;
  for (int a = 0; a < K::nodes; ++a) load_temperature(view, nodes[a], in.initial_temperature[a], in.temperature[a]);
  in.expansion_reference = view.expansion_reference;
  in.has_temperature = view.temperature != nullptr || view.initial_temperature != nullptr;
  in.table_rows = view.table_rows;
  const long long record = view.record ? view.record[e] : 0;
  in.table = view.parameters + record * view.table_rows * (parameter_count_of<K>() + 1);
  load_history<K>(view, e, in);
}

/// Reads the data of element e.
template <class K>
VSR_FN void load_element(const ElementView& view, int e, bool with_unknowns, DeviceInput<K>& in) {
  const int* nodes = view.nodes + static_cast<long long>(e) * K::nodes;
  for (int a = 0; a < K::nodes; ++a) {
    const int node = nodes[a];
    const double* x = view.coordinates + 3ll * node;
    for (int k = 0; k < 3; ++k) in.x[a][k] = x[k];
    if (with_unknowns && view.unknowns) {
      const double* u = view.unknowns + view.first_unknown[node];
      for (int c = 0; c < K::components; ++c) in.u[a * K::components + c] = u[slot_of(view, node, K::components, c)];
    } else {
      for (int c = 0; c < K::components; ++c) in.u[a * K::components + c] = 0;
    }
  }
  load_circumstances<K>(view, e, in);
}

/// A nodal vector at the nodes of element e.
template <class K>
VSR_FN void load_vector(const ElementView& view, const double* from, int e, double* to) {
  const int* nodes = view.nodes + static_cast<long long>(e) * K::nodes;
  for (int a = 0; a < K::nodes; ++a) {
    const double* x = from + view.first_unknown[nodes[a]];
    for (int c = 0; c < K::components; ++c) to[a * K::components + c] = x[slot_of(view, nodes[a], K::components, c)];
  }
}

/// Leaves a fault behind; the lowest element wins.
__device__ inline void report(unsigned long long* word, int element, ElementFault fault) {
  atomicMin(word, static_cast<unsigned long long>(element) * 4 + static_cast<unsigned long long>(fault));
}

/// Judges an element as the CPU does: parameters, then volume, then results. `finite` is a sum of 0 · result.
__device__ inline void judge(unsigned long long* word, int element, double valid, double health, double finite) {
  if (!(valid > 0))
    report(word, element, ElementFault::bad_parameter);
  else if (!(health > 0))
    report(word, element, ElementFault::inverted);
  else if (!(finite == 0))
    report(word, element, ElementFault::not_finite);
}

/// What an element without sense leaves behind: zeros where nothing has been written yet, since sums are taken of all
/// elements before anybody asks for faults.
__device__ inline void leave_zeros(double* out, int values, bool accumulate) {
  if (accumulate) return;
  for (int k = 0; k < values; ++k) out[32ll * k] = 0;
}

/// Whether the parameters of an element make sense.
template <class K>
VSR_FN double valid_of(const ElementView& view, const DeviceInput<K>& in) {
  if constexpr (parameter_count_of<K>() > 0)
    if (!view.parameters) return 0;
  if constexpr (requires { K::valid(in); })
    return K::valid(in);
  else
    return 1;
}

template <class K>
VSR_LARGE_FN double mass_into(const DeviceInput<K>& in, bool lumped, double* out) {
  if constexpr (has_lumped_mass<K>)
    if (lumped || !has_mass<K>) return K::lumped_mass(in, out);
  if constexpr (has_mass<K>) {
    const double health = K::mass(in, out);
    if (lumped) lump<double, K::nodes, K::components>(out);
    return health;
  } else {
    return 1;
  }
}

/// The values of one element; returns its health.
template <class K, Routine routine>
VSR_FN double compute(const ElementJob& job, int e, const DeviceInput<K>& in, double* result) {
  constexpr int dofs = K::nodes * K::components, entries = dofs * (dofs + 1) / 2;
  constexpr bool symmetric = symmetric_tangent_of<K>();
  if constexpr (routine == Routine::tangent) {
    return K::tangent(in, result);
  } else if constexpr (routine == Routine::mass || routine == Routine::lumped_mass) {
    const double health = mass_into<K>(in, routine == Routine::lumped_mass, result);
    if constexpr (!symmetric) make_whole<double, dofs>(result);
    return health;
  } else if constexpr (routine == Routine::residual) {
    if constexpr (requires { K::residual(in, result); }) {
      return K::residual(in, result);
    } else {
      double matrix[tangent_entries(dofs, symmetric)];
      const double health = K::tangent(in, matrix);
      multiply_tangent<double, dofs, symmetric>(matrix, in.u, result);
      return health;
    }
  } else if constexpr (routine == Routine::action) {
    double du[dofs];
    load_vector<K>(job.view, job.direction, e, du);
    if constexpr (requires { K::action(in, du, result); }) {
      return K::action(in, du, result);
    } else {
      double matrix[tangent_entries(dofs, symmetric)];
      const double health = K::tangent(in, matrix);
      multiply_tangent<double, dofs, symmetric>(matrix, du, result);
      return health;
    }
  } else if constexpr (routine == Routine::mass_action || routine == Routine::lumped_action) {
    double du[dofs];
    load_vector<K>(job.view, job.direction, e, du);
    if constexpr (requires { K::Pieces::mass_action(in, du, result); }) {
      return routine == Routine::mass_action ? K::Pieces::mass_action(in, du, result)
                                             : K::Pieces::lumped_action(in, du, result);
    } else {
      double upper[entries];
      const double health = mass_into<K>(in, routine == Routine::lumped_action, upper);
      multiply_upper<double, dofs>(upper, du, result);
      return health;
    }
  } else if constexpr (routine == Routine::body_load) {
    return K::body_load(in, job.load, result);
  } else if constexpr (routine == Routine::history) {
    return K::advance(in, result);
  } else {
    return K::recover(in, result);
  }
}

/// Whether a routine reads the unknowns.
template <class K, Routine routine>
inline constexpr bool reads_unknowns = routine == Routine::residual || routine == Routine::recover ||
                                       routine == Routine::body_load || routine == Routine::history ||
                                       ((routine == Routine::tangent || routine == Routine::action) && !linear_of<K>());

}  // namespace detail

/// Values of elements by a thread each (the paper's level I).
template <class K, Routine routine>
__global__ void __launch_bounds__(128) element_values(ElementJob job) {
  using namespace detail;
  constexpr int values = values_of<K, routine>();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= job.count) return;
  const int e = job.first + i;
  DeviceInput<K> in;
  load_element<K>(job.view, e, reads_unknowns<K, routine>, in);
  // A product follows a residual, which has judged the parameters: the innermost loop of a solver does not.
  constexpr bool judged =
      routine != Routine::action && routine != Routine::mass_action && routine != Routine::lumped_action;
  double valid = 1;
  if constexpr (judged) valid = valid_of<K>(job.view, in);
  double result[values > 0 ? values : 1];
  double health = 1;
  if (!judged || valid > 0) health = compute<K, routine>(job, e, in, result);
  double finite = 0;
  double* out = job.out + (static_cast<long long>(i / 32) * values) * 32 + i % 32;
  if (!judged || valid > 0)
    for (int k = 0; k < values; ++k) {
      const double value = job.factor * result[k];
      finite += 0 * result[k];
      double& target = out[static_cast<long long>(k) * 32];
      target = job.accumulate ? target + value : value;
    }
  else
    leave_zeros(out, values, job.accumulate != 0);
  judge(job.fault, e, valid, health, finite);
}

}  // namespace voussoir::cuda
