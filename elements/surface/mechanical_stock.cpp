#include <voussoir/elements/surface/mechanical_stock.hpp>

#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(mechanical_surface);
