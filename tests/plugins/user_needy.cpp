// A library that needs a function which nobody has.
#include <voussoir/backends/abi.hpp>

extern "C" int voussoir_test_missing_function();
[[maybe_unused]] static const int value = voussoir_test_missing_function();
