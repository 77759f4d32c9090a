#include <voussoir/framework/response/modal_values.hpp>

#include <string>

#include <voussoir/backends/error.hpp>

namespace voussoir {

ModalValues::ModalValues(std::span<const double> values, std::size_t columns) {
  if (columns == 0 || values.size() % columns != 0)
    throw Error(ErrorCode::misuse,
                std::to_string(values.size()) + " values cannot be divided into " + std::to_string(columns) +
                    " columns of equal length",
                "modal values");
  const std::size_t entries = values.size() / columns;
  for (std::size_t i = 0; i < columns; ++i) columns_.push_back(values.subspan(i * entries, entries));
}

ModalValues& ModalValues::add(std::span<const double> column) {
  if (!columns_.empty() && column.size() != entries())
    throw Error(ErrorCode::misuse,
                "a column of " + std::to_string(column.size()) + " entries does not fit the others of " +
                    std::to_string(entries()),
                "modal values");
  columns_.push_back(column);
  return *this;
}

std::vector<double> residual_values(std::span<const double> static_values, const ModalValues& modal_values,
                                    std::span<const double> modal_loads, std::span<const double> omegas) {
  const std::size_t modes = omegas.size();
  if (modal_values.columns() != modes || modal_loads.size() != modes ||
      (modes > 0 && modal_values.entries() != static_values.size()))
    throw Error(ErrorCode::misuse,
                "sizes differ: " + std::to_string(modes) + " frequencies, " + std::to_string(modal_loads.size()) +
                    " modal loads, " + std::to_string(modal_values.columns()) + " columns of " +
                    std::to_string(modal_values.entries()) + " modal values, " + std::to_string(static_values.size()) +
                    " static values",
                "static correction");
  std::vector<double> residual(static_values.begin(), static_values.end());
  for (std::size_t i = 0; i < modes; ++i) {
    if (modal_loads[i] == 0) continue;
    if (!(omegas[i] > 0))
      throw Error(ErrorCode::bad_input,
                  "mode " + std::to_string(i + 1) +
                      " is rigid and loaded: there is no static response to correct with; support the structure, or "
                      "superpose without static correction",
                  "static correction");
    const double factor = modal_loads[i] / omegas[i] / omegas[i];
    const std::span<const double> column = modal_values.column(i);
    for (std::size_t e = 0; e < residual.size(); ++e) residual[e] -= factor * column[e];
  }
  return residual;
}

}  // namespace voussoir
