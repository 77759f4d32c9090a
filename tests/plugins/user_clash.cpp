// A library whose second registration has the name of a built-in preconditioner.
#include <voussoir/solvers/preconditioners/jacobi.hpp>
#include <voussoir/solvers/registries.hpp>

namespace {

const voussoir::PreconditionerFactory factory{
    [](const std::string&) { return std::make_shared<voussoir::JacobiPreconditioner>(); }};

}  // namespace

VSR_REGISTER(preconditioners, "clash-first", "taken back when the second one fails", factory);
VSR_REGISTER(preconditioners, "amg", "a name that is taken", factory);
