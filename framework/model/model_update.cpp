// What an AnalysisModel takes over from a domain that has changed, without numbering it again.
#include <algorithm>

#include <voussoir/framework/model/detail/model_builder.hpp>

namespace voussoir {
namespace {

/// Whether two plans eliminate the same equations in the same way, so that they differ in values alone.
bool same_elimination(const ConstraintPlan& a, const ConstraintPlan& b) {
  return a.springs.empty() && b.springs.empty() &&
         std::equal(a.dependent.begin(), a.dependent.end(), b.dependent.begin(), b.dependent.end(),
                    [](const AffineDependency& x, const AffineDependency& y) {
                      return x.equation == y.equation && x.others == y.others && x.coefficients == y.coefficients;
                    });
}

}  // namespace

void AnalysisModel::take_revisions() {
  domain_revision_ = domain_.revision();
  revisions_ = domain_.revisions();
  block_revisions_.clear();
  for (std::size_t b = 0; b < domain_.block_count(); ++b)
    block_revisions_.emplace_back(domain_.block(b).revision(), domain_.block(b).size());
  had_load_temperatures_ = has_load_temperatures();
}

bool AnalysisModel::has_load_temperatures() const {
  const auto& cases = domain_.load_cases();
  return std::any_of(cases.begin(), cases.end(),
                     [](const auto& load_case) { return !load_case->temperatures().empty(); });
}

bool AnalysisModel::loads_affect_matrix() const {
  if ((depends_on_temperature_ || laws_read_temperature_) && (had_load_temperatures_ || has_load_temperatures()))
    return true;
  for (std::size_t b = 0; b < origins_.size(); ++b)
    if (origins_[b].kind == BatchOrigin::Kind::surface_load && device_model_->part(0).batches[b].program->has_tangent())
      return true;
  return false;
}

ModelUpdate AnalysisModel::update(const ConstraintHandler& handler) {
  ModelUpdate impossible;
  impossible.possible = false;
  const DomainRevisions now = domain_.revisions();
  if (now.nodes != revisions_.nodes) return impossible;
  ModelUpdate done;
  Builder builder(*this);
  for (std::size_t k = 0; k < node_at_.size(); ++k) builder.unknowns[node_at_[k]] = node_unknowns_[k];
  builder.idle = idle_;

  ConstraintPlan plan;
  const bool supports = now.supports != revisions_.supports;
  if (supports) {
    plan = handler.plan(builder.numbered_constraints());
    if (!same_elimination(plan_, plan)) return impossible;
    done.constraints = plan.prescribed != plan_.prescribed;
    if (done.constraints && !plan_.dependent.empty()) return impossible;
  }

  const bool loads = now.loads != revisions_.loads || now.elements != revisions_.elements;
  const auto blocks =
      static_cast<std::size_t>(std::count_if(origins_.begin(), origins_.end(), [](const BatchOrigin& origin) {
        return origin.kind == BatchOrigin::Kind::block;
      }));
  if (loads) {
    if (!plan_.springs.empty()) return impossible;  // their batches follow those of loads
    if (now.elements != revisions_.elements && !builder.add_new_blocks()) return impossible;
    done.pattern = !builder.batches.empty();
    builder.add_surface_loads();
    builder.add_body_loads();
    builder.check_symmetry();
    if (options_.full_tangents) builder.take_full_tangents();
    builder.check_loads();
    done.batches = !builder.batches.empty() || origins_.size() > blocks;
    if (done.batches && !plan_.dependent.empty()) return impossible;
  }
  const bool affected_matrix = loads && loads_affect_matrix();
  if (done.batches) {
    builder.number_batches();
    ModelDescription description;
    description.first_equation = first_equation_;
    if (!nodes_have_first_unknowns_) description.unknowns = node_unknowns_;
    description.batches = std::move(builder.batches);
    if (!device_model_->replace_batches(static_cast<int>(blocks), description)) return impossible;
    origins_.resize(blocks);
    batch_unknowns_.resize(blocks);
    std::move(builder.origins.begin(), builder.origins.end(), std::back_inserter(origins_));
    std::move(builder.batch_unknowns.begin(), builder.batch_unknowns.end(), std::back_inserter(batch_unknowns_));
  }
  if (loads) {
    whole_body_loads_ = std::move(builder.whole_body_loads);
    kept_loads_ = make_kept_loads();
  }
  if (supports) {
    if (done.constraints) device_model_->set_prescribed(plan.prescribed);
    prescribed_ = plan.prescribed;
    plan_ = std::move(plan);
  }
  done.matrix = done.constraints || done.pattern || affected_matrix || (loads && loads_affect_matrix());
  if (done.constraints || done.batches) serial_ = next_serial();
  if (done.matrix) matrix_serial_ = next_serial();
  take_revisions();
  return done;
}

}  // namespace voussoir
