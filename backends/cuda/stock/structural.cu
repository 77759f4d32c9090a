#include <voussoir/elements/structural/stock.hpp>

#include <voussoir/backends/cuda/native_program.hpp>

VSR_NATIVE_STOCK(structural);
