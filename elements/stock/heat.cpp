#include <voussoir/elements/stock/heat.hpp>
#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(heat);
