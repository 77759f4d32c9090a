#include <voussoir/elements/stock/orthotropic_solid_wedge18.hpp>
#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(orthotropic_solid_wedge18);
