# cmake -DBUILD= -DSOURCE= -DFOLDER= -DGENERATOR= -DCXX= -DLAUNCHER= -DVERSION= -P run.cmake
# Makes the Debian packages of a build, unpacks them into a scratch root as dpkg would into a system, runs the program
# from there and builds a program against the development package. Needs no rights of root.
function(step what)
  message(STATUS "packages: ${what}")
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "packages: ${what} failed (${result})")
  endif()
endfunction()

if(NOT PACKAGES) # else the packages of make package, which are there
  file(REMOVE_RECURSE "${FOLDER}")
  set(PACKAGES "${FOLDER}/packages")
  step("make them" "${CPACK}" --config "${BUILD}/CPackConfig.cmake" -G DEB -B "${FOLDER}/cpack"
       -D "CPACK_OUTPUT_FILE_PREFIX=${PACKAGES}")
endif()
set(root "${FOLDER}/root")
file(REMOVE_RECURSE "${root}" "${FOLDER}/build")

string(REGEX MATCH "^[0-9]+\\.[0-9]+" soname "${VERSION}")
foreach(name IN ITEMS libvoussoir${soname} libvoussoir-dev voussoir)
  file(GLOB package "${PACKAGES}/${name}_${VERSION}_*.deb")
  list(LENGTH package count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "packages: ${count} files ${name}_${VERSION}_*.deb in ${PACKAGES}, expected one")
  endif()
  foreach(field IN ITEMS Package Version Maintainer Section Depends Description)
    execute_process(COMMAND dpkg-deb --field "${package}" ${field} OUTPUT_VARIABLE ${field}
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    if(NOT ${field})
      message(FATAL_ERROR "packages: ${package} has no field ${field}")
    endif()
  endforeach()
  if(name STREQUAL "libvoussoir${soname}")
    foreach(needed IN ITEMS libc6 "libstdc[+][+]6" libgomp1 zlib1g)
      if(NOT "${Depends}" MATCHES "(^| )${needed}")
        message(FATAL_ERROR "packages: ${name} does not depend on ${needed}: ${Depends}")
      endif()
    endforeach()
  elseif(NOT Depends MATCHES "libvoussoir${soname} \\(= ${VERSION}\\)")
    message(FATAL_ERROR "packages: ${name} does not depend on the library of its version: ${Depends}")
  endif()
  step("unpack ${name}" dpkg-deb --extract "${package}" "${root}")
  if(NOT EXISTS "${root}/usr/share/doc/${name}/copyright")
    message(FATAL_ERROR "packages: ${name} has no copyright file")
  endif()
  list(APPEND packages "${package}")
endforeach()
file(GLOB cuda "${PACKAGES}/libvoussoir-cuda_${VERSION}_*.deb")
if(cuda)
  step("unpack libvoussoir-cuda" dpkg-deb --extract "${cuda}" "${root}")
endif()

# Each thing is in its package.
foreach(file IN ITEMS bin/voussoir include/voussoir/voussoir.hpp share/man/man1/voussoir.1.gz share/doc/voussoir/README.md
                      share/bash-completion/completions/voussoir)
  if(NOT EXISTS "${root}/usr/${file}")
    message(FATAL_ERROR "packages: /usr/${file} is in no package")
  endif()
endforeach()
file(GLOB_RECURSE library "${root}/usr/lib*/libvoussoir.so.${VERSION}")
cmake_path(GET library PARENT_PATH folder)

# The scratch root is no system, so its libraries are found by their folder.
set(ENV{LD_LIBRARY_PATH} "${folder}")
step("run the program" "${root}/usr/bin/voussoir" run "${root}/usr/share/doc/voussoir/examples/bracket.json" --quiet
     --output "${FOLDER}/results")
# Element types of the library's second file.
step("list the element types" "${root}/usr/bin/voussoir" info --elements)
step("run a deck of an orthotropic material" "${root}/usr/bin/voussoir" run
     "${SOURCE}/../validation/decks/fibres_c3d8.inp" --quiet --output "${FOLDER}/results")
step("configure a program" "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${FOLDER}/build" -G "${GENERATOR}"
     -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=${root}/usr" "-DCMAKE_CXX_COMPILER=${CXX}"
     "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}")
file(STRINGS "${FOLDER}/build/CMakeCache.txt" found REGEX "^voussoir_DIR:")
if(NOT found MATCHES "=${root}/usr/")
  message(FATAL_ERROR "packages: the program was configured with another Voussoir: ${found}")
endif()
step("build it" "${CMAKE_COMMAND}" --build "${FOLDER}/build")
step("run it" "${FOLDER}/build/bar")

find_program(lintian lintian)
if(lintian)
  # The relative RUNPATH lets an unpacked tree run where it lies.
  step("lintian" "${lintian}" --fail-on error --suppress-tags custom-library-search-path ${packages})
else()
  message(STATUS "packages: lintian is not installed, so it was not asked")
endif()
