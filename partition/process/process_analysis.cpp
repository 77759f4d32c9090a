#include <voussoir/partition/process/process_analysis.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <voussoir/solvers/static_problem.hpp>

namespace voussoir {
namespace {

/// Neighbours of a part, in the order of ProcessPart::shared.
std::vector<int> neighbours_of(const ProcessPart& part) {
  std::vector<int> list;
  for (const SharedNodes& shared : part.shared) list.push_back(shared.part);
  return list;
}

/// Displacements along x, y, z (0, 1, 2), rotations about them (3, 4, 5), temperature (6); −1 for other unknowns.
std::vector<int> kinds_of_unknowns(const std::vector<std::string>& unknowns) {
  static constexpr std::array<const char*, 7> names{"ux", "uy", "uz", "rx", "ry", "rz", "T"};
  std::vector<int> kinds;
  for (const std::string& unknown : unknowns) {
    const auto known = std::find_if(names.begin(), names.end(), [&](const char* name) { return unknown == name; });
    kinds.push_back(known == names.end() ? -1 : static_cast<int>(known - names.begin()));
  }
  return kinds;
}

/// What an unknown of this kind does in each rigid motion, at a point that is counted from the centre and divided by a
/// length: three translations and three rotations in space, two and one in the plane.
void put_rigid_motions(int kind, int modes, const std::array<double, 3>& x, double length, double* value) {
  if (modes == 1) {
    value[0] = 1;
    return;
  }
  if (modes == 3) {  // the plane turns about z
    if (kind < 2) value[kind] = 1;
    if (kind == 0) value[2] = -x[1];
    if (kind == 1) value[2] = x[0];
    if (kind == 5) value[2] = 1 / length;
    return;
  }
  if (kind >= 3) {
    value[kind] = 1 / length;
    return;
  }
  value[kind] = 1;
  // ω × x for a rotation about each axis.
  const int next = (kind + 1) % 3, last = (kind + 2) % 3;
  value[3 + next] = x[static_cast<std::size_t>(last)];
  value[3 + last] = -x[static_cast<std::size_t>(next)];
}

/// Whether a parameter of a block that the matrix and the loads of a steady state depend on follows temperature.
bool steady_parameters_vary(const ElementBlock& block) {
  const auto names = block.type().program().parameter_names();
  const ElementBlock::Parameters p = block.parameters();
  const std::size_t stride = names.size() + 1, rows = static_cast<std::size_t>(p.rows);
  for (std::size_t record = 0; record < p.records.size(); record += rows * stride)
    for (std::size_t row = 1; row < rows; ++row)
      for (std::size_t k = 0; k < names.size(); ++k)
        if (names[k] != "density" && names[k] != "specific_heat" &&
            p.records[record + row * stride + 1 + k] != p.records[record + 1 + k])
          return true;
  return false;
}

/// Whether the steady state of a model is a linear one: a heat capacity that follows temperature has no part in it.
bool is_linear_when_steady(const AnalysisModel& model, const Domain& domain) {
  if (model.is_linear()) return true;
  for (const ElementBatch& batch : model.device_model().part(0).batches)
    if (!batch.program->linear() || batch.program->reads_temperature()) return false;
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    const auto names = block.type().program().unknown_names();
    if (block.size() == 0) continue;
    if (std::find(names.begin(), names.end(), "T") == names.end() || steady_parameters_vary(block)) return false;
  }
  return true;
}

}  // namespace

