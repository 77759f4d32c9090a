#include <voussoir/elements/stock/solid_wedge18.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(solid_wedge18);
