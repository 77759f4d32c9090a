#pragma once
#include <cstdint>

// The ABI number of the public classes. Code that was compiled with other headers than the library it meets at run time
// (a backend plugin, a library loaded with --load) would misread objects; the number is compared before any of it runs.

namespace voussoir {

/// Changes whenever a public class that crosses a library boundary changes: its virtual functions, its members, or what
/// its inline functions assume. tests/structure/check_abi.sh notices it.
inline constexpr std::int32_t abi_number = 8;

/// ELF section in which every object file that registers something keeps the number it was compiled with. It is read
/// from the file before the library is loaded.
#define VSR_ABI_SECTION "voussoir_abi"

#if !defined(__CUDACC__)  // device code does not register
#if __has_cpp_attribute(gnu::retain)
#define VSR_KEEP gnu::used, gnu::retain
#else
#define VSR_KEEP gnu::used
#endif

/// Keeps the ABI number in this object file, whatever the linker drops.
[[VSR_KEEP, gnu::section(VSR_ABI_SECTION)]] static const std::int32_t compiled_abi_number = abi_number;
#endif

}  // namespace voussoir
