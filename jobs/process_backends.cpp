#include <omp.h>

#include <algorithm>
#include <cstdlib>

#include <voussoir/jobs/process_job.hpp>
#include <voussoir/partition/process/own_processors.hpp>

namespace voussoir {

std::string backend_in_list(const std::string& list, int process) {
  std::vector<std::string> entries(1);
  for (const char c : list)
    if (c == '/')
      entries.emplace_back();
    else
      entries.back() += c;
  const std::string& own = entries[static_cast<std::size_t>(process) % entries.size()];
  if (own.empty())
    throw Error(ErrorCode::bad_input, "the list of backends '" + list + "' has an empty entry", "backend");
  return own;
}

std::string process_backend(const std::string& specification, const ProcessPlacement& placement) {
  if (specification == "cuda") return "cuda:process=" + std::to_string(placement.position);
  if (specification != "auto" && specification != "openmp") return specification;
  if (std::getenv("OMP_NUM_THREADS")) return "openmp";
  return "openmp:" + std::to_string(own_processors(placement));
}

void share_processors(const ProcessPlacement& placement) {
  if (std::getenv("OMP_NUM_THREADS") || omp_get_max_threads() != omp_get_num_procs()) return;
  omp_set_num_threads(own_processors(placement));
}

}  // namespace voussoir
