#include <voussoir/elements/stock/orthotropic_plane_heat.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(orthotropic_plane_heat);
