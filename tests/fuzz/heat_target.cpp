#include <voussoir/framework/io/job/heat_job.hpp>

#include "fuzz/target.hpp"

void read_input(std::string_view bytes) {
  try {
    voussoir::read_heat_text(bytes, "fuzz.json", "/nonexistent");
  } catch (const voussoir::Error&) {
  }
}
