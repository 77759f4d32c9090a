#include <voussoir/framework/domain/superelement_instance.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <set>

#include <voussoir/backends/element_program.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/domain/element_type.hpp>
#include <voussoir/framework/domain/generalised_node.hpp>
#include <voussoir/framework/domain/node_unknowns.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir {
namespace {

/// What the names of the element types of superelements begin with.
constexpr const char* type_prefix = "superelement.";

/// Factors of the coordinates of a part: 1 for the interface, and powers of two for the modes with which their
/// stiffness is that of an interface unknown. Without them, forces on modes would outweigh all others where residuals
/// are compared with loads, since modes are normalised by the mass.
std::vector<double> scales_of_part(const ReducedPart& part) {
  const std::size_t n = part.size(), edge = part.interface_size();
  std::vector<double> scale(n, 1.0);
  double mean = 0;
  for (std::size_t i = 0; i < edge; ++i) mean += part.stiffness[i * n + i] / static_cast<double>(edge);
  for (std::size_t i = edge; i < n && mean > 0; ++i)
    scale[i] = std::exp2(std::round(0.5 * std::log2(mean / part.stiffness[i * n + i])));
  return scale;
}

bool has_displacements(const ReducedPart& part) {
  return std::any_of(part.unknowns.begin(), part.unknowns.end(),
                     [](const std::string& name) { return name == "ux" || name == "uy" || name == "uz"; });
}

/// The element of a reduced part. Its degrees of freedom are the coordinates of the part in their order, and last those
/// that fill up the last node of modes: they have a stiffness, so that they stay at zero, and no mass.
class SuperelementProgram final : public ElementProgram {
 public:
  SuperelementProgram(std::string name, std::shared_ptr<const ReducedPart> part)
      : name_(std::move(name)), part_(std::move(part)), scale_(scales_of_part(*part_)) {
    const std::size_t width = part_->unknowns.size(), n = part_->size();
    nodes_ = static_cast<int>(part_->interface_nodes.size() + (part_->modes() + width - 1) / width);
    for (std::size_t i = 0; i < part_->interface_size(); ++i)
      filling_ = std::max(filling_, part_->stiffness[i * n + i]);
    if (!(filling_ > 0)) filling_ = 1;
  }

  const std::string& name() const override { return name_; }
  Route route() const override { return Route::host; }
  int nodes() const override { return nodes_; }
  int components() const override { return static_cast<int>(part_->unknowns.size()); }
  std::span<const std::string> unknown_names() const override { return part_->unknowns; }
  std::span<const std::string> parameter_names() const override { return {}; }
  int lanes() const override { return 1; }
  bool has_mass() const override { return !part_->mass.empty(); }
  bool linear() const override { return true; }
  bool axisymmetric() const override { return part_->axisymmetric; }
  const std::shared_ptr<const ReducedPart>& part() const { return part_; }
  bool reads_temperature() const override { return false; }
  // A heat source is taken in order to be refused.
  bool takes_body_load() const override { return !has_displacements(*part_) || !part_->accelerations.empty(); }
  int points() const override { return 0; }
  std::span<const std::string> recovered_names() const override { return {}; }
  std::span<const double> extrapolation() const override { return {}; }

  ElementStatus tangent(const ElementView&, int, int count, double* out) const override {
    for (int e = 0; e < count; ++e, out += matrix_entries()) store(part_->stiffness, filling_, out);
    return {};
  }
  ElementStatus mass(const ElementView&, MassKind kind, int, int count, double* out) const override {
    std::fill(out, out + static_cast<std::ptrdiff_t>(count) * matrix_entries(), 0.0);
    if (part_->mass.empty()) return {};
    if (kind == MassKind::lumped)
      throw Error(ErrorCode::bad_input,
                  "the mass of a superelement couples its coordinates and cannot be lumped; use consistent masses and "
                  "an implicit method",
                  "superelement '" + part_->name + "'");
    for (int e = 0; e < count; ++e, out += matrix_entries()) store(part_->mass, 0, out);
    return {};
  }
  ElementStatus residual(const ElementView& view, int first, int count, double* out) const override {
    return action(view, view.unknowns, first, count, out);
  }
  ElementStatus action(const ElementView& view, const double* direction, int first, int count,
                       double* out) const override {
    const auto m = static_cast<std::size_t>(dofs()), n = part_->size();
    std::vector<double> u(m, 0.0);
    for (int e = first; e < first + count; ++e, out += m) {
      if (direction)
        for (std::size_t i = 0; i < m; ++i)
          u[i] = direction[unknown_index(view, view.nodes[static_cast<std::size_t>(e) * nodes_ + i / width()],
                                         components(), static_cast<int>(i % width()))];
      for (std::size_t i = 0; i < m; ++i) {
        double sum = i < n ? 0 : filling_ * u[i];
        if (i < n)
          for (std::size_t j = 0; j < n; ++j) sum += scale_[i] * part_->stiffness[i * n + j] * scale_[j] * u[j];
        out[i] = sum;
      }
    }
    return {};
  }
  ElementStatus body_load(const ElementView&, const BodyLoad& load, int, int count, double* out) const override {
    const auto m = static_cast<std::size_t>(dofs());
    std::fill(out, out + static_cast<std::size_t>(count) * m, 0.0);
    if (!has_displacements(*part_))
      throw Error(ErrorCode::bad_input,
                  "a superelement takes no heat source, since its volume is not known; make the source a load case of "
                  "the part before the part is reduced, and give this load an element set without the superelement",
                  "superelement '" + part_->name + "'");
    if (load.angular_velocity_squared != 0)
      throw Error(
          ErrorCode::bad_input,
          "the centrifugal load of a superelement depends on the masses inside; make it a load case of the part "
          "before the part is reduced, and leave the superelement out of the element set of this load",
          "superelement '" + part_->name + "'");
    for (int e = 0; e < count; ++e, out += m)
      for (std::size_t d = 0; d < part_->accelerations.size(); ++d)
        for (std::size_t i = 0; i < part_->size(); ++i)
          out[i] += load.acceleration[d] * scale_[i] * part_->accelerations[d].force[i];
    return {};
  }
  ElementStatus recover(const ElementView&, int, int, double*) const override { return {}; }

