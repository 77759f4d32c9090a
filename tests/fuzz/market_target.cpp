#include <voussoir/framework/io/matrix_market/matrix_market.hpp>

#include <voussoir/backends/error.hpp>

#include "fuzz/target.hpp"

void read_input(std::string_view bytes) {
  try {
    voussoir::parse_matrix_market(bytes, "fuzz.mtx");
  } catch (const voussoir::Error&) {
  }
}
