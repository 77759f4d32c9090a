#include <voussoir/elements/stock/plane_quad9.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(plane_quad9);
