#include <voussoir/elements/stock/plane_stress.hpp>
#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(plane_stress);
