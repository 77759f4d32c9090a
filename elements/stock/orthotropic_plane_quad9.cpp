#include <voussoir/elements/stock/orthotropic_plane_quad9.hpp>
#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(orthotropic_plane_quad9);
