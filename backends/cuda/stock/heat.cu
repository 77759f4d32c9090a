#include <voussoir/elements/stock/heat.hpp>

#include <voussoir/backends/cuda/native_program.hpp>

VSR_NATIVE_STOCK(heat);
