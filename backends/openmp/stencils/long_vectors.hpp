#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include <voussoir/backends/memory.hpp>
#include <voussoir/backends/stencil_services.hpp>

namespace voussoir::cpu {

/// See StencilServices::make_long_vectors(); what it is given has been checked.
std::unique_ptr<LongVectorHeat> make_long_vectors(std::shared_ptr<DeviceMemory> memory, int threads, std::int64_t n,
                                                  double alpha, std::span<const double> u);

}  // namespace voussoir::cpu
