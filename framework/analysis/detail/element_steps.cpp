#include <voussoir/framework/analysis/detail/element_steps.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include <voussoir/framework/detail/dense_algebra.hpp>

namespace voussoir::detail {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

bool is_block(const AnalysisModel& model, int batch) {
  return model.batches()[static_cast<std::size_t>(batch)].kind == BatchOrigin::Kind::block;
}

/// Where entry (i, j) of an element matrix stands, as ElementProgram describes.
std::size_t matrix_place(const ElementProgram& program, int i, int j) {
  const int m = program.dofs();
  if (!program.symmetric()) return static_cast<std::size_t>(i * m + j);
  if (i > j) std::swap(i, j);
  return static_cast<std::size_t>(i * m - i * (i - 1) / 2 + j - i);
}

/// 2 / ω of one element; infinite where it has no stiffness or a part of it no mass.
double step_of_element(const ElementProgram& program, const std::vector<double>& tangent,
                       const std::vector<double>& mass, int lane) {
  const int m = program.dofs(), lanes = program.lanes();
  const auto value = [&](const std::vector<double>& values, int i, int j) {
    return values[matrix_place(program, i, j) * static_cast<std::size_t>(lanes) + static_cast<std::size_t>(lane)];
  };
  Eigen::MatrixXd scaled = Eigen::MatrixXd::Zero(m, m);
  for (int i = 0; i < m; ++i) {
    const double own = value(mass, i, i);
    for (int j = 0; j <= i; ++j) {
      const double other = value(mass, j, j);
      const double stiffness = 0.5 * (value(tangent, i, j) + value(tangent, j, i));
      if (stiffness == 0) continue;
      if (!(own > 0) || !(other > 0)) return unbounded;
      scaled(i, j) = stiffness / std::sqrt(own * other);
    }
  }
  const Eigen::VectorXd values = eigenvalues_of(scaled);
  const double largest = values.size() > 0 ? values[values.size() - 1] : 0.0;
  if (!std::isfinite(largest))
    throw Error(ErrorCode::not_finite,
                "the stable step of an element could not be computed: its matrices are not finite");
  return largest > 0 ? 2 / std::sqrt(largest) : unbounded;
}

}  // namespace

/// Calls pack(view, device batch, first, count) for all packs of a batch on all devices, in parallel where the element
/// type allows it. The error of the lowest pack is thrown.
template <class Pack>
void ElementSteps::visit(int batch, const Pack& pack) const {
  const DeviceModel& model = model_.device_model();
  const ElementState elements = state_.elements();
  if (elements.unknowns) model_.backend().exchange(*elements.unknowns);
  for (int d = 0; d < model.devices(); ++d) {
    const ElementBatch& here = model.part(d).batches[static_cast<std::size_t>(batch)];
    const ElementView view = model.host_view(d, batch, elements);
    const int lanes = here.program->lanes(), packs = (view.element_count + lanes - 1) / lanes;
    const bool alone = here.program->route() == Route::host;  // users' functions need not be ready for several threads
    std::exception_ptr failure;
    int failed = std::numeric_limits<int>::max();
#pragma omp parallel for schedule(static) if (!alone)
    for (int p = 0; p < packs; ++p) {
      try {
        pack(view, here, p * lanes, std::min(lanes, view.element_count - p * lanes));
      } catch (...) {
#pragma omp critical(voussoir_element_steps)
        if (p < failed) {
          failed = p;
          failure = std::current_exception();
        }
      }
    }
    if (failure) std::rethrow_exception(failure);
  }
}

void ElementSteps::measure(int batch, std::vector<double>& steps) const {
  visit(batch, [&](const ElementView& view, const ElementBatch& here, int first, int count) {
    const ElementProgram& program = *here.program;
    const auto entries = static_cast<std::size_t>(program.matrix_entries() * program.lanes());
    std::vector<double> tangent(entries), mass(entries);
    ElementStatus status = program.tangent(view, first, count, tangent.data());
    status.merge(program.mass(view, MassKind::lumped, first, count, mass.data()));
    if (status.fault != ElementFault::none)
      throw ElementError(status.fault, here.description, here.origin_of(status.element));
    for (int lane = 0; lane < count; ++lane)
      steps[static_cast<std::size_t>(here.origin_of(first + lane))] = step_of_element(program, tangent, mass, lane);
  });
}

