#pragma once
#include <memory>

#include <voussoir/backends/explicit_services.hpp>

namespace voussoir {
class CpuBackend;
}

namespace voussoir::cpu {

/// Explicit steps on the cores of this machine: internal forces, and one pass over the vectors.
std::unique_ptr<ExplicitServices> make_explicit_services(CpuBackend& backend);

}  // namespace voussoir::cpu
