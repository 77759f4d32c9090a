#include <voussoir/jobs/check_job.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/model/free_motion.hpp>
#include <voussoir/jobs/detail/check_mesh.hpp>
#include <voussoir/jobs/detail/load_case_index.hpp>
#include <voussoir/jobs/summary.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir {
namespace {

using Severity = Finding::Severity;

void count_in(std::vector<Count>& counts, const std::string& name, std::int64_t more) {
  const auto found = std::find_if(counts.begin(), counts.end(), [&](const Count& c) { return c.name == name; });
  if (found == counts.end())
    counts.push_back({name, more});
  else
    found->count += more;
}

void count_sizes(const Domain& domain, std::int32_t nodes, DomainCheck& check) {
  check.nodes = nodes;
  check.elements = domain.element_count();
  check.equations = static_cast<std::int64_t>(domain.equations().size());
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    count_in(check.element_types, block.type_name(), block.size());
    if (block.material()) count_in(check.materials, block.material()->name(), block.size());
  }
  for (const auto& name : domain.node_set_names())
    check.node_sets.push_back({name, static_cast<std::int64_t>(domain.node_set(name).size())});
  for (const auto& name : domain.element_set_names())
    check.element_sets.push_back({name, static_cast<std::int64_t>(domain.element_set(name).size())});
  for (const auto& name : domain.surface_names())
    check.surfaces.push_back({name, static_cast<std::int64_t>(domain.surface(name).size())});
  const auto x = domain.coordinates();
  for (std::size_t i = 0; i < x.size(); ++i) {
    check.lower[i % 3] = i < 3 ? x[i] : std::min(check.lower[i % 3], x[i]);
    check.upper[i % 3] = i < 3 ? x[i] : std::max(check.upper[i % 3], x[i]);
  }
}

/// Whether a mesh of plane elements does not lie in a plane of constant z.
bool lies_in_space(const Domain& domain, const DomainCheck& check) {
  const double size = std::max(check.upper[0] - check.lower[0], check.upper[1] - check.lower[1]);
  if (check.upper[2] - check.lower[2] <= 1e-9 * size) return false;
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    if (const std::string& shape = domain.block(b).type().shape(); !shape.empty() && shape_topology(shape).dim == 2)
      return true;
  return false;
}

