# Finds HDF5 without MPI. Defines HDF5Serial_FOUND, HDF5Serial_VERSION and the target HDF5Serial::hdf5.
#
# Not CMake's FindHDF5, which takes whichever compiler wrapper (h5cc, h5pcc) it meets first: a process may have another
# HDF5 that PETSc brings, one with MPI, and headers of that one need MPI. Debian gives both names of their own.
include(FindPackageHandleStandardArgs)

find_path(HDF5Serial_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(HDF5Serial_LIBRARY NAMES hdf5_serial hdf5)

if(HDF5Serial_INCLUDE_DIR)
  file(GLOB hdf5_configurations "${HDF5Serial_INCLUDE_DIR}/H5pubconf*.h") # some systems have one for each word length
  foreach(header IN LISTS hdf5_configurations)
    file(STRINGS "${header}" hdf5_parallel REGEX "^#[ \t]*define[ \t]+H5_HAVE_PARALLEL[ \t]+1")
    if(hdf5_parallel)
      message(STATUS "HDF5 in ${HDF5Serial_INCLUDE_DIR} is one with MPI")
      set(HDF5Serial_INCLUDE_DIR HDF5Serial_INCLUDE_DIR-NOTFOUND)
      break()
    endif()
  endforeach()
endif()
if(HDF5Serial_INCLUDE_DIR)
  set(HDF5Serial_VERSION "")
  foreach(part IN ITEMS MAJOR MINOR RELEASE)
    file(STRINGS "${HDF5Serial_INCLUDE_DIR}/H5public.h" hdf5_line REGEX "define H5_VERS_${part}[ \t]")
    string(REGEX MATCH "VERS_[A-Z]+[ \t]+([0-9]+)" hdf5_line "${hdf5_line}")
    list(APPEND HDF5Serial_VERSION "${CMAKE_MATCH_1}")
  endforeach()
  list(JOIN HDF5Serial_VERSION "." HDF5Serial_VERSION)
  # Files on file systems without locks can be read since 1.10.7 and 1.12.1.
  file(STRINGS "${HDF5Serial_INCLUDE_DIR}/H5Ppublic.h" HDF5Serial_LOCKS_ARE_OPTIONAL REGEX "H5Pset_file_locking")
endif()

find_package_handle_standard_args(
  HDF5Serial
  REQUIRED_VARS HDF5Serial_LIBRARY HDF5Serial_INCLUDE_DIR HDF5Serial_LOCKS_ARE_OPTIONAL
  VERSION_VAR HDF5Serial_VERSION)
mark_as_advanced(HDF5Serial_INCLUDE_DIR HDF5Serial_LIBRARY)

if(HDF5Serial_FOUND AND NOT TARGET HDF5Serial::hdf5)
  add_library(HDF5Serial::hdf5 UNKNOWN IMPORTED)
  set_target_properties(HDF5Serial::hdf5 PROPERTIES IMPORTED_LOCATION "${HDF5Serial_LIBRARY}"
                                                    INTERFACE_INCLUDE_DIRECTORIES "${HDF5Serial_INCLUDE_DIR}")
endif()
