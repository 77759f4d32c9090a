# How the project's own code is compiled. Sets, as lists of flags for target_compile_options:
#   VOUSSOIR_WARNINGS    for all code of the project
#   VOUSSOIR_ARITHMETIC  what the compiler may do with floating-point numbers in the library
#   VOUSSOIR_TUNING      the processor that the library is made for
include_guard(GLOBAL)
include(CheckCXXCompilerFlag)

# -Wno-psabi: kernels pass SIMD vectors by value inside one file, never between libraries, so that it does not matter
# that their calling convention depends on the processor.
set(VOUSSOIR_WARNINGS -Wall -Wextra -Wpedantic -Wno-psabi)
if(VOUSSOIR_WERROR)
  list(APPEND VOUSSOIR_WARNINGS -Werror)
endif()
# Warnings that GCC derives from what is left after optimisation change with processor and version, and are sometimes
# wrong. To those who look for warnings they are shown, but decide nothing; to others they would be pages about nothing.
foreach(warning IN ITEMS array-bounds maybe-uninitialized stringop-overflow stringop-overread restrict
                         dangling-reference nonnull)
  check_cxx_compiler_flag(-W${warning} VOUSSOIR_COMPILER_KNOWS_${warning})
  if(VOUSSOIR_COMPILER_KNOWS_${warning} AND VOUSSOIR_WERROR)
    list(APPEND VOUSSOIR_WARNINGS -Wno-error=${warning})
  elseif(VOUSSOIR_COMPILER_KNOWS_${warning})
    list(APPEND VOUSSOIR_WARNINGS -Wno-${warning})
  endif()
endforeach()

# Not -ffast-math: sums keep the order in which they are written, so that results are the same bits in every run, and
# a NaN stays a NaN, so that it is found. What is allowed: fused multiply-add, and functions such as sqrt without errno.
set(VOUSSOIR_ARITHMETIC -fno-math-errno -fno-trapping-math -ffp-contract=fast)

set(VOUSSOIR_TUNING "")
if(NOT VOUSSOIR_MARCH STREQUAL "")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|arm)")
    set(voussoir_march_flag "-mcpu=${VOUSSOIR_MARCH}") # on ARM, -mcpu chooses instructions and tuning together
  else()
    set(voussoir_march_flag "-march=${VOUSSOIR_MARCH}")
  endif()
  string(MAKE_C_IDENTIFIER "VOUSSOIR_COMPILER_TAKES_${voussoir_march_flag}" voussoir_march_check)
  check_cxx_compiler_flag("${voussoir_march_flag}" ${voussoir_march_check})
  if(${voussoir_march_check})
    set(VOUSSOIR_TUNING "${voussoir_march_flag}")
  elseif(VOUSSOIR_MARCH STREQUAL "native")
    message(STATUS "Voussoir: the compiler does not support ${voussoir_march_flag}; building for a generic processor")
  else()
    message(FATAL_ERROR "VOUSSOIR_MARCH is \"${VOUSSOIR_MARCH}\", but the compiler rejects ${voussoir_march_flag}")
  endif()
endif()

if(VOUSSOIR_SANITIZE)
  list(JOIN VOUSSOIR_SANITIZE "," voussoir_sanitizers)
  add_compile_options("-fsanitize=${voussoir_sanitizers}" -fno-omit-frame-pointer)
  add_link_options("-fsanitize=${voussoir_sanitizers}")
  if("undefined" IN_LIST VOUSSOIR_SANITIZE)
    add_compile_options(-fno-sanitize-recover=undefined) # a finding ends the test, rather than scrolling by
  endif()
  # Eigen allocates in one way under AddressSanitizer and in another without, where malloc aligns as Eigen wants (16 bytes).
  # Where only a part of the code is instrumented, what one part allocates may be freed by the other: they have to agree.
  # For processors with longer vectors, Eigen always does without malloc's alignment (property VOUSSOIR_ALIGNED_FURTHER).
  add_compile_definitions("EIGEN_MALLOC_ALREADY_ALIGNED=$<NOT:$<BOOL:$<TARGET_PROPERTY:VOUSSOIR_ALIGNED_FURTHER>>>")
  message(STATUS "Voussoir: sanitizers ${voussoir_sanitizers}")
endif()
