#include <voussoir/backends/library_part.hpp>
#include <voussoir/elements/stock/register_stock.hpp>

#include <string>
#include <vector>

namespace voussoir::stock {

void add_program(const char* type, const char* shape, const std::type_info& kernel,
                 std::unique_ptr<const ElementProgram> (*make)(std::string_view name)) {
  detail::register_built_in_program(type, shape, make(type), kernel);
}

void add_types_on_demand(const char* file, std::initializer_list<const char*> names) {
  ElementLibrary::instance().add_on_demand(
      std::vector<std::string>(names.begin(), names.end()),
      [part = std::string(file)](const std::string& what) { load_part(part, what); });
}

}  // namespace voussoir::stock
