# Sources of the library that interpret what a user wrote and arrange what is reported: texts, names, choices and small
# tables. They are long to optimise, and no job spends time in them, so fresh builds optimise them lightly:
#   voussoir_light_sources   their paths
#   voussoir_light_options   how they are compiled in a Release build
# Loops over all nodes, elements or equations of a model, or all numbers of a file, do not belong here.
include_guard(GLOBAL)

set(voussoir_light_sources "")
foreach(
  source IN
  ITEMS framework/domain/load_case
        framework/io/deck/deck_elements
        framework/io/deck/detail/build/constraints
        framework/io/deck/detail/build/couplings
        framework/io/deck/detail/build/job
        framework/io/deck/detail/build/loads
        framework/io/deck/detail/build/materials
        framework/io/deck/detail/build/models
        framework/io/deck/detail/build/rigid_bodies
        framework/io/deck/detail/build/sections
        framework/io/deck/detail/build/steps
        framework/io/deck/detail/build/supports
        framework/io/deck/detail/parse/assembly
        framework/io/deck/detail/parse/constraint
        framework/io/deck/detail/parse/deck
        framework/io/deck/detail/parse/expression
        framework/io/deck/detail/parse/load
        framework/io/deck/detail/parse/material
        framework/io/deck/detail/parse/names
        framework/io/deck/detail/parse/parameter
        framework/io/deck/detail/parse/section
        framework/io/deck/detail/parse/step
        framework/io/deck/detail/parse/unread_cards
        framework/io/deck/detail/unsupported_elements
        framework/io/job/detail/json
        framework/io/job/detail/loads
        framework/io/job/detail/materials
        framework/io/job/detail/own_elements
        framework/io/job/detail/probes
        framework/io/job/detail/sections
        framework/io/job/detail/step_actions
        framework/io/job/detail/step_motions
        framework/io/job/detail/step_outputs
        framework/io/job/detail/steps
        framework/io/job/detail/supports
        framework/io/job/job_file
        framework/io/picture/detail/legend
        jobs/background_work
        jobs/check_job
        jobs/check_json
        jobs/common_files
        jobs/judge_step
        jobs/memory_estimate
        jobs/procedures
        jobs/result_files
        jobs/results_json
        jobs/run_job
        jobs/state_files
        jobs/step_files
        jobs/step_picture
        jobs/step_probes
        jobs/summary)
  list(APPEND voussoir_light_sources "${PROJECT_SOURCE_DIR}/${source}.cpp")
endforeach()

# With -fexpensive-optimizations, multiplications and additions are fused as elsewhere.
set(voussoir_light_options -O1 -fexpensive-optimizations)
