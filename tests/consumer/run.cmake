# Installs the build into a fresh folder, then configures, builds and runs the consumer's project against it. Nothing of
# the build or source folder is visible to that project but what was installed.

function(step what)
  message(STATUS "consumer: ${what}")
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "consumer: ${what} failed (${result})")
  endif()
endfunction()

file(REMOVE_RECURSE "${FOLDER}")
set(prefix "${FOLDER}/prefix")
step("install" "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}" --config "${CONFIG}")

# The package speaks C++ only, and of no folder of the machine that it was built on.
file(GLOB_RECURSE exported "${prefix}/*.cmake" "${prefix}/*.pc")
foreach(file IN LISTS exported)
  file(READ "${file}" text)
  string(FIND "${text}" "${BUILD}" position)
  if(NOT position EQUAL -1)
    message(FATAL_ERROR "consumer: ${file} mentions the build folder")
  endif()
  if(text MATCHES "LANGUAGES[^\n]*CUDA|cudart|CUDA::")
    message(FATAL_ERROR "consumer: ${file} asks for CUDA")
  endif()
  if(text MATCHES "(fmt|OpenMP|Eigen3|ZLIB|MUMPS|METIS)::")
    message(FATAL_ERROR "consumer: ${file} asks for ${CMAKE_MATCH_0}, which only the library's own build needs")
  endif()
endforeach()
file(GLOB_RECURSE private_headers "${prefix}/include/voussoir/*/detail/*" "${prefix}/include/voussoir/backends/*/*")
if(private_headers)
  message(FATAL_ERROR "consumer: private headers were installed: ${private_headers}")
endif()

step("configure" "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${FOLDER}/build" -G "${GENERATOR}"
     "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" -DCMAKE_BUILD_TYPE=Release)
step("build" "${CMAKE_COMMAND}" --build "${FOLDER}/build")
# Kernels that are compiled on the way are kept here, and not among those of whoever runs the tests.
set(ENV{VOUSSOIR_CACHE_DIR} "${FOLDER}/kernels")
step("run" "${FOLDER}/build/consumer")
file(GLOB kernels "${FOLDER}/kernels/*.kernel")
if(kernels)
  step("run again, with kernels from the cache" "${FOLDER}/build/consumer")
endif()

# The same headers and library through pkg-config, where it is installed.
find_program(pkg_config NAMES pkg-config pkgconf)
if(pkg_config)
  set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
  execute_process(COMMAND "${pkg_config}" --modversion voussoir OUTPUT_VARIABLE version
                          OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT version STREQUAL VERSION)
    message(FATAL_ERROR "consumer: pkg-config says version \"${version}\", not \"${VERSION}\"")
  endif()
endif()
