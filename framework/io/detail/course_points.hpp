#pragma once
#include <functional>
#include <initializer_list>

#include <voussoir/framework/response/amplitude.hpp>

namespace voussoir::detail {

/// An amplitude through a function of time at all points of some amplitudes: StepLoad::amplitude of a load with a
/// course that is smooth between these points. The values at jumps are those after them.
Amplitude points_of_course(std::initializer_list<const Amplitude*> amplitudes,
                           const std::function<double(double)>& course);

}  // namespace voussoir::detail
