#include <voussoir/elements/surface/quad9_stock.hpp>

#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(quad9_surface);