 private:
  std::size_t width() const { return part_->unknowns.size(); }
  void store(const std::vector<double>& full, double filling, double* out) const {
    const auto m = static_cast<std::size_t>(dofs()), n = part_->size();
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = i; j < m; ++j)
        *out++ = j < n ? 0.5 * scale_[i] * (full[i * n + j] + full[j * n + i]) * scale_[j] : i == j ? filling : 0.0;
  }

  std::string name_;
  std::shared_ptr<const ReducedPart> part_;
  std::vector<double> scale_;
  int nodes_ = 0;
  double filling_ = 0;
};

std::string point_text(const double* x) {
  return "(" + short_number(x[0], 8) + ", " + short_number(x[1], 8) + ", " + short_number(x[2], 8) + ")";
}

double extent_of_interface(const ReducedPart& part) {
  double most = 0;
  for (int c = 0; c < 3; ++c) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (std::size_t i = static_cast<std::size_t>(c); i < part.interface_coordinates.size(); i += 3) {
      low = std::min(low, part.interface_coordinates[i]);
      high = std::max(high, part.interface_coordinates[i]);
    }
    most = std::max(most, high - low);
  }
  if (most > 0) return most;
  for (const double x : part.interface_coordinates) most = std::max(most, std::abs(x));  // one node
  return most > 0 ? most : 1;
}

/// Finds or adds the interface nodes.
void match_interface(Domain& domain, const ReducedPart& part, const SuperelementOptions& options,
                     const std::string& where) {
  const double allowed = options.tolerance * extent_of_interface(part);
  std::vector<Id> missing;
  std::vector<double> positions;
  for (std::size_t i = 0; i < part.interface_nodes.size(); ++i) {
    const double* const x = part.interface_coordinates.data() + 3 * i;
    if (!domain.has_node(part.interface_nodes[i])) {
      missing.push_back(part.interface_nodes[i]);
      positions.insert(positions.end(), x, x + 3);
      continue;
    }
    const std::int32_t node = domain.node_index(part.interface_nodes[i]);
    if (is_generalised_node(domain, node))
      throw Error(ErrorCode::bad_input, "the interface node holds the modes of another superelement; renumber the part",
                  where + ", " + domain.node_label(node));
    const double* const y = domain.coordinates().data() + 3 * static_cast<std::size_t>(node);
    const double distance = std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
    if (!(distance <= allowed))
      throw Error(ErrorCode::bad_input,
                  "the interface node is at " + point_text(x) + " in the reduced part and at " + point_text(y) +
                      " in the model, " + short_number(distance, 3) + " apart; the tolerance is " +
                      short_number(allowed, 3) + ". Use the same numbers and the same unit of length in both",
                  where + ", " + domain.node_label(node));
  }
  if (missing.empty()) return;
  if (!options.add_nodes)
    throw Error(ErrorCode::bad_input,
                "the model has no node " + std::to_string(missing.front()) +
                    ", which is an interface node of the part" +
                    (missing.size() > 1 ? " (" + std::to_string(missing.size()) + " are missing)" : std::string()) +
                    "; number the nodes of the model as in the part, or have missing nodes added (add_nodes)",
                where);
  domain.add_nodes(missing, positions);
}

