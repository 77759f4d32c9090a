#include <voussoir/elements/stock/orthotropic_heat_complete.hpp>
#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(orthotropic_heat_complete);
