# Builds from nothing compile sources of one layer (of framework: one folder of it) together, a few at a time, since most of
# the time of a small source goes into headers and templates that its neighbours need too:
#   VOUSSOIR_UNITY                            AUTO: as VOUSSOIR_PRECOMPILED, ON, OFF
#   voussoir_unite(<target> <most> <source>...)  does so for sources of a target, at most <most> at a time
#   voussoir_united_sources(<variable> <folder> <most> <source>...)  for sources that CMake cannot unite, those of nvcc
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
    backends/cuda/elements/element_vectors.cu
    backends/cuda/matrix/matrix_pattern.cu
    backends/cuda/multigrid/aggregation.cu
    backends/cuda/multigrid/block_norms.cu
    backends/cuda/multigrid/block_rows.cu
    backends/cuda/multigrid/dense_inverse.cu
    backends/cuda/multigrid/equation_rows.cu
    backends/cuda/multigrid/inverse_factor.cu
    backends/cuda/multigrid/level_diagonal.cu
    backends/cuda/multigrid/level_multiply.cu
    backends/cuda/multigrid/level_product.cu
    backends/cuda/multigrid/level_vectors.cu
    backends/cuda/multigrid/member_lists.cu
    backends/cuda/multigrid/product_pattern.cu
    backends/cuda/multigrid/prolongator.cu
    backends/cuda/multigrid/tentative.cu
    backends/cuda/vectors/column_vectors.cu
    backends/cuda/vectors/vectors.cu
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

# Sets <variable> to sources, written below <folder> in the build folder, that include the given ones: at most <most> of a
# folder at a time. nvcc reads the headers of a source four times, which takes it longer than most sources themselves.
function(voussoir_united_sources variable folder most)
  set(united "")
  set(previous "")
  foreach(source IN LISTS ARGN)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE name)
    cmake_path(GET name PARENT_PATH part)
    if(name IN_LIST voussoir_sources_alone)
      list(APPEND united "${source}")
      continue()
    endif()
    if(NOT part STREQUAL previous OR count EQUAL most)
      set(previous "${part}")
      set(count 0)
      cmake_path(GET source EXTENSION LAST_ONLY extension)
      string(MAKE_C_IDENTIFIER "${name}" group)
      list(APPEND united "${PROJECT_BINARY_DIR}/${folder}/${group}${extension}")
      set(text_${group} "")
    endif()
    math(EXPR count "${count} + 1")
    string(APPEND text_${group} "#include \"${source}\"\n")
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/${folder}/${group}${extension}" CONTENT "${text_${group}}" @ONLY)
  endforeach()
  set(${variable} "${united}" PARENT_SCOPE)
endfunction()
