#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/backends/element_view.hpp>

// The interface of an element type to a backend: sizes, and routines over batches of elements.

namespace voussoir {

/// The index in a nodal vector (the unknowns, a direction) of component `c` at a local node of an element.
inline int unknown_index(const ElementView& view, int node, int components, int c) {
  return view.first_unknown[node] + (view.slot ? view.slot[static_cast<std::ptrdiff_t>(node) * components + c] : c);
}

/// How an element's kernel reaches a backend.
enum class Route {
  native,  ///< compiled for the backend
  jit,     ///< compiled at run time from the embedded source of the kernel
  host     ///< computed by a virtual function on the CPU and transferred in batches
};

/// "native", "jit" or "host".
const char* to_string(Route route);

/// The lowest-numbered element of a batch that has an error, and the kind of error.
struct ElementStatus {
  ElementFault fault = ElementFault::none;  ///< none if all elements are valid
  std::int32_t element = -1;                ///< number of the element in its batch; −1 without a fault
  /// Keeps the error of the lowest-numbered element.
  void merge(const ElementStatus& other) {
    if (other.fault == ElementFault::none) return;
    if (fault == ElementFault::none || other.element < element) *this = other;
  }
};

/// The source text of a kernel, for backends that compile it at run time.
struct KernelSource {
  std::string type_expression;  ///< C++ name of the element kernel to instantiate
  std::string file;             ///< the user's file, for error messages
  std::string text;             ///< the contents of that file
  int energy_operations = 0;    ///< of a law that is given by its energy: operations on numbers that it takes; else 0
};

/// What an element type computes: its sizes, and routines over batches of elements. One object per type.
///
/// Symmetric matrices are stored as upper triangles by rows: entry (i, j ≥ i) of an m × m matrix is at
/// i·m − i(i−1)/2 + j − i. Matrices of a type whose tangents are not symmetric are stored whole, by rows; its
/// masses too, so that both can be added. Degrees of freedom of an element are ordered node by node. Routines write
/// groups of `lanes()` elements side by side: value k of element e of a batch is at ((e / lanes) · values + k) · lanes
/// + e % lanes, and the last group is written completely. `first` is a multiple of lanes().
class ElementProgram {
 public:
  virtual ~ElementProgram() = default;

  virtual const std::string& name() const = 0;                       ///< name of the element type, "solid.hex8"
  virtual Route route() const = 0;                                   ///< how the kernel is available
  virtual int nodes() const = 0;                                     ///< nodes per element
  virtual int components() const = 0;                                ///< unknowns per node
  virtual std::span<const std::string> unknown_names() const = 0;    ///< one name per component
  virtual std::span<const std::string> parameter_names() const = 0;  ///< in the order of a parameter record
  virtual int lanes() const = 0;                                     ///< elements per group, one per SIMD lane
  virtual bool has_tangent() const { return true; }  ///< false for a load that does not depend on the unknowns
  virtual bool has_mass() const = 0;                 ///< whether mass() writes anything
  /// True where the residual is linear in the unknowns, so that one solve balances it.
  virtual bool linear() const { return false; }
  /// Whether tangents are symmetric.
  virtual bool symmetric() const { return true; }
  /// History variables per element; 0 where the element has no memory.
  virtual int history_count() const { return 0; }
  /// Whether the kernel itself reads the temperature. Temperature-dependent parameters and thermal strain do not count.
  virtual bool reads_temperature() const { return true; }
  /// Describes a defect of the element type itself, independent of the model; empty if there is none. A model
  /// with a defective type is an Error.
  virtual std::string defect() const { return {}; }
  /// True if a plane shape represents an axisymmetric body, so that loads on its edges are axisymmetric too.
  virtual bool axisymmetric() const { return false; }
  virtual bool takes_body_load() const { return false; }  ///< whether body_load() writes anything

  int dofs() const { return nodes() * components(); }  ///< degrees of freedom per element
  /// Entries of a tangent: an upper triangle where it is symmetric.
  int matrix_entries() const { return symmetric() ? dofs() * (dofs() + 1) / 2 : dofs() * dofs(); }

  /// Element tangents at the view's unknowns: matrix_entries() values per element.
  virtual ElementStatus tangent(const ElementView&, int first, int count, double* out) const = 0;
  /// Element masses: matrix_entries() values per element; a lumped mass has zeros off the diagonal.
  virtual ElementStatus mass(const ElementView&, MassKind, int first, int count, double* out) const = 0;
  /// Internal minus external forces at the view's unknowns, thermal strain included: dofs() values per element.
  virtual ElementStatus residual(const ElementView&, int first, int count, double* out) const = 0;
  /// Tangent times `direction` (a nodal vector indexed like the unknowns), nothing stored: dofs() values per element.
  virtual ElementStatus action(const ElementView&, const double* direction, int first, int count,
                               double* out) const = 0;
  /// The new history from the view's unknowns and its committed history, which is not changed: history_count() values
  /// per element. Called only when a step is committed, since tangent, residual and recovery compute what they need of
  /// it themselves.
  virtual ElementStatus history(const ElementView&, int /*first*/, int /*count*/, double* /*out*/) const { return {}; }
  /// External forces of a body load: dofs() values per element.
  virtual ElementStatus body_load(const ElementView&, const BodyLoad&, int first, int count, double* out) const = 0;

  virtual int points() const = 0;                                    ///< points per element at which recover() writes
  virtual std::span<const std::string> recovered_names() const = 0;  ///< quantities at each point, in order
  /// Recovery of results such as stresses: recovered_names().size() values at each of points() points, point by point.
  virtual ElementStatus recover(const ElementView&, int first, int count, double* out) const = 0;
  /// The nodes() × points() matrix, by rows, that extrapolates values from points to nodes; empty if there is none.
  virtual std::span<const double> extrapolation() const = 0;

  /// The source text of the kernel if it was embedded; null otherwise.
  virtual const KernelSource* source() const { return nullptr; }

  /// The largest number of directions that actions() processes at once.
  virtual int action_columns() const { return 1; }
  /// action() for a block of directions: dofs() · columns values per element, the columns of one degree of freedom
  /// contiguous, in `directions` as in `out`. What the columns share is computed once. `columns` is at most
  /// action_columns().
  virtual ElementStatus actions(const ElementView& view, const double* directions, [[maybe_unused]] int columns,
                                int first, int count, double* out) const {
    return action(view, directions, first, count, out);
  }

  /// Numbers per element of the tangents at its integration points, for operators that store these instead of element
  /// matrices (ElementProduct::points); 0 where the type has none.
  virtual int point_numbers() const { return 0; }
  /// The tangents at the points of each element, at the view's unknowns: point_numbers() values per element.
  virtual ElementStatus point_tensors(const ElementView&, int /*first*/, int /*count*/, double* /*out*/) const {
    return {};
  }
  /// actions() by such tangents: `tensors` are those of the elements from `first` on. Positions, parameters and
  /// unknowns are not read.
  virtual ElementStatus point_products(const ElementView&, const double* /*tensors*/, const double* /*directions*/,
                                       int /*columns*/, int /*first*/, int /*count*/, double* /*out*/) const {
    return {};
  }
};

}  // namespace voussoir
