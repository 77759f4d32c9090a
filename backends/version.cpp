#include <string_view>

#include <voussoir/backends/version.hpp>

#define VSR_TEXT_(x) #x
#define VSR_TEXT(x) VSR_TEXT_(x)

namespace voussoir {
namespace {

constexpr std::string_view header_version =
    VSR_TEXT(VSR_VERSION_MAJOR) "." VSR_TEXT(VSR_VERSION_MINOR) "." VSR_TEXT(VSR_VERSION_PATCH);

#if defined(VOUSSOIR_VERSION)
static_assert(header_version == VOUSSOIR_VERSION, "backends/version.hpp and project(VERSION) of CMakeLists.txt differ");
#endif

}  // namespace

std::string version() { return std::string(header_version); }

}  // namespace voussoir
