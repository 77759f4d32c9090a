#pragma once

namespace voussoir {

/// A second base class for preconditioners whose inverse() is not symmetric. CG, which would fail with them,
/// rejects them by name; GMRES and BiCGSTAB accept them.
class UnsymmetricPreconditioner {
 public:
  virtual ~UnsymmetricPreconditioner() = default;
};

}  // namespace voussoir
