#include <voussoir/elements/stock/polar_orthotropic_solid_complete.hpp>
#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(polar_orthotropic_solid_complete);
