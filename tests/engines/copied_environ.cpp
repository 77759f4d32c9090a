#include <unistd.h>

#include <cstdio>
#include <string>

#include <voussoir/partition/process/engine.hpp>

// A program that refers to `environ`, and therefore has its own copy of it, gets an error message instead of a crash in
// MPI.

int main() {
  if (!environ || !*environ) return 2;
  try {
    voussoir::open_engine("petsc");
  } catch (const voussoir::Error& error) {
    const std::string text = error.what();
    const bool told = error.code() == voussoir::ErrorCode::unavailable && text.find("environ") != std::string::npos;
    if (!told) std::fprintf(stderr, "another error: %s\n", text.c_str());
    return told ? 0 : 1;
  }
  std::fprintf(stderr, "the engine was opened\n");
  return 1;
}
