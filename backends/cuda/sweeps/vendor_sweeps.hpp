#pragma once
#include <memory>
#include <vector>

#include <voussoir/backends/sweep_services.hpp>

namespace voussoir::cuda {

/// The arrays of a batch for cuSPARSE, which replaces x and may replace the coefficients.
struct VendorArrays {
  Array<double>&lower, &diagonal, &upper, &x;
};

/// cuSPARSE's solvers for contiguous (gtsv2StridedBatch) and interleaved systems (gtsvInterleavedBatch); empty where
/// the library is not found or the shape is another.
std::vector<VendorSweep> make_vendor_sweeps(const SweepShape& shape, const VendorArrays& arrays,
                                            const std::shared_ptr<DeviceMemory>& memory);

}  // namespace voussoir::cuda
