# Headers that most sources include, read once instead of hundreds of times:
#   VOUSSOIR_PRECOMPILED         AUTO: unless there is a compiler cache, ON, OFF
#   voussoir_precompile(target)  adds them to a target; further arguments are more headers
# They are those of the standard library and of others, which do not change: no change of ours compiles everything again.
include_guard(GLOBAL)

set(VOUSSOIR_PRECOMPILED "AUTO" CACHE STRING "Precompile what sources include most, so that fresh builds are faster: \
AUTO (unless there is a compiler cache), ON or OFF")
set_property(CACHE VOUSSOIR_PRECOMPILED PROPERTY STRINGS AUTO ON OFF)
set(voussoir_precompiles ${VOUSSOIR_PRECOMPILED})
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
  # A compiler cache refuses sources with a precompiled header, and is faster than one.
  set(voussoir_precompiles OFF)
  if(VOUSSOIR_PRECOMPILED STREQUAL "ON")
    message(STATUS "Voussoir: no precompiled headers with ${CMAKE_CXX_COMPILER_LAUNCHER}")
  endif()
elseif(VOUSSOIR_PRECOMPILED STREQUAL "AUTO")
  set(voussoir_precompiles ON)
endif()

function(voussoir_precompile target)
  if(voussoir_precompiles)
    # GCC would look through all that was precompiled each time it collects garbage, for memory that few need.
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>")
    target_precompile_headers(
      ${target}
      PRIVATE
      <algorithm>
      <array>
      <charconv>
      <cmath>
      <cstdint>
      <cstring>
      <filesystem>
      <fstream>
      <functional>
      <limits>
      <map>
      <memory>
      <numeric>
      <optional>
      <set>
      <span>
      <sstream>
      <string>
      <string_view>
      <unordered_map>
      <utility>
      <vector>
      ${ARGN})
  endif()
endfunction()
