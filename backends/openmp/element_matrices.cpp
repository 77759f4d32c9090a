#include <voussoir/backends/openmp/element_matrices.hpp>

#include <algorithm>
#include <memory>

#include <voussoir/backends/detail/transformed_terms.hpp>
#include <voussoir/backends/openmp/transformed_sum.hpp>

namespace voussoir::cpu {

BatchTerms::BatchTerms(const MatrixTerms& terms, const ElementBatch& batch) : mass_kind(terms.mass_kind) {
  if (batch.element_count == 0) return;
  if (batch.program->has_tangent()) stiffness = terms.stiffness_of(batch.description);
  if (batch.program->has_mass()) mass = terms.mass_of(batch.description);
}

ElementStatus element_matrices(const ElementProgram& program, const ElementView& view, const BatchTerms& terms,
                               int first, int count, double* out) {
  const int lanes = program.lanes();
  const auto numbers = static_cast<std::size_t>((count + lanes - 1) / lanes * lanes) *
                       static_cast<std::size_t>(program.matrix_entries());
  ElementStatus status;
  if (terms.stiffness != 0) {
    status.merge(program.tangent(view, first, count, out));
    if (terms.stiffness != 1)
      for (std::size_t k = 0; k < numbers; ++k) out[k] *= terms.stiffness;
    if (terms.mass == 0) return status;
    std::vector<double> mass(numbers);
    status.merge(program.mass(view, terms.mass_kind, first, count, mass.data()));
    for (std::size_t k = 0; k < numbers; ++k) out[k] += terms.mass * mass[k];
  } else if (terms.mass != 0) {
    status.merge(program.mass(view, terms.mass_kind, first, count, out));
    if (terms.mass != 1)
      for (std::size_t k = 0; k < numbers; ++k) out[k] *= terms.mass;
  } else {
    std::fill_n(out, numbers, 0.0);
  }
  return status;
}

namespace {

constexpr std::size_t slab = 256;  // dependent elements whose matrices are kept at once
/// Terms of all unknowns of an element up to which its matrix is transformed on its own.
constexpr std::size_t most_terms = 1000;
constexpr std::size_t most_entries = std::size_t{1} << 23;  // of a TransformedSum: 128 MiB

/// Terms of an element's unknowns in independent equations.
template <class EquationOf, class DependencyOf>
std::size_t count_terms(int dofs, const EquationOf& equation_of, const DependencyOf& dependency_of) {
  std::size_t count = 0;
  for (int i = 0; i < dofs; ++i) {
    const Dependency* d = dependency_of(equation_of(i));
    count += d ? d->others.size() : 1;
  }
  return count;
}

}  // namespace

ElementStatus add_dependent(const Sweep& sweep, const std::function<Compute()>& open_compute,
                            const std::function<std::function<void(std::int32_t, std::int32_t, double)>()>& open_add) {
  const DeviceModel::Part& part = sweep.model.part(sweep.device);
  const ElementBatch& batch = part.batches[static_cast<std::size_t>(sweep.batch)];
  ElementStatus status;
  if (batch.dependent_elements.empty()) return status;
  const auto& memory = sweep.model.layout()->memory(sweep.device);
  const ElementProgram& program = *batch.program;
  const int n = program.nodes(), components = program.components(), lanes = program.lanes();
  const auto entries = static_cast<std::size_t>(program.matrix_entries());
  const auto& dependency_of = ModelPlans::of(sweep.model, sweep.threads).dependency_of(sweep.device);
  const auto dependency = [&](std::int32_t equation) -> const Dependency* {
    const auto found = dependency_of.find(equation);
    return found == dependency_of.end() ? nullptr : &part.dependencies[static_cast<std::size_t>(found->second)];
  };
  detail::TransformedTerms terms(program.dofs(), sweep.model.layout()->owned(sweep.device), program.symmetric());

  std::unique_ptr<TransformedSum> sum;  // of elements with long dependencies
  std::vector<double> matrices(std::min(slab, batch.dependent_elements.size()) * entries);
  std::vector<double> group(entries * static_cast<std::size_t>(lanes));
  for (std::size_t from = 0; from < batch.dependent_elements.size(); from += slab) {
    const std::size_t count = std::min(slab, batch.dependent_elements.size() - from);
    const auto compute_slab = [&](const ElementView& view) {
      const Compute compute = open_compute();
      std::int32_t have = -1;
      for (std::size_t k = 0; k < count; ++k) {
        const std::int32_t e = batch.dependent_elements[from + k];
        const std::int32_t first = e / lanes * lanes;
        if (first != have)
          status.merge(compute(view, first, std::min(lanes, batch.element_count - first), group.data()));
        have = first;
        for (std::size_t i = 0; i < entries; ++i)
          matrices[k * entries + i] = group[i * static_cast<std::size_t>(lanes) + static_cast<std::size_t>(e - first)];
      }
    };
    if (sweep.side == Route::host) compute_slab(sweep.model.host_view(sweep.device, sweep.batch, sweep.state));
    DeviceSection section(*memory);
    if (sweep.side != Route::host) compute_slab(sweep.model.device_view(sweep.device, sweep.batch, sweep.state));
    const std::int32_t* nodes = batch.nodes.read_device();
    const detail::ElementEquations equations = element_equations(part, sweep.batch);
    const auto add = open_add();

    for (std::size_t k = 0; k < count; ++k) {
      const std::int32_t* own = nodes + static_cast<std::ptrdiff_t>(batch.dependent_elements[from + k]) * n;
      const double* matrix = matrices.data() + k * entries;
      const auto equation_of = [&](int i) { return equations.of(own[i / components], i % components); };
      if (count_terms(program.dofs(), equation_of, dependency) > most_terms) {
        if (!sum)
          sum = std::make_unique<TransformedSum>(sweep.model.layout()->local_size(sweep.device),
                                                 sweep.model.layout()->owned(sweep.device));
        for (int r = 0; r < program.dofs(); ++r)
          for (int s = 0; s < program.dofs(); ++s)
            sum->add(equation_of(r), equation_of(s),
                     matrix[detail::matrix_entry(r, s, program.dofs(), program.symmetric())]);
        continue;
      }
      terms.visit(equation_of, dependency, [&](std::int32_t row, std::int32_t column, int place, double factor) {
        add(row, column, factor * matrix[place]);
      });
    }
    const bool last = from + count == batch.dependent_elements.size();
    if (sum && (last || sum->size() > most_entries)) sum->finish(dependency, add);
  }
  return status;
}

}  // namespace voussoir::cpu
