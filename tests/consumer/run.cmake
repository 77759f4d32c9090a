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
list(FILTER private_headers EXCLUDE REGEX "/backends/cost_model/[a-z_]+\\.hpp$") # public, the others are those of backends
if(private_headers)
  message(FATAL_ERROR "consumer: private headers were installed: ${private_headers}")
endif()

# What messages and docs speak of is there, and nothing that is installed looks for libraries in the current folder.
foreach(page IN ITEMS README.md decks.md job-file.md results.md multigrid.md architecture.md command-line.md solvers.md job.schema.json
                      examples/bracket.json examples/bracket.msh tutorials/link_it.md)
  if(NOT EXISTS "${prefix}/share/doc/voussoir/${page}")
    message(FATAL_ERROR "consumer: ${page} is not installed in share/doc/voussoir")
  endif()
endforeach()
step("RUNPATH" sh "${SOURCE}/../structure/check_runpath.sh" "${prefix}")
file(MAKE_DIRECTORY "${FOLDER}/elsewhere")
file(WRITE "${FOLDER}/elsewhere/mesh.msh" "")
execute_process(COMMAND "${prefix}/bin/voussoir" run mesh.msh WORKING_DIRECTORY "${FOLDER}/elsewhere"
                ERROR_VARIABLE text RESULT_VARIABLE result)
string(FIND "${text}" "${prefix}/share/doc/voussoir/job-file.md" position)
if(NOT result EQUAL 1 OR position EQUAL -1)
  message(FATAL_ERROR "consumer: an error (${result}) does not name the page where it is installed:\n${text}")
endif()
step("run an installed example" "${prefix}/bin/voussoir" run "${prefix}/share/doc/voussoir/examples/bracket.json"
     --quiet --output "${FOLDER}/elsewhere")
step("run a deck of an orthotropic material" "${prefix}/bin/voussoir" run
     "${SOURCE}/../validation/decks/fibres_c3d8.inp" --quiet --output "${FOLDER}/elsewhere")

# Whoever builds elements without optimisation learns of it.
foreach(type IN ITEMS "" Debug Release)
  file(MAKE_DIRECTORY "${FOLDER}/warned")
  file(COPY "${SOURCE}/my_element.hpp" DESTINATION "${FOLDER}/warned")
  file(WRITE "${FOLDER}/warned/CMakeLists.txt"
       "cmake_minimum_required(VERSION 3.25)\nproject(warned LANGUAGES CXX)\nfind_package(voussoir CONFIG REQUIRED)\n"
       "add_library(mine SHARED my_element.hpp)\nvoussoir_add_elements(mine my_element.hpp)\n")
  file(REMOVE_RECURSE "${FOLDER}/warned/build")
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${FOLDER}/warned" -B "${FOLDER}/warned/build" -G "${GENERATOR}"
                          "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_BUILD_TYPE=${type}"
                  ERROR_VARIABLE text OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  if((type STREQUAL "Release") EQUAL (text MATCHES "ten times slower"))
    message(FATAL_ERROR "consumer: build type '${type}': the warning of slow elements is wrong: '${text}'")
  endif()
endforeach()

