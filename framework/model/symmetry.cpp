#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <voussoir/framework/model/detail/symmetry.hpp>

namespace voussoir::detail {
namespace {

/// What rounding may leave in badly shaped elements is far below, and a law that is meant to be unsymmetric far above.
constexpr double tolerance = 1e-6;
constexpr int most_elements = 8;

/// Numbers between −1 and 1 without any pattern that an element could share.
class Numbers {
 public:
  double next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(static_cast<std::int64_t>(state_) >> 11) / static_cast<double>(1ll << 52);
  }

 private:
  std::uint64_t state_ = 88172645463325252ull;
};

/// Elements whose parameters are the smallest and the largest of a batch, each of them: a law that is symmetric but for
/// some number may have that number in a single element.
std::vector<std::int32_t> extreme_elements(const BatchDescription& batch, std::int64_t elements) {
  const auto width = static_cast<std::size_t>(batch.program->parameter_names().size()) + 1;
  const std::size_t numbers = width * static_cast<std::size_t>(batch.table_rows);
  if (batch.record.empty() || width == 1) return {};
  std::vector<std::int32_t> low(numbers, 0), high(numbers, 0);
  const auto value = [&](std::int32_t e, std::size_t k) {
    return batch.parameters[static_cast<std::size_t>(batch.record[static_cast<std::size_t>(e)]) * numbers + k];
  };
  for (std::int32_t e = 1; e < static_cast<std::int32_t>(elements); ++e)
    for (std::size_t k = 0; k < numbers; ++k) {
      if (value(e, k) < value(low[k], k)) low[k] = e;
      if (value(e, k) > value(high[k], k)) high[k] = e;
    }
  low.insert(low.end(), high.begin(), high.end());
  return low;
}

/// Some elements of a batch, with nodes of their own.
struct Few {
  std::vector<std::int32_t> element;  // of the batch
  std::vector<std::int32_t> nodes, first_unknown, record;
  std::vector<double> coordinates, initial_temperature;
  std::vector<double> size;  // largest extent of each element
  ElementView view;

