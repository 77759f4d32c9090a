#include <voussoir/framework/model/penalty.hpp>

#include <algorithm>

namespace voussoir {
namespace {

class PenaltyProgram final : public ElementProgram {
 public:
  PenaltyProgram(int nodes, int components, std::vector<std::string> unknown_names)
      : name_("constraint." + std::to_string(nodes)),
        nodes_(nodes),
        components_(components),
        unknowns_(std::move(unknown_names)) {
    for (int i = 0; i < nodes * components; ++i) parameters_.push_back("c" + std::to_string(i));
    parameters_.push_back("alpha");
    parameters_.push_back("g");
  }

  const std::string& name() const override { return name_; }
  // Runs wherever the caller's memory is: a springs' sum needs no compiled kernel, so it is shipped in batches.
  Route route() const override { return Route::host; }
  int nodes() const override { return nodes_; }
  int components() const override { return components_; }
  std::span<const std::string> unknown_names() const override { return unknowns_; }
  std::span<const std::string> parameter_names() const override { return parameters_; }
  int lanes() const override { return 1; }
  bool has_mass() const override { return false; }
  bool linear() const override { return true; }
  bool reads_temperature() const override { return false; }

  ElementStatus tangent(const ElementView& view, int first, int count, double* out) const override {
    for (int e = 0; e < count; ++e) {
      const double* p = record(view, first + e);
      for (int i = 0; i < dofs(); ++i)
        for (int j = i; j < dofs(); ++j) *out++ = p[dofs()] * p[i] * p[j];
    }
    return {};
  }
  ElementStatus mass(const ElementView&, MassKind, int, int count, double* out) const override {
    std::fill_n(out, static_cast<std::size_t>(count) * matrix_entries(), 0.0);
    return {};
  }
  ElementStatus residual(const ElementView& view, int first, int count, double* out) const override {
    for (int e = 0; e < count; ++e) {
      const double* p = record(view, first + e);
      const double prescribed = view.prescribed_factor * p[dofs() + 1];
      out = spread(p, p[dofs()] * (sum(view, view.unknowns, first + e) - prescribed), out);
    }
    return {};
  }
  ElementStatus action(const ElementView& view, const double* direction, int first, int count,
                       double* out) const override {
    for (int e = 0; e < count; ++e) {
      const double* p = record(view, first + e);
      out = spread(p, p[dofs()] * sum(view, direction, first + e), out);
    }
    return {};
  }
  ElementStatus body_load(const ElementView&, const BodyLoad&, int, int count, double* out) const override {
    std::fill_n(out, static_cast<std::size_t>(count) * dofs(), 0.0);
    return {};
  }
  int points() const override { return 0; }
  std::span<const std::string> recovered_names() const override { return {}; }
  ElementStatus recover(const ElementView&, int, int, double*) const override { return {}; }
  std::span<const double> extrapolation() const override { return {}; }

 private:
  const double* record(const ElementView& view, int element) const {
    const std::size_t r = view.record ? view.record[element] : 0;
    return view.parameters + r * (parameters_.size() + 1) + 1;
  }
  double sum(const ElementView& view, const double* x, int element) const {
    if (!x) return 0;
    const double* p = record(view, element);
    double s = 0;
    for (int a = 0; a < nodes_; ++a) {
      const int node = view.nodes[static_cast<std::size_t>(element) * nodes_ + a];
      for (int c = 0; c < components_; ++c)
        if (p[a * components_ + c] != 0) s += p[a * components_ + c] * x[unknown_index(view, node, components_, c)];
    }
    return s;
  }
  double* spread(const double* p, double force, double* out) const {
    for (int i = 0; i < dofs(); ++i) *out++ = p[i] * force;
    return out;
  }

  std::string name_;
  int nodes_;
  int components_;
  std::vector<std::string> unknowns_;
  std::vector<std::string> parameters_;
};

}  // namespace

std::shared_ptr<const ElementProgram> make_penalty_program(int nodes, int components,
                                                           std::vector<std::string> unknown_names) {
  return std::make_shared<PenaltyProgram>(nodes, components, std::move(unknown_names));
}

}  // namespace voussoir