/// "3 pressures", "1 nodal load"
void say(std::string& text, std::size_t count, const std::string& what) {
  if (count == 0) return;
  text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string loads_of(const JobStep& step, const LoadCase* acting) {
  std::string text;
  if (acting) {
    const LoadCase& loads = *acting;
    std::map<std::string, std::size_t> surface;
    for (const auto& load : loads.surface_loads()) ++surface[load.kind];
    for (const auto& [kind, count] : surface) say(text, count, kind + " load");
    std::size_t gravity = 0, rotation = 0, source = 0;
    for (const auto& body : loads.body_loads()) {
      const BodyLoad& load = body.load;
      gravity += load.acceleration[0] != 0 || load.acceleration[1] != 0 || load.acceleration[2] != 0;
      rotation += load.angular_velocity_squared != 0;
      source += load.source != 0;
    }
    say(text, gravity, "gravity load");
    say(text, rotation, "centrifugal load");
    say(text, source, "heat source");
    say(text, loads.nodal_loads().size(), "nodal load");
    if (!loads.temperatures().empty()) text += std::string(text.empty() ? "" : ", ") + "temperatures";
  }
  if (step.heated_by)
    text += (text.empty() ? "" : ", ") + ("temperatures of step " + std::to_string(*step.heated_by + 1));
  return text;
}

/// The loads of a step of mode superposition, which has a load case for each amplitude.
std::string modal_loads_of(const Domain& domain, const JobStep& step) {
  std::string text;
  const auto add = [&](const std::vector<StepLoad>& loads, const std::vector<BaseMotion>& base) {
    for (const StepLoad& load : loads)
      text += (text.empty() ? "" : ", ") + loads_of(step, &domain.load_case(load.load_case));
    say(text, base.size(), "base motion");
  };
  if (const auto* dynamic = std::get_if<ModalDynamicStep>(&step.modal)) add(dynamic->loads, dynamic->base);
  if (const auto* direct = std::get_if<DynamicStep>(&step.modal)) {
    add(direct->loads, direct->base);
    say(text, direct->moved.size(), "motion of supports");
  }
  if (const auto* stress = std::get_if<ThermalStressStep>(&step.modal)) {
    JobStep unheated = step;  // its temperatures are named once
    unheated.heated_by.reset();
    for (const StepLoad& load : stress->loads)
      text += (text.empty() ? "" : ", ") + loads_of(unheated, &domain.load_case(load.load_case));
    say(text, stress->moved.size(), "motion of supports");
    text += (text.empty() ? "" : ", ") + loads_of(step, nullptr);
  }
  if (const auto* harmonic = std::get_if<HarmonicStep>(&step.modal)) add(harmonic->loads, harmonic->base);
  if (const auto* spectrum = std::get_if<SpectrumStep>(&step.modal))
    say(text, spectrum->directions.size(), "response spectrum");
  return text;
}

bool moves_anything(const Supports* supports) {
  if (!supports) return false;
  const auto moved = [](const auto& s) { return s.value != 0; };
  return std::any_of(supports->values.begin(), supports->values.end(), moved) ||
         std::any_of(supports->oblique.begin(), supports->oblique.end(), moved);
}

/// What numbering a model with its supports found, for all steps that hold the same things.
struct Numbered {
  std::int64_t prescribed = 0, free = 0;
};

class Checker {
 public:
  Checker(Job& job, const std::function<bool(const std::string&)>& progress)
      : job_(job), load_cases_(job), progress_(progress) {}

  CheckReport run() {
    report_.name = job_.name;
    report_.title = job_.title;
    report_.source = job_.source;
    report_.notes = job_.notes;
    report_.mesh_only = job_.mesh_only;
    for (std::size_t d = 0; d < job_.domains.size(); ++d) check_domain(d);
    for (std::size_t s = 0; s < job_.steps.size(); ++s) check_step(s);
    if (job_.mesh_only)
      add({Severity::hint,
           "mesh only",
           "this is a mesh without sections, so there is nothing to solve; define its materials, supports and "
           "loads, in a deck or in a job file (docs/job-file.md)",
           job_.source,
           {},
           {}});
    else if (job_.steps.empty())
      add({Severity::warning,
           "no steps",
           "there is no step, so there is nothing to solve; add one with loads and supports",
           job_.source,
           {},
           {}});
    std::stable_sort(report_.findings.begin(), report_.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
    return std::move(report_);
  }

 private:
  void stage(const std::string& name) {
    if (progress_ && !progress_(name)) throw Error(ErrorCode::cancelled, "stopped while checking (" + name + ")");
  }
  void add(Finding finding) { report_.findings.push_back(std::move(finding)); }

  void check_domain(std::size_t index) {
    const Domain& domain = *job_.domains[index];
    DomainCheck& check = report_.domains.emplace_back();
    count_sizes(domain, reported_nodes(job_, domain), check);
    if (job_.mesh_only) check.materials.clear();
    if (check.elements == 0) {
      add({Severity::error, "no elements", "the model has no elements", job_.source, {}, {}});
      return;
    }
    // Quality and orientation of plane elements are those in the plane x, y; a surface in space has none.
    const bool shaped = !job_.mesh_only || !lies_in_space(domain, check);
    stage("quality");
    if (shaped) check.quality = measure_quality(domain);
    const auto id = [&](ElementRef r) { return r.block < 0 ? Id{0} : domain.block(r.block).id(r.element); };
    check.longest_element = id(check.quality.longest);
    check.worst_element = id(check.quality.worst);
    stage("elements");
    const std::size_t before = report_.findings.size();
    if (shaped)
      detail::find_refused_elements(domain, job_.instances, report_.findings);
    else
      add({Severity::hint,
           "surface in space",
           "the surfaces do not lie in one plane z = constant, and there are no shell elements: quality is not "
           "measured",
           job_.source,
           {},
           {}});
    if (report_.findings.size() == before)
      detail::judge_quality(domain, job_.instances, check.quality, report_.findings);
    // A second domain of a job has the nodes of the first; what is wrong with the mesh has been said.
    stage("nodes");
    std::vector<Finding> mesh;
    detail::find_duplicate_elements(domain, job_.instances, mesh);
    detail::find_coincident_nodes(domain, job_.instances, mesh);
    check.unused_nodes = detail::find_unused_nodes(domain, job_.instances, job_.own_nodes, mesh);
    if (index == 0)
      for (Finding& finding : mesh) add(std::move(finding));
    stage("memory");
    check.size = model_size(domain);
    check.memory = estimate_memory(check.size);
    try {
      check.chosen_solver = make_static_analysis(domain, backend())->collaborators().solver->name();
    } catch (const Error&) {
      // A block without what its type needs, which has been found already.
    }
  }

  void check_step(std::size_t index) {
    const JobStep& step = job_.steps[index];
    StepCheck& check = report_.steps.emplace_back();
    check.name = step.name;
    check.procedure = step.procedure;
    check.domain = step.domain;
    try {
      check.loads = loads_of(step, load_cases_.find(step));
      const Numbered& numbered = number(step);
      check.prescribed = numbered.prescribed;
      check.unknowns = numbered.free;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::cancelled) throw;
      if (said_.insert(error.what()).second)
        add({Severity::error, "model", error.text(), error.where().empty() ? step.where : error.where(), {}, {}});
    }
    if (has_states(step.procedure)) check.loads = modal_loads_of(*job_.domains[step.domain], step);
    const auto* dynamic = std::get_if<ModalDynamicStep>(&step.modal);
    if (dynamic && (!dynamic->displacement.empty() || !dynamic->velocity.empty() || dynamic->continues)) return;
    const auto* direct = std::get_if<DynamicStep>(&step.modal);
    if (direct && (!direct->displacement.empty() || !direct->velocity.empty() || direct->continues)) return;
    if (step.procedure == Procedure::frequency || step.procedure == Procedure::spectrum) return;
    if (is_heat(step.procedure) && has_states(step.procedure)) return;  // it has initial temperatures
    if (step.procedure == Procedure::thermal_stress) return;
    if (check.loads.empty() && !moves_anything(step.supports.get()) && (!step.supports || step.supports->kept.empty()))
      add({Severity::hint,
           "no loads",
           "there is no load in step '" + step.name + "': its solution is zero",
           step.where,
           {},
           {}});
  }

  /// Numbers the model as the step holds it and looks for what can move; once for all steps that hold the same.
  const Numbered& number(const JobStep& step) {
    // A body that can move freely has modes, at frequency zero.
    const bool may_move = has_states(step.procedure) && step.procedure != Procedure::thermal_stress &&
                          step.procedure != Procedure::nonlinear_statics;
    const auto key = std::make_tuple(step.domain, step.supports.get(), may_move);
    if (const auto known = numbered_.find(key); known != numbered_.end()) return known->second;
    stage("supports of step '" + step.name + "'");
    Domain& domain = *job_.domains[step.domain];
    if (step.supports) step.supports->apply(domain);
    const AnalysisModel model(domain, backend(), TransformationHandler(), PlainNumberer());
    Numbered numbered;
    numbered.free = model.free_equation_count();
    for (std::int32_t e = 0; e < model.equation_count(); ++e) numbered.prescribed += model.is_prescribed(e);
    const auto parts = connected_parts(model);
    report_.domains[step.domain].parts = parts.empty() ? 0 : *std::max_element(parts.begin(), parts.end()) + 1;
    for (const FreeMotion& motion : may_move ? std::vector<FreeMotion>() : find_free_motions(model)) {
      Finding finding{Severity::error,
                      "free motion",
                      "it is not restrained in step '" + step.name + "': " + motion.text +
                          ". Add a support, or connect it to a restrained part",
                      step.where,
                      {},
                      {}};
      for (std::size_t i = 0; i < std::min<std::size_t>(motion.nodes.size(), 100); ++i)
        finding.nodes.push_back(domain.node_id(motion.nodes[i]));
      add(std::move(finding));
    }
    return numbered_[key] = numbered;
  }

  const std::shared_ptr<Backend>& backend() {
    if (!backend_) backend_ = Backend::open("openmp");
    return backend_;
  }

  Job& job_;
  const detail::LoadCaseIndex load_cases_;
  const std::function<bool(const std::string&)>& progress_;
  CheckReport report_;
  std::shared_ptr<Backend> backend_;
  std::map<std::tuple<std::size_t, const Supports*, bool>, Numbered> numbered_;
  std::set<std::string> said_;
};

}  // namespace

std::string to_string(Finding::Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::hint:
      return "hint";
  }
  return "";
}

bool CheckReport::can_run() const {
  return std::none_of(findings.begin(), findings.end(), [](const Finding& f) { return f.severity == Severity::error; });
}

CheckReport check_job(Job& job, const std::function<bool(const std::string& stage)>& progress) {
  return Checker(job, progress).run();
}

}  // namespace voussoir
