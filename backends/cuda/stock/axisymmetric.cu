#include <voussoir/elements/stock/axisymmetric.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(axisymmetric);
