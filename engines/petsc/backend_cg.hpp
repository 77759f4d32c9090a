#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/engines/petsc/interface_sum.hpp>
#include <voussoir/engines/petsc/petsc_engine.hpp>
#include <voussoir/partition/process/part_product.hpp>

namespace voussoir::petsc {

/// Conjugate gradients with the diagonal, by the backends of the processes: the vectors of a part stay on its backend,
/// whose operator computes the products. A process has the values of all equations of its part. Products are sums over
/// the processes, of which only the numbers of shared equations travel; scalar products count each equation on one
/// process, and are added in the order of the processes. With the same backends, the same bits in every run.
class BackendCg {
 public:
  /// For a system with products. Collective; throws an Error on all processes if some part has products that are not
  /// those of its backend.
  BackendCg(PetscEngine& engine, const SystemShare& share);

  struct Request {
    double relative_tolerance = 1e-8;
    int max_iterations = 50000;
    bool starts_from_x = false;
    std::function<bool(int, double)> progress;
  };
  /// As ProcessSolver::solve(). The report has no names.
  SolveReport solve(std::span<const double> b, std::span<double> x, const Request& request);

 private:
  /// A part of the model on its backend.
  struct Part {
    std::shared_ptr<Backend> backend;
    PartProduct product;
    Vector inverse;  // of the diagonal; 0 where equations are not free
    Vector counted;  // 1 for free equations that this process represents, else 0
    Vector x, r, counted_r, z;
    Vector& p() { return *product.from; }  // the direction of an iteration
    Vector& q() { return *product.to; }    // and its product
  };

  void multiply(const Vector& from, Vector& to);
  double dot(const Vector& a, const Vector& b) const;
  void add_interface(Vector& vector);
  void set_residual(std::span<const double> load, bool with_x);
  int common_magnitude(std::span<const double> values);
  double residual_norm();
  std::vector<double> masked(std::span<const double> values) const;
  void iterate(double load_norm, const Request& request, SolveReport& report);
  bool asks_to_stop(const Request& request, int iteration, double relative);

  PetscEngine& engine_;
  InterfaceSum interface_;
  std::vector<std::uint8_t> free_;
  std::optional<Part> part_;  // none without elements
};

}  // namespace voussoir::petsc
