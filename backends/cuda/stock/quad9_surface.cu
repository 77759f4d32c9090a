#include <voussoir/elements/surface/quad9_stock.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(quad9_surface);
