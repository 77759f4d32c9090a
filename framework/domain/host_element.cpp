#include <voussoir/backends/error.hpp>
#include <voussoir/framework/domain/element_type.hpp>
#include <voussoir/framework/domain/host_element.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <typeinfo>
#include <utility>

namespace voussoir {
namespace {

/// How far a tangent may be from symmetric, relative to its largest entry: beyond it is a mistake, not rounding.
constexpr double symmetry_tolerance = 1e-10;

/// The record of an element at temperature t, as ElementInput::parameters_at() of the kernels.
void interpolate_record(const double* record, int rows, int count, double t, std::vector<double>& out) {
  const int stride = count + 1;
  for (int k = 0; k < count; ++k) out[k] = record[1 + k];
  for (int row = 1; row < rows; ++row) {
    const double* low = record + static_cast<std::ptrdiff_t>(row - 1) * stride;
    const double* high = low + stride;
    if (!(low[0] < t)) break;
    const double s = std::clamp((t - low[0]) / (high[0] - low[0]), 0.0, 1.0);
    for (int k = 0; k < count; ++k) out[k] = low[1 + k] + s * (high[1 + k] - low[1 + k]);
  }
}

}  // namespace

void HostElement::residual(const HostElementData& element, std::span<double> force) const {
  const std::size_t n = force.size();
  std::vector<double> matrix(n * n, 0.0);
  tangent(element, matrix);
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += matrix[i * n + j] * element.u[j];
    force[i] = sum;
  }
}

void HostElement::mass(const HostElementData&, std::span<double>) const {
  throw Error(ErrorCode::misuse, std::string("element class ") + typeid(*this).name() +
                                     " returns true from has_mass() but does not override mass()");
}

void HostElement::body_load(const HostElementData&, const BodyLoad&, std::span<double>) const {
  throw Error(ErrorCode::misuse, std::string("element class ") + typeid(*this).name() +
                                     " returns true from takes_body_load() but does not override body_load()");
}

void HostElement::recover(const HostElementData&, std::span<double>) const {
  throw Error(ErrorCode::misuse, std::string("element class ") + typeid(*this).name() +
                                     " names recovered results but does not override recover()");
}

HostElementProgram::HostElementProgram(std::string name, std::shared_ptr<const HostElement> element)
    : name_(std::move(name)), element_(std::move(element)) {
  if (!element_) throw Error(ErrorCode::bad_input, "element type '" + name_ + "' is registered without an element");
  nodes_ = element_->nodes();
  unknown_names_ = element_->unknown_names();
  parameter_names_ = element_->parameter_names();
  recovered_names_ = element_->recovered_names();
  points_ = element_->points();
  if (nodes_ < 1 || unknown_names_.empty())
    throw Error(ErrorCode::bad_input, "element type '" + name_ + "' needs at least one node and one unknown name");
}

template <class Compute>
ElementStatus HostElementProgram::run(const ElementView& view, int first, int count, int values, double* out,
                                      const Compute& compute) const {
  const int parameter_count = static_cast<int>(parameter_names_.size());
  if (count > 0 && parameter_count > 0 && !view.parameters) return {ElementFault::bad_parameter, first};
  const int width = components();
  std::vector<std::array<double, 3>> x(nodes_);
  const bool heated = view.temperature || view.initial_temperature;
  std::vector<double> u(dofs()), parameters(parameter_count), start(parameter_count);
  std::vector<double> temperature(heated ? nodes_ : 0), initial(heated ? nodes_ : 0);
  HostElementData data{x, u, parameters, temperature, initial, view.start_temperature};
  ElementStatus status;
  for (int e = first; e < first + count; ++e, out += values) {
    const std::int32_t* node = view.nodes + static_cast<std::ptrdiff_t>(e) * nodes_;
    double mean = heated ? 0 : view.start_temperature, mean_initial = mean;
    for (int a = 0; a < nodes_; ++a) {
      for (int i = 0; i < 3; ++i) x[a][i] = view.coordinates[3 * static_cast<std::ptrdiff_t>(node[a]) + i];
      for (int c = 0; c < width; ++c)
        u[a * width + c] = view.unknowns ? view.unknowns[unknown_index(view, node[a], width, c)] : 0;
      if (heated) {
        initial[a] = view.initial_temperature ? view.initial_temperature[node[a]] : view.start_temperature;
        temperature[a] = view.temperature ? view.temperature[node[a]] : initial[a];
        mean += temperature[a] / nodes_;
        mean_initial += initial[a] / nodes_;
      }
    }
    data.reference_temperature = mean_initial;
    if (parameter_count > 0) {
      const std::ptrdiff_t record = view.record ? view.record[e] : 0;
      const double* const table = view.parameters + record * view.table_rows * (parameter_count + 1);
      interpolate_record(table, view.table_rows, parameter_count, mean, parameters);
      if (view.table_rows > 1 && mean != mean_initial) {
        // As parameters_between() of the kernels.
        interpolate_record(table, view.table_rows, parameter_count, mean_initial, start);
        const double quotient = (mean_initial - view.expansion_reference) / (mean - mean_initial);
        for (int k = 0; k < parameter_count; ++k)
          if (parameter_names_[k].starts_with("expansion")) parameters[k] += quotient * (parameters[k] - start[k]);
      }
    }
    std::fill(out, out + values, 0.0);
    if (!(element_->health(data) > 0)) {
      status.merge({ElementFault::inverted, e});
      continue;
    }
    compute(data, node, std::span<double>(out, values));
    if (!std::all_of(out, out + values, [](double value) { return std::isfinite(value); }))
      status.merge({ElementFault::not_finite, e});
  }
  return status;
}