/// Elements at an interface node must have the unknowns of the superelement.
void match_unknowns(const Domain& domain, const ReducedPart& part, const std::string& where) {
  const NodeUnknowns unknowns = node_unknowns(domain);
  const auto text = [](const auto& list) {
    std::string all;
    for (const std::string& name : list) all += (all.empty() ? "" : " ") + name;
    return all;
  };
  const std::set<std::string> wanted(part.unknowns.begin(), part.unknowns.end());
  for (const Id id : part.interface_nodes) {
    const std::int32_t node = domain.node_index(id);
    const UnknownSet own = unknowns.of_node[static_cast<std::size_t>(node)];
    if (own.empty()) continue;
    std::set<std::string> names;
    for (std::size_t k = 0; k < unknowns.names.size(); ++k)
      if (own.has(static_cast<int>(k))) names.insert(unknowns.names[k]);
    if (names != wanted)
      throw Error(ErrorCode::bad_input,
                  "elements of the model have the unknowns " + text(names) + " here, and the superelement has " +
                      text(part.unknowns) + "; connect parts at nodes that have the same unknowns",
                  where + ", " + domain.node_label(node));
  }
}

/// The state of plane elements: that of their name, or that of a reduced part.
std::string plane_of(const ElementType& type) {
  const auto part = reduced_part_of(type);
  return part ? part->plane : plane_state(type.name());
}

/// Plates in plane stress and in plane strain have the same unknowns and other stiffnesses.
void match_plane_state(const ElementBlock& block, const ReducedPart& part, const std::string& where) {
  const std::string own = plane_of(block.type());
  if (own.empty() || part.plane.empty() || own == part.plane) return;
  throw Error(ErrorCode::bad_input,
              "the reduced part is in plane " + part.plane + ", and block '" + block.name() +
                  "' of the model in plane " + own + "; reduce the part from a model in plane " + own,
              where);
}

/// Matrices of an axisymmetric part are those of a body of revolution, matrices of a plane part those of a plate.
void match_geometry(const Domain& domain, const ReducedPart& part, const std::string& where) {
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    const ElementType& type = block.type();
    // Springs and the like are in both kinds of models.
    const bool tells =
        is_superelement_type(type.name()) || (!type.shape().empty() && shape_topology(type.shape()).dim >= 2);
    if (block.size() == 0 || !tells) continue;
    match_plane_state(block, part, where);
    if (type.program().axisymmetric() == part.axisymmetric) continue;
    throw Error(ErrorCode::bad_input,
                part.axisymmetric
                    ? "the reduced part is axisymmetric, and block '" + block.name() +
                          "' of the model is not; use the part in an axisymmetric model"
                    : "block '" + block.name() +
                          "' of the model is axisymmetric, and the reduced part is not; reduce the part from an "
                          "axisymmetric model",
                where);
  }
}

/// The superelements of all domains that there are.
class InstancesOfDomains {
 public:
  static InstancesOfDomains& all() {
    static InstancesOfDomains instances;
    return instances;
  }
  void add(const Domain& domain, std::shared_ptr<SuperelementInstance> instance) {
    const std::lock_guard lock(mutex_);
    std::erase_if(of_, [](const auto& entry) { return entry.first.expired(); });
    of_[domain.lifetime()].push_back(std::move(instance));
  }
  std::vector<std::shared_ptr<SuperelementInstance>> of(const Domain& domain) {
    const std::lock_guard lock(mutex_);
    const auto found = of_.find(domain.lifetime());
    return found == of_.end() ? std::vector<std::shared_ptr<SuperelementInstance>>() : found->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::weak_ptr<const void>, std::vector<std::shared_ptr<SuperelementInstance>>,
           std::owner_less<std::weak_ptr<const void>>>
      of_;
};

Id largest_node_id(const Domain& domain) {
  Id largest = 0;
  for (std::int32_t n = 0; n < domain.node_count(); ++n) largest = std::max(largest, domain.node_id(n));
  return largest;
}

}  // namespace

std::pair<Id, std::size_t> SuperelementInstance::place(std::size_t coordinate) const {
  const std::size_t width = part_->unknowns.size();
  const std::size_t node = coordinate / width, interface = part_->interface_nodes.size();
  return {node < interface ? part_->interface_nodes[node] : mode_nodes_[node - interface], coordinate % width};
}

void SuperelementInstance::apply(LoadCase& load_case, const std::string& load_of_part, double factor) {
  const ReducedPart::Load& load = part_->load(load_of_part);
  if (!std::isfinite(factor))
    throw Error(ErrorCode::bad_input, "the factor of load '" + load_of_part + "' is not a finite number",
                "superelement '" + name_ + "'");
  for (std::size_t i = 0; i < part_->size(); ++i) {
    if (load.force[i] == 0 || factor == 0) continue;
    const auto [node, unknown] = place(i);
    load_case.nodal_at(node, part_->unknowns[unknown], factor * scale_[i] * load.force[i]);
  }
  applied_.push_back({load_case.name(), static_cast<std::size_t>(&load - part_->loads.data()), factor});
}

