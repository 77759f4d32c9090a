#include <voussoir/elements/stock/plane_heat.hpp>
#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(plane_heat);
