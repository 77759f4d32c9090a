#include <voussoir/framework/io/gmsh/gmsh_reader.hpp>

#include <voussoir/backends/error.hpp>

#include "fuzz/target.hpp"

void read_input(std::string_view bytes) {
  try {
    voussoir::read_gmsh_bytes(bytes, "fuzz.msh");
  } catch (const voussoir::Error&) {
  }
}
