#include <voussoir/elements/stock/solid_wedge18.hpp>
#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(solid_wedge18);
