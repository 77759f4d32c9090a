# Builds from nothing compile sources of one layer (of framework: one folder of it) together, a few at a time, since most of
# the time of a small source goes into headers and templates that its neighbours need too:
#   VOUSSOIR_UNITY                            AUTO: as VOUSSOIR_PRECOMPILED, ON, OFF
#   voussoir_unite(<target> <most> <source>...)  does so for sources of a target, at most <most> at a time
# Two sources of a layer that define the same name for themselves cannot be compiled together. The compiler says so;
# list one of them in voussoir_sources_alone, or find a better name.
include_guard(GLOBAL)

set(VOUSSOIR_UNITY "AUTO" CACHE STRING "Compile sources of one layer together, so that fresh builds are faster: AUTO \
(unless there is a compiler cache), ON or OFF")
set_property(CACHE VOUSSOIR_UNITY PROPERTY STRINGS AUTO ON OFF)
set(voussoir_unites ${VOUSSOIR_UNITY})
if(VOUSSOIR_UNITY STREQUAL "AUTO")
  set(voussoir_unites ${voussoir_precompiles})
endif()

set(voussoir_sources_alone
    solvers/direct/band.cpp
    solvers/direct/cholmod.cpp
    solvers/direct/eigen.cpp
    solvers/direct/mumps.cpp
    solvers/direct/profile.cpp
    solvers/preconditioners/fsai.cpp)

function(voussoir_unite target most)
  if(NOT voussoir_unites)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A class of a source may have fields of a type that only the source knows. GCC takes united sources for headers, where
  # that would be a mistake.
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>")
  set(previous "")
  foreach(source IN LISTS ARGN)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE name)
    if(name IN_LIST voussoir_sources_alone)
      continue()
    endif()
    string(REGEX MATCH "^(framework/[^/]+|[^/]+)" part "${name}")
    if(NOT part STREQUAL previous OR count EQUAL most)
      string(MAKE_C_IDENTIFIER "${name}" group)
      set(previous "${part}")
      set(count 0)
    endif()
    math(EXPR count "${count} + 1")
    set_property(SOURCE "${source}" PROPERTY UNITY_GROUP "${group}")
  endforeach()
endfunction()
