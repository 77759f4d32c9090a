#include <voussoir/elements/stock/axisymmetric_heat.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(axisymmetric_heat);
