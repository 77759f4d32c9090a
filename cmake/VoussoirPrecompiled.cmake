# Headers that most sources include, read once instead of hundreds of times:
#   VOUSSOIR_PRECOMPILED         AUTO: unless there is a compiler cache, ON, OFF
#   voussoir_precompile(target)  adds them to a target; further arguments are more headers
# They are those of the standard library and of others, which do not change: no change of ours compiles everything again.
include_guard(GLOBAL)

set(VOUSSOIR_PRECOMPILED "AUTO" CACHE STRING "Precompile what sources include most, so that fresh builds are faster: \
AUTO (unless there is a compiler cache), ON or OFF")
set_property(CACHE VOUSSOIR_PRECOMPILED PROPERTY STRINGS AUTO ON OFF)
set(voussoir_precompiles ${VOUSSOIR_PRECOMPILED})
# ccache recompiles only what changed, which is faster without precompiled headers and with sources that are compiled alone;
# with VOUSSOIR_PRECOMPILED=ON it accepts precompiled headers if its setting sloppiness contains pch_defines and time_macros.
if(VOUSSOIR_PRECOMPILED STREQUAL "AUTO" AND CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
  set(voussoir_precompiles OFF)
elseif(VOUSSOIR_PRECOMPILED STREQUAL "AUTO")
  set(voussoir_precompiles ON)
endif()

function(voussoir_precompile target)
  if(voussoir_precompiles)
    # GCC would look through all that was precompiled each time it collects garbage, for memory that few need.
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>")
    if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache") # which looks at the precompiled header then
      target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>")
    endif()
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