void sum_shared_nodes(Processes& processes, const ProcessPart& part, std::size_t domain, NodalField& field) {
  const std::vector<std::string>& names = part.domains[domain].unknown_names;
  std::vector<int> column;  // of each unknown of the whole domain in the field
  for (const std::string& name : names) {
    const auto it = std::find(field.components.begin(), field.components.end(), name);
    column.push_back(it == field.components.end() ? -1 : static_cast<int>(it - field.components.begin()));
  }
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::string> sent;
  for (const SharedNodes& shared : part.shared) {
    std::vector<double> values;
    for (const std::int32_t node : shared.nodes)
      for (const int c : column) values.push_back(c < 0 ? nothing : field.at(node, c));
    sent.emplace_back(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  }
  const std::vector<std::string> received = processes.exchange(neighbours_of(part), sent);
  // In the order of the parts, so that all of them get the same bits. The own values are in their place.
  const std::vector<double> own = field.values;
  std::vector<char> begun(static_cast<std::size_t>(part.node_count()), 0);
  const auto add = [&](std::int32_t node, const double* values) {
    for (std::size_t u = 0; u < column.size(); ++u) {
      if (column[u] < 0) continue;
      double& sum = field.values[static_cast<std::size_t>(node) * field.components.size() + column[u]];
      if (!begun[node]) sum = nothing;
      if (std::isnan(values[u])) continue;
      sum = std::isnan(sum) ? values[u] : sum + values[u];
    }
    begun[node] = 1;
  };
  std::vector<std::int32_t> shared_nodes;
  for (const SharedNodes& shared : part.shared)
    shared_nodes.insert(shared_nodes.end(), shared.nodes.begin(), shared.nodes.end());
  std::sort(shared_nodes.begin(), shared_nodes.end());
  shared_nodes.erase(std::unique(shared_nodes.begin(), shared_nodes.end()), shared_nodes.end());
  const auto add_own = [&] {
    std::vector<double> values(column.size());
    for (const std::int32_t node : shared_nodes) {
      for (std::size_t u = 0; u < column.size(); ++u)
        values[u] =
            column[u] < 0
                ? nothing
                : own[static_cast<std::size_t>(node) * field.components.size() + static_cast<std::size_t>(column[u])];
      add(node, values.data());
    }
  };
  bool own_added = false;
  for (std::size_t k = 0; k < part.shared.size(); ++k) {
    const SharedNodes& shared = part.shared[k];
    if (!own_added && shared.part > part.part) {
      add_own();
      own_added = true;
    }
    if (received[k].size() != shared.nodes.size() * column.size() * sizeof(double))
      throw Error(ErrorCode::internal, "parts " + std::to_string(part.part) + " and " + std::to_string(shared.part) +
                                           " do not agree on the nodes that they share");
    std::vector<double> values(shared.nodes.size() * column.size());
    std::memcpy(values.data(), received[k].data(), received[k].size());
    for (std::size_t i = 0; i < shared.nodes.size(); ++i) add(shared.nodes[i], values.data() + i * column.size());
  }
  if (!own_added) add_own();
}

ProcessAnalysis::ProcessAnalysis(const ProcessPart& part, std::size_t domain, Engine& engine,
                                 std::shared_ptr<Backend> backend)
    : part_(part),
      domain_index_(domain),
      domain_(*part.job.domains.at(domain)),
      engine_(engine),
      processes_(engine.processes()),
      backend_(std::move(backend)),
      equations_(part.domains.at(domain).unknown_count()) {}

ProcessAnalysis::~ProcessAnalysis() = default;

void ProcessAnalysis::add_time(const std::string& stage, double seconds) {
  const auto same = std::find_if(times_.begin(), times_.end(), [&](const StageTime& t) { return t.stage == stage; });
  if (same == times_.end())
    times_.push_back({stage, seconds});
  else
    same->seconds += seconds;
}

void ProcessAnalysis::together(const std::string& stage, const std::function<void()>& work) {
  const Stopwatch watch;
  agree(processes_, [&] {
    if (observer && !observer({stage, since_start_.seconds(), 0, 0}))
      throw Error(ErrorCode::cancelled, "cancelled before '" + stage + "'");
    work();
  });
  add_time(stage, watch.seconds());
}

void complete_part_result(Processes& processes, const ProcessPart& part, std::size_t domain, const AnalysisModel* model,
                          StepResult& result) {
  sum_shared_nodes(processes, part, domain, result.reactions);
  sum_shared_nodes(processes, part, domain, result.internal_forces);
  // Every part has counted its own share of each force, so that the sums of the parts are those of the whole.
  const std::vector<std::string>& names = part.domains[domain].unknown_names;
  std::vector<double> sums(2 * names.size() + 1, 0.0);
  if (model)
    for (std::size_t u = 0; u < names.size(); ++u) {
      const auto& own = model->unknown_names();
      const auto at = static_cast<std::size_t>(std::find(own.begin(), own.end(), names[u]) - own.begin());
      if (at == own.size()) continue;
      sums[u] = result.load_sum[at];
      sums[names.size() + u] = result.reaction_sum[at];
    }
  sums.back() = result.energy;
  processes.sum(sums);
  const auto count = static_cast<std::ptrdiff_t>(names.size());
  result.load_sum.assign(sums.begin(), sums.begin() + count);
  result.reaction_sum.assign(sums.begin() + count, sums.begin() + 2 * count);
  result.energy = sums.back();
}

void ProcessAnalysis::complete_result(StepResult& result) {
  complete_part_result(processes_, part_, domain_index_, model_.get(), result);
}

bool allows_full_tangents(const ProcessPart& part, std::size_t domain, const Backend& backend,
                          const EngineSettings& settings) {
  constexpr std::int64_t full_limit = 50'000;  // a system that is factorised quickly
  const DomainShare& share = part.domains[domain];
  if (share.unknown_names.size() != 1 || share.unknown_names[0] != "T" || share.unknown_count() > full_limit)
    return false;
  if (settings.method != "auto" && settings.method != "mumps") return false;
  const Domain& own = *part.job.domains[domain];
  for (std::size_t b = 0; b < own.block_count(); ++b) {
    const ElementBlock& block = own.block(b);
    if (block.size() > 0 && has_full_tangent(block) && full_tangent_route(block, backend) != Route::native)
      return false;
  }
  return true;
}

void ProcessAnalysis::number() {
  together("number", [&] {
    if (soe_ && soe_->has_model()) soe_->forget_model();
    model_.reset();
    if (!part_.has_elements(domain_index_)) return;
    ModelOptions options;
    options.full_tangents = full_tangents_ && !is_linear_;
    model_ = std::make_unique<AnalysisModel>(domain_, backend_, TransformationHandler(), PlainNumberer(), options);
  });
}

bool ProcessAnalysis::prepare() {
  const bool is_old = model_ && model_->domain_revision() != domain_.revision();
  if (!processes_.any(is_old || !is_numbered_)) return false;
  is_numbered_ = false;
  is_linear_ = true;
  number();
  check_model();
  if (!is_linear_ && full_tangents_) number();
  together("pattern", [&] {
    if (!model_) return;
    const std::string stored = model_->device_model().uniform_components() > 0 ? "bsr" : "csr";
    soe_ = make_soe(storage_ == "auto" ? stored : storage_);
    soe_->set_model(*model_);
  });
  is_numbered_ = true;
  return true;
}

void ProcessAnalysis::check_model() {
  together("check model", [&] {
    if (model_ && model_->has_history())
      throw Error(ErrorCode::unavailable,
                  "elements with a history are not supported on several processes; run "
                  "without --engine");
  });
  is_linear_ = !processes_.any(model_ && !is_linear_when_steady(*model_, domain_));
  const std::vector<std::string>& names = part_.domains[domain_index_].unknown_names;
  const bool is_heat = names.size() == 1 && names[0] == "T";
  if (!is_linear_ && !(solves_nonlinear_heat_ && is_heat))
    throw SharedError(Error(ErrorCode::unavailable,
                            "the model has nonlinear elements, which are supported on several processes only in heat "
                            "analyses and in steps with increments; run without --engine"),
                      0);
  free_equations_ = count_free_equations(processes_, part_, domain_index_, model_.get());
}

// Supports of shared nodes are in all parts that have them: the parts must agree on what is solved for. Counts it.
std::int64_t count_free_equations(Processes& processes, const ProcessPart& part, std::size_t domain,
                                  const AnalysisModel* model) {
  NodalField field;
  if (model) field.components = model->unknown_names();
  field.values.assign(static_cast<std::size_t>(part.node_count()) * field.components.size(),
                      std::numeric_limits<double>::quiet_NaN());
  if (model)
    for (std::int32_t e = 0; e < model->equation_count(); ++e) {
      const auto place = model->place(e);
      field.values[static_cast<std::size_t>(place.node) * field.components.size() + place.component] =
          model->is_free(e) ? 1 : 1 << 20;
    }
  const std::vector<double> before = field.values;
  sum_shared_nodes(processes, part, domain, field);
  std::array<double, 1> count{};  // an equation that n parts have counts 1 / n in each
  agree(processes, [&] {
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (std::isnan(before[i])) continue;
      const auto sum = static_cast<std::int64_t>(field.values[i]);
      if (sum < (1 << 20)) count[0] += 1.0 / static_cast<double>(sum);
      if (sum % (1 << 20) == 0 || sum < (1 << 20)) continue;
      const std::size_t width = field.components.size();
      throw Error(ErrorCode::internal, "parts do not agree whether this unknown is solved for",
                  part.job.domains[domain]->node_label(static_cast<std::int32_t>(i / width)) + ", " +
                      field.components[i % width]);
    }
  });
  processes.sum(count);
  return std::llround(count[0]);
}

