#pragma once
#include <string>

// How many threads CPU work takes, and whether they can be had.

namespace voussoir {

/// Most threads that a backend takes.
constexpr int most_threads = 1024;

/// Threads where nobody says how many: OMP_NUM_THREADS, or one for each processor. A wish that no machine of this kind
/// can mean (more than 64 and more than four for each processor) is replaced by the number of processors, for all of
/// the calling thread's OpenMP work.
int default_threads();
/// What default_threads() did not follow: "OMP_NUM_THREADS asks for 100000 threads; this machine has 8 processors".
/// Empty as a rule.
std::string default_threads_note();

/// Starts OpenMP's threads, after making sure that the system gives this process so many: OpenMP ends a process that
/// does not get them. Throws Error{unavailable} with the reason and the way out.
void start_threads(int threads);

}  // namespace voussoir
