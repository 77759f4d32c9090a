#pragma once
#include <voussoir/backends/condensation_services.hpp>

namespace voussoir::cuda {

/// Elimination of dense interiors on GPUs. It has no state and serves all backends.
CondensationServices& condensation_services();

/// The same by calls of cuSOLVER and cuBLAS on the first device; empty where they are not found.
std::vector<VendorCondensation> make_vendor_condensations(Backend& backend, std::span<const PartSystem> systems);

}  // namespace voussoir::cuda
