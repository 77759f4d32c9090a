#include <voussoir/elements/stock/solid_hex27.hpp>
#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(solid_hex27);
