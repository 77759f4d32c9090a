#pragma once
#include <cstdint>
#include <vector>

#include <voussoir/backends/backend.hpp>

// How fast the devices of a backend are, so that unequal ones can share a model: DividedNumberer::Options::speeds.

namespace voussoir {

/// Seconds that each device takes for y = a x + y with its own entries of a layout, alone, repeated `times` times: the
/// median of five runs. Products and vector operations are both limited by memory bandwidth, so these
/// times have the same ratios as the times that the devices take for their shares of a model. 0 for devices without
/// entries.
std::vector<double> device_seconds(Backend& backend, const Layout& layout, int times = 20);

/// Relative speeds of the devices, measured now with vectors of `entries` numbers on each; their mean is 1. They
/// differ from run to run, and so do the last bits of results of a model that is divided by them.
std::vector<double> measure_device_speeds(Backend& backend, std::int64_t entries = 2'000'000);

/// Relative speeds of the devices from the calibrated profiles (`voussoir bench calibrate`) of each of them: "cuda:0,1"
/// needs those of cuda:0 and cuda:1. Their mean is 1. A profile that is missing or does not fit is an Error (not_found)
/// that says what to do.
std::vector<double> profile_device_speeds(const Backend& backend);

}  // namespace voussoir
