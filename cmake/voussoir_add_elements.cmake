# voussoir_add_elements(<target> <header>...)
#
# Makes the elements of each header part of <target>. A header holds kernels and their VSR_REGISTER_ELEMENT lines; for
# each, one source is generated and added to the target which
#   - includes the header, so that its elements are compiled and registered when the program starts, and
#   - keeps the header's text, so that a backend with a compiler of its own can build the same kernels for its device.
# Names of headers are relative to the folder of the CMakeLists.txt that calls this; they appear in messages as given.
# The text is embedded again whenever the header changes.
#
# The generated sources are compiled with VOUSSOIR_ELEMENT_OPTIONS: for the processor and with the rules of arithmetic
# that the library was built with, since an element is fast only where its vectors are as wide as the processor's. Set it
# before the call to choose others.
include_guard(GLOBAL)

set(VOUSSOIR_EMBED_TEXT_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/voussoir_embed_text.cmake"
    CACHE INTERNAL "Writes the source that registers and embeds one header of elements")

# Kernels are templates that live on inlining: without optimisation they run ten times slower, and more.
function(voussoir_warn_unless_optimised target)
  get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  get_target_property(own_options "${target}" COMPILE_OPTIONS)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  if(is_multi_config OR "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}} ${own_options}" MATCHES "-O([1-9sg]|fast)|/O[12x]")
    return()
  endif()
  if(CMAKE_BUILD_TYPE)
    set(reason "a build of type ${CMAKE_BUILD_TYPE} does not optimise")
  else()
    set(reason "CMAKE_BUILD_TYPE is not set, so that nothing is optimised")
  endif()
  message(WARNING "Voussoir: the elements of \"${target}\" will be about ten times slower than they could be: ${reason}. "
                  "Configure with -DCMAKE_BUILD_TYPE=Release")
endfunction()

function(voussoir_add_elements target)
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "voussoir_add_elements: there is no target \"${target}\"; add the executable or library first")
  endif()
  if(NOT ARGN)
    message(FATAL_ERROR "voussoir_add_elements(${target}): name at least one header with elements")
  endif()
  get_target_property(type "${target}" TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    # A linker drops an object of an archive that nobody calls, and with it the registration.
    message(FATAL_ERROR "voussoir_add_elements: \"${target}\" is a static library, whose elements would be lost at "
                        "link time; use an executable, a SHARED, MODULE or OBJECT library")
  elseif(NOT type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY|OBJECT_LIBRARY)$")
    message(FATAL_ERROR "voussoir_add_elements: \"${target}\" (${type}) has no sources that could contain an element")
  endif()

  voussoir_warn_unless_optimised("${target}")
  foreach(header IN LISTS ARGN)
    set(header_path "${header}")
    cmake_path(ABSOLUTE_PATH header_path BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    if(NOT EXISTS "${header_path}" OR IS_DIRECTORY "${header_path}")
      message(FATAL_ERROR "voussoir_add_elements(${target}): there is no header \"${header}\" "
                          "(looked for ${header_path})")
    endif()
    # The short hash keeps headers of the same name in different folders apart.
    string(SHA1 hash "${target}:${header_path}")
    string(SUBSTRING "${hash}" 0 8 hash)
    cmake_path(GET header_path STEM stem)
    string(MAKE_C_IDENTIFIER "${stem}_${hash}" id)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/voussoir_elements/${id}.cpp")
    add_custom_command(
      OUTPUT "${source}"
      COMMAND "${CMAKE_COMMAND}" "-DHEADER=${header_path}" "-DNAME=${header}" "-DID=${id}" "-DOUTPUT=${source}" -P
              "${VOUSSOIR_EMBED_TEXT_SCRIPT}"
      DEPENDS "${header_path}" "${VOUSSOIR_EMBED_TEXT_SCRIPT}"
      COMMENT "Embedding elements of ${header}"
      VERBATIM)
    # Other options than those of the target's precompiled header would be an error.
    set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "${VOUSSOIR_ELEMENT_OPTIONS}"
                                                       SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
    target_sources("${target}" PRIVATE "${source}")
  endforeach()
  target_link_libraries("${target}" PRIVATE voussoir::voussoir)
endfunction()