  explicit Few(const BatchSample& sample) {
    const ElementProgram& program = *sample.batch->program;
    const int per = program.nodes();
    const auto all = static_cast<std::int64_t>(sample.nodes.size()) / per;
    const std::int64_t spread = std::min<std::int64_t>(all, most_elements);
    std::vector<std::int32_t> chosen = extreme_elements(*sample.batch, all);
    for (std::int64_t i = 0; i < spread; ++i)
      chosen.push_back(static_cast<std::int32_t>(spread > 1 ? i * (all - 1) / (spread - 1) : 0));
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (const std::int32_t e : chosen) {
      element.push_back(e);
      if (!sample.batch->record.empty()) record.push_back(sample.batch->record[e]);
      std::array<double, 3> low, high;
      for (int a = 0; a < per; ++a) {
        const std::int32_t n = sample.nodes[static_cast<std::size_t>(e) * per + a];
        const auto local = static_cast<std::int32_t>(nodes.size());
        nodes.push_back(local);
        first_unknown.push_back(local * program.components());
        for (int k = 0; k < 3; ++k) {
          const double x = sample.coordinates[3 * static_cast<std::size_t>(n) + k];
          coordinates.push_back(x);
          low[k] = a == 0 ? x : std::min(low[k], x);
          high[k] = a == 0 ? x : std::max(high[k], x);
        }
        if (!sample.initial_temperature.empty()) initial_temperature.push_back(sample.initial_temperature[n]);
      }
      const double extent = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
      size.push_back(extent > 0 ? extent : 1);
    }
    view.element_count = static_cast<int>(element.size());
    view.nodes = nodes.data();
    view.coordinates = coordinates.data();
    view.first_unknown = first_unknown.data();
    view.initial_temperature = initial_temperature.empty() ? nullptr : initial_temperature.data();
    view.start_temperature = sample.start_temperature;
    view.expansion_reference = sample.batch->expansion_reference;
    view.parameters = sample.batch->parameters.data();
    view.record = record.empty() ? nullptr : record.data();
    view.table_rows = sample.batch->table_rows;
  }
};

/// Runs a routine over the elements: `values` numbers of each, element by element. Empty where it reports a fault.
template <class Routine>
std::vector<double> compute(const ElementProgram& program, int count, int values, const Routine& routine) {
  const int lanes = program.lanes(), groups = (count + lanes - 1) / lanes;
  std::vector<double> packed(static_cast<std::size_t>(groups) * lanes * values);
  if (routine(packed.data()).fault != ElementFault::none) return {};
  std::vector<double> result(static_cast<std::size_t>(count) * values);
  for (int e = 0; e < count; ++e)
    for (int k = 0; k < values; ++k)
      result[static_cast<std::size_t>(e) * values + k] =
          packed[(static_cast<std::size_t>(e / lanes) * values + k) * lanes + e % lanes];
  return result;
}

/// The worst of the elements at the view's unknowns.
Asymmetry look(const ElementProgram& program, const Few& few) {
  Asymmetry worst;
  const int count = few.view.element_count, dofs = program.dofs();
  const auto tangent = compute(program, count, program.matrix_entries(),
                               [&](double* out) { return program.tangent(few.view, 0, count, out); });
  if (tangent.empty()) return worst;
  // Directions in which every unknown counts alike, whatever its unit.
  Numbers numbers;
  std::array<std::vector<double>, 2> direction;
  for (int e = 0; e < count; ++e) {
    const double* const upper = tangent.data() + static_cast<std::size_t>(e) * program.matrix_entries();
    double largest = 0;
    for (int i = 0, at = 0; i < dofs; at += dofs - i, ++i) largest = std::max(largest, upper[at]);
    for (int i = 0, at = 0; i < dofs; at += dofs - i, ++i) {
      const double scale = upper[at] > 0 ? upper[at] : largest > 0 ? largest : 1;
      for (auto& d : direction) d.push_back(numbers.next() / std::sqrt(scale));
    }
  }
  std::array<std::vector<double>, 2> product;
  for (int d = 0; d < 2; ++d) {
    product[d] = compute(program, count, dofs,
                         [&](double* out) { return program.action(few.view, direction[d].data(), 0, count, out); });
    if (product[d].empty()) return worst;
  }
  for (int e = 0; e < count; ++e) {
    double first = 0, second = 0, scale = 0;
    for (int i = e * dofs; i < (e + 1) * dofs; ++i) {
      first += direction[0][i] * product[1][i];
      second += direction[1][i] * product[0][i];
      scale += std::abs(direction[0][i] * product[1][i]) + std::abs(direction[1][i] * product[0][i]);
    }
    const double difference = std::abs(first - second);
    if (difference > tolerance * scale && difference > worst.size * scale) {
      worst.element = few.element[e];
      worst.size = difference / scale;
    }
  }
  return worst;
}

}  // namespace

Asymmetry find_asymmetry(const BatchSample& sample) {
  const ElementProgram& program = *sample.batch->program;
  if (!program.has_tangent() || !program.symmetric() || sample.nodes.empty()) return {};
  Few few(sample);
  std::vector<double> u(static_cast<std::size_t>(few.view.element_count) * program.dofs(), 0.0);
  few.view.unknowns = u.data();
  // At the initial temperatures, and where tables of parameters have their rows: a number may be zero in one of them.
  std::vector<double> temperature(few.nodes.size());
  const std::size_t width = program.parameter_names().size() + 1;
  for (int row = -1; row < (sample.batch->table_rows > 1 ? sample.batch->table_rows : 0); ++row) {
    if (row >= 0) {
      std::fill(temperature.begin(), temperature.end(),
                sample.batch->parameters[static_cast<std::size_t>(row) * width]);
      few.view.temperature = temperature.data();
    }
    std::fill(u.begin(), u.end(), 0.0);
    Asymmetry found = look(program, few);
    // What a virtual function does at states that no analysis has seen is its own affair.
    if (found.element >= 0) return found;
    if (program.linear() || program.route() == Route::host) continue;
    Numbers numbers;
    for (const double gradient : {1e-3, 0.1, 3.0}) {
      for (std::size_t i = 0; i < u.size(); ++i) u[i] = gradient * few.size[i / program.dofs()] * numbers.next();
      found = look(program, few);
      found.at_rest = false;
      if (found.element >= 0) return found;
    }
  }
  return {};
}

}  // namespace voussoir::detail
