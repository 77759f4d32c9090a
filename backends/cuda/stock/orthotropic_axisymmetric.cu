#include <voussoir/elements/stock/orthotropic_axisymmetric.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(orthotropic_axisymmetric);