step("configure" "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${FOLDER}/build" -G "${GENERATOR}"
     "-DCMAKE_PREFIX_PATH=${prefix}" "-DTUTORIALS=${prefix}/share/doc/voussoir/tutorials"
     "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
file(STRINGS "${FOLDER}/build/compile_commands.json" unoptimised REGEX "\"command\":")
list(FILTER unoptimised EXCLUDE REGEX " -O[23] ")
if(unoptimised)
  message(FATAL_ERROR "consumer: built as the README says, sources are compiled without optimisation: ${unoptimised}")
endif()
step("build" "${CMAKE_COMMAND}" --build "${FOLDER}/build")
# Kernels that are compiled on the way are kept here, and not among those of whoever runs the tests.
set(ENV{VOUSSOIR_CACHE_DIR} "${FOLDER}/kernels")
step("run" "${FOLDER}/build/consumer")
# The proofs of the core, on every backend: the emulation of the CUDA backend is not installed.
set(backends openmp debug:2)
execute_process(COMMAND "${prefix}/bin/voussoir" info OUTPUT_VARIABLE info COMMAND_ERROR_IS_FATAL ANY)
set(gpu OFF)
if(info MATCHES "\n  cuda +yes")
  set(gpu ON)
  list(APPEND backends cuda cuda:0,0)
endif()
if(EMULATION AND EXISTS "${EMULATION}/libvoussoir_emulated.so")
  set(ENV{VOUSSOIR_PLUGIN_PATH} "${EMULATION}")
  list(APPEND backends emulated)
endif()
step("run an analysis of the user's own" "${FOLDER}/build/own_analysis" ${backends})
step("run laws of the user's own" "${FOLDER}/build/own_laws" ${backends})
if(gpu) # elsewhere there is no other route
  step("run the same laws on the host" "${FOLDER}/build/own_laws_on_host" ${backends})
endif()
step("run a coupled element of the user's own" "${FOLDER}/build/thermo_elastic" ${backends})
unset(ENV{VOUSSOIR_PLUGIN_PATH})
file(GLOB kernels "${FOLDER}/kernels/*.kernel")
if(kernels)
  step("run again, with kernels from the cache" "${FOLDER}/build/consumer")
endif()

# The library of the user's own, by name from the command line of the installed program.
function(expect_output text_of)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CODE" "COMMAND;HAS")
  execute_process(COMMAND ${arg_COMMAND} WORKING_DIRECTORY "${FOLDER}/elsewhere" OUTPUT_VARIABLE out ERROR_VARIABLE error
                  RESULT_VARIABLE result)
  if(NOT result EQUAL arg_CODE)
    message(FATAL_ERROR "consumer: ${text_of}: exit code ${result}, not ${arg_CODE}:\n${out}${error}")
  endif()
  foreach(part IN LISTS arg_HAS)
    string(FIND "${out}${error}" "${part}" position)
    if(position EQUAL -1)
      message(FATAL_ERROR "consumer: ${text_of}: the output does not say '${part}':\n${out}${error}")
    endif()
  endforeach()
endfunction()
set(voussoir "${prefix}/bin/voussoir")
set(extras "${FOLDER}/build/libextras.so")
step("a mesh" "${voussoir}" mesh box "${FOLDER}/elsewhere/box.inp" --dofs 3000)
expect_output("info" CODE 0 COMMAND "${voussoir}" info --load "${extras}"
              HAS "scaled-jacobi" "in-order" "${extras}" "element type 'seepage.hex8'")
expect_output("a preconditioner by name" CODE 0
              COMMAND "${voussoir}" run box.inp --load "${extras}" --solver cg+scaled-jacobi --verbose --output own
              HAS "cg+scaled-jacobi")
expect_output("a partitioner by name" CODE 0
              COMMAND "${voussoir}" partition box.inp --load "${extras}" --method in-order --parts 3
              HAS "by in-order" "3 parts")
expect_output("a misspelt name" CODE 2
              COMMAND "${voussoir}" run box.inp --load "${extras}" --solver cg+scaled-jacoby
              HAS "did you mean 'scaled-jacobi'?")
# An element of that library in a job file: water through a box from head 3 to head 1, with layers across the flow.
step("a mesh for a job" "${voussoir}" mesh box "${FOLDER}/elsewhere/ground.msh" --extent 4 1 1 --size 0.5)
file(WRITE "${FOLDER}/elsewhere/ground.json" [=[
{"mesh": "ground.msh",
 "sections": [{"group": "box", "element": "seepage", "parameters": {"along": 2, "across": 0.5}}],
 "supports": [{"group": "xmin", "head": 3}],
 "loads": [{"group": "xmax", "inflow": -1}]}
]=])
expect_output("an element of the user's own in a job" CODE 0
              COMMAND "${voussoir}" run ground.json --load "${extras}" --output ground
              HAS "least head" "greatest head")
file(READ "${FOLDER}/elsewhere/ground/ground.results.json" text)
# k = 2 along x, and 1 flows out: the head falls by 1/2 per length, from 3 to 1.
string(JSON least GET "${text}" steps 0 extremes head min value)
string(JSON greatest GET "${text}" steps 0 extremes head max value)
if(least LESS 0.999999 OR least GREATER 1.000001 OR greatest LESS 2.999999 OR greatest GREATER 3.000001)
  message(FATAL_ERROR "consumer: an element of the user's own in a job: heads from ${greatest} to ${least}, not 3 to 1")
endif()
expect_output("the same job without its library" CODE 1 COMMAND "${voussoir}" check ground.json
              HAS "ground.json:2" "there is no element type 'seepage'" "--load")
# A library that was built with the headers of another version is refused before any of its code runs.
file(MAKE_DIRECTORY "${FOLDER}/other")
file(COPY "${prefix}/include" DESTINATION "${FOLDER}/other")
file(READ "${FOLDER}/other/include/voussoir/backends/abi.hpp" text)
string(REGEX REPLACE "abi_number = [0-9]+;" "abi_number = 1000000;" text "${text}")
file(WRITE "${FOLDER}/other/include/voussoir/backends/abi.hpp" "${text}")
step("a library for another version" "${CXX}" -std=c++20 -shared -fPIC "-I${FOLDER}/other/include" "${SOURCE}/extras.cpp"
     -o "${FOLDER}/other/libextras.so")
expect_output("a library of another version" CODE 4
              COMMAND "${voussoir}" run box.inp --load "${FOLDER}/other/libextras.so" --solver cg+scaled-jacobi
              HAS "compiled with Voussoir headers of ABI 1000000" "compile it again")

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