ElementSteps::ElementSteps(const AnalysisModel& model, const AnalysisState& state)
    : model_(model), state_(state), shortest_(unbounded) {
  const int batches = model.device_model().batch_count();
  steps_.resize(static_cast<std::size_t>(batches));
  for (int b = 0; b < batches; ++b) {
    const ElementProgram& program = *model.device_model().part(0).batches[static_cast<std::size_t>(b)].program;
    if (!is_block(model, b) || !program.has_tangent() || !program.has_mass()) continue;
    const int block = model.batches()[static_cast<std::size_t>(b)].block;
    std::vector<double>& steps = steps_[static_cast<std::size_t>(b)];
    steps.assign(static_cast<std::size_t>(model.domain().block(static_cast<std::size_t>(block)).size()), unbounded);
    model.translating([&] { measure(b, steps); });
    for (std::size_t e = 0; e < steps.size(); ++e)
      if (steps[e] < shortest_) {
        shortest_ = steps[e];
        critical_batch_ = b;
        critical_ = static_cast<std::int32_t>(e);
      }
  }
}

std::string ElementSteps::critical_element() const {
  if (critical_ < 0) return "";
  const ElementRef at = model_.element_of(critical_batch_, critical_);
  return "element " + std::to_string(model_.domain().block(static_cast<std::size_t>(at.block)).id(at.element));
}

std::int64_t ElementSteps::shorter_than(double step) const {
  std::int64_t count = 0;
  for (const std::vector<double>& steps : steps_)
    count += std::count_if(steps.begin(), steps.end(), [&](double h) { return h < step; });
  return count;
}

void ElementSteps::add_batch(int batch, double step, std::vector<double>& added) const {
  const std::vector<double>& steps = steps_[static_cast<std::size_t>(batch)];
  const auto dofs =
      static_cast<std::size_t>(model_.device_model().part(0).batches[static_cast<std::size_t>(batch)].program->dofs());
  std::vector<double> masses(dofs * steps.size(), 0.0);
  visit(batch, [&](const ElementView& view, const ElementBatch& here, int first, int count) {
    const ElementProgram& program = *here.program;
    std::vector<double> mass;
    for (int lane = 0; lane < count; ++lane) {
      const auto entry = static_cast<std::size_t>(here.origin_of(first + lane));
      if (!(steps[entry] < step)) continue;
      if (mass.empty()) {
        mass.resize(static_cast<std::size_t>(program.matrix_entries() * program.lanes()));
        program.mass(view, MassKind::lumped, first, count, mass.data());
      }
      for (int i = 0; i < program.dofs(); ++i)
        masses[entry * dofs + static_cast<std::size_t>(i)] =
            mass[matrix_place(program, i, i) * static_cast<std::size_t>(program.lanes()) +
                 static_cast<std::size_t>(lane)];
    }
  });
  const int components = model_.device_model().part(0).batches[static_cast<std::size_t>(batch)].program->components();
  for (std::size_t e = 0; e < steps.size(); ++e) {
    if (!(steps[e] < step)) continue;
    const double share = step * step / (steps[e] * steps[e]) - 1;
    const ElementRef at = model_.element_of(batch, static_cast<std::int32_t>(e));
    const auto nodes = model_.domain().block(static_cast<std::size_t>(at.block)).nodes(at.element);
    for (std::size_t n = 0; n < nodes.size(); ++n)
      for (int c = 0; c < components; ++c) {
        const std::string& unknown = model_.unknown_names()[static_cast<std::size_t>(model_.batch_unknown(batch, c))];
        const std::int32_t equation = model_.equation(nodes[n], unknown);
        added[static_cast<std::size_t>(equation)] +=
            share * masses[e * dofs + n * static_cast<std::size_t>(components) + static_cast<std::size_t>(c)];
      }
  }
}

std::vector<double> ElementSteps::added_mass(double step) const {
  std::vector<double> added(static_cast<std::size_t>(model_.equation_count()), 0.0);
  for (std::size_t b = 0; b < steps_.size(); ++b)
    if (std::any_of(steps_[b].begin(), steps_[b].end(), [&](double h) { return h < step; }))
      add_batch(static_cast<int>(b), step, added);
  return added;
}

}  // namespace voussoir::detail
