#include <voussoir/elements/stock/solid_linear.hpp>
#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(solid_linear);
