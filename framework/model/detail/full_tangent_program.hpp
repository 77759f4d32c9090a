#pragma once
#include <memory>
#include <span>
#include <string>

#include <voussoir/framework/model/detail/wrapped_program.hpp>

namespace voussoir::detail {

/// An element program with the whole tangent where temperature is one of its own unknowns.
///
/// Elements get their temperature twice: as unknowns, and as the temperature at which parameters and laws are
/// evaluated. A symmetric tangent is the derivative by the first alone. This class adds that by the second, which is
/// not symmetric,
///
///   ∂r_a/∂T_b = ∫ ∇N_a · (dk/dT ∇T) N_b dV   for a conductivity k(T),
///
/// as a difference of residuals. Where parameters come from tables, which are linear between their rows, it is exact
/// but for rounding, about 1e-9. All else is the work of the other program: nothing is compiled for this class
/// but itself, and every element type has its whole tangent, a user's too. It costs a residual per node, in every
/// product without a stored matrix too.
///
/// A backend that compiles elements for itself may have a kernel of the name TYPE.full_tangent; otherwise it computes
/// this program on the host.
class FullTangentProgram final : public WrappedProgram {
 public:
  /// Whether a symmetric program leaves something out of its tangent: T is among its unknowns, and its law reads the
  /// temperature, or a parameter of the tables does more than give it mass. `records` are rows of (temperature,
  /// parameters…).
  static bool applies(const ElementProgram& program, std::span<const double> records, int table_rows);

  explicit FullTangentProgram(std::shared_ptr<const ElementProgram> program);

  const std::string& name() const override { return name_; }
  bool linear() const override { return false; }
  bool symmetric() const override { return false; }
  const KernelSource* source() const override { return nullptr; }
  int action_columns() const override { return 1; }

  ElementStatus tangent(const ElementView& view, int first, int count, double* out) const override;
  ElementStatus mass(const ElementView& view, MassKind kind, int first, int count, double* out) const override;
  ElementStatus action(const ElementView& view, const double* direction, int first, int count,
                       double* out) const override;
  ElementStatus actions(const ElementView& view, const double* directions, int /*columns*/, int first, int count,
                        double* out) const override {
    return action(view, directions, first, count, out);
  }

 private:
  class Piece;
  ElementStatus add_slopes(Piece& piece, const ElementView& view, int first, int count, double* out) const;

  std::string name_;
  int temperature_ = 0;  // which of the components
};

}  // namespace voussoir::detail
