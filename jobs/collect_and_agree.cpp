#include <voussoir/jobs/detail/collect_and_agree.hpp>

#include <exception>
#include <utility>

namespace voussoir::detail {

void collect_and_agree(Processes& processes, const std::string& bytes,
                       const std::function<void(int process, std::string bytes)>& take) {
  std::exception_ptr failure;
  processes.collect(bytes, [&](int process, std::string from) {
    if (failure) return;
    try {
      take(process, std::move(from));
    } catch (...) {
      failure = std::current_exception();
    }
  });
  agree(processes, [&] {
    if (failure) std::rethrow_exception(failure);
  });
}

}  // namespace voussoir::detail
