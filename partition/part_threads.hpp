#pragma once
#include <functional>

#include <voussoir/backends/backend.hpp>
#include <voussoir/solvers/direct/choice.hpp>

namespace voussoir {

/// The number of host threads that may work on parts at the same time: those of the backend, or the default number for
/// a backend that does not specify one.
int part_threads(const Backend& backend);

/// Calls work(p) for p = 0 … parts − 1, by up to `threads` threads at a time. Each part is computed by one thread, and
/// parallel regions inside `work` run in that thread alone.
///
/// `work` may change only what belongs to its part. Sums over parts are taken afterwards, in the order of parts, so
/// that results have the same bits for any number of threads. If `work` throws, the exception of the lowest part is
/// thrown again here, whatever the number of threads; parts above it may not have been computed.
void for_each_part(int parts, int threads, const std::function<void(int)>& work);

/// The direct method for the matrices of parts: `wanted`, or for DirectMethod::automatic the multifrontal one, whose
/// objects work side by side.
DirectMethod part_method(DirectMethod wanted);

/// Whether objects of a direct method may be used by several threads at the same time, each by one.
bool works_side_by_side(DirectMethod method);

}  // namespace voussoir
