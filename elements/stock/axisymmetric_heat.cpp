#include <voussoir/elements/stock/axisymmetric_heat.hpp>
#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(axisymmetric_heat);
