// The way in for libFuzzer (clang++ -fsanitize=fuzzer): coverage-guided, for long runs by hand.

#include <cstddef>
#include <cstdint>

#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
