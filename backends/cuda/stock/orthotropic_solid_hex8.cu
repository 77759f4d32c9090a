#include <voussoir/elements/stock/orthotropic_solid_hex8.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(orthotropic_solid_hex8);
