// A library from an earlier time. Its code must never run.
#include <cstdint>
#include <cstdlib>

[[gnu::used, gnu::section("voussoir_abi")]] static const std::int32_t compiled_abi_number = 1;
[[maybe_unused]] static const bool ran = (std::abort(), true);
