# The text that voussoir_add_elements embeds is the header's, byte for byte: checked with a text made of everything that
# could go wrong (closing marks of raw strings, semicolons, brackets, backslashes, other alphabets, more than 64 KiB).
# cmake -DSCRIPT=... -DCXX=... -DFOLDER=... -P check_embedded_text.cmake

file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}/include/voussoir/framework/domain")

cmake_policy(VERSION 3.25)
set(text [==[
// )vsr" )vsr1" )" ]] ]=] [[ ; ;; \; \\ \" \n ${X} @X@ $ENV{HOME} ??/ %d σ = E·ε \
// continued
]==])
string(REPEAT "// a line; of [no] meaning: \\ \" )vsr2\" ά\n" 2500 filler)
string(REPEAT "x" 40000 long_line)
string(APPEND text "#define HEADER_SEEN VSR_KERNEL_FILE\n${filler}//${long_line}${long_line}\n// no newline at the end")
file(WRITE "${FOLDER}/nasty.hpp" "${text}")

# A stand-in for the real class, which compares with the file.
file(WRITE "${FOLDER}/include/voussoir/framework/domain/kernel_text.hpp" "#pragma once
#include <string>
namespace voussoir {
inline std::string& file_seen() { static std::string s; return s; }
inline std::string& text_seen() { static std::string s; return s; }
struct EmbeddedKernelText {
  EmbeddedKernelText(const char* file, const char* text) { file_seen() = file; text_seen() = text; }
};
}
")
file(WRITE "${FOLDER}/main.cpp" "#include \"generated.cpp\"
#include <fstream>
#include <iterator>
int main(int, char** argv) {
  std::ifstream in(argv[1], std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(in), {}};
  if (expected.size() < 65536) return 1;
  if (voussoir::text_seen() != expected) return 2;
  if (voussoir::file_seen() != \"elements/nasty.hpp\" || std::string(HEADER_SEEN) != \"elements/nasty.hpp\") return 3;
  return 0;
}
")
execute_process(COMMAND "${CMAKE_COMMAND}" "-DHEADER=${FOLDER}/nasty.hpp" -DNAME=elements/nasty.hpp -DID=nasty
                        "-DOUTPUT=${FOLDER}/generated.cpp" -P "${SCRIPT}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CXX}" -std=c++20 -O0 -w "-I${FOLDER}/include" -o "${FOLDER}/check" "${FOLDER}/main.cpp"
                        COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${FOLDER}/check" "${FOLDER}/nasty.hpp" RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the embedded text differs from the header's (case ${result})")
endif()
