#include <voussoir/elements/stock/plane_strain.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(plane_strain);
