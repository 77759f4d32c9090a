#include <voussoir/elements/stock/solid_hex8.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(solid_hex8);
