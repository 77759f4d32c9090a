#pragma once
#include <voussoir/backends/element_program.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

// The part of a kernel's ElementProgram that only returns properties of the kernel. It is not a template, so that it is
// compiled once.

namespace voussoir::detail {

/// The properties that a kernel declares. KernelProgram copies the names.
struct KernelFacts {
  int nodes = 0, components = 0, lanes = 1, points = 0;
  bool has_tangent = true, has_mass = false, linear = false, symmetric = true, reads_temperature = true;
  int history_count = 0;
  bool axisymmetric = false, takes_body_load = false;
  std::span<const char*const> unknowns, parameters, recovered;
  void (*extrapolation)(double* nodes_by_points) = nullptr;  ///< null: the kernel has none
  const std::string& (*defect)() = nullptr;                  ///< null: no law that could have a defect
};

/// An ElementProgram with the given properties; NativeProgram adds the routines.
class KernelProgram : public ElementProgram {
 public:
  KernelProgram(std::string_view name, const KernelFacts& facts);
  ~KernelProgram() override;

  const std::string& name() const final { return name_; }
  Route route() const final { return Route::native; }
  int nodes() const final { return facts_.nodes; }
  int components() const final { return facts_.components; }
  std::span<const std::string> unknown_names() const final { return unknown_names_; }
  std::span<const std::string> parameter_names() const final { return parameter_names_; }
  int lanes() const final { return facts_.lanes; }
  bool has_tangent() const final { return facts_.has_tangent; }
  bool has_mass() const final { return facts_.has_mass; }
  bool linear() const final;
  bool symmetric() const final { return facts_.symmetric; }
  int history_count() const final { return facts_.history_count; }
  bool reads_temperature() const final { return facts_.reads_temperature; }
  std::string defect() const final;
  bool axisymmetric() const final { return facts_.axisymmetric; }
  bool takes_body_load() const final { return facts_.takes_body_load; }
  int points() const final { return facts_.points; }
  std::span<const std::string> recovered_names() const final { return recovered_names_; }
  std::span<const double> extrapolation() const final { return extrapolation_; }
  const KernelSource* source() const final;

 protected:
  /// Zeros instead of results, for routines that a kernel does not have.
  ElementStatus zeros(int values, int count, double* out) const;

 private:
  std::string name_;
  KernelFacts facts_;
  std::vector<std::string> unknown_names_, parameter_names_, recovered_names_;
  std::vector<double> extrapolation_;
};

}  // namespace voussoir::detail
