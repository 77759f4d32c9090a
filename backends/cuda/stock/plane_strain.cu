#include <voussoir/elements/stock/plane_strain.hpp>

#include <voussoir/backends/cuda/native_program.hpp>

VSR_NATIVE_STOCK(plane_strain);
