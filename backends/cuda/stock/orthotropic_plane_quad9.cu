#include <voussoir/elements/stock/orthotropic_plane_quad9.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(orthotropic_plane_quad9);
