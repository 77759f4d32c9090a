// A library as users write it: a preconditioner, and an element on the host. libuser_extras2.so is the same after a
// change, under another file name.
#include <voussoir/framework/domain/host_element.hpp>
#include <voussoir/solvers/preconditioners/jacobi.hpp>
#include <voussoir/solvers/registries.hpp>

namespace {

#ifdef SECOND_EDITION
constexpr const char* twin_is = "the second edition";
#else
constexpr const char* twin_is = "Jacobi under another name";
#endif

std::shared_ptr<voussoir::Preconditioner> make_twin(const std::string& options) {
  voussoir::refuse_options("preconditioner 'jacobi-twin'", options);
  return std::make_shared<voussoir::JacobiPreconditioner>();
}

class Bar : public voussoir::HostElement {
 public:
  int nodes() const override { return 2; }
  std::vector<std::string> unknown_names() const override { return {"ux", "uy", "uz"}; }
  std::vector<std::string> parameter_names() const override { return {"stiffness"}; }
  void tangent(const voussoir::HostElementData& e, std::span<double> matrix) const override {
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j)
        if (i % 3 == j % 3) matrix[6 * i + j] = (i == j ? 1 : -1) * e.parameters[0];
  }
};

}  // namespace

VSR_REGISTER(preconditioners, "jacobi-twin", twin_is, voussoir::PreconditionerFactory{make_twin});
[[maybe_unused]] static const bool bar =
    (voussoir::register_host_element("extras_bar", "line2", std::make_shared<Bar>()), true);
