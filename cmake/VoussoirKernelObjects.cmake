# With VOUSSOIR_KERNELS_OF, a build with sanitizers that leaves out what only computes takes these objects from a finished
# build of the same sources instead of compiling them again, which saves CI minutes. Sets
#   voussoir_kernel_objects   objects of elements, solvers, partition and the CPU backend, or nothing
#   voussoir_extra_objects    those of the element types that are loaded on demand
# Except on ARM, both builds must be for the same processor, on which the alignment of Eigen's memory and types depends.
include_guard(GLOBAL)

set(voussoir_kernel_objects "")
set(voussoir_extra_objects "")
if(VOUSSOIR_KERNELS_OF STREQUAL "")
  return()
endif()
foreach(target IN ITEMS voussoir voussoir_extra_elements)
  if(NOT EXISTS "${VOUSSOIR_KERNELS_OF}/objects/${target}.txt")
    message(FATAL_ERROR "VOUSSOIR_KERNELS_OF is \"${VOUSSOIR_KERNELS_OF}\", where there is no objects/${target}.txt: "
                        "build everything there first")
  endif()
endforeach()
load_cache("${VOUSSOIR_KERNELS_OF}" READ_WITH_PREFIX voussoir_other_ CMAKE_CXX_COMPILER CMAKE_HOME_DIRECTORY
           VOUSSOIR_SANITIZE)
if(NOT voussoir_other_CMAKE_CXX_COMPILER STREQUAL CMAKE_CXX_COMPILER OR voussoir_other_VOUSSOIR_SANITIZE
   OR NOT voussoir_other_CMAKE_HOME_DIRECTORY STREQUAL CMAKE_SOURCE_DIR)
  message(FATAL_ERROR "VOUSSOIR_KERNELS_OF is \"${VOUSSOIR_KERNELS_OF}\", which is no build of these sources by the same "
                      "compiler without sanitizers")
endif()
# Options that change what these objects contain. The type of the build may differ, and on ARM the processor, too: there,
# neither changes the layout of types.
set(voussoir_kernel_options CMAKE_CXX_FLAGS VOUSSOIR_MUMPS VOUSSOIR_METIS VOUSSOIR_CHOLMOD)
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)")
  list(APPEND voussoir_kernel_options VOUSSOIR_MARCH)
endif()
load_cache("${VOUSSOIR_KERNELS_OF}" READ_WITH_PREFIX voussoir_other_ ${voussoir_kernel_options})
foreach(option IN LISTS voussoir_kernel_options)
  if(NOT "${voussoir_other_${option}}" STREQUAL "${${option}}")
    message(FATAL_ERROR "VOUSSOIR_KERNELS_OF is \"${VOUSSOIR_KERNELS_OF}\", which was built with ${option} = "
                        "\"${voussoir_other_${option}}\", and here it is \"${${option}}\"; give both builds the same")
  endif()
endforeach()

# Neither list has anything but objects in the end: a precompiled header counts as one.
file(STRINGS "${VOUSSOIR_KERNELS_OF}/objects/voussoir.txt" voussoir_kernel_objects REGEX "\\.o$")
set(voussoir_kernel_folders "(solvers|partition|elements|backends/openmp|([^/]+/)?stock/cpu)")
set(voussoir_kernel_units "Unity/unity_(solvers|partition|elements|[A-Za-z0-9_]*stock_cpu)_")
list(FILTER voussoir_kernel_objects INCLUDE REGEX
     "/voussoir\\.dir/(\\./)?(${voussoir_kernel_units}|${voussoir_kernel_folders}/)")
file(STRINGS "${VOUSSOIR_KERNELS_OF}/objects/voussoir_extra_elements.txt" voussoir_extra_objects REGEX "\\.o$")
if(NOT voussoir_kernel_objects OR NOT voussoir_extra_objects)
  message(FATAL_ERROR "VOUSSOIR_KERNELS_OF: ${VOUSSOIR_KERNELS_OF}/objects names no objects of what only computes")
endif()
foreach(object IN LISTS voussoir_kernel_objects voussoir_extra_objects)
  if(NOT EXISTS "${object}")
    message(FATAL_ERROR "VOUSSOIR_KERNELS_OF: ${object} does not exist; build everything there first")
  endif()
endforeach()
set_source_files_properties(${voussoir_kernel_objects} ${voussoir_extra_objects} PROPERTIES EXTERNAL_OBJECT ON)
list(LENGTH voussoir_kernel_objects voussoir_kernel_count)
message(STATUS "Voussoir: ${voussoir_kernel_count} objects of what only computes are those of ${VOUSSOIR_KERNELS_OF}")
