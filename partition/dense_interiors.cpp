#include <voussoir/partition/dense_interiors.hpp>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/part_threads.hpp>

namespace voussoir {

Interiors interiors_by_name(const std::string& name, const std::string& where) {
  if (name == "auto") return Interiors::automatic;
  if (name == "dense") return Interiors::dense;
  if (name == "sparse") return Interiors::sparse;
  throw Error(ErrorCode::bad_input, "interior=" + name + " does not exist; choose one of auto, dense, sparse", where);
}

std::vector<PartSystem> part_systems(const PartMatrices& matrices, int threads) {
  const Decomposition& decomposition = matrices.decomposition();
  std::vector<PartSystem> systems(static_cast<std::size_t>(decomposition.parts()));
  for_each_part(decomposition.parts(), threads, [&](int p) {
    const SymmetricCsr& matrix = matrices.neumann(p);
    const auto interior = decomposition.interior(p), boundary = decomposition.boundary(p);
    PartSystem& system = systems[static_cast<std::size_t>(p)];
    system.interior = static_cast<std::int32_t>(interior.size());
    system.boundary = static_cast<std::int32_t>(boundary.size());
    std::vector<std::int32_t> order(interior.begin(), interior.end()), number(static_cast<std::size_t>(matrix.n), -1);
    order.insert(order.end(), boundary.begin(), boundary.end());
    for (std::size_t i = 0; i < order.size(); ++i)
      number[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
    system.row_start.push_back(0);
    system.column.reserve(matrix.column.size());
    system.value.reserve(matrix.column.size());
    for (const std::int32_t i : order) {
      const auto row = static_cast<std::size_t>(i);
      for (auto k = static_cast<std::size_t>(matrix.row_start[row]);
           k < static_cast<std::size_t>(matrix.row_start[row + 1]); ++k) {
        system.column.push_back(number[static_cast<std::size_t>(matrix.column[k])]);
        system.value.push_back(matrix.value[k]);
      }
      system.row_start.push_back(static_cast<std::int64_t>(system.column.size()));
    }
    if (const auto& sizes = matrices.sizes(p); !sizes.empty())
      for (const std::int32_t i : interior) system.sizes.push_back(sizes[static_cast<std::size_t>(i)]);
  });
  return systems;
}

bool uses_dense_interiors(const Backend& backend, const Decomposition& decomposition, Interiors wanted,
                          const std::string& part_solver) {
  if (wanted == Interiors::sparse) return false;
  auto* const service = backend.find<CondensationServices>();
  if (wanted == Interiors::dense) {
    if (part_solver != "direct")
      throw Error(ErrorCode::bad_input,
                  "dense interiors are factorised on the devices, so that there is no part solver for them; leave out "
                  "interior=dense or solver=" +
                      part_solver,
                  "interior=dense");
    if (!service)
      throw Error(ErrorCode::unavailable,
                  "backend " + backend.name() + " does not eliminate dense interiors; use interior=sparse",
                  "interior=dense");
    return true;
  }
  if (!service || part_solver != "direct") return false;
  std::vector<std::int32_t> interior, boundary;
  for (int p = 0; p < decomposition.parts(); ++p) {
    interior.push_back(static_cast<std::int32_t>(decomposition.interior(p).size()));
    boundary.push_back(static_cast<std::int32_t>(decomposition.boundary(p).size()));
  }
  return service->is_preferred(backend, interior, boundary);
}

}  // namespace voussoir
