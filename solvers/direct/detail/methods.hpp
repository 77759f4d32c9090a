#pragma once
#include <memory>
#include <voussoir/solvers/direct/factorization.hpp>

// The makers of the direct methods, each beside its method.

namespace voussoir::detail {

std::unique_ptr<Factorization> make_mumps(const DirectOptions& options);
std::unique_ptr<Factorization> make_eigen(const DirectOptions& options);
std::unique_ptr<Factorization> make_cholmod(const DirectOptions& options);
std::unique_ptr<Factorization> make_band(const DirectOptions& options);
std::unique_ptr<Factorization> make_profile(const DirectOptions& options);
std::unique_ptr<Factorization> make_multifrontal(const DirectOptions& options);

}  // namespace voussoir::detail
