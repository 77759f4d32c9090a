#pragma once
#include <cstdint>

// The ABI number of the public classes. A backend plugin or a library loaded with --load that was compiled against
// other headers than libvoussoir would misread objects, so the numbers are compared before any of its code runs.

namespace voussoir {

/// Incremented whenever a public class that crosses a library boundary changes: its virtual functions, its members, or
/// what its inline functions assume. tests/structure/check_abi.sh enforces this.
inline constexpr std::int32_t abi_number = 19;

/// ELF section in which every object file that registers something keeps the number it was compiled with. It is read
/// from the file before the library is loaded.
#define VSR_ABI_SECTION "voussoir_abi"

#if !defined(__CUDACC__)  // device code does not register
#if __has_cpp_attribute(gnu::retain)
#define VSR_KEEP gnu::used, gnu::retain
#else
#define VSR_KEEP gnu::used
#endif

/// The ABI number in the ELF section of this object file. Linkers keep it even where they discard unused sections.
[[VSR_KEEP, gnu::section(VSR_ABI_SECTION)]] static const std::int32_t compiled_abi_number = abi_number;
#endif

}  // namespace voussoir