SuperelementInstance::Acting SuperelementInstance::acting(const Domain& domain,
                                                          std::span<const double> case_factors) const {
  Acting result;
  result.load_factors.assign(part_->loads.size(), 0.0);
  if (case_factors.empty()) return result;
  if (case_factors.size() != domain.load_case_count())
    throw Error(ErrorCode::misuse,
                std::to_string(case_factors.size()) + " factors for " + std::to_string(domain.load_case_count()) +
                    " load cases",
                "superelement '" + name_ + "'");
  for (std::size_t c = 0; c < case_factors.size(); ++c) {
    const LoadCase& load_case = domain.load_case(c);
    for (const Applied& a : applied_)
      if (a.load_case == load_case.name()) result.load_factors[a.load] += case_factors[c] * a.factor;
    for (const LoadCase::Body& body : load_case.body_loads()) {
      bool here = body.element_set.empty();
      if (!here)
        for (const ElementRef& ref : domain.element_set(body.element_set))
          here = here || domain.block(static_cast<std::size_t>(ref.block)).name() == name_;
      if (!here) continue;
      for (std::size_t d = 0; d < 3; ++d) result.acceleration[d] += case_factors[c] * body.load.acceleration[d];
    }
  }
  return result;
}

std::shared_ptr<SuperelementInstance> add_superelement(Domain& domain, std::shared_ptr<const ReducedPart> part,
                                                       const SuperelementOptions& options) {
  if (!part) throw Error(ErrorCode::misuse, "add_superelement() needs a reduced part");
  if (!(options.tolerance >= 0)) throw Error(ErrorCode::bad_input, "the tolerance must not be negative");
  const std::string name = options.name.empty() ? part->name : options.name;
  const std::string where = "superelement '" + name + "'";
  part->check(where);
  if (domain.has_block(name))
    throw Error(ErrorCode::bad_input, "the model has a block of this name; give the superelement another name", where);
  match_interface(domain, *part, options, where);
  match_unknowns(domain, *part, where);
  match_geometry(domain, *part, where);

  auto instance = std::make_shared<SuperelementInstance>();
  instance->part_ = part;
  instance->name_ = name;
  instance->scale_ = scales_of_part(*part);
  const std::size_t width = part->unknowns.size(), count = (part->modes() + width - 1) / width;
  // In the middle of the interface, where they change neither the centre nor the extent of the model.
  std::array<double, 3> centre{};
  for (std::size_t i = 0; i < part->interface_coordinates.size(); ++i)
    centre[i % 3] += part->interface_coordinates[i] / static_cast<double>(part->interface_nodes.size());
  const Id last = largest_node_id(domain);
  std::vector<Id> nodes = part->interface_nodes;
  for (std::size_t k = 0; k < count; ++k) {
    const Id id = last + 1 + static_cast<Id>(k);
    domain.add_node(id, centre[0], centre[1], centre[2]);
    set_generalised_node(domain, id);
    instance->mode_nodes_.push_back(id);
    nodes.push_back(id);
  }
  ElementBlock& block = domain.add_block(name, superelement_type(part));
  if (options.element > 0)
    block.add(options.element, nodes);
  else
    block.add_many({}, nodes);
  InstancesOfDomains::all().add(domain, instance);
  return instance;
}

std::string superelement_type(const std::shared_ptr<const ReducedPart>& part) {
  const auto add = [](const auto& values, std::uint64_t sum) {
    return part_checksum({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])}, sum);
  };
  std::uint64_t sum = add(part->mass, add(part->stiffness, add(part->interface_nodes, part_checksum({}))));
  for (const auto& unknown : part->unknowns) sum = add(unknown, sum);
  for (const auto& load : part->accelerations) sum = add(load.force, sum);
  sum = add(part->name, sum);
  if (part->axisymmetric) sum = add(std::string("axisymmetric"), sum);
  if (!part->plane.empty()) sum = add("plane " + part->plane, sum);
  char text[40];
  std::snprintf(text, sizeof text, "%s%016llx", type_prefix, static_cast<unsigned long long>(sum));
  ElementLibrary& library = ElementLibrary::instance();
  if (!library.find_if(text))
    library.add(ElementType(text, "", std::make_shared<SuperelementProgram>(text, part), typeid(SuperelementProgram)));
  return text;
}

bool is_superelement_type(const std::string& type) { return type.starts_with(type_prefix); }

std::shared_ptr<const ReducedPart> reduced_part_of(const ElementType& type) {
  const auto* program = dynamic_cast<const SuperelementProgram*>(&type.program());
  return program ? program->part() : nullptr;
}

std::vector<std::shared_ptr<SuperelementInstance>> superelements_of(const Domain& domain) {
  return InstancesOfDomains::all().of(domain);
}

}  // namespace voussoir
