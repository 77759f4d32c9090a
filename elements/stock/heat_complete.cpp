#include <voussoir/elements/stock/heat_complete.hpp>
#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(heat_complete);
