#pragma once
#include <voussoir/backends/element_program.hpp>
#include <voussoir/framework/domain/element_type.hpp>

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Elements given by plain lists, and the results of their program as Eigen matrices.

namespace voussoir::testing {

class ElementRun {
 public:
  explicit ElementRun(const ElementProgram& program) : program_(program) {}
  explicit ElementRun(const std::string& type) : program_(ElementLibrary::instance().find(type).program()) {}

  /// Adds an element with nodes of its own. Returns its number.
  int add(const std::vector<std::array<double, 3>>& x, const std::map<std::string, double>& parameters) {
    for (const auto& point : x) {
      nodes_.push_back(static_cast<std::int32_t>(coordinates_.size() / 3));
      coordinates_.insert(coordinates_.end(), point.begin(), point.end());
    }
    record_.push_back(static_cast<std::int32_t>(record_.size()));
    records_.push_back(0.0);
    for (const std::string& name : program_.parameter_names()) {
      const auto found = parameters.find(name);
      records_.push_back(found == parameters.end() ? 0.0 : found->second);
    }
    unknowns_.resize(unknowns_.size() + program_.dofs(), 0.0);
    return static_cast<int>(record_.size()) - 1;
  }

  double* unknowns(int element) { return unknowns_.data() + static_cast<std::ptrdiff_t>(element) * program_.dofs(); }
  /// One temperature per node of all elements.
  void set_temperature(double value, double reference) {
    temperature_.assign(coordinates_.size() / 3, value);
    reference_temperature_ = reference;
  }
  /// The temperatures of all nodes, in the order in which they came.
  void set_temperatures(std::vector<double> values, double reference) {
    temperature_ = std::move(values);
    reference_temperature_ = reference;
  }
  /// Initial temperatures of all nodes, and the temperature that tables of expansion count from.
  void set_initial_temperatures(std::vector<double> values, double expansion_reference) {
    initial_temperature_ = std::move(values);
    expansion_reference_ = expansion_reference;
  }
  /// Committed history of all elements, as ElementProgram::history() writes it.
  void set_history(std::vector<double> values) { history_ = std::move(values); }
  void set_table(std::vector<double> record, int rows) {
    records_ = std::move(record);
    rows_ = rows;
    for (auto& r : record_) r = 0;
  }

  ElementView view() {
    first_unknown_.clear();
    for (std::size_t i = 0; i < coordinates_.size() / 3; ++i)
      first_unknown_.push_back(static_cast<std::int32_t>(i) * program_.components());
    ElementView v;
    v.element_count = static_cast<int>(record_.size());
    v.nodes = nodes_.data();
    v.coordinates = coordinates_.data();
    v.unknowns = unknowns_.data();
    v.first_unknown = first_unknown_.data();
    v.temperature = temperature_.empty() ? nullptr : temperature_.data();
    v.start_temperature = v.expansion_reference = reference_temperature_;
    if (!initial_temperature_.empty()) {
      v.initial_temperature = initial_temperature_.data();
      v.expansion_reference = expansion_reference_;
    }
    v.parameters = records_.data();
    v.record = record_.data();
    v.table_rows = rows_;
    v.history = history_.empty() ? nullptr : history_.data();
    return v;
  }

  Eigen::MatrixXd tangent(int element = 0) {
    return matrix(element,
                  [this](const ElementView& v, double* out) { return program_.tangent(v, 0, v.element_count, out); });
  }
  Eigen::MatrixXd mass(MassKind kind, int element = 0) {
    return matrix(element, [this, kind](const ElementView& v, double* out) {
      return program_.mass(v, kind, 0, v.element_count, out);
    });
  }
  Eigen::VectorXd residual(int element = 0) {
    return values(element, program_.dofs(),
                  [this](const ElementView& v, double* out) { return program_.residual(v, 0, v.element_count, out); });
  }
  Eigen::VectorXd body_load(const BodyLoad& load, int element = 0) {
    return values(element, program_.dofs(), [this, &load](const ElementView& v, double* out) {
      return program_.body_load(v, load, 0, v.element_count, out);
    });
  }
  /// Results by name and point.
  double recovered(const std::string& name, int point = 0, int element = 0) {
    const auto names = program_.recovered_names();
    const int count = static_cast<int>(names.size());
    const Eigen::VectorXd all = values(element, count * program_.points(), [this](const ElementView& v, double* out) {
      return program_.recover(v, 0, v.element_count, out);
    });
    for (int i = 0; i < count; ++i)
      if (names[i] == name) return all[point * count + i];
    return std::nan("");
  }

  ElementStatus status;  ///< of the last call

 private:
  template <class Call>
  Eigen::VectorXd values(int element, int count, const Call& call) {
    const ElementView v = view();
    const int lanes = program_.lanes(), groups = (v.element_count + lanes - 1) / lanes;
    std::vector<double> out(static_cast<std::size_t>(groups) * lanes * count);
    status = call(v, out.data());
    Eigen::VectorXd result(count);
    for (int k = 0; k < count; ++k) result[k] = out[((element / lanes) * count + k) * lanes + element % lanes];
    return result;
  }
  template <class Call>
  Eigen::MatrixXd matrix(int element, const Call& call) {
    const int n = program_.dofs();
    const bool symmetric = program_.symmetric();
    const Eigen::VectorXd stored = values(element, program_.matrix_entries(), call);
    Eigen::MatrixXd m(n, n);
    int k = 0;
    for (int i = 0; i < n; ++i)
      for (int j = symmetric ? i : 0; j < n; ++j, ++k) {
        m(i, j) = stored[k];
        if (symmetric) m(j, i) = stored[k];
      }
    return m;
  }

  const ElementProgram& program_;
  std::vector<std::int32_t> nodes_, record_, first_unknown_;
  std::vector<double> coordinates_, records_, unknowns_, temperature_;
  double reference_temperature_ = 0, expansion_reference_ = 0;
  std::vector<double> initial_temperature_, history_;
  int rows_ = 1;
};

}  // namespace voussoir::testing
