#include <voussoir/elements/stock/plane_quad9.hpp>
#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(plane_quad9);
