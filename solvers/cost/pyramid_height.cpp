#include <voussoir/solvers/cost/pyramid_height.hpp>

#include <algorithm>

#include <voussoir/solvers/stencil/jacobi_iteration.hpp>

namespace voussoir {

PyramidJob make_pyramid_job(const StencilServices& stencils, const StencilProblem& problem, bool source, int real_bytes,
                            double budget, int devices, int tile) {
  PyramidJob job;
  job.nx = problem.nodes[0];
  job.ny = problem.nodes[1];
  job.nz = problem.nodes[2];
  job.source = source;
  job.real_bytes = real_bytes;
  job.tile = tile > 0 ? tile : std::max(1, stencils.default_tile(problem, source, real_bytes));
  job.devices = static_cast<int>(std::min<std::int64_t>(devices, job.nz));
  job.budget = budget;
  job.slab_bytes = [&stencils, problem, source, real_bytes](std::int64_t slab, int height) {
    return static_cast<double>(stencils.slab_bytes(problem, slab, height, source, real_bytes));
  };
  return job;
}

PyramidChoice choose_height_by_profile(const PyramidQuestion& question) {
  // In memory, a height only matters between devices; where the user has fixed the slab, the rule has its own answer,
  // and without a budget only the backend knows what is free.
  if (!question.streamed || question.limits.height > 0 || question.limits.slab > 0 || question.limits.device_bytes == 0)
    return choose_height(question);
  ProfileSearch found = find_profile(*question.backend);
  if (!found.profile) return choose_height(question);
  const auto& stencils = question.backend->service<StencilServices>();
  const PyramidJob job = make_pyramid_job(stencils, question.problem, question.source, question.real_bytes,
                                          static_cast<double>(question.limits.device_bytes),
                                          question.backend->devices(), question.limits.tile);
  const auto most = static_cast<int>(std::clamp<std::int64_t>(question.iterations, 1, 1 << 20));
  const auto choice = CostModel(std::move(*found.profile)).choose_height(job, most);
  if (!choice) return choose_height(question);
  return {choice->height, choice->slab, job.tile};
}

}  // namespace voussoir