namespace {

// About a centre and by a length that are the same on all processes.
void add_rigid_motions(Processes& processes, const ProcessPart& part, std::size_t domain, const AnalysisModel* model,
                       SystemShare& share) {
  std::array<double, 4> sums{};
  const auto coordinates = part.job.domains[domain]->coordinates();
  for (std::int32_t n = 0; n < part.node_count(); ++n)
    if (part.owns(n)) {
      for (std::size_t i = 0; i < 3; ++i) sums[i] += coordinates[3 * static_cast<std::size_t>(n) + i];
      sums[3] += 1;
    }
  processes.sum(sums);
  std::array<double, 3> centre{};
  for (std::size_t i = 0; i < 3; ++i) centre[i] = sums[3] > 0 ? sums[i] / sums[3] : 0;
  std::array<double, 1> squares{};
  for (std::int32_t n = 0; n < part.node_count(); ++n)
    if (part.owns(n))
      for (std::size_t i = 0; i < 3; ++i)
        squares[0] += std::pow(coordinates[3 * static_cast<std::size_t>(n) + i] - centre[i], 2);
  processes.sum(squares);
  const double length = squares[0] > 0 ? std::sqrt(squares[0] / sums[3]) : 1;

  const std::vector<std::string>& names = part.domains[domain].unknown_names;
  const std::vector<int> kinds = kinds_of_unknowns(names);
  const auto has = [&](int kind) { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); };
  const bool constants = has(-1) || (has(6) && names.size() > 1);
  share.modes = constants ? static_cast<int>(names.size()) : has(2) ? 6 : has(1) ? 3 : 1;
  if (!model) return;
  const auto modes = static_cast<std::size_t>(share.modes);
  share.motions.assign(share.number.size() * modes, 0.0);
  std::vector<std::size_t> whole_name;  // of each unknown of the part
  for (const std::string& name : model->unknown_names())
    whole_name.push_back(static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
  for (std::int32_t e = 0; e < model->equation_count(); ++e) {
    const auto place = model->place(e);
    const std::size_t unknown = whole_name[static_cast<std::size_t>(place.component)];
    double* const value = share.motions.data() + static_cast<std::size_t>(e) * modes;
    std::array<double, 3> x{};
    for (std::size_t i = 0; i < 3; ++i)
      x[i] = (coordinates[3 * static_cast<std::size_t>(place.node) + i] - centre[i]) / length;
    if (constants)
      value[unknown] = 1;
    else
      put_rigid_motions(kinds[unknown], share.modes, x, length, value);
  }
}

}  // namespace

SystemShare number_share(Processes& processes, const ProcessPart& part, std::size_t domain,
                         const AnalysisModel* model) {
  const DomainShare& whole = part.domains[domain];
  SystemShare share;
  share.size = whole.unknown_count();
  share.first = whole.ownership[static_cast<std::size_t>(part.part)];
  share.owned = whole.ownership[static_cast<std::size_t>(part.part) + 1] - share.first;
  share.block_size = std::max(1, whole.nodal_unknowns);
  share.matrix.row_start = {0};
  agree(processes, [&] {
    if (!model) return;
    share.number = global_equations(part, domain, *model);
    share.symmetric = model->device_model().symmetric();
    share.backend = model->shared_backend();
    for (std::int32_t e = 0; e < model->equation_count(); ++e) share.free.push_back(model->is_free(e));
  });
  share.symmetric = !processes.any(!share.symmetric);
  add_rigid_motions(processes, part, domain, model, share);
  return share;
}

SystemShare ProcessAnalysis::numbered_share() const {
  return number_share(processes_, part_, domain_index_, model_.get());
}

}  // namespace voussoir
