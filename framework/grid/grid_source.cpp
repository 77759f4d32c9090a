#include <voussoir/framework/grid/grid_source.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <voussoir/framework/grid/grid_library.hpp>

namespace voussoir {

GridTerm GridTerm::of(const std::string& name, const void* parameters, std::size_t bytes) {
  GridTerm term;
  term.program = &GridLibrary::instance().find(name);
  if (term.program->parameter_bytes() != bytes)
    throw Error(ErrorCode::misuse, "grid kernel '" + name + "' has parameters of " +
                                       std::to_string(term.program->parameter_bytes()) + " bytes, not " +
                                       std::to_string(bytes));
  for (const char* stock : {"grid.constant", "grid.box", "grid.gaussian"})
    if (name == stock) term.kind = SourceKind::steady;
  term.parameters.resize(bytes);
  std::memcpy(term.parameters.data(), parameters, bytes);
  return term;
}

void GridSources::add(GridTerm term) {
  if (!term.program) throw Error(ErrorCode::misuse, "a source needs a kernel");
  if (term.program->reads_neighbours())
    throw Error(ErrorCode::misuse, "grid kernel '" + term.program->name() + "' is a stencil, not a source");
  if (term.factor && term.kind == SourceKind::steady) term.kind = SourceKind::of_time;
  terms_.push_back(std::move(term));
  evaluated_ = false;
}

void GridSources::add(const GridField& values) {
  if (!fixed_) fixed_ = std::make_unique<GridField>(space_);
  space_->backend().axpy(1, values.vector(), fixed_->vector());
  evaluated_ = false;
}

bool GridSources::steady() const {
  return std::all_of(terms_.begin(), terms_.end(), [](const GridTerm& t) { return t.kind == SourceKind::steady; });
}

const Vector& GridSources::evaluate(const GridSides& sides, double time, const Vector& temperature) {
  if (evaluated_ && steady()) return sum_->vector();
  if (!sum_) sum_ = std::make_unique<GridField>(space_);
  if (fixed_)
    space_->backend().copy(fixed_->vector(), sum_->vector());
  else
    space_->backend().fill(sum_->vector(), 0);
  for (const GridTerm& term : terms_) {
    GridArguments arguments;
    arguments.fields[0] = &temperature;
    arguments.time = time;
    arguments.factor = term.factor ? term.factor(time) : 1;
    if (!std::isfinite(arguments.factor))
      throw Error(ErrorCode::bad_input,
                  "the factor of source '" + term.program->name() + "' is not finite at time " + std::to_string(time));
    arguments.keep = 1;
    arguments.parameters = term.parameters.data();
    space_->services().apply(*term.program, space_->layout(), sides, arguments, sum_->vector());
  }
  evaluated_ = true;
  summed_ = false;
  return sum_->vector();
}

double GridSources::weighted_sum() {
  if (!evaluated_ || !sum_) return 0;
  if (!summed_) total_ = sum_->summary().sum;
  summed_ = true;
  return total_;
}

}  // namespace voussoir
