#include <voussoir/partition/superelement.hpp>

#include <algorithm>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/model/unrestrained_unknowns.hpp>
#include <voussoir/partition/part_threads.hpp>
#include <voussoir/solvers/direct/equation_names.hpp>
#include <voussoir/solvers/direct/factorization.hpp>
#include <voussoir/solvers/direct/host_system.hpp>

namespace voussoir {
namespace {

/// Interface nodes with a condensed stiffness between them.
class CondensedElement : public HostElement {
 public:
  CondensedElement(int nodes, std::vector<std::string> unknowns, std::vector<double> stiffness,
                   std::vector<double> load)
      : nodes_(nodes), unknowns_(std::move(unknowns)), stiffness_(std::move(stiffness)), load_(std::move(load)) {}

  int nodes() const override { return nodes_; }
  std::vector<std::string> unknown_names() const override { return unknowns_; }
  bool linear() const override { return true; }
  void tangent(const HostElementData&, std::span<double> matrix) const override {
    std::copy(stiffness_.begin(), stiffness_.end(), matrix.begin());
  }
  void residual(const HostElementData& element, std::span<double> force) const override {
    const std::size_t n = load_.size();
    for (std::size_t i = 0; i < n; ++i) {
      force[i] = -load_[i];
      for (std::size_t j = 0; j < n; ++j) force[i] += stiffness_[i * n + j] * element.u[j];
    }
  }

 private:
  int nodes_;
  std::vector<std::string> unknowns_;
  std::vector<double> stiffness_, load_;
};

}  // namespace

struct Superelement::Factor {
  std::unique_ptr<Factorization> factorization;
  SymmetricCsr rows;          // formed, not yet factorised
  std::vector<double> sizes;  // of the terms of its diagonal; empty without dependent unknowns
};

Superelement::Superelement(const Subdomain& subdomain, std::shared_ptr<Backend> backend, DirectMethod method)
    : subdomain_(subdomain),
      model_(std::make_unique<AnalysisModel>(subdomain.domain(), std::move(backend), TransformationHandler(),
                                             PlainNumberer())),
      factor_(std::make_unique<Factor>()) {
  factor_->factorization = Factorization::make(part_method(method), {.threads = model_->backend().threads()});
  place_.assign(model_->equation_count(), -1);
  const auto nodes = model_->numbered_nodes();
  const auto first = model_->first_equation();
  const auto interface = subdomain.interface_nodes();
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const bool shared = std::binary_search(interface.begin(), interface.end(), nodes[k]);
    for (std::int32_t e = first[k]; e < first[k + 1]; ++e) {
      if (!model_->is_free(e)) continue;
      place_[e] = static_cast<std::int32_t>(free_.size());
      if (shared) {
        boundary_equation_.push_back(place_[e]);
        boundary_.push_back({subdomain.whole_nodes()[nodes[k]], model_->component(k, e)});
      }
      free_.push_back(e);
    }
  }
}

Superelement::~Superelement() = default;

std::string Superelement::not_linear(const AnalysisModel& model) {
  if (model.is_linear()) return {};
  for (std::size_t b = 0; b < model.domain().block_count(); ++b) {
    const ElementBlock& block = model.domain().block(b);
    if (block.size() > 0 && !block.type().program().linear())
      return "block '" + block.name() + "' (" + block.type_name() + ")";
  }
  return model.is_thermal() ? "a conductivity that depends on temperature" : "a load";
}

void Superelement::begin(AnalysisState& state) const { StaticIntegrator().begin_step(*model_, state); }

void Superelement::form(const AnalysisState& state) {
  stiffness_.clear();
  factor_->rows = {};
  factor_->sizes.clear();
  if (free_.empty()) return;
  if (!model_->device_model().symmetric())
    throw Error(
        ErrorCode::bad_input,
        "substructures are condensed by elimination of symmetric matrices, and an element type of this model has "
        "an unsymmetric tangent; solve the model as a whole, by direct, gmres or bicgstab");
  Backend& backend = model_->backend();
  const auto matrix = backend.make_matrix(model_->device_model(), 1);
  const auto factors = model_->batch_factors(state.case_factors);
  MatrixTerms terms;
  terms.batch_factors = factors;
  model_->translating([&] { backend.assemble(model_->device_model(), state.elements(), terms, *matrix); });

  factor_->rows = upper_triangle(matrix->to_host(), place_);
  if (model_->constraints().dependent.empty()) return;
  const std::vector<double> all = stiffness_handed_on(*model_);
  for (const std::int32_t e : free_) factor_->sizes.push_back(all[e]);
}

