# Headers of others that most sources of the tests and of the program include, read once instead of a hundred times:
#   VOUSSOIR_PRECOMPILED         whether; for builds from nothing
#   voussoir_precompile(target)  adds them to a target; further arguments are more headers
# The library itself never takes part, so that every build finds an include that is missing there.
include_guard(GLOBAL)

option(VOUSSOIR_PRECOMPILED "Precompile what tests and program include most: fresh builds are faster" OFF)
if(VOUSSOIR_PRECOMPILED AND CMAKE_CXX_COMPILER_LAUNCHER)
  # A compiler cache refuses sources with a precompiled header, and is faster than one.
  message(STATUS "Voussoir: no precompiled headers beside ${CMAKE_CXX_COMPILER_LAUNCHER}")
  set(VOUSSOIR_PRECOMPILED OFF)
endif()

function(voussoir_precompile target)
  if(VOUSSOIR_PRECOMPILED)
    target_precompile_headers(
      ${target}
      PRIVATE
      <algorithm>
      <array>
      <cmath>
      <cstdint>
      <filesystem>
      <fstream>
      <functional>
      <map>
      <memory>
      <set>
      <span>
      <sstream>
      <string>
      <vector>
      ${ARGN})
  endif()
endfunction()
