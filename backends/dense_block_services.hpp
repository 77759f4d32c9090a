#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <voussoir/backends/operator.hpp>
#include <voussoir/backends/service.hpp>

namespace voussoir {

class Backend;

/// A dense matrix between some equations, on the host.
struct DenseBlock {
  std::vector<std::int32_t> equations;  ///< of its rows and columns, each once
  std::vector<double> values;           ///< by rows, equations.size()² numbers
};

/// Sums of dense blocks on the devices of a backend, such as the Schur complements of the parts of a divided model. All
/// sums are taken in a fixed order: the same bits for the same input, whatever the number of threads.
class DenseBlockServices : public Service {
 public:
  static constexpr std::string_view service_name = "dense blocks";  ///< by which Backend::service() finds it

  /// The operator A = Σ Rᵀ S R over the blocks S, with the restrictions R to their equations. A device stores the rows
  /// of all blocks whose equations it owns: 8 bytes for each number, and the equations of each block once. The backend
  /// must outlive the operator. Throws Error (misuse) for a block of a wrong size, and for an equation that the layout
  /// does not have, or that is neither owned nor a ghost on a device that has a row of the block.
  virtual std::unique_ptr<Operator> make_block_sum(Backend& backend, std::shared_ptr<const Layout> layout,
                                                   std::span<const DenseBlock> blocks) = 0;
};

}  // namespace voussoir
