#include <voussoir/elements/stock/plane_stress.hpp>

#include <voussoir/backends/cuda/native_program.hpp>

VSR_NATIVE_STOCK(plane_stress);
