# The sources that compile the stock element types, made from the list elements/stock/types.cmake while CMake configures.
include_guard(GLOBAL)

# The commands of the list, which collect for each source its headers and its lines of C++.
macro(voussoir_stock_source name)
  list(APPEND stock_names "${name}")
  set(stock_headers_${name} ${ARGN})
  set(stock_types_${name} "")
  set(stock_lines_${name} "")
endmacro()

macro(voussoir_extra_source name)
  voussoir_stock_source("${name}" ${ARGN})
  list(APPEND stock_extra_names "${name}")
endmacro()

macro(voussoir_element type kernel shape)
  list(GET stock_names -1 stock_current)
  list(APPEND stock_types_${stock_current} "${type}")
  string(APPEND stock_lines_${stock_current} "  add<${kernel}>(\"${type}\", \"${shape}\");\n")
endmacro()

macro(voussoir_point_element type law shape formulation)
  string(TOLOWER "${shape}" stock_shape)
  voussoir_element("${type}" "PointElement<${law}, ${shape}, ${formulation}>" "${stock_shape}")
endmacro()

macro(voussoir_finite_element type law shape formulation)
  string(TOLOWER "${shape}" stock_shape)
  voussoir_element("${type}" "FiniteElement<${law}, ${shape}, ${formulation}>" "${stock_shape}")
endmacro()

macro(voussoir_follower_pressure)
  foreach(stock_face IN ITEMS ${ARGN})
    string(TOLOWER "${stock_face}" stock_shape)
    voussoir_element("follower_pressure.${stock_shape}" "FollowerPressure<${stock_face}>" "${stock_shape}")
  endforeach()
endmacro()

macro(voussoir_face_load name load geometry)
  foreach(stock_face IN ITEMS ${ARGN})
    string(TOLOWER "${stock_face}" stock_shape)
    voussoir_element("${name}.${stock_shape}" "FaceLoad<${load}, ${stock_face}, Geometry::${geometry}>" "${stock_shape}")
  endforeach()
endmacro()

# voussoir_stock_sources(<variable> <folder> <extension> <header> <namespace>): writes one source for each of the list
# below <folder> in the build folder, and sets <variable> to the paths of the common ones, <variable>_extra to those of the
# others and <variable>_extra_types to the names of their types. <header> declares, in <namespace>,
#   template <class Kernel> void add(const char* type, const char* shape)
# which makes a kernel known to a backend. Sources whose text has not changed are left alone.
function(voussoir_stock_sources variable folder extension header namespace)
  include("${PROJECT_SOURCE_DIR}/elements/stock/types.cmake")
  set(common "")
  set(extra "")
  set(extra_types "")
  foreach(name IN LISTS stock_names)
    set(text "// Made from elements/stock/types.cmake.\n")
    foreach(include IN ITEMS ${stock_headers_${name}} elements/point/point_element.hpp ${header})
      string(APPEND text "#include <voussoir/${include}>\n")
    endforeach()
    string(APPEND text "\nnamespace ${namespace} {\n\n[[maybe_unused]] static const bool ${name}_added = [] {\n${stock_lines_${name}}"
                       "  return true;\n}();\n\n}  // namespace ${namespace}\n")
    set(source "${PROJECT_BINARY_DIR}/stock/${folder}/${name}.${extension}")
    file(CONFIGURE OUTPUT "${source}" CONTENT "${text}" @ONLY)
    if(name IN_LIST stock_extra_names)
      list(APPEND extra "${source}")
      list(APPEND extra_types ${stock_types_${name}})
    else()
      list(APPEND common "${source}")
    endif()
  endforeach()
  set(${variable} "${common}" PARENT_SCOPE)
  set(${variable}_extra "${extra}" PARENT_SCOPE)
  set(${variable}_extra_types "${extra_types}" PARENT_SCOPE)
endfunction()

# voussoir_stock_reservations(<source> <file> <type>...): writes the source by which the library knows the types in the
# library <file>, which it loads when one of them is asked for.
function(voussoir_stock_reservations source file)
  list(JOIN ARGN "\",\n                       \"" names)
  file(CONFIGURE OUTPUT "${source}" CONTENT "// Made from elements/stock/types.cmake.
#include <voussoir/elements/stock/register_stock.hpp>

namespace voussoir::stock {

[[maybe_unused]] static const bool types_reserved = [] {
  add_types_on_demand(\"${file}\",
                      {\"${names}\"});
  return true;
}();

}  // namespace voussoir::stock
" @ONLY)
endfunction()
