#include <voussoir/elements/surface/heat_stock.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(heat_surface);
