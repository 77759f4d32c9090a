#include <voussoir/elements/stock/orthotropic_heat_complete.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(orthotropic_heat_complete);
