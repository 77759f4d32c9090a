#include <voussoir/elements/stock/solid_linear.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(solid_linear);
