# Texts of headers as C++ strings. For elements of a user, the source described in voussoir_add_elements.cmake:
#   cmake -DHEADER=<path> -DNAME=<as the user wrote it> -DID=<C identifier> -DOUTPUT=<.cpp> -P voussoir_embed_text.cmake
# and for a backend that compiles them, a list of headers with the names that an #include finds them by:
#   cmake -DROOT=<folder> -DHEADERS=<paths below it, with commas> -DOUTPUT=<.cpp> -P voussoir_embed_text.cmake

# Sets `result` to a C++ literal with the text of a file.
function(text_literal path result)
  file(READ "${path}" text)

  # A raw string may hold anything but its own closing mark, so choose a mark that the text does not contain.
  set(mark "vsr")
  set(number 0)
  string(FIND "${text}" ")${mark}\"" position)
  while(NOT position EQUAL -1)
    math(EXPR number "${number} + 1")
    set(mark "vsr${number}")
    string(FIND "${text}" ")${mark}\"" position)
  endwhile()

  # Long texts become several adjacent strings, cut at line ends where there are any: compilers need not accept a literal
  # of more than 64 KiB, and the C++ compiler joins neighbours.
  set(piece_length 16000)
  set(literal "")
  string(LENGTH "${text}" length)
  while(length GREATER piece_length)
    string(SUBSTRING "${text}" 0 ${piece_length} piece)
    string(FIND "${piece}" "\n" cut REVERSE)
    if(cut EQUAL -1)
      set(cut ${piece_length})
    else()
      math(EXPR cut "${cut} + 1")
      string(SUBSTRING "${text}" 0 ${cut} piece)
    endif()
    string(APPEND literal "\n    R\"${mark}(${piece})${mark}\"")
    string(SUBSTRING "${text}" ${cut} -1 text)
    string(LENGTH "${text}" length)
  endwhile()
  string(APPEND literal "\n    R\"${mark}(${text})${mark}\"")
  set(${result} "${literal}" PARENT_SCOPE)
endfunction()

if(HEADERS)
  set(entries "")
  string(REPLACE "," ";" headers "${HEADERS}")
  foreach(header IN LISTS headers)
    text_literal("${ROOT}/${header}" literal)
    string(APPEND entries "      {\"voussoir/${header}\",${literal}},\n")
  endforeach()
  file(WRITE "${OUTPUT}" "// Generated from the headers that it names; changes belong there.
#include <voussoir/backends/cuda/programs/jit_text.hpp>

const std::vector<voussoir::cuda::NamedText>& voussoir::cuda::kernel_headers() {
  static const std::vector<NamedText> headers = {
${entries}  };
  return headers;
}
")
  return()
endif()

text_literal("${HEADER}" literal)

# Quotes and backslashes may occur in a file's name, too.
string(REPLACE "\\" "\\\\" quoted_name "${NAME}")
string(REPLACE "\"" "\\\"" quoted_name "${quoted_name}")

file(WRITE "${OUTPUT}" "// Generated from ${NAME} by voussoir_add_elements; changes belong there.
#define VSR_KERNEL_FILE \"${quoted_name}\"

#include <voussoir/framework/domain/kernel_text.hpp>

static const voussoir::EmbeddedKernelText vsr_text_${ID}{VSR_KERNEL_FILE,${literal}};

#include \"${HEADER}\"
")
