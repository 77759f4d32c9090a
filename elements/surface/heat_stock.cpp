#include <voussoir/elements/surface/heat_stock.hpp>

#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(heat_surface);
