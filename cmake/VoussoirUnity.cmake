# Builds from nothing compile sources of one layer (of framework: one folder of it) together, a few at a time, since most of
# the time of a small source goes into headers and templates that its neighbours need too:
#   VOUSSOIR_UNITY                            AUTO: as VOUSSOIR_PRECOMPILED, ON, OFF
#   voussoir_unite(<target> <most> <source>...)  does so for sources of a target, at most <most> at a time
#   voussoir_unite_tests(<target> <most> <source>...)  the same for tests, which are kept apart where names clash
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

# Tests that take long to compile by themselves, or that define a name that headers of other tests have.
set(voussoir_tests_alone
    tests/apps/program_test.cpp
    tests/conformance/sweeps_test.cpp
    tests/elements/law_dependence_test.cpp
    tests/elements/point/general_element_test.cpp
    tests/elements/point/point_pieces_test.cpp
    tests/elements/point/point_tensors_test.cpp
    tests/framework/analysis/superposed_spectrum_test.cpp
    tests/framework/io/deck/unused_cards_test.cpp
    tests/jobs/run_heat_job_test.cpp
    tests/partition/device_division_test.cpp
    tests/solvers/fields_test.cpp
    tests/solvers/tangent_choice_test.cpp
    tests/validation/convergence_test.cpp)

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

# Sets <variable> to the names that a source defines for itself, and <variable>_used to those that it takes from other
# namespaces. As the sources are formatted, such a line begins in the first column: with a class, an alias, `using`, or a type
# that is followed by the name of a function or variable.
function(voussoir_names_of variable source)
  file(STRINGS "${source}" lines REGEX "^[A-Za-z]")
  set(names "")
  set(used "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^(struct|class|enum class|enum) ([A-Za-z0-9_]+)( final)?( :[^:]| *{)")
      list(APPEND names "${CMAKE_MATCH_2}")
    elseif(line MATCHES "^using ([A-Za-z0-9_]+) =")
      list(APPEND names "${CMAKE_MATCH_1}")
    elseif(line MATCHES "^using .*::([A-Za-z0-9_]+)")
      list(APPEND used "${CMAKE_MATCH_1}")
    elseif(line MATCHES "^(TEST|TEST_P|TEST_F|INSTANTIATE_TEST_SUITE_P|using|namespace|template|extern)[ (]")
      continue()
    elseif(line MATCHES "^[A-Za-z_][^(={;]*[ *&>]([A-Za-z0-9_]+)(\\[[^]]*\\])*[ ]*[(={;]")
      list(APPEND names "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  set(${variable} "${names}" PARENT_SCOPE)
  set(${variable}_used "${used}" PARENT_SCOPE)
endfunction()

# Test sources often define the same short names for themselves (`solve`, `steel`), so each joins the first group of its
# folder in which nobody else defines any of its names, and that has the same `using namespace`. If the compiler reports a
# name that two sources define, one of them has changed since, and running CMake again separates them; one that a header
# of tests defines, too, is a reason to list the source in voussoir_tests_alone.
function(voussoir_unite_tests target most)
  if(NOT voussoir_unites)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>")
  set(groups "")
  foreach(source IN LISTS ARGN)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE name)
    if(name IN_LIST voussoir_tests_alone)
      continue()
    endif()
    voussoir_names_of(names "${source}")
    string(REGEX MATCH "^tests/(framework/[^/]+|[^/]+)" folder "${name}")
    file(STRINGS "${source}" spaces REGEX "^using namespace ")
    string(APPEND folder "${spaces}")
    set(group "")
    foreach(candidate IN LISTS groups)
      if(NOT folder_${candidate} STREQUAL folder OR count_${candidate} EQUAL most)
        continue()
      endif()
      set(clash FALSE)
      foreach(word IN LISTS names names_used)
        if(word IN_LIST names_${candidate} OR (word IN_LIST names AND word IN_LIST used_${candidate}))
          set(clash TRUE)
          break()
        endif()
      endforeach()
      if(NOT clash)
        set(group "${candidate}")
        break()
      endif()
    endforeach()
    if(NOT group)
      string(MAKE_C_IDENTIFIER "${name}" group)
      list(APPEND groups "${group}")
      set(folder_${group} "${folder}")
      set(count_${group} 0)
      set(names_${group} "")
      set(used_${group} "")
    endif()
    math(EXPR count_${group} "${count_${group}} + 1")
    list(APPEND names_${group} ${names})
    list(APPEND used_${group} ${names_used})
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
