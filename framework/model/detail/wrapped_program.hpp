#pragma once
#include <memory>
#include <string>
#include <utility>

#include <voussoir/backends/element_program.hpp>

namespace voussoir::detail {

/// An element program that changes some of another one: what a derived class does not override is the other's.
class WrappedProgram : public ElementProgram {
 public:
  explicit WrappedProgram(std::shared_ptr<const ElementProgram> program) : program_(std::move(program)) {}

  const std::string& name() const override { return program_->name(); }
  Route route() const override { return program_->route(); }
  int nodes() const override { return program_->nodes(); }
  int components() const override { return program_->components(); }
  std::span<const std::string> unknown_names() const override { return program_->unknown_names(); }
  std::span<const std::string> parameter_names() const override { return program_->parameter_names(); }
  int lanes() const override { return program_->lanes(); }
  bool has_tangent() const override { return program_->has_tangent(); }
  bool has_mass() const override { return program_->has_mass(); }
  bool linear() const override { return program_->linear(); }
  bool symmetric() const override { return program_->symmetric(); }
  int history_count() const override { return program_->history_count(); }
  bool reads_temperature() const override { return program_->reads_temperature(); }
  std::string defect() const override { return program_->defect(); }
  bool axisymmetric() const override { return program_->axisymmetric(); }
  bool takes_body_load() const override { return program_->takes_body_load(); }

  ElementStatus tangent(const ElementView& view, int first, int count, double* out) const override {
    return program_->tangent(view, first, count, out);
  }
  ElementStatus mass(const ElementView& view, MassKind kind, int first, int count, double* out) const override {
    return program_->mass(view, kind, first, count, out);
  }
  ElementStatus residual(const ElementView& view, int first, int count, double* out) const override {
    return program_->residual(view, first, count, out);
  }
  ElementStatus action(const ElementView& view, const double* direction, int first, int count,
                       double* out) const override {
    return program_->action(view, direction, first, count, out);
  }
  ElementStatus history(const ElementView& view, int first, int count, double* out) const override {
    return program_->history(view, first, count, out);
  }
  ElementStatus body_load(const ElementView& view, const BodyLoad& load, int first, int count,
                          double* out) const override {
    return program_->body_load(view, load, first, count, out);
  }
  int points() const override { return program_->points(); }
  std::span<const std::string> recovered_names() const override { return program_->recovered_names(); }
  ElementStatus recover(const ElementView& view, int first, int count, double* out) const override {
    return program_->recover(view, first, count, out);
  }
  std::span<const double> extrapolation() const override { return program_->extrapolation(); }
  const KernelSource* source() const override { return program_->source(); }
  int action_columns() const override { return program_->action_columns(); }
  ElementStatus actions(const ElementView& view, const double* directions, int columns, int first, int count,
                        double* out) const override {
    return program_->actions(view, directions, columns, first, count, out);
  }

 protected:
  const ElementProgram& program() const { return *program_; }

 private:
  std::shared_ptr<const ElementProgram> program_;
};

}  // namespace voussoir::detail
