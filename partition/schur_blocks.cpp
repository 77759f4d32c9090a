#include <voussoir/partition/schur_blocks.hpp>

#include <voussoir/backends/dense_block_services.hpp>
#include <voussoir/partition/host_operator.hpp>
#include <voussoir/partition/part_threads.hpp>
#include <voussoir/partition/schur_complement.hpp>

namespace voussoir {

std::size_t schur_block_bytes(const Decomposition& decomposition) {
  std::size_t sum = 0;
  for (int p = 0; p < decomposition.parts(); ++p) {
    const std::size_t n = decomposition.boundary(p).size();
    sum += sizeof(double) * n * n;
  }
  return sum;
}

std::unique_ptr<Operator> make_schur_blocks(Backend& backend, const PartMatrices& matrices) {
  const Decomposition& decomposition = matrices.decomposition();
  std::vector<DenseBlock> blocks;
  auto all = dense_schur_complements(matrices, part_threads(backend));
  for (int p = 0; p < decomposition.parts(); ++p) {
    const auto places = decomposition.interface_places(p);
    const std::vector<double> dense = std::move(all[static_cast<std::size_t>(p)]);
    const std::size_t n = places.size();
    DenseBlock block{{places.begin(), places.end()}, std::vector<double>(n * n)};
    for (std::size_t i = 0; i < n; ++i)  // symmetric to the last bit, as CG wants it
      for (std::size_t j = 0; j < n; ++j) block.values[i * n + j] = 0.5 * (dense[i * n + j] + dense[j * n + i]);
    blocks.push_back(std::move(block));
  }
  const auto size = static_cast<std::int64_t>(decomposition.interface().size());
  return backend.service<DenseBlockServices>().make_block_sum(
      backend, plain_layout(backend, size, backend.devices() > 1), blocks);
}

}  // namespace voussoir
