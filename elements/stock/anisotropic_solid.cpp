#include <voussoir/elements/stock/anisotropic_solid.hpp>

#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(anisotropic_solid);
