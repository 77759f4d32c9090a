# The headers that kernels of elements include, for the run-time compiler: std-free, under their <voussoir/…> names.
include_guard(GLOBAL)

# voussoir_kernel_headers(<target>): adds the source with the texts of these headers to a target.
function(voussoir_kernel_headers target)
  file(
    GLOB headers CONFIGURE_DEPENDS
    RELATIVE "${PROJECT_SOURCE_DIR}"
    "${PROJECT_SOURCE_DIR}/elements/grid/*.hpp" "${PROJECT_SOURCE_DIR}/elements/kernel/*.hpp" "${PROJECT_SOURCE_DIR}/elements/physics/*.hpp"
    "${PROJECT_SOURCE_DIR}/elements/point/*.hpp" "${PROJECT_SOURCE_DIR}/elements/quadrature/*.hpp"
    "${PROJECT_SOURCE_DIR}/elements/shapes/*.hpp" "${PROJECT_SOURCE_DIR}/elements/structural/*.hpp"
    "${PROJECT_SOURCE_DIR}/elements/surface/*.hpp" "${PROJECT_SOURCE_DIR}/elements/*.hpp")
  # What registers and runs elements on the CPU is not for kernels.
  list(FILTER headers EXCLUDE REGEX "stock|check_tangent|element_groups|kernel_concepts|kernel_program|law_check|law_dependence|native_program|native_stencil|register_kernel")
  list(APPEND headers backends/element_view.hpp backends/grid_stock.hpp backends/grid_view.hpp)
  foreach(name IN ITEMS elements/cluster_kernels elements/cluster_points elements/cluster_view elements/element_job elements/element_kernels elements/force_kernels elements/force_step elements/kept_tensors
                        elements/pair_kernels elements/point_kernels elements/tangent_ways
                        elements/tensor_kernels elements/constant_kernels grid/grid_kernels runtime/early_start runtime/shared_memory)
    list(APPEND headers backends/cuda/${name}.hpp)
  endforeach()
  list(TRANSFORM headers PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE paths)
  list(JOIN headers "," names)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/kernel_headers.cpp")
  add_custom_command(
    OUTPUT "${source}"
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}" "-DHEADERS=${names}" "-DOUTPUT=${source}" -P
            "${VOUSSOIR_EMBED_TEXT_SCRIPT}"
    DEPENDS ${paths} "${VOUSSOIR_EMBED_TEXT_SCRIPT}"
    COMMENT "Embedding the headers of kernels"
    VERBATIM)
  target_sources("${target}" PRIVATE "${source}")
endfunction()
