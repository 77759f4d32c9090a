#pragma once
#include <cstdint>
#include <vector>

#include <voussoir/framework/model/analysis_model.hpp>

namespace voussoir::detail {

/// The force with which each oblique support of the domain pushes along its direction: the multipliers with which
/// supports and equations together balance `out_of_balance`, by least squares. Where a node has both, its force out of
/// balance is not that of the support alone. `excluded` flags equations whose force belongs to another support.
/// `equations_too` is false where equations are springs, which are in the balance already.
std::vector<double> oblique_support_forces(const AnalysisModel& model, const std::vector<double>& out_of_balance,
                                           const std::vector<char>& excluded, bool equations_too);

}  // namespace voussoir::detail
