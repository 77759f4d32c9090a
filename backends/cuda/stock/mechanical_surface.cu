#include <voussoir/elements/surface/mechanical_stock.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(mechanical_surface);
