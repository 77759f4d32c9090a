#include <voussoir/framework/analysis/analysis.hpp>
#include <voussoir/framework/domain/superelement_instance.hpp>

#include <voussoir/framework/model/device_distribution.hpp>
#include <voussoir/framework/model/divided_numberer.hpp>

namespace voussoir {

Analysis::Analysis(const Domain& domain, Collaborators collaborators)
    : parts_(std::move(collaborators)), domain_(&domain), domain_lifetime_(domain.lifetime()) {
  if (!parts_.backend) throw Error(ErrorCode::misuse, "an analysis needs a backend; get one from Backend::open()");
  if (!parts_.soe != !parts_.solver)
    throw Error(ErrorCode::misuse, "an analysis needs an SOE and a solver that fits it, or neither of them");
  if (!parts_.handler) parts_.handler = std::make_shared<TransformationHandler>();
  if (!parts_.numberer) {
    // One device has no ranges, and what divides nodes costs nothing there.
    if (parts_.backend->devices() > 1)
      parts_.numberer = std::make_shared<DividedNumberer>();
    else
      parts_.numberer = std::make_shared<PlainNumberer>();
  }
  if (!parts_.integrator) parts_.integrator = std::make_shared<StaticIntegrator>();
  if (!parts_.algorithm) parts_.algorithm = std::make_shared<AutomaticAlgorithm>();
}

namespace {

const Domain& existing(const std::shared_ptr<const Domain>& domain) {
  if (!domain) throw Error(ErrorCode::misuse, "an analysis needs a Domain");
  return *domain;
}

}  // namespace

Analysis::Analysis(std::shared_ptr<const Domain> domain, Collaborators collaborators)
    : Analysis(existing(domain), std::move(collaborators)) {
  shared_domain_ = std::move(domain);
}

const Domain& Analysis::domain() const {
  if (domain_lifetime_.expired())
    throw Error(ErrorCode::misuse,
                "the Domain of this analysis no longer exists; keep it as long as the analysis, or pass it as a "
                "shared_ptr");
  return *domain_;
}

void Analysis::require_system() const {
  if (!parts_.soe) throw Error(ErrorCode::misuse, "this analysis needs an SOE and a solver that fits it");
}

void Analysis::add_recorder(std::shared_ptr<Recorder> recorder) {
  if (!recorder) throw Error(ErrorCode::misuse, "there is no recorder to add");
  recorders_.push_back(std::move(recorder));
}

void Analysis::commit(AnalysisState& state, const SolveReport& report) {
  parts_.integrator->commit(*model_, state);
  for (const auto& recorder : recorders_) recorder->record({*model_, state, *parts_.integrator, report});
}

const AnalysisModel& Analysis::model() {
  prepare();
  return *model_;
}

double Analysis::elapsed() const { return since_start_ ? since_start_->seconds() : 0.0; }

void Analysis::stage(const std::string& name, const std::function<void()>& work) {
  if (!since_start_) since_start_.emplace();
  if (observer && !observer({name, elapsed(), 0, 0}))
    throw Error(ErrorCode::cancelled, "cancelled before '" + name + "'");
  const Stopwatch watch;
  work();
  times_.push_back({name, watch.seconds()});
}

void Analysis::prepare() {
  // Collaborators may be shared: another analysis may have given the SOE a model of its own meanwhile.
  const Domain& domain = this->domain();
  const bool usable = model_ && model_->options() == parts_.model && (!parts_.soe || soe_has_model());
  bool current = usable && model_->domain_revision() == domain.revision();
  if (usable && !current) stage("update", [&] { current = update_model(); });
  if (!current) {
    std::unique_ptr<AnalysisModel> model;
    stage("number", [&] {
      model = std::make_unique<AnalysisModel>(domain, parts_.backend, *parts_.handler, *parts_.numberer, parts_.model);
    });
    if (parts_.soe) stage("pattern", [&] { parts_.soe->set_model(*model); });
    model_ = std::move(model);
    take_notes();
  }
  if (!parts_.solver) return;
  parts_.solver->progress = [this](int iteration, double residual) {
    // Thrown rather than returned: a solver that stops here has not failed, and must not be reported as if it had.
    if (observer && !observer({"solve", elapsed(), iteration, residual}))
      throw Error(ErrorCode::cancelled,
                  "cancelled in iteration " + std::to_string(iteration) + " of '" + parts_.solver->name() + "'");
    return true;
  };
}

bool Analysis::update_model() {
  const ModelUpdate update = model_->update(*parts_.handler);
  if (!update.possible) return false;
  if (parts_.soe) parts_.soe->follow_model(update);
  take_notes();
  return true;
}

bool Analysis::soe_has_model() const { return parts_.soe->has_model() && &parts_.soe->model() == model_.get(); }

Analysis::~Analysis() {
  // Both may live on in other hands; neither may point back here.
  if (parts_.solver) parts_.solver->progress = nullptr;
  if (model_ && parts_.soe && soe_has_model()) parts_.soe->forget_model();
}

void Analysis::take_notes() {
  notes_.clear();
  for (std::size_t b = 0; b < model_->batches().size(); ++b) {
    const BatchOrigin& origin = model_->batches()[b];
    if (origin.kind != BatchOrigin::Kind::block) continue;
    const ElementBlock& block = domain_->block(origin.block);
    const ElementProgram& program = *model_->device_model().part(0).batches[b].program;
    if (parts_.backend->route(program) != Route::host || is_superelement_type(block.type_name())) continue;
    const bool is_wrapped = program.name() != block.type().program().name();
    notes_.push_back("block '" + block.name() + "' (" + block.type_name() + ") is computed on the host, because " +
                     (is_wrapped ? "the backend has no kernel of its full tangent; the symmetric one"
                                 : parts_.backend->route_reason(program) + "; a kernel") +
                     " would be faster");
  }
  if (parts_.backend->devices() > 1)
    notes_.push_back(device_distribution(model_->device_model()).describe() + " (numbering " + parts_.numberer->name() +
                     ")");
  const auto& constraints = model_->constraints().notes;
  notes_.insert(notes_.end(), constraints.begin(), constraints.end());
  if (const auto unused = model_->unused_nodes(); !unused.empty())
    notes_.push_back(unused.size() == 1
                         ? domain_->node_label(unused.front()) + " is used by no element"
                         : std::to_string(unused.size()) + " nodes are used by no element, the first is " +
                               domain_->node_label(unused.front()));
}

}  // namespace voussoir
