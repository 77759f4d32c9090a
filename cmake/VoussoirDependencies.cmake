# Finds what the library is built with. Versions, licences and reasons stand in docs/dependencies.md; the names of the
# Debian and Ubuntu packages in tools/packages.txt.
include_guard(GLOBAL)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt 9 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(CLI11 REQUIRED CONFIG)
find_package(nlohmann_json 3.11 REQUIRED CONFIG)

# Of Boost only headers are used (Boost.Graph), so one path is all there is to find.
find_path(VOUSSOIR_BOOST_INCLUDE_DIR boost/graph/cuthill_mckee_ordering.hpp)
mark_as_advanced(VOUSSOIR_BOOST_INCLUDE_DIR)
if(NOT VOUSSOIR_BOOST_INCLUDE_DIR)
  message(FATAL_ERROR "Boost.Graph's headers were not found; install libboost-graph-dev (tools/install-dependencies)")
endif()
add_library(voussoir_boost_headers INTERFACE)
target_include_directories(voussoir_boost_headers SYSTEM INTERFACE "${VOUSSOIR_BOOST_INCLUDE_DIR}")

# voussoir_optional(<NAME> <found> <what is missing>): turns the switch VOUSSOIR_<NAME> = AUTO|ON|OFF and what
# was found into VOUSSOIR_HAVE_<NAME>, and says so.
function(voussoir_optional name found missing)
  set(have OFF)
  if(VOUSSOIR_${name} STREQUAL "OFF")
    message(STATUS "Voussoir: ${name} off (VOUSSOIR_${name}=OFF)")
  elseif(found)
    set(have ON)
    message(STATUS "Voussoir: ${name} on")
  elseif(VOUSSOIR_${name} STREQUAL "ON")
    message(FATAL_ERROR "VOUSSOIR_${name}=ON, but ${missing}")
  else()
    message(STATUS "Voussoir: ${name} off (${missing})")
  endif()
  set(VOUSSOIR_HAVE_${name} ${have} PARENT_SCOPE)
endfunction()

if(NOT VOUSSOIR_MUMPS STREQUAL "OFF")
  find_package(MUMPS QUIET)
endif()
voussoir_optional(MUMPS "${MUMPS_FOUND}" "sequential MUMPS was not found; install libmumps-seq-dev")

if(NOT VOUSSOIR_METIS STREQUAL "OFF")
  find_package(METIS QUIET)
endif()
voussoir_optional(METIS "${METIS_FOUND}" "METIS was not found; install libmetis-dev")

if(NOT VOUSSOIR_HDF5 STREQUAL "OFF")
  find_package(HDF5Serial QUIET)
endif()
voussoir_optional(HDF5 "${HDF5Serial_FOUND}" "serial HDF5 1.10.7 or later was not found; install libhdf5-dev")

if(VOUSSOIR_HAVE_MUMPS)
  # MUMPS asks for "a BLAS". Naming OpenBLAS here, ahead of MUMPS, makes it the one that is used whatever the system's
  # default BLAS is; --no-as-needed because the library itself may call none of its functions.
  add_library(voussoir_openblas INTERFACE)
  find_library(VOUSSOIR_OPENBLAS_LIBRARY NAMES openblas openblasp PATH_SUFFIXES openblas-pthread openblas-openmp)
  mark_as_advanced(VOUSSOIR_OPENBLAS_LIBRARY)
  if(VOUSSOIR_OPENBLAS_LIBRARY)
    target_link_libraries(voussoir_openblas INTERFACE "-Wl,--push-state,--no-as-needed" "${VOUSSOIR_OPENBLAS_LIBRARY}"
                                                      "-Wl,--pop-state")
    message(STATUS "Voussoir: MUMPS uses ${VOUSSOIR_OPENBLAS_LIBRARY}")
  else()
    message(STATUS "Voussoir: OpenBLAS was not found; MUMPS uses the system's BLAS, which may be slow")
  endif()
endif()

set(VOUSSOIR_HAVE_CHOLMOD OFF)
if(VOUSSOIR_CHOLMOD)
  find_package(CHOLMOD REQUIRED)
  set(VOUSSOIR_HAVE_CHOLMOD ON)
  message(NOTICE "Voussoir: CHOLMOD on. Its supernodal module is under the GPL (version 2 or later): a library built "
                 "this way, and what is linked with it, may be passed on under the GPL's terms only.")
endif()

# The CUDA backend is a plugin of its own; the library never needs CUDA, nor does anybody who links it.
set(voussoir_cuda_missing "")
if(NOT VOUSSOIR_CUDA STREQUAL "OFF")
  find_program(
    VOUSSOIR_NVCC nvcc
    HINTS "$ENV{CUDACXX}" "$ENV{CUDA_HOME}/bin" "$ENV{CUDA_PATH}/bin"
    PATHS /usr/local/cuda/bin)
  mark_as_advanced(VOUSSOIR_NVCC)
  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/backends/cuda/CMakeLists.txt")
    set(voussoir_cuda_missing "this version has no CUDA backend (backends/cuda is not there)")
  elseif(NOT VOUSSOIR_NVCC)
    set(voussoir_cuda_missing "nvcc was not found; install the CUDA toolkit or set CUDACXX")
  endif()
endif()
if(voussoir_cuda_missing)
  voussoir_optional(CUDA FALSE "${voussoir_cuda_missing}")
else()
  voussoir_optional(CUDA TRUE "")
endif()
