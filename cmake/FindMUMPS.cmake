# Finds sequential MUMPS in double precision, as Debian and Ubuntu package it (libmumps-seq-dev).
# Defines MUMPS_FOUND, MUMPS_VERSION and the target MUMPS::dmumps_seq.
include(FindPackageHandleStandardArgs)

find_path(MUMPS_INCLUDE_DIR dmumps_c.h PATH_SUFFIXES mumps_seq mumps-seq MUMPS)
# MUMPS's stand-in for MPI. Its mpi.h must be this one, not that of a real MPI.
find_path(MUMPS_SEQ_INCLUDE_DIR mpi.h PATHS "${MUMPS_INCLUDE_DIR}" /usr/include /usr/local/include
          PATH_SUFFIXES mumps_seq mumps-seq NO_DEFAULT_PATH)
find_library(MUMPS_DMUMPS_LIBRARY NAMES dmumps_seq)
find_library(MUMPS_COMMON_LIBRARY NAMES mumps_common_seq)
find_library(MUMPS_PORD_LIBRARY NAMES pord_seq)
find_library(MUMPS_MPISEQ_LIBRARY NAMES mpiseq_seq mpiseq)

if(MUMPS_INCLUDE_DIR)
  file(STRINGS "${MUMPS_INCLUDE_DIR}/dmumps_c.h" mumps_version_line REGEX "define MUMPS_VERSION ")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" MUMPS_VERSION "${mumps_version_line}")
endif()

find_package_handle_standard_args(
  MUMPS
  REQUIRED_VARS MUMPS_DMUMPS_LIBRARY MUMPS_INCLUDE_DIR MUMPS_COMMON_LIBRARY MUMPS_MPISEQ_LIBRARY
  VERSION_VAR MUMPS_VERSION)
mark_as_advanced(MUMPS_INCLUDE_DIR MUMPS_SEQ_INCLUDE_DIR MUMPS_DMUMPS_LIBRARY MUMPS_COMMON_LIBRARY MUMPS_PORD_LIBRARY
                 MUMPS_MPISEQ_LIBRARY)

if(MUMPS_FOUND AND NOT TARGET MUMPS::dmumps_seq)
  add_library(MUMPS::dmumps_seq INTERFACE IMPORTED)
  set(mumps_folders "${MUMPS_INCLUDE_DIR}")
  if(MUMPS_SEQ_INCLUDE_DIR)
    list(APPEND mumps_folders "${MUMPS_SEQ_INCLUDE_DIR}")
  endif()
  set(mumps_libraries "${MUMPS_DMUMPS_LIBRARY}" "${MUMPS_COMMON_LIBRARY}")
  if(MUMPS_PORD_LIBRARY)
    list(APPEND mumps_libraries "${MUMPS_PORD_LIBRARY}")
  endif()
  list(APPEND mumps_libraries "${MUMPS_MPISEQ_LIBRARY}")
  set_target_properties(MUMPS::dmumps_seq PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${mumps_folders}"
                                                     INTERFACE_LINK_LIBRARIES "${mumps_libraries}")
endif()
