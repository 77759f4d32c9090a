#include <voussoir/framework/grid/explicit_analysis.hpp>

#include <cmath>
#include <utility>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/grid/detail/side_values.hpp>

namespace voussoir {

ExplicitGridAnalysis::ExplicitGridAnalysis(Grid grid, double time_step, std::shared_ptr<Backend> backend)
    : space_(std::make_shared<const GridSpace>(std::move(grid), std::move(backend))),
      time_step_(time_step),
      field_(space_),
      next_(space_),
      sides_(space_->grid().shape()) {
  if (!(time_step > 0) || !std::isfinite(time_step))
    throw Error(ErrorCode::bad_input, "the time step is " + exact_number(time_step) + "; it must be greater than zero");
  for (int s = 0; s < 2 * this->grid().dimensions(); ++s) steady_ = steady_ && this->grid().side(s).value.steady();
}

ExplicitGridAnalysis& ExplicitGridAnalysis::add(GridTerm term) {
  if (!term.program) throw Error(ErrorCode::misuse, "a term needs a kernel");
  terms_.push_back(std::move(term));
  return *this;
}

void ExplicitGridAnalysis::put_sides(double time) {
  detail::put_sides(*space_, detail::evaluate_sides(grid(), {1, 1, 1}, time), sides_);
}

void ExplicitGridAnalysis::step() {
  if (terms_.empty())
    throw Error(ErrorCode::misuse, "the analysis has no kernels; add a stencil or a source before the first step");
  GridServices& services = space_->services();
  if (!begun_) {
    put_sides(time());
    services.set_prescribed(space_->layout(), sides_, -1, field_.vector());
    begun_ = true;
  }
  bool first = true;
  for (const GridTerm& term : terms_) {
    GridArguments arguments;
    arguments.fields[0] = &field_.vector();
    arguments.time = time();
    arguments.step = time_step_;
    arguments.from_field = first ? 1 : 0;
    arguments.keep = first ? 0 : 1;
    arguments.factor = time_step_ * (term.factor ? term.factor(time()) : 1);
    arguments.parameters = term.parameters.data();
    services.apply(*term.program, space_->layout(), sides_, arguments, next_.vector());
    first = false;
  }
  ++step_;
  if (!steady_) {
    put_sides(time());
    services.set_prescribed(space_->layout(), sides_, -1, next_.vector());
  }
  std::swap(field_, next_);
}

void ExplicitGridAnalysis::run(std::int64_t steps) {
  for (std::int64_t s = 0; s < steps; ++s) step();
  field_.summary();
}

}  // namespace voussoir
