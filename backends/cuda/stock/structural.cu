#include <voussoir/elements/structural/stock.hpp>

#include <voussoir/backends/cuda/programs/native_program.hpp>

VSR_NATIVE_STOCK(structural);
