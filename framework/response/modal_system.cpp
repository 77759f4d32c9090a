#include <voussoir/framework/response/modal_system.hpp>

namespace voussoir {

ModalSystem::ModalSystem(std::vector<double> omegas, const ModalDamping& damping)
    : omegas_(std::move(omegas)), decays_(damping.decays(omegas_)) {}

}  // namespace voussoir
