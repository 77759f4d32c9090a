#include <voussoir/elements/structural/stock.hpp>

#include <voussoir/elements/stock/register_stock.hpp>

VSR_REGISTER_STOCK(structural);
