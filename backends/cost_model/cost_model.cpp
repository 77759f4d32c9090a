#include <voussoir/backends/cost_model/cost_model.hpp>

#include <algorithm>
#include <cmath>

namespace voussoir {
namespace {

/// Sums what is known; nothing if a part is unknown.
std::optional<double> sum_of(std::initializer_list<std::optional<double>> parts) {
  double sum = 0;
  for (const auto& part : parts) {
    if (!part) return std::nullopt;
    sum += *part;
  }
  return sum;
}

/// Bytes of a block of vectors that CG works on: x, r, p, z, q and the inverse diagonal.
double cg_bytes(const ModelShape& model) { return 8 * (5 + std::max(model.components, 1)) * model.equations; }

}  // namespace

const char* to_string(OperatorForm form) {
  switch (form) {
    case OperatorForm::bsr:
      return "bsr";
    case OperatorForm::csr:
      return "csr";
    case OperatorForm::element:
      return "element";
    case OperatorForm::matrix_free:
      return "matrix-free";
  }
  return "bsr";
}

double ModelShape::half_matrix_numbers() const {
  const double c = nodes > 0 ? equations / nodes : 0;
  return (node_pairs + nodes) * c * c;
}

double ModelShape::matrix_numbers() const {
  const double c = nodes > 0 ? equations / nodes : 0;
  return (2 * node_pairs + nodes) * c * c;
}

double ModelShape::half_matrix_bytes() const { return 8 * half_matrix_numbers() + 4 * (node_pairs + nodes); }

double factor_numbers(const ModelShape& m) {
  const double c = m.nodes > 0 ? m.equations / m.nodes : 0;
  if (m.dimension >= 3) return 13 * c * c * m.nodes * std::sqrt(m.layer);
  if (m.dimension == 2) return 8 * c * c * m.nodes * std::log2(std::max(m.layer, 2.0));
  return 6 * c * c * m.nodes;
}

double factor_work(const ModelShape& m) {
  const double c = m.nodes > 0 ? m.equations / m.nodes : 0;
  const double cubed = c * c * c * m.nodes;
  if (m.dimension >= 3) {
    // A piece of a long body lies between two separators, which a cube does not: its fronts are larger. Adding up dense
    // eliminations s³/3 + s² b + s b² of separators s with boundaries b gives 17.5 w³ for a piece as long as wide with
    // w nodes in its cross-section, and 6.6 w³ for a cube alone.
    const double lengths = m.nodes / std::max(m.layer * std::sqrt(m.layer), 1.0);
    const double between = lengths > 1 ? 1.65 * (1 - 1 / lengths) : 0;
    return cubed * m.layer * std::sqrt(m.layer) * (1 + between);
  }
  return m.dimension == 2 ? cubed * m.layer : cubed;
}

CostModel::CostModel(MachineProfile profile) : profile_(std::move(profile)) {}

std::optional<double> CostModel::operation(std::string_view name, double units, double working_set) const {
  const OperationCost* cost = profile_.find(name);
  if (!cost) return std::nullopt;
  return cost->seconds(units, working_set);
}

std::optional<double> CostModel::element_operation(std::string_view what, const ElementClass& type, double elements,
                                                   double working_set) const {
  if (const OperationCost* own = profile_.find(operations::of_type(what, type.type)))
    return own->seconds(elements, working_set);
  const OperationCost* best = nullptr;
  double ratio = 1, least = 0;
  for (const ElementClass& measured : profile_.element_types) {
    const OperationCost* cost = profile_.find(operations::of_type(what, measured.type));
    if (!cost || !(measured.work() > 0) || !(type.work() > 0)) continue;
    const double distance = std::abs(std::log(type.work() / measured.work())) +
                            (measured.components == type.components ? 0 : 10);  // alike in the unknowns first
    if (best && distance >= least) continue;
    best = cost;
    least = distance;
    ratio = type.work() / measured.work();
  }
  if (!best) return std::nullopt;
  return best->latency + ratio * (best->seconds(elements, working_set) - best->latency);
}

std::optional<double> CostModel::long_vectors(std::int64_t n, std::int64_t steps, bool with_copies) const {
  const double side = static_cast<double>(n) + 2, entries = side * side, inner = static_cast<double>(n) * side - 2;
  const OperationCost *add = profile_.find(operations::add), *saxpy = profile_.find(operations::saxpy);
  const OperationCost* border = profile_.find(operations::border);
  if (!add || !saxpy || !border) return std::nullopt;
  // Half of what an operation touches was used two vectors ago, the other half three.
  const double near = long_vector_bytes(n), far = 1.5 * near;
  const auto work = [&](const OperationCost& cost, double units) {
    return 0.5 * (cost.work_seconds(units, near) + cost.work_seconds(units, far));
  };
  const double launches = 2 * add->latency + saxpy->latency + border->latency;
  const double all = work(*add, entries - 1) + work(*add, inner) + work(*saxpy, inner) + work(*border, 4 * side);
  const double step = add->queued ? std::max(launches, all) : launches + all;
  if (!with_copies) return static_cast<double>(steps) * step;
  const auto copies = sum_of({operation(operations::staged_in, 8 * entries, 8 * entries),
                              operation(operations::staged_out, 8 * entries, 8 * entries)});
  if (!copies) return std::nullopt;
  return *copies + static_cast<double>(steps) * step;
}

std::optional<double> CostModel::pyramid_pass(const PyramidJob& job, int height, std::int64_t slab) const {
  const PyramidCounts counts = count_pyramid(job, height, slab);
  const double layer = static_cast<double>(job.nx) * static_cast<double>(job.ny);
  const double bytes = job.bytes(slab, height), slabs = static_cast<double>(counts.slabs);
  const OperationCost* in = profile_.find(operations::slab_in);
  const OperationCost* out = profile_.find(operations::slab_out);
  if (!in || !out) return std::nullopt;
  const double plane = layer * job.real_bytes;
  const double copies_in = slabs * in->latency + plane * counts.layers_in * in->seconds_per_unit(bytes);
  const double copies_out = slabs * out->latency + plane * counts.layers_out * out->seconds_per_unit(bytes);
  double updates = 0;
  for (int done = 0; done < height;) {
    const int tile = std::min(std::max(1, job.tile), height - done);
    const OperationCost* cost = profile_.find(operations::slab_tile(tile));
    for (int t = tile; !cost && t-- > 1;) cost = profile_.find(operations::slab_tile(t));
    if (!cost) return std::nullopt;
    updates += slabs * cost->latency;
    for (int j = done; j < done + tile; ++j)
      updates += layer * counts.computed[static_cast<std::size_t>(j)] * cost->seconds_per_unit(bytes);
    done += tile;
  }
  const double all = copies_in + copies_out + updates, longest = std::max({copies_in, copies_out, updates});
  return profile_.overlaps_copies ? longest + (all - longest) / slabs : all;
}

std::int64_t CostModel::largest_slab(const PyramidJob& job, int height) {
  const std::int64_t devices = std::max(1, job.devices);
  const std::int64_t whole = (job.nz + devices - 1) / devices + 2 * height;
  std::int64_t low = 2 * static_cast<std::int64_t>(height) + 1, high = whole;
  const auto fits = [&](std::int64_t slab) { return job.budget <= 0 || job.bytes(slab, height) <= job.budget; };
  if (low > high || !fits(low)) return 0;
  while (low < high) {
    const std::int64_t middle = (low + high + 1) / 2;
    if (fits(middle))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

std::vector<int> CostModel::candidate_heights(int largest) {
  std::vector<int> heights;
  constexpr int tries = 15;
  const double top = std::max(1, largest);
  for (int i = 0; i < tries; ++i) {
    const int h = static_cast<int>(std::lround(std::exp(std::log(top) * i / (tries - 1))));
    if (heights.empty() || h > heights.back()) heights.push_back(h);
  }
  return heights;
}

std::vector<std::int64_t> CostModel::candidate_slabs(const PyramidJob& job, int height) {
  std::vector<std::int64_t> slabs;
  const std::int64_t largest = largest_slab(job, height), overlap = 2 * static_cast<std::int64_t>(height);
  if (largest == 0) return slabs;
  for (std::int64_t layers = largest - overlap; slabs.empty() || layers >= 4; layers /= 2)
    slabs.push_back(layers + overlap);
  return slabs;
}

std::optional<HeightChoice> CostModel::choose_slab(const PyramidJob& job, int height) const {
  std::optional<HeightChoice> best;
  for (const std::int64_t slab : candidate_slabs(job, height)) {
    const auto pass = pyramid_pass(job, height, slab);
    if (!pass) return std::nullopt;
    const double each = *pass / height;
    if (!best || each < best->seconds) best = HeightChoice{height, slab, each, count_pyramid(job, height, slab).slabs};
  }
  return best;
}

std::optional<HeightChoice> CostModel::choose_height(const PyramidJob& job, int iterations) const {
  const auto tenth = static_cast<int>(std::min<std::int64_t>(job.nz / 10, 1 << 20));
  std::optional<HeightChoice> best;
  for (const int h : candidate_heights(std::min(std::max(1, iterations), std::max(2, tenth))))
    if (const auto choice = choose_slab(job, h); choice && (!best || choice->seconds < best->seconds)) best = choice;
  return best;
}

std::optional<double> CostModel::pattern(const ModelShape& model, OperatorForm form) const {
  if (form != OperatorForm::bsr && form != OperatorForm::csr) return 0.0;
  double sum = 0;
  for (const ElementCount& block : model.blocks) {
    const auto part = element_operation("pattern", block.type, block.elements, model.half_matrix_bytes());
    if (!part) return std::nullopt;
    sum += *part;
  }
  return sum;
}

std::optional<double> CostModel::assemble(const ModelShape& model, OperatorForm form) const {
  if (form == OperatorForm::matrix_free) return 0.0;
  const char* what = form == OperatorForm::element ? "integrate" : "assemble";
  double sum = 0;
  for (const ElementCount& block : model.blocks) {
    const auto part = element_operation(what, block.type, block.elements, model.half_matrix_bytes());
    if (!part) return std::nullopt;
    sum += *part;
  }
  return sum;
}

std::optional<double> CostModel::product(const ModelShape& model, OperatorForm form) const {
  const double vectors = 16 * model.equations;
  if (form == OperatorForm::bsr) {
    const double numbers = model.half_matrix_numbers(), bytes = model.half_matrix_bytes() + vectors;
    for (const int c : {model.components, 3, 2, 1, 6})  // another block size is near enough where this one is missing
      if (const auto t = operation(operations::bsr(c), numbers, bytes)) return t;
    return std::nullopt;
  }
  if (form == OperatorForm::csr) {
    const double numbers = (model.half_matrix_numbers() + 0.5 * model.equations);
    return operation(operations::csr, numbers, 12 * numbers + vectors);
  }
  const bool stored = form == OperatorForm::element;
  double sum = 0;
  for (const ElementCount& block : model.blocks) {
    const double rows = static_cast<double>(block.type.nodes) * block.type.components;
    const double bytes = (stored ? 4 * rows * (rows + 1) : 4 * rows) * block.elements + vectors;
    const auto part =
        element_operation(stored ? "product element" : "product matrix-free", block.type, block.elements, bytes);
    if (!part) return std::nullopt;
    sum += *part;
  }
  return sum;
}

std::optional<double> CostModel::halo_exchange(const ModelShape& model) const {
  const double entries = model.layer * (model.nodes > 0 ? model.equations / model.nodes : 0);
  return operation(operations::exchange, entries, 8 * entries);
}

std::optional<double> CostModel::cg_iteration(const ModelShape& model, OperatorForm form, int devices) const {
  const auto one = sum_of({product(model, form), operation(operations::cg, model.equations, cg_bytes(model))});
  if (!one || devices <= 1) return one;
  const auto halo = halo_exchange(model);
  if (!halo) return std::nullopt;
  const OperationCost* vectors = profile_.find(operations::cg);
  return vectors->latency + (*one - vectors->latency) / devices + *halo;
}

int CostModel::choose_devices(const ModelShape& model, OperatorForm form, int available) const {
  int best = 1;
  auto least = cg_iteration(model, form, 1);
  for (int devices = 2; least && devices <= available; ++devices)
    if (const auto t = cg_iteration(model, form, devices); t && *t < *least) {
      least = t;
      best = devices;
    }
  return best;
}

std::optional<double> CostModel::multigrid_set_up(const ModelShape& model) const {
  return operation(operations::amg_set_up, model.matrix_numbers(), 8 * model.matrix_numbers());
}

std::optional<double> CostModel::multigrid_cycle(const ModelShape& model) const {
  return operation(operations::amg_cycle, model.matrix_numbers(), 8 * model.matrix_numbers());
}

std::optional<double> CostModel::factorise(const ModelShape& model) const {
  const double numbers = factor_numbers(model), work = factor_work(model);
  return sum_of(
      {operation(operations::factor, work, 8 * numbers), operation(operations::factor_linear, numbers, 8 * numbers)});
}

std::optional<IterationAssumption> assumed_iterations(const std::string& preconditioner, const ModelShape& model,
                                                      double relative_tolerance) {
  const double digits = std::log(std::clamp(relative_tolerance, 1e-16, 0.5)) / std::log(1e-8);
  if (preconditioner == "amg")
    return IterationAssumption{std::max(1.0, std::round(20 * digits)),
                               "20 iterations to 1e-8 assumed; 14 to 32 were measured (docs/benchmarks/amg.md)"};
  double factor = 0;
  if (preconditioner == "block-jacobi" || preconditioner == "jacobi" || preconditioner == "none") factor = 8.8;
  if (preconditioner == "chebyshev") factor = 2.5;
  if (preconditioner == "fsai") factor = 8.8;
  if (factor == 0 || !(model.nodes > 0)) return std::nullopt;
  const double across = std::pow(model.nodes, 1.0 / std::clamp(model.dimension, 1, 3));
  const double along = model.nodes / std::max(model.layer, 1.0);
  const double iterations = std::ceil(factor * std::sqrt(along * across) * digits);
  std::string rule = factor == 2.5 ? "2.5" : "8.8";
  return IterationAssumption{std::max(1.0, iterations),
                             rule + " √(layers × nodes^(1/d)) iterations to 1e-8 assumed, as measured on a " +
                                 (factor == 2.5 ? "cantilever;" : "cube and a cantilever;") +
                                 " shape, contrast of materials and load may change it by a factor of 3"};
}

}  // namespace voussoir