void HostElementProgram::store(std::span<const double> full, const char* what, double* out) const {
  if (!symmetric()) {
    std::copy(full.begin(), full.end(), out);
    return;
  }
  require_symmetric(full, what);
  const int n = dofs();
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) *out++ = i == j ? full[i * n + j] : 0.5 * (full[i * n + j] + full[j * n + i]);
}

void HostElementProgram::require_symmetric(std::span<const double> full, const char* what) const {
  const int n = dofs();
  double largest = 0, worst = 0;
  int worst_i = 0, worst_j = 0;
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) {
      const double a = full[i * n + j], b = full[j * n + i];
      largest = std::max({largest, std::abs(a), std::abs(b)});
      if (std::abs(a - b) > worst) worst = std::abs(a - b), worst_i = i, worst_j = j;
    }
  if (worst > symmetry_tolerance * largest) {
    const auto label = [this](int i) {
      return unknown_names_[i % components()] + " of node " + std::to_string(i / components() + 1);
    };
    throw Error(ErrorCode::misuse,
                "element type '" + name_ + "' computes an unsymmetric " + what + ": entries (" + label(worst_i) + ", " +
                    label(worst_j) + ") and their mirror differ by " + std::to_string(worst / largest) +
                    " of the largest entry; if it is meant to be, override symmetric() to return false");
  }
}

ElementStatus HostElementProgram::tangent(const ElementView& view, int first, int count, double* out) const {
  std::vector<double> full(static_cast<std::size_t>(dofs()) * dofs());
  return run(view, first, count, matrix_entries(), out,
             [&](const HostElementData& data, const std::int32_t*, std::span<double> result) {
               std::fill(full.begin(), full.end(), 0.0);
               element_->tangent(data, full);
               store(full, "tangent", result.data());
             });
}

ElementStatus HostElementProgram::mass(const ElementView& view, MassKind kind, int first, int count,
                                       double* out) const {
  if (!has_mass()) {
    std::fill(out, out + static_cast<std::ptrdiff_t>(count) * matrix_entries(), 0.0);
    return {};
  }
  const int n = dofs(), width = components();
  std::vector<double> full(static_cast<std::size_t>(n) * n), total(width), diagonal(width);
  return run(view, first, count, matrix_entries(), out,
             [&](const HostElementData& data, const std::int32_t*, std::span<double> result) {
               std::fill(full.begin(), full.end(), 0.0);
               element_->mass(data, full);
               if (kind == MassKind::lumped) {
                 // HRZ: the diagonal, scaled so that each component keeps its mass.
                 std::fill(total.begin(), total.end(), 0.0);
                 std::fill(diagonal.begin(), diagonal.end(), 0.0);
                 for (int i = 0; i < n; ++i) {
                   diagonal[i % width] += full[i * n + i];
                   for (int j = i % width; j < n; j += width) total[i % width] += full[i * n + j];
                 }
                 for (int i = 0; i < n; ++i)
                   for (int j = 0; j < n; ++j)
                     full[i * n + j] *= i == j && diagonal[i % width] > 0 ? total[i % width] / diagonal[i % width] : 0;
               }
               store(full, "mass", result.data());
             });
}

ElementStatus HostElementProgram::residual(const ElementView& view, int first, int count, double* out) const {
  return run(view, first, count, dofs(), out,
             [&](const HostElementData& data, const std::int32_t*, std::span<double> result) {
               element_->residual(data, result);
             });
}

ElementStatus HostElementProgram::action(const ElementView& view, const double* direction, int first, int count,
                                         double* out) const {
  const int n = dofs(), width = components();
  std::vector<double> full(static_cast<std::size_t>(n) * n), du(n);
  return run(view, first, count, n, out,
             [&](const HostElementData& data, const std::int32_t* node, std::span<double> result) {
               std::fill(full.begin(), full.end(), 0.0);
               element_->tangent(data, full);
               if (symmetric()) require_symmetric(full, "tangent");
               for (int i = 0; i < n; ++i) du[i] = direction[unknown_index(view, node[i / width], width, i % width)];
               for (int i = 0; i < n; ++i)
                 for (int j = 0; j < n; ++j) result[i] += full[i * n + j] * du[j];
             });
}

ElementStatus HostElementProgram::body_load(const ElementView& view, const BodyLoad& load, int first, int count,
                                            double* out) const {
  if (!takes_body_load()) {
    std::fill(out, out + static_cast<std::ptrdiff_t>(count) * dofs(), 0.0);
    return {};
  }
  return run(view, first, count, dofs(), out,
             [&](const HostElementData& data, const std::int32_t*, std::span<double> result) {
               element_->body_load(data, load, result);
             });
}

ElementStatus HostElementProgram::recover(const ElementView& view, int first, int count, double* out) const {
  const int values = points_ * static_cast<int>(recovered_names_.size());
  if (values == 0) return {};
  return run(view, first, count, values, out,
             [&](const HostElementData& data, const std::int32_t*, std::span<double> result) {
               element_->recover(data, result);
             });
}

void register_host_element(const std::string& name, const std::string& shape,
                           std::shared_ptr<const HostElement> element) {
  const std::type_index kernel = element ? std::type_index(typeid(*element)) : std::type_index(typeid(void));
  const auto program = std::make_shared<const HostElementProgram>(name, element);
  ElementLibrary& library = ElementLibrary::instance();
  library.add(ElementType(name, shape, program, kernel));
  // The library ignores a class that it has under this name, as it must for kernels in headers. Objects of one class
  // need not be alike, so look which one it kept; done after adding, this holds with several threads, too.
  const auto* kept = dynamic_cast<const HostElementProgram*>(&library.find(name).program());
  struct AnotherObject {};
  if (!kept || &kept->element() != element.get())
    library.add(ElementType(name, shape, program, typeid(AnotherObject)));  // refused as any other clash
}

}  // namespace voussoir
