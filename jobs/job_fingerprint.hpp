#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/io/job/job.hpp>

namespace voussoir {

/// A part of a job, named as in the input file, and the checksum of its contents.
struct FingerprintPart {
  std::string name;                                         ///< "nodes", "loads of step 'step 2'" …
  std::uint64_t sum = 0;                                    ///< of its contents
  bool operator==(const FingerprintPart&) const = default;  ///< the same part with the same contents
};

/// Checksums that differ between jobs with different results: of nodes, elements, materials, sets, supports, loads,
/// each step and its output requests, and the text of the input file without comments. Call it before the job runs,
/// because a run changes the supports of domains.
std::vector<FingerprintPart> job_fingerprint(const Job& job);

/// The names of the parts that differ. The text of the input file is named only if nothing else differs.
std::vector<std::string> changed_parts(const std::vector<FingerprintPart>& before,
                                       const std::vector<FingerprintPart>& now);

}  // namespace voussoir
