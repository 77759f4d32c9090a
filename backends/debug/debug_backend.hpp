#pragma once
#include <memory>

#include <voussoir/backends/backend.hpp>

namespace voussoir {

/// The CPU services on `devices` pseudo-devices whose memory is separate and guarded (see DebugMemory).
std::shared_ptr<Backend> make_debug_backend(int devices);

}  // namespace voussoir
