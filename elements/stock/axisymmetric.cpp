#include <voussoir/elements/stock/axisymmetric.hpp>
#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(axisymmetric);
