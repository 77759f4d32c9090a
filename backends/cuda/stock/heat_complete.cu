#include <voussoir/elements/stock/heat_complete.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(heat_complete);
