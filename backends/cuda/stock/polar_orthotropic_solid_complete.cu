#include <voussoir/elements/stock/polar_orthotropic_solid_complete.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(polar_orthotropic_solid_complete);
