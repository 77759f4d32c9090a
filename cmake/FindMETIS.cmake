# Finds METIS 5. Defines METIS_FOUND, METIS_VERSION and the target METIS::metis.
include(FindPackageHandleStandardArgs)

find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY NAMES metis)

if(METIS_INCLUDE_DIR)
  set(METIS_VERSION "")
  foreach(part IN ITEMS MAJOR MINOR SUBMINOR)
    file(STRINGS "${METIS_INCLUDE_DIR}/metis.h" metis_line REGEX "define METIS_VER_${part}[ \t]")
    string(REGEX MATCH "[0-9]+" metis_number "${metis_line}")
    list(APPEND METIS_VERSION "${metis_number}")
  endforeach()
  list(JOIN METIS_VERSION "." METIS_VERSION)
endif()

find_package_handle_standard_args(METIS REQUIRED_VARS METIS_LIBRARY METIS_INCLUDE_DIR VERSION_VAR METIS_VERSION)
mark_as_advanced(METIS_INCLUDE_DIR METIS_LIBRARY)

if(METIS_FOUND AND NOT TARGET METIS::metis)
  add_library(METIS::metis UNKNOWN IMPORTED)
  set_target_properties(METIS::metis PROPERTIES IMPORTED_LOCATION "${METIS_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES
                                                                                     "${METIS_INCLUDE_DIR}")
endif()
