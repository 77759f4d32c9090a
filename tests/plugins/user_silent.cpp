// A library that includes our headers and registers nothing.
#include <voussoir/backends/registry.hpp>
