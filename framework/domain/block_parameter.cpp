#include <voussoir/framework/domain/block_parameter.hpp>

#include <algorithm>

namespace voussoir {

double block_parameter(const ElementBlock& block, const ElementBlock::Parameters& parameters, const std::string& name,
                       std::int32_t element, double otherwise) {
  const auto names = block.type().program().parameter_names();
  const auto k = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  if (k == names.size()) return otherwise;
  const std::size_t length = static_cast<std::size_t>(parameters.rows) * (names.size() + 1);
  const auto record =
      static_cast<std::size_t>(parameters.record.empty() ? 0 : parameters.record[static_cast<std::size_t>(element)]);
  return parameters.records[record * length + 1 + k];
}

}  // namespace voussoir
