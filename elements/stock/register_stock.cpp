#include <voussoir/elements/stock/register_stock.hpp>

namespace voussoir::stock {

void add_program(const char* type, const char* shape, const std::type_info& kernel,
                 std::unique_ptr<const ElementProgram> (*make)(std::string_view name)) {
  detail::register_built_in_program(type, shape, make(type), kernel);
}

}  // namespace voussoir::stock
