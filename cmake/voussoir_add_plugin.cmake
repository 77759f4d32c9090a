# voussoir_add_plugin(<name> <source or header>...)
#
# Builds lib<name>.so for `voussoir run --load` and load_library(). Sources contain VSR_REGISTER lines; headers (.hpp)
# contain elements and are embedded as voussoir_add_elements() does.
include_guard(GLOBAL)

function(voussoir_add_plugin name)
  set(sources ${ARGN})
  set(headers ${ARGN})
  list(FILTER sources EXCLUDE REGEX "\\.hpp$")
  list(FILTER headers INCLUDE REGEX "\\.hpp$")
  if(NOT ARGN)
    message(FATAL_ERROR "voussoir_add_plugin(${name}): name at least one source or header with registrations")
  endif()
  add_library("${name}" MODULE ${sources})
  # Sources of voussoir_add_elements() may be all that there is.
  set_target_properties("${name}" PROPERTIES LINKER_LANGUAGE CXX PREFIX lib SUFFIX .so)
  target_link_libraries("${name}" PRIVATE voussoir::voussoir)
  if(headers)
    voussoir_add_elements("${name}" ${headers})
  endif()
endfunction()
