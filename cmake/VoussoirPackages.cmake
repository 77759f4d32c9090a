# Debian packages by CPack, one per component of the installation: make package. docs/packages.md describes them.
include_guard(GLOBAL)

set(voussoir_soname_version "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME voussoir)
set(CPACK_PACKAGE_VENDOR "Voussoir authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_OUTPUT_FILE_PREFIX "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library development program)
if(VOUSSOIR_HAVE_CUDA AND NOT voussoir_cuda_is_draft)
  list(APPEND CPACK_COMPONENTS_ALL cuda)
endif()

# The convention of Debian's own tools; a package needs somebody to write to.
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(CPACK_DEBIAN_PACKAGE_MAINTAINER "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
else()
  set(CPACK_DEBIAN_PACKAGE_MAINTAINER "Voussoir authors <voussoir@localhost>")
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# Dependencies on other packages are read off the binaries, those among our own follow.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}")

set(voussoir_about " Voussoir is an object-oriented finite-element framework: an element is written\n once, and \
every analysis of it runs on interchangeable compute backends, on CPUs\n with OpenMP or on NVIDIA GPUs, chosen at run \
time by a string.\n .")

# voussoir_package(<component> <name> <section> <depends> <summary> <description>)
macro(voussoir_package component name section depends summary description)
  string(TOUPPER "${component}" upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME "${name}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION "${section}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${voussoir_about}\n ${description}")
endmacro()

set(voussoir_library_package "libvoussoir${voussoir_soname_version}")
set(voussoir_same_version "${voussoir_library_package} (= ${PROJECT_VERSION})")
voussoir_package(library "${voussoir_library_package}" libs "" "finite-element framework (shared library)"
                 "This package holds the shared library.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS libvoussoir-cuda)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/package/shlibs;${PROJECT_BINARY_DIR}/package/triggers")
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/package/shlibs"
     CONTENT "libvoussoir ${voussoir_soname_version} ${voussoir_library_package} (>= ${PROJECT_VERSION})\n")
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/package/triggers" CONTENT "activate-noawait ldconfig\n")
voussoir_package(development libvoussoir-dev libdevel "${voussoir_same_version}"
                 "finite-element framework (development files)"
                 "This package holds the headers, the CMake package and the pkg-config file.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "voussoir, cmake (>= 3.25), g++")
voussoir_package(program voussoir math "${voussoir_same_version}" "finite-element analyses from the command line"
                 "This package holds the program voussoir, which solves Abaqus and CalculiX\n decks and Gmsh meshes, its \
manual page, completions and the documentation.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS libvoussoir-cuda)
voussoir_package(cuda libvoussoir-cuda libs "${voussoir_same_version}" "finite-element framework (CUDA backend)"
                 "This package holds the plugin for NVIDIA GPUs. It needs their driver, and\n NVRTC where elements are \
compiled at run time.")
set(CPACK_DEBIAN_CUDA_PACKAGE_SUGGESTS "libcuda1, libnvrtc12")

# Adds to each package what Debian asks of its doc folder.
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/finish_packages.cmake")
include(CPack)
