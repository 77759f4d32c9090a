# Finds CHOLMOD of SuiteSparse. Defines CHOLMOD_FOUND and the target CHOLMOD::cholmod.
include(FindPackageHandleStandardArgs)

find_path(CHOLMOD_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse)
find_library(CHOLMOD_LIBRARY NAMES cholmod)
find_package_handle_standard_args(CHOLMOD REQUIRED_VARS CHOLMOD_LIBRARY CHOLMOD_INCLUDE_DIR
                                  REASON_FAILURE_MESSAGE "install libsuitesparse-dev")
mark_as_advanced(CHOLMOD_INCLUDE_DIR CHOLMOD_LIBRARY)

if(CHOLMOD_FOUND AND NOT TARGET CHOLMOD::cholmod)
  add_library(CHOLMOD::cholmod UNKNOWN IMPORTED)
  set_target_properties(CHOLMOD::cholmod PROPERTIES IMPORTED_LOCATION "${CHOLMOD_LIBRARY}"
                                                    INTERFACE_INCLUDE_DIRECTORIES "${CHOLMOD_INCLUDE_DIR}")
endif()
