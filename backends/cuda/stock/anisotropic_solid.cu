#include <voussoir/elements/stock/anisotropic_solid.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(anisotropic_solid);
