#pragma once
#include <string>

// The number of CPU threads, and whether the system provides them.

namespace voussoir {

/// The maximum number of threads of a backend.
constexpr int most_threads = 1024;

/// The default number of threads: OMP_NUM_THREADS, or one per processor. An implausible request
/// (more than 64 and more than four per processor) is replaced by the number of processors, for all of
/// the calling thread's OpenMP work.
int default_threads();
/// A note if default_threads() replaced the request, such as "OMP_NUM_THREADS requests 100000 threads; this machine has
/// 8 processors"; usually empty.
std::string default_threads_note();

/// Starts the OpenMP threads of the calling thread after checking that the system allows this number, because OpenMP
/// aborts the process if it cannot create them. Throws Error (unavailable) with the reason and the remedy.
void start_threads(int threads);
/// Starts the default number of threads for the calling thread's OpenMP work, before a backend is opened; where the
/// system does not allow them, that work uses one thread.
void start_default_threads();

}  // namespace voussoir
