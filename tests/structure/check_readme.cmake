# cmake -DROOT=<source folder> -P check_readme.cmake
# The code that the README shows is code that the tests compile and run: each of these files stands in it to the letter.
file(READ "${ROOT}/README.md" readme)
foreach(shown IN ITEMS docs/tutorials/solve_something.cpp tests/consumer/my_element.hpp)
  file(READ "${ROOT}/${shown}" code)
  string(FIND "${readme}" "${code}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "README.md does not show ${shown} as it is; copy it again")
  endif()
endforeach()
message(STATUS "README.md shows code that the tests run")
