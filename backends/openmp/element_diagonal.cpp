#include <algorithm>
#include <string>

#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/detail/upper_triangle.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/element_operator.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// The diagonal of a matrix that exists as its elements alone.

namespace voussoir {

namespace cpu {

namespace {

/// Adds the blocks on the diagonal of element matrices ([group][entry][lane]) to nodes.
Gather diagonal_gather(const ElementProgram& program, const GatherPlan& plan, const detail::ElementEquations& equations,
                       std::int32_t owned_nodes, int block_size, const std::uint8_t* skip, double* blocks) {
  const int components = program.components(), dofs = program.dofs(), entries = program.matrix_entries();
  const int lanes = plan.lanes, shift = plan.lane_shift;
  const bool symmetric = program.symmetric();
  return [=](const Chunk& chunk, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t row = row_begin; row < row_end; ++row) {
      const std::int32_t node = chunk.rows[row];
      if (node >= owned_nodes) continue;
      for (std::int64_t k = chunk.first[row]; k < chunk.first[row + 1]; ++k) {
        const std::int32_t e = chunk.element[k];
        if (skip && skip[chunk.first_element + e]) continue;
        const double* matrix =
            chunk.values + static_cast<std::ptrdiff_t>(e >> shift) * entries * lanes + (e & (lanes - 1));
        for (int i = 0; i < components; ++i)
          for (int j = 0; j < components; ++j) {
            const std::int32_t r = equations.of(node, i), c = equations.of(node, j);
            if (r / block_size != c / block_size) continue;
            const int first = chunk.node[k] * components;
            blocks[static_cast<std::ptrdiff_t>(r) * block_size + c % block_size] +=
                matrix[static_cast<std::ptrdiff_t>(detail::matrix_entry(first + i, first + j, dofs, symmetric)) *
                       lanes];
          }
      }
    }
  };
}

}  // namespace

ElementStatus CpuElementOperator::add_diagonal(int d, int b, int block_size, Array<double>& blocks) const {
  const DeviceModel::Part& model_part = model_->part(d);
  const ElementProgram& program = *batch(d, b).program;
  const BatchPart& own = part(d, b);
  ModelPlans& plans = ModelPlans::of(*model_, threads_);
  const GatherPlan& plan = plans.gather(*model_, d, b);
  const std::vector<std::uint8_t>& dependent = plans.dependent(d, b);
  const std::uint8_t* skip = dependent.empty() ? nullptr : dependent.data();
  const bool stored = stores_matrices(d, b);
  const Route side = !stored && program.route() == Route::host ? Route::host : Route::native;
  const ElementState state = state_.state();
  const Sweep sweep{*model_, d, b, plan, threads_, side, state, program.matrix_entries()};
  const auto gather = [&] {
    return diagonal_gather(program, plan, element_equations(model_part, b), model_part.owned_nodes, block_size, skip,
                           blocks.update_device());
  };
  const auto matrices = [&]() -> Compute {
    if (!stored)
      return [&](const ElementView& view, int first, int count, double* out) {
        return element_matrices(program, view, own.terms, first, count, out);
      };
    const double* source = own.matrices.read_device();
    const int entries = program.matrix_entries(), lanes = program.lanes();
    return [=](const ElementView&, int first, int count, double* out) {
      std::copy_n(source + static_cast<std::ptrdiff_t>(first) * entries,
                  static_cast<std::ptrdiff_t>((count + lanes - 1) / lanes * lanes) * entries, out);
      return ElementStatus{};
    };
  };
  ElementStatus status = run(sweep, buffers_[static_cast<std::size_t>(d)], matrices, gather);
  status.merge(add_dependent(sweep, matrices, [&] {
    double* target = blocks.update_device();
    return [target, block_size](std::int32_t r, std::int32_t c, double value) {
      if (r / block_size == c / block_size)
        target[static_cast<std::ptrdiff_t>(r) * block_size + c % block_size] += value;
    };
  }));
  return status;
}

BlockDiagonal CpuElementOperator::block_diagonal(int block_size) const {
  if (!assembled_) throw Error(ErrorCode::misuse, "block_diagonal: assemble() has not been called for this operator");
  detail::require_current(*model_, revision_, "block_diagonal");
  if (equations_ != OperatorEquations::free)
    throw Error(ErrorCode::misuse,
                "block_diagonal: the operator acts on all equations, prescribed ones included; "
                "make one on the free equations");
  if (block_size != 1 && (model_->uniform_components() == 0 || model_->uniform_components() % block_size != 0))
    throw Error(ErrorCode::misuse, "block_diagonal: blocks of " + std::to_string(block_size) +
                                       " need nodes that all have that many equations, or a multiple of it");
  BlockDiagonal diagonal{block_size, model_->layout(), {}};
  FaultKeeper faults;
  for (int d = 0; d < model_->devices(); ++d) {
    const auto& memory = model_->layout()->memory(d);
    const std::int32_t owned = model_->layout()->owned(d);
    Array<double> blocks(memory, static_cast<std::size_t>(owned) * static_cast<std::size_t>(block_size));
    {
      DeviceSection section(*memory);
      std::fill_n(blocks.write_device(), blocks.size(), 0.0);
    }
    for (int b = 0; b < model_->batch_count(); ++b)
      if (!part(d, b).terms.empty()) faults.note(batch(d, b), add_diagonal(d, b, block_size, blocks));
    {
      DeviceSection section(*memory);
      const std::uint8_t* constrained = model_->part(d).constrained.read_device();
      double* values = blocks.update_device();
      for (std::int32_t r = 0; r < owned; ++r)
        for (std::int32_t c = r / block_size * block_size; c < (r / block_size + 1) * block_size; ++c)
          if (constrained[r] || constrained[c])
            values[static_cast<std::ptrdiff_t>(r) * block_size + c % block_size] = r == c ? 1 : 0;
    }
    diagonal.blocks.push_back(std::move(blocks));
  }
  faults.rethrow();
  return diagonal;
}

}  // namespace cpu

BlockDiagonal CpuBackend::block_diagonal(const DeviceModel& model, const ElementOperator& source, int block_size) {
  const auto* matrix = dynamic_cast<const cpu::CpuElementOperator*>(&source);
  if (!matrix || matrix->model() != &model)
    throw Error(ErrorCode::misuse, "block_diagonal: the operator was not made for this model by this backend");
  if (block_size < 1 || block_size > 6)
    throw Error(ErrorCode::misuse, "block sizes go from 1 to 6, not " + std::to_string(block_size));
  return matrix->block_diagonal(block_size);
}

}  // namespace voussoir