void Superelement::factorise() {
  if (free_.empty()) return;
  Factorization& factorization = *factor_->factorization;
  const auto label = [&](std::int64_t i) { return model_->equation_label(free_[i]); };
  naming_equations(label, [&] {
    factorization.analyse(factor_->rows, boundary_equation_);
    factorization.factorise(factor_->rows, factor_->sizes);
  });
  factor_->rows = {};
  if (!factorization.null_pivots().empty())
    throw Error(
        ErrorCode::singular,
        "part " + std::to_string(subdomain_.part()) + " can move in " +
            std::to_string(factorization.null_pivots().size()) +
            " modes that neither supports nor its interface prevent; this unknown moves in one of them. Restrain "
            "the part, or connect it",
        label(factorization.null_pivots().front()));
  if (!boundary_.empty()) stiffness_ = factorization.schur_complement();
}

void Superelement::form_load(const AnalysisState& state) {
  Vector b = model_->make_vector();
  StaticIntegrator().form_unbalance(*model_, state, b);
  const std::vector<double> all = b.to_host();
  right_hand_side_.resize(free_.size());
  for (std::size_t i = 0; i < free_.size(); ++i) right_hand_side_[i] = all[free_[i]];
}

const std::vector<double>& Superelement::condense_load() {
  load_.clear();
  if (!boundary_.empty()) load_ = factor_->factorization->reduce(right_hand_side_);
  return load_;
}

void Superelement::expand(std::span<const double> boundary_increment) {
  if (right_hand_side_.size() != free_.size() || boundary_increment.size() != boundary_.size())
    throw Error(ErrorCode::misuse,
                "recover() needs " + std::to_string(boundary_.size()) + " interface unknowns, after load()",
                "part " + std::to_string(subdomain_.part()));
  increment_ = right_hand_side_;
  if (boundary_.empty()) {
    if (!increment_.empty()) factor_->factorization->solve(increment_);
  } else {
    factor_->factorization->expand(boundary_increment, increment_);
  }
}

void Superelement::add(AnalysisState& state) const {
  if (increment_.size() != free_.size())
    throw Error(ErrorCode::misuse, "add() comes after expand()", "part " + std::to_string(subdomain_.part()));
  std::vector<double> all(model_->equation_count(), 0.0);
  for (std::size_t i = 0; i < free_.size(); ++i) all[free_[i]] = increment_[i];
  Vector increment = model_->make_vector();
  increment.from_host(all);
  StaticIntegrator().update(*model_, increment, state);
}

std::vector<Id> Superelement::interface_ids() const {
  std::vector<Id> ids;
  for (std::int32_t n : subdomain_.interface_nodes()) ids.push_back(subdomain_.domain().node_id(n));
  return ids;
}

std::shared_ptr<const HostElement> Superelement::as_element() const {
  const std::size_t n = boundary_.size();
  if (stiffness_.size() != n * n || load_.size() != n || n == 0)
    throw Error(ErrorCode::misuse, "condense() and load() come before as_element(), and there must be an interface",
                "part " + std::to_string(subdomain_.part()));
  if (const std::string what = not_linear(*model_); !what.empty())
    throw Error(ErrorCode::bad_input,
                "it is not declared linear (HostElement::linear), so that the part cannot be an element with one "
                "stiffness",
                what);
  const auto nodes = subdomain_.interface_nodes();
  for (const auto& d : model_->constraints().dependent)
    if (std::binary_search(nodes.begin(), nodes.end(), model_->place(d.equation).node))
      throw Error(ErrorCode::bad_input,
                  "an oblique support on the interface makes one unknown of the node depend on the others, which an "
                  "element cannot express; move the support off the interface",
                  subdomain_.domain().node_label(model_->place(d.equation).node));
  const auto count_of = [&](std::int32_t node) {
    int count = 0;
    for (const std::string& name : model_->unknown_names()) count += model_->equation(node, name) >= 0;
    return count;
  };
  const int width = count_of(nodes[0]);
  std::vector<std::int32_t> place(n);  // of each boundary unknown among all unknowns of the interface nodes
  for (std::size_t k = 0, i = 0; k < nodes.size(); ++k) {
    if (count_of(nodes[k]) != width)
      throw Error(ErrorCode::bad_input, "interface nodes have different unknowns, so they cannot form one element",
                  subdomain_.domain().node_label(nodes[k]));
    for (; i < n && boundary_[i].node == subdomain_.whole_nodes()[nodes[k]]; ++i)
      place[i] = static_cast<std::int32_t>(k) * width + boundary_[i].component;
  }
  // Unknowns that are held have no stiffness here; they are held outside as well.
  const std::size_t all = nodes.size() * width;
  std::vector<double> stiffness(all * all, 0.0), load(all, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    load[place[i]] = load_[i];
    for (std::size_t j = 0; j < n; ++j) stiffness[place[i] * all + place[j]] = stiffness_[i * n + j];
  }
  const auto& names = model_->unknown_names();
  return std::make_shared<CondensedElement>(static_cast<int>(nodes.size()),
                                            std::vector<std::string>(names.begin(), names.begin() + width),
                                            std::move(stiffness), std::move(load));
}

}  // namespace voussoir
