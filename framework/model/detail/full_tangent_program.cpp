#include <voussoir/framework/model/detail/full_tangent_program.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace voussoir::detail {
namespace {

/// Steps of temperature, relative to the temperatures: differences of a smooth law lose half of the digits, by rounding
/// and by truncation alike. Tables are linear between their rows, where a larger step only rounds less.
constexpr double step_of_law = 0x1p-26, step_of_table = 0x1p-20;
/// Elements that are computed together, so that their data stay in the cache.
constexpr int piece_elements = 64;

int temperature_component(const ElementProgram& program) {
  const auto names = program.unknown_names();
  const auto at = std::find(names.begin(), names.end(), "T");
  return at == names.end() ? -1 : static_cast<int>(at - names.begin());
}

/// Upper triangles of groups of elements, written as whole matrices.
void make_whole(int dofs, int lanes, int groups, const double* upper, double* whole) {
  for (int group = 0; group < groups; ++group) {
    double* const matrix = whole + static_cast<std::ptrdiff_t>(group) * dofs * dofs * lanes;
    for (int i = 0; i < dofs; ++i)
      for (int j = i; j < dofs; ++j, upper += lanes) {
        std::copy_n(upper, lanes, matrix + (static_cast<std::ptrdiff_t>(i) * dofs + j) * lanes);
        if (j != i) std::copy_n(upper, lanes, matrix + (static_cast<std::ptrdiff_t>(j) * dofs + i) * lanes);
      }
  }
}

}  // namespace

/// Some elements of a batch with nodes of their own, so that temperatures change in one element without changing in
/// its neighbours; and residuals of them.
class FullTangentProgram::Piece {
 public:
  explicit Piece(const ElementProgram& program)
      : lanes_(program.lanes()),
        most_((piece_elements + lanes_ - 1) / lanes_ * lanes_),
        program_(program),
        per_(program.nodes()),
        components_(program.components()),
        dofs_(program.dofs()),
        nodes_(static_cast<std::size_t>(most_) * per_),
        first_unknown_(nodes_.size()),
        record_(static_cast<std::size_t>(most_)),
        coordinates_(3 * nodes_.size()),
        unknowns_(nodes_.size() * components_),
        temperature_(nodes_.size()),
        initial_(nodes_.size()),
        at_rest_(nodes_.size()),
        step_(static_cast<std::size_t>(most_)),
        residual_(static_cast<std::size_t>(most_) * dofs_),
        moved_(residual_.size()) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i] = static_cast<std::int32_t>(i);
      first_unknown_[i] = static_cast<std::int32_t>(i) * components_;
    }
  }

  int most() const { return most_; }  ///< elements, in whole groups of lanes

  /// Takes elements of a view, and computes their residuals.
  ElementStatus load(const ElementView& view, int first, int count) {
    first_ = first;
    count_ = count;
    for (int e = 0; e < count; ++e) {
      double largest = 0;
      for (int a = 0; a < per_; ++a) {
        const std::int32_t from = view.nodes[static_cast<std::ptrdiff_t>(first + e) * per_ + a];
        const std::size_t to = static_cast<std::size_t>(e) * per_ + a;
        std::copy_n(view.coordinates + 3 * static_cast<std::ptrdiff_t>(from), 3, coordinates_.data() + 3 * to);
        if (view.unknowns)
          for (int c = 0; c < components_; ++c)
            unknowns_[to * components_ + c] = view.unknowns[unknown_index(view, from, components_, c)];
        initial_[to] = view.initial_temperature ? view.initial_temperature[from] : view.start_temperature;
        at_rest_[to] = temperature_[to] = view.temperature ? view.temperature[from] : initial_[to];
        largest = std::max(largest, std::abs(at_rest_[to]));
      }
      if (view.record) record_[e] = view.record[first + e];
      step_[e] = (program_.reads_temperature() ? step_of_law : step_of_table) * std::max(largest, smallest_scale(view));
    }
    view_ = view;
    view_.element_count = count;
    view_.nodes = nodes_.data();
    view_.coordinates = coordinates_.data();
    view_.unknowns = view.unknowns ? unknowns_.data() : nullptr;
    view_.first_unknown = first_unknown_.data();
    view_.slot = nullptr;
    view_.temperature = temperature_.data();
    view_.initial_temperature = initial_.data();
    if (view.record) view_.record = record_.data();
    // Histories stand in whole groups of lanes, of which `first` begins one.
    if (view.history) view_.history = view.history + static_cast<std::ptrdiff_t>(first) * program_.history_count();
    return compute(residual_.data());
  }

  /// Computes the residuals again, with the temperature of node `a` of every element a step higher.
  ElementStatus move(int a) {
    temperature_ = at_rest_;
    for (int e = 0; e < count_; ++e) temperature_[static_cast<std::size_t>(e) * per_ + a] += step_[e];
    return compute(moved_.data());
  }
  /// How much degree of freedom `i` of element `e` has changed.
  double difference(int e, int i) const {
    const std::size_t at = (static_cast<std::size_t>(e / lanes_) * dofs_ + i) * lanes_ + e % lanes_;
    return moved_[at] - residual_[at];
  }
  /// By how much the temperature of a node has changed.
  double moved(int e, int a) const {
    const std::size_t at = static_cast<std::size_t>(e) * per_ + a;
    return temperature_[at] - at_rest_[at];
  }

 private:
  /// Of temperatures: the range of a table; one unit where a law reads them itself.
  double smallest_scale(const ElementView& view) const {
    const std::ptrdiff_t stride = static_cast<std::ptrdiff_t>(program_.parameter_names().size()) + 1;
    const double range =
        view.table_rows > 1 ? view.parameters[(view.table_rows - 1) * stride] - view.parameters[0] : 0.0;
    return std::max(range, program_.reads_temperature() ? 1.0 : 0.0);
  }

  ElementStatus compute(double* out) const {
    ElementStatus status = program_.residual(view_, 0, count_, out);
    if (status.fault != ElementFault::none) status.element += first_;
    return status;
  }

  int lanes_, most_;
  const ElementProgram& program_;
  int per_, components_, dofs_;
  std::vector<std::int32_t> nodes_, first_unknown_, record_;
  std::vector<double> coordinates_, unknowns_, temperature_, initial_, at_rest_;
  std::vector<double> step_;              // of temperature, per element
  std::vector<double> residual_, moved_;  // in groups of lanes
  ElementView view_;
  int first_ = 0, count_ = 0;
};

