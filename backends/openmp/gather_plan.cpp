#include <voussoir/backends/openmp/gather_plan.hpp>

#include <omp.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include <voussoir/backends/detail/overlap.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

namespace voussoir::cpu {

namespace {

/// Where the lists of a plan are written to.
struct PlanLists {
  std::int32_t* rows;
  std::int64_t* first;
  std::int32_t* element;
  std::uint16_t* node;
};

/// Counts or lists what one chunk touches. The marks belong to one thread and are all −1 between calls.
struct ChunkLister {
  const std::int32_t* nodes;
  int per_element;
  const std::uint8_t* wanted;  // per local node: a row that this device computes
  std::vector<std::int32_t> mark;
  std::vector<std::int32_t> touched;
  std::vector<std::int64_t> next;

  std::int64_t list(std::int32_t begin, std::int32_t end) {
    touched.clear();
    std::int64_t incidences = 0;
    for (std::int64_t k = std::int64_t{begin} * per_element; k < std::int64_t{end} * per_element; ++k) {
      const std::int32_t node = nodes[k];
      if (!wanted[node]) continue;
      ++incidences;
      if (mark[static_cast<std::size_t>(node)] < 0) {
        mark[static_cast<std::size_t>(node)] = 0;
        touched.push_back(node);
      }
      ++mark[static_cast<std::size_t>(node)];
    }
    return incidences;
  }
  /// Lists the elements begin … end again, and writes their rows from `row` on and what adds to these from `place` on.
  void write(std::int32_t begin, std::int32_t end, std::int64_t row, std::int64_t place, const PlanLists& to) {
    list(begin, end);
    std::sort(touched.begin(), touched.end());
    const std::int64_t chunk_row = row;
    next.clear();
    for (const std::int32_t node : touched) {
      to.rows[row] = node;
      to.first[row] = place;
      next.push_back(place);
      place += mark[static_cast<std::size_t>(node)];
      mark[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(row - chunk_row);
      ++row;
    }
    for (std::int32_t e = begin; e < end; ++e)
      for (int a = 0; a < per_element; ++a) {
        const std::int32_t node = nodes[std::int64_t{e} * per_element + a];
        if (!wanted[static_cast<std::size_t>(node)]) continue;
        const std::int64_t at = next[static_cast<std::size_t>(mark[static_cast<std::size_t>(node)])]++;
        to.element[at] = e - begin;
        to.node[at] = static_cast<std::uint16_t>(a);
      }
  }
  void forget() {
    for (const std::int32_t node : touched) mark[static_cast<std::size_t>(node)] = -1;
  }
};

/// The nodes of some groups of elements, in their order.
std::vector<std::int32_t> nodes_of_groups(const std::int32_t* nodes, std::int32_t elements, int per_element, int lanes,
                                          const std::vector<std::int32_t>& groups) {
  std::vector<std::int32_t> listed;
  for (const std::int32_t g : groups) {
    const std::int64_t first = std::int64_t{g} * lanes, end = std::min<std::int64_t>(elements, first + lanes);
    listed.insert(listed.end(), nodes + first * per_element, nodes + end * per_element);
  }
  return listed;
}

}  // namespace

GatherPlan make_gather_plan(const DeviceModel& model, int device, int batch_number, std::int32_t chunk, int threads,
                            std::vector<std::int32_t> groups) {
  const DeviceModel::Part& part = model.part(device);
  const ElementBatch& batch = part.batches[static_cast<std::size_t>(batch_number)];
  const auto& memory = model.layout()->memory(device);
  GatherPlan plan;
  plan.lanes = batch.program->lanes();
  if (plan.lanes < 1 || !std::has_single_bit(static_cast<unsigned>(plan.lanes)))
    throw Error(ErrorCode::misuse, "element type " + batch.program->name() + " computes " + std::to_string(plan.lanes) +
                                       " elements at a time; it must be a power of two");
  plan.lane_shift = std::countr_zero(static_cast<unsigned>(plan.lanes));
  const int per_element = batch.program->nodes();
  if (per_element > 65535)
    throw Error(ErrorCode::misuse, "element type " + batch.program->name() + " has " + std::to_string(per_element) +
                                       " nodes; at most 65535 are possible");
  DeviceSection section(*memory);
  const std::int32_t* nodes = batch.nodes.read_device();
  std::int32_t count = batch.element_count;
  std::vector<std::int32_t> listed;
  if (!groups.empty()) {
    listed = nodes_of_groups(nodes, count, per_element, plan.lanes, groups);
    nodes = listed.data();
    count = static_cast<std::int32_t>(listed.size() / static_cast<std::size_t>(per_element));
    plan.group = std::move(groups);
  }
  plan.elements = count;
  chunk = std::max(plan.lanes, chunk / plan.lanes * plan.lanes);
  plan.chunk = chunk;
  const std::ptrdiff_t chunks = (std::int64_t{count} + chunk - 1) / chunk;
  plan.chunk_rows.assign(static_cast<std::size_t>(chunks) + 1, 0);

  std::vector<std::uint8_t> wanted(static_cast<std::size_t>(part.local_nodes), 0);
  std::fill_n(wanted.begin(), part.owned_nodes, std::uint8_t{1});
  for (const std::int32_t node : part.dependency_rows) wanted[static_cast<std::size_t>(node)] = 1;

  std::vector<std::int64_t> first_incidence(static_cast<std::size_t>(chunks) + 1, 0);
  // Made before the parallel regions, so that a lack of memory is met where an exception can leave.
  std::vector<ChunkLister> listers(static_cast<std::size_t>(threads), {nodes, per_element, wanted.data(), {}, {}, {}});
  for (ChunkLister& lister : listers) lister.mark.assign(wanted.size(), -1);
  const auto range_end = [&](std::ptrdiff_t c) {
    return static_cast<std::int32_t>(std::min<std::int64_t>(count, (c + 1) * std::int64_t{chunk}));
  };
  ExceptionKeeper keeper;

#pragma omp parallel for num_threads(threads) schedule(dynamic, 4) if (chunks > 1)
  for (std::ptrdiff_t c = 0; c < chunks; ++c)
    keeper.guard([&] {
      ChunkLister& lister = listers[static_cast<std::size_t>(omp_get_thread_num())];
      first_incidence[static_cast<std::size_t>(c) + 1] =
          lister.list(static_cast<std::int32_t>(c * chunk), range_end(c));
      plan.chunk_rows[static_cast<std::size_t>(c) + 1] = static_cast<std::int64_t>(lister.touched.size());
      lister.forget();
    });
  keeper.rethrow();
  for (std::ptrdiff_t c = 0; c < chunks; ++c) {
    plan.chunk_rows[static_cast<std::size_t>(c) + 1] += plan.chunk_rows[static_cast<std::size_t>(c)];
    first_incidence[static_cast<std::size_t>(c) + 1] += first_incidence[static_cast<std::size_t>(c)];
  }

  const auto row_total = static_cast<std::size_t>(plan.chunk_rows.back());
  plan.rows = Array<std::int32_t>(memory, row_total);
  plan.first = Array<std::int64_t>(memory, row_total + 1);
  plan.element = Array<std::int32_t>(memory, static_cast<std::size_t>(first_incidence.back()));
  plan.node = Array<std::uint16_t>(memory, static_cast<std::size_t>(first_incidence.back()));
  const PlanLists lists{plan.rows.write_device(), plan.first.write_device(), plan.element.write_device(),
                        plan.node.write_device()};
  lists.first[row_total] = first_incidence.back();

#pragma omp parallel for num_threads(threads) schedule(dynamic, 4) if (chunks > 1)
  for (std::ptrdiff_t c = 0; c < chunks; ++c)
    keeper.guard([&] {
      ChunkLister& lister = listers[static_cast<std::size_t>(omp_get_thread_num())];
      lister.write(static_cast<std::int32_t>(c * chunk), range_end(c), plan.chunk_rows[static_cast<std::size_t>(c)],
                   first_incidence[static_cast<std::size_t>(c)], lists);
      lister.forget();
    });
  keeper.rethrow();
  return plan;
}

ModelPlans::ModelPlans(const DeviceModel& model, int threads) : threads_(threads) {
  const auto devices = static_cast<std::size_t>(model.devices());
  batch_revision_ = model.revision().batches;
  gather_.resize(devices);
  split_.resize(devices);
  dependency_of_.resize(devices);
  dependent_.resize(devices);
  for (std::size_t d = 0; d < devices; ++d) {
    const DeviceModel::Part& part = model.part(static_cast<int>(d));
    gather_[d].resize(part.batches.size());
    split_[d].resize(part.batches.size());
    dependent_[d].resize(part.batches.size());
    for (std::size_t i = 0; i < part.dependencies.size(); ++i)
      dependency_of_[d].emplace(part.dependencies[i].equation, static_cast<std::int32_t>(i));
    any_dependency_ = any_dependency_ || !part.dependencies.empty();
    for (std::size_t b = 0; b < part.batches.size(); ++b) {
      const ElementBatch& batch = part.batches[b];
      if (batch.dependent_elements.empty()) continue;
      dependent_[d][b].assign(static_cast<std::size_t>(batch.element_count), 0);
      for (const std::int32_t e : batch.dependent_elements) dependent_[d][b][static_cast<std::size_t>(e)] = 1;
    }
  }
}

ModelPlans& ModelPlans::of(const DeviceModel& model, int threads) {
  std::shared_ptr<void>& slot = model.backend_data();
  if (!slot) slot = std::make_shared<ModelPlans>(model, threads);
  auto& plans = *static_cast<ModelPlans*>(slot.get());
  if (plans.batch_revision_ != model.revision().batches) plans.follow(model);
  return plans;
}

void ModelPlans::follow(const DeviceModel& model) {
  const auto unchanged = static_cast<std::size_t>(model.unchanged_batches(batch_revision_));
  for (std::size_t d = 0; d < gather_.size(); ++d) {
    const std::size_t batches = model.part(static_cast<int>(d)).batches.size();
    gather_[d].resize(std::min(unchanged, gather_[d].size()));
    gather_[d].resize(batches);
    split_[d].resize(std::min(unchanged, split_[d].size()));
    split_[d].resize(batches);
    dependent_[d].resize(batches);  // a model whose batches are replaced has no dependencies
  }
  batch_revision_ = model.revision().batches;
}

std::int32_t ModelPlans::chunk_of(const ElementProgram& program) const {
  // Large enough that threads seldom wait for each other, small enough for a third-level cache.
  const std::int64_t bytes = std::max(1, program.matrix_entries()) * static_cast<std::int64_t>(sizeof(double));
  const std::int64_t per_thread = std::clamp<std::int64_t>((2 << 20) / bytes, 32, 2048);
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(per_thread * threads_, 32, (64 << 20) / bytes + 32) / 32 *
                                   32);
}

const GatherPlan& ModelPlans::gather(const DeviceModel& model, int device, int batch) {
  auto& plan = gather_[static_cast<std::size_t>(device)][static_cast<std::size_t>(batch)];
  const ElementProgram& program = *model.part(device).batches[static_cast<std::size_t>(batch)].program;
  if (!plan) plan = std::make_unique<GatherPlan>(make_gather_plan(model, device, batch, chunk_of(program), threads_));
  return *plan;
}

const SplitPlan& ModelPlans::split(const DeviceModel& model, int device, int batch) {
  auto& plan = split_[static_cast<std::size_t>(device)][static_cast<std::size_t>(batch)];
  if (plan) return *plan;
  plan = std::make_unique<SplitPlan>();
  const DeviceModel::Part& part = model.part(device);
  const ElementBatch& elements = part.batches[static_cast<std::size_t>(batch)];
  const std::int32_t lanes = elements.program->lanes(), whole = elements.element_count / lanes;
  std::vector<std::int32_t> interior, rest;
  {
    DeviceSection section(*model.layout()->memory(device));
    const std::vector<std::uint8_t> waits =
        detail::waiting_nodes(model, device, {part.first_equation.read_device(), part.first_equation.size()});
    const std::int64_t width = std::int64_t{lanes} * elements.program->nodes();
    const std::int32_t* nodes = elements.nodes.read_device();
    const auto waiting = [&](std::int32_t n) { return waits[static_cast<std::size_t>(n)] != 0; };
    // A last group that is not full is with the rest, behind all others.
    for (std::int32_t g = 0; g < (elements.element_count + lanes - 1) / lanes; ++g) {
      const bool is_interior = g < whole && std::none_of(nodes + g * width, nodes + (g + 1) * width, waiting);
      (is_interior ? interior : rest).push_back(g);
    }
  }
  const auto make = [&](std::vector<std::int32_t>& groups) -> std::unique_ptr<GatherPlan> {
    if (groups.empty()) return nullptr;
    return std::make_unique<GatherPlan>(
        make_gather_plan(model, device, batch, chunk_of(*elements.program), threads_, std::move(groups)));
  };
  plan->interior = make(interior);
  plan->rest = make(rest);
  return *plan;
}

}  // namespace voussoir::cpu