bool FullTangentProgram::applies(const ElementProgram& program, std::span<const double> records, int table_rows) {
  if (!program.has_tangent() || !program.symmetric() || program.route() == Route::host) return false;
  if (temperature_component(program) < 0) return false;
  if (program.reads_temperature() && !program.linear()) return true;
  const auto names = program.parameter_names();
  const std::size_t stride = names.size() + 1, record = stride * static_cast<std::size_t>(table_rows);
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (names[k] == "density" || names[k] == "specific_heat") continue;  // these enter only the mass
    for (std::size_t begin = 0; begin < records.size(); begin += record)
      for (std::size_t at = begin + 1 + k; at < begin + record; at += stride)
        if (records[at] != records[begin + 1 + k]) return true;
  }
  return false;
}

FullTangentProgram::FullTangentProgram(std::shared_ptr<const ElementProgram> program)
    : WrappedProgram(std::move(program)),
      name_(WrappedProgram::name() + ".full_tangent"),
      temperature_(temperature_component(*this)) {}

ElementStatus FullTangentProgram::tangent(const ElementView& view, int first, int count, double* out) const {
  Piece piece(program());
  const int lanes = this->lanes(), dofs = this->dofs();
  std::vector<double> upper(static_cast<std::size_t>(piece.most()) * program().matrix_entries());
  ElementStatus status;
  for (int begin = 0; begin < count; begin += piece.most()) {
    const int here = std::min(piece.most(), count - begin);
    double* const matrices = out + static_cast<std::ptrdiff_t>(begin) * dofs * dofs;
    status.merge(program().tangent(view, first + begin, here, upper.data()));
    make_whole(dofs, lanes, (here + lanes - 1) / lanes, upper.data(), matrices);
    if (status.fault == ElementFault::none) status.merge(add_slopes(piece, view, first + begin, here, matrices));
  }
  return status;
}

/// Adds ∂r/∂T to tangents.
ElementStatus FullTangentProgram::add_slopes(Piece& piece, const ElementView& view, int first, int count,
                                             double* out) const {
  const int lanes = this->lanes(), dofs = this->dofs();
  ElementStatus status = piece.load(view, first, count);
  for (int b = 0; b < nodes(); ++b) {
    status.merge(piece.move(b));
    const int column = b * components() + temperature_;
    for (int e = 0; e < count; ++e) {
      double* const matrix = out + static_cast<std::ptrdiff_t>(e / lanes) * dofs * dofs * lanes + e % lanes;
      const double inverse = 1 / piece.moved(e, b);
      for (int i = 0; i < dofs; ++i)
        matrix[(static_cast<std::ptrdiff_t>(i) * dofs + column) * lanes] += piece.difference(e, i) * inverse;
    }
  }
  return status;
}

ElementStatus FullTangentProgram::mass(const ElementView& view, MassKind kind, int first, int count,
                                       double* out) const {
  const int lanes = this->lanes(), groups = (count + lanes - 1) / lanes;
  std::vector<double> upper(static_cast<std::size_t>(groups) * lanes * program().matrix_entries());
  const ElementStatus status = program().mass(view, kind, first, count, upper.data());
  make_whole(dofs(), lanes, groups, upper.data(), out);
  return status;
}

ElementStatus FullTangentProgram::action(const ElementView& view, const double* direction, int first, int count,
                                         double* out) const {
  // By the same slopes as in tangent(), so that products are linear in their direction: a difference along it would
  // not be, by rounding, and stop an iteration early.
  Piece piece(program());
  const int lanes = this->lanes(), dofs = this->dofs(), per = nodes();
  std::vector<double> slopes(static_cast<std::size_t>(piece.most()) * dofs * dofs);
  ElementStatus status = program().action(view, direction, first, count, out);
  for (int begin = 0; begin < count && status.fault == ElementFault::none; begin += piece.most()) {
    const int here = std::min(piece.most(), count - begin);
    std::fill(slopes.begin(), slopes.end(), 0.0);
    status.merge(add_slopes(piece, view, first + begin, here, slopes.data()));
    for (int e = 0; e < here; ++e) {
      const std::int32_t* const own = view.nodes + static_cast<std::ptrdiff_t>(first + begin + e) * per;
      const double* const matrix =
          slopes.data() + static_cast<std::ptrdiff_t>(e / lanes) * dofs * dofs * lanes + e % lanes;
      double* const force = out + static_cast<std::ptrdiff_t>((begin + e) / lanes) * dofs * lanes + (begin + e) % lanes;
      for (int b = 0; b < per; ++b) {
        const double change = direction[unknown_index(view, own[b], components(), temperature_)];
        const int column = b * components() + temperature_;
        for (int i = 0; i < dofs; ++i)
          force[static_cast<std::ptrdiff_t>(i) * lanes] +=
              matrix[(static_cast<std::ptrdiff_t>(i) * dofs + column) * lanes] * change;
      }
    }
  }
  return status;
}

}  // namespace voussoir::detail
