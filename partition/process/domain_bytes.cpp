#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/domain/superelement_instance.hpp>
#include <voussoir/framework/io/superelement/reduced_part_file.hpp>
#include <voussoir/partition/process/detail/part_archive.hpp>

// The domains of a job as bytes.

namespace voussoir::detail {
namespace {

using Axes = Orientation::Axes;
using Point3 = std::array<double, 3>;

/// A material of any law, with the values of another one.
class DecodedMaterial : public Material {
 public:
  DecodedMaterial(std::string name, std::string law) : Material(std::move(name)), law_(std::move(law)) {}
  std::string law() const override { return law_; }

 private:
  std::string law_;
};

/// A point beside the axis of a cylinder, at a distance of about 1.
Point3 point_beside_axis(const Point3& origin, const Point3& axis) {
  std::size_t least = 0;
  for (std::size_t k = 1; k < 3; ++k)
    if (std::abs(axis[k]) < std::abs(axis[least])) least = k;
  Point3 place = origin;
  place[least] += std::max({1.0, std::abs(origin[0]), std::abs(origin[1]), std::abs(origin[2])});
  return place;
}

/// A point on the axis that is far enough for the direction to be recovered from the difference.
Point3 point_along_axis(const Point3& origin, const Point3& axis) {
  double length = 1;
  while (length < std::max({std::abs(origin[0]), std::abs(origin[1]), std::abs(origin[2])})) length *= 2;
  return {origin[0] + length * axis[0], origin[1] + length * axis[1], origin[2] + length * axis[2]};
}

/// The angles α, β, γ in degrees of a rotation that turned(1, α), turned(2, β), turned(3, γ) makes in this order.
Point3 turn_angles(const Axes& turn) {
  const double beta = std::atan2(turn[6], std::hypot(turn[0], turn[3]));
  double alpha = std::atan2(-turn[7], turn[8]), gamma = std::atan2(-turn[3], turn[0]);
  if (std::hypot(turn[0], turn[3]) < 1e-12) {  // axis 1 is turned to axis 3: only α and γ together matter
    alpha = std::atan2(turn[5], turn[4]);
    gamma = 0;
  }
  constexpr double degrees = 180 / std::numbers::pi;
  return {alpha * degrees, beta * degrees, gamma * degrees};
}

/// The parameters of a material that set() was called for, and those that the types of its blocks find in it.
std::vector<std::string> encoded_parameters(const Material& material, const Job& job) {
  std::vector<std::string> names = material.parameter_names();
  for (const auto& domain : job.domains)
    for (std::size_t b = 0; b < domain->block_count(); ++b) {
      const ElementBlock& block = std::as_const(*domain).block(b);
      if (block.material().get() != &material) continue;
      for (const std::string& name : block.type().program().parameter_names())
        if (material.has(name)) names.push_back(name);
    }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void put_material(PartWriter& out, const Material& material, const Job& job) {
  out(material.name(), material.law(), material.damping().mass, material.damping().stiffness,
      material.expansion_reference());
  std::vector<double> temperatures = material.temperatures();
  if (temperatures.empty()) temperatures.push_back(0);
  const std::vector<std::string> names = encoded_parameters(material, job);
  std::vector<double> values;
  for (const std::string& name : names)
    for (const double temperature : temperatures) values.push_back(material.value(name, temperature));
  out(temperatures, names, values);
}

std::shared_ptr<const Material> get_material(PartReader& in) {
  std::string name, law;
  RayleighDamping damping;
  std::optional<double> reference;
  std::vector<double> temperatures, values;
  std::vector<std::string> names;
  in(name, law, damping.mass, damping.stiffness, reference, temperatures, names, values);
  in.require(!temperatures.empty() && values.size() == names.size() * temperatures.size(),
             "the tables of a material are incomplete");
  std::shared_ptr<Material> material;
  if (law.empty())
    material = std::make_shared<Material>(name);
  else
    material = std::make_shared<DecodedMaterial>(name, law);
  if (damping != RayleighDamping{}) material->set_damping(damping);
  if (reference) material->set_expansion_reference(*reference);
  for (std::size_t k = 0; k < names.size(); ++k) {
    std::vector<std::pair<double, double>> table;
    for (std::size_t i = 0; i < temperatures.size(); ++i)
      table.emplace_back(temperatures[i], values[k * temperatures.size() + i]);
    material->set_table(names[k], std::move(table));
  }
  return material;
}

/// What the element of a reduced part needs. Loads of the part are loads of nodes in the domain, and results inside are
/// recovered where the whole model is.
ReducedPart element_of(const ReducedPart& part) {
  ReducedPart element;
  element.name = part.name;
  element.unknowns = part.unknowns;
  element.interface_nodes = part.interface_nodes;
  element.interface_coordinates = part.interface_coordinates;
  element.axisymmetric = part.axisymmetric;
  element.plane = part.plane;
  element.eigenvalues = part.eigenvalues;
  element.stiffness = part.stiffness;
  element.mass = part.mass;
  for (const ReducedPart::Load& load : part.accelerations)
    element.accelerations.push_back({load.name, load.force, {}, {}});
  element.rigid_mass = part.rigid_mass;
  element.follows_rigid_motions = part.follows_rigid_motions;
  return element;
}

/// What stands for a reduced part where its element is on another process: the unknowns and a single node, without
/// stiffness.
ReducedPart outline_of(const ReducedPart& part) {
  ReducedPart outline;
  outline.name = part.name;
  outline.unknowns = part.unknowns;
  outline.interface_nodes = {1};
  outline.interface_coordinates = {0, 0, 0};
  outline.axisymmetric = part.axisymmetric;
  outline.plane = part.plane;
  outline.stiffness.assign(part.unknowns.size() * part.unknowns.size(), 0.0);
  return outline;
}

/// The type of a block, by its name, or by the reduced part of a superelement.
void put_type(PartWriter& out, const ElementBlock& block) {
  const auto part = reduced_part_of(block.type());
  if (part)
    out(std::string(), reduced_part_bytes(block.size() > 0 ? element_of(*part) : outline_of(*part)));
  else
    out(block.type_name(), std::string());
}

std::string get_type(PartReader& in, const std::string& block) {
  std::string name, reduced;
  in(name, reduced);
  return reduced.empty() ? name : superelement_type(read_reduced_part_bytes(reduced, "superelement '" + block + "'"));
}

void put_block(PartWriter& out, const ElementBlock& block, std::int32_t material) {
  std::vector<Id> ids;
  for (std::int32_t e = 0; e < block.size(); ++e) ids.push_back(block.id(e));
  out(block.name());
  put_type(out, block);
  out(material, block.orientation(), ids,
      std::vector<std::int32_t>(block.connectivity().begin(), block.connectivity().end()));
  out(std::vector<std::pair<std::string, double>>(block.section().begin(), block.section().end()),
      std::vector<std::pair<std::string, std::vector<double>>>(block.per_element().begin(), block.per_element().end()));
}

void get_block(PartReader& in, Domain& domain, const std::vector<std::shared_ptr<const Material>>& materials) {
  std::string name;
  std::int32_t material = -1;
  Orientation orientation;
  std::vector<Id> ids, nodes;
  std::vector<std::int32_t> connectivity;
  std::vector<std::pair<std::string, double>> section;
  std::vector<std::pair<std::string, std::vector<double>>> per_element;
  in(name);
  const std::string type = get_type(in, name);
  in(material, orientation, ids, connectivity, section, per_element);
  in.require(material >= -1 && material < static_cast<std::int32_t>(materials.size()), "a material does not exist");
  ElementBlock& block = domain.add_block(name, type);
  block.set_orientation(orientation);
  if (material >= 0) block.set_material(materials[static_cast<std::size_t>(material)]);
  for (const std::int32_t n : connectivity) {
    in.require(n >= 0 && n < domain.node_count(), "an element has a node that does not exist");
    nodes.push_back(domain.node_id(n));
  }
  in.require(ids.empty() == nodes.empty(), "the elements of a block are incomplete");
  if (!ids.empty()) block.add_many(ids, nodes);
  for (const auto& [parameter, value] : section) block.set_section(parameter, value);
  for (auto& [parameter, values] : per_element) {
    in.require(values.size() == ids.size(), "the numbers of a block's elements are incomplete");
    block.set_per_element(parameter, std::move(values));
  }
}

void put_sets(PartWriter& out, const Domain& domain) {
  std::vector<std::pair<std::string, std::vector<std::int32_t>>> nodes, elements, surfaces;
  for (const std::string& name : domain.node_set_names())
    nodes.emplace_back(name, std::vector<std::int32_t>(domain.node_set(name).begin(), domain.node_set(name).end()));
  for (const std::string& name : domain.element_set_names()) {
    std::vector<std::int32_t>& list = elements.emplace_back(name, std::vector<std::int32_t>()).second;
    for (const ElementRef& ref : domain.element_set(name)) list.insert(list.end(), {ref.block, ref.element});
  }
  for (const std::string& name : domain.surface_names()) {
    std::vector<std::int32_t>& list = surfaces.emplace_back(name, std::vector<std::int32_t>()).second;
    for (const FaceRef& ref : domain.surface(name)) list.insert(list.end(), {ref.block, ref.element, ref.face});
  }
  out(nodes, elements, surfaces);
}

void get_sets(PartReader& in, Domain& domain) {
  std::vector<std::pair<std::string, std::vector<std::int32_t>>> nodes, elements, surfaces;
  in(nodes, elements, surfaces);
  for (const auto& [name, list] : nodes) {
    std::vector<Id> ids;
    for (const std::int32_t n : list) {
      in.require(n >= 0 && n < domain.node_count(), "a set has a node that does not exist");
      ids.push_back(domain.node_id(n));
    }
    domain.add_node_set(name, ids);
  }
  for (const auto& [name, list] : elements) {
    in.require(list.size() % 2 == 0, "a set of elements is incomplete");
    std::vector<Id> ids;
    for (std::size_t k = 0; k < list.size(); k += 2) {
      in.require(list[k] >= 0 && list[k] < static_cast<std::int32_t>(domain.block_count()), "a block does not exist");
      const ElementBlock& block = domain.block(static_cast<std::size_t>(list[k]));
      in.require(list[k + 1] >= 0 && list[k + 1] < block.size(), "a set has an element that does not exist");
      ids.push_back(block.id(list[k + 1]));
    }
    domain.add_element_set(name, ids);
  }
  for (const auto& [name, list] : surfaces) {
    in.require(list.size() % 3 == 0, "a surface is incomplete");
    std::vector<FaceRef> faces;
    for (std::size_t k = 0; k < list.size(); k += 3) faces.push_back({list[k], list[k + 1], list[k + 2]});
    domain.add_surface(name, faces);
  }
}

}  // namespace

void walk(PartWriter& out, const Orientation& orientation) {
  const bool varies = orientation.varies();
  const Point3 origin = orientation.axis_point(), axis = orientation.axis_direction();
  const Point3 place = varies ? point_beside_axis(origin, axis) : Point3{0, 0, 0};
  Axes axes = orientation.at(place);
  if (varies) {  // the turn of the axes out of those of the cylinder
    const Axes plain = Orientation::cylindrical(origin, point_along_axis(origin, axis)).at(place);
    Axes turn{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t k = 0; k < 3; ++k) turn[3 * i + j] += axes[3 * i + k] * plain[3 * j + k];
    axes = turn;
  }
  out(varies, origin, axis, axes);
}

void walk(PartReader& in, Orientation& orientation) {
  bool varies = false;
  Point3 origin{}, axis{};
  Axes axes{};
  in(varies, origin, axis, axes);
  for (const double number : axes) in.require(std::isfinite(number), "an orientation is not finite");
  for (std::size_t k = 0; k < 3; ++k)
    in.require(std::isfinite(origin[k]) && std::isfinite(axis[k]), "an orientation is not finite");
  const Axes none{1, 0, 0, 0, 1, 0, 0, 0, 1};
  if (!varies) {
    orientation = axes == none ? Orientation()
                               : Orientation::rectangular({axes[0], axes[1], axes[2]}, {axes[3], axes[4], axes[5]});
    return;
  }
  orientation = Orientation::cylindrical(origin, point_along_axis(origin, axis));
  bool turned = false;
  for (std::size_t k = 0; k < 9; ++k) turned = turned || std::abs(axes[k] - none[k]) > 1e-14;
  if (!turned) return;
  const Point3 angles = turn_angles(axes);
  for (std::size_t k = 0; k < 3; ++k)
    if (angles[k] != 0) orientation = orientation.turned(static_cast<int>(k) + 1, angles[k]);
}

namespace {

template <class A>
void walk_body(A& archive, Walked<A, BodyLoad>& load) {
  auto& [acceleration, angular_velocity_squared, axis_point, axis_direction, source] = load;
  for (auto* vector : {&acceleration, &axis_point, &axis_direction})
    for (auto& number : *vector) archive(number);
  archive(angular_velocity_squared, source);
}

void put_load_case(PartWriter& out, const LoadCase& loads) {
  out(loads.name(), static_cast<std::uint64_t>(loads.nodal_loads().size()));
  for (const LoadCase::Nodal& load : loads.nodal_loads()) {
    const auto& [node, unknown, value] = load;
    out(node, unknown, value);
  }
  out(static_cast<std::uint64_t>(loads.surface_loads().size()));
  for (const LoadCase::Surface& load : loads.surface_loads()) {
    const auto& [surface, kind, values] = load;
    out(surface, kind, values);
  }
  out(static_cast<std::uint64_t>(loads.body_loads().size()));
  for (const LoadCase::Body& load : loads.body_loads()) {
    const auto& [element_set, body] = load;
    out(element_set);
    walk_body(out, body);
  }
  out(loads.temperatures());
}

void decode_surface_load(PartReader& in, LoadCase& loads, const LoadCase::Surface& load) {
  const auto& v = load.values;
  const auto expect = [&](std::size_t count) { in.require(v.size() == count, "a surface load is incomplete"); };
  if (load.kind == "pressure") {
    expect(1);
    loads.pressure(load.surface, v[0]);
  } else if (load.kind == "traction") {
    expect(3);
    loads.traction(load.surface, {v[0], v[1], v[2]});
  } else if (load.kind == "flux") {
    expect(1);
    loads.inflow(load.surface, v[0]);
  } else if (load.kind == "convection") {
    expect(2);
    loads.convection(load.surface, v[0], v[1]);
  } else if (load.kind == "radiation") {
    expect(3);
    loads.radiation(load.surface, v[0], v[1], v[2]);
  } else {
    in.require(false, "a kind of surface load is unknown");
  }
}

void decode_body_load(LoadCase& loads, const std::string& element_set, const BodyLoad& load) {
  const auto vector = [](const double* v) { return Point3{v[0], v[1], v[2]}; };
  if (load.angular_velocity_squared != 0)
    loads.centrifugal(element_set, std::sqrt(load.angular_velocity_squared), vector(load.axis_point),
                      vector(load.axis_direction));
  else if (load.source != 0)
    loads.heat_source(element_set, load.source);
  else
    loads.gravity(element_set, vector(load.acceleration));
}

void get_load_case(PartReader& in, Domain& domain) {
  std::string name;
  std::uint64_t count = 0;
  in(name, count);
  LoadCase& loads = domain.add_load_case(name);
  for (; count > 0; --count) {
    LoadCase::Nodal load{};
    in(load.node, load.unknown, load.value);
    in.require(load.node >= 0 && load.node < domain.node_count(), "a load acts on a node that does not exist");
    loads.nodal_at(domain.node_id(load.node), load.unknown, load.value);
  }
  for (in(count); count > 0; --count) {
    LoadCase::Surface load;
    in(load.surface, load.kind, load.values);
    decode_surface_load(in, loads, load);
  }
  for (in(count); count > 0; --count) {
    std::string element_set;
    BodyLoad load;
    in(element_set);
    walk_body(in, load);
    decode_body_load(loads, element_set, load);
  }
  std::vector<double> temperatures;
  in(temperatures);
  in.require(temperatures.size() <= static_cast<std::size_t>(domain.node_count()), "there are too many temperatures");
  for (std::size_t n = 0; n < temperatures.size(); ++n)
    if (!std::isnan(temperatures[n]))
      loads.temperature_at(domain.node_id(static_cast<std::int32_t>(n)), temperatures[n]);
}

void put_constraints(PartWriter& out, const Domain& domain) {
  out(static_cast<std::uint64_t>(domain.prescribed().size()));
  for (const auto& [node, unknown, value] : domain.prescribed()) out(node, unknown, value);
  out(static_cast<std::uint64_t>(domain.oblique_supports().size()));
  for (const auto& [node, direction, value] : domain.oblique_supports()) out(node, direction, value);
  out(static_cast<std::uint64_t>(domain.equations().size()));
  for (const auto& [terms, constant, label] : domain.equations()) {
    out(constant, label, static_cast<std::uint64_t>(terms.size()));
    for (const auto& [node, unknown, coefficient] : terms) out(node, unknown, coefficient);
  }
  std::vector<std::int32_t> rotations;
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    if (const RotationNode* rotation = domain.rotation_node(n)) {
      const auto& [reference, hidden] = *rotation;
      rotations.insert(rotations.end(), {n, reference, hidden ? 1 : 0});
    }
  out(rotations);
}

void get_constraints(PartReader& in, Domain& domain) {
  const auto id = [&](std::int32_t n) {
    in.require(n >= 0 && n < domain.node_count(), "a constraint has a node that does not exist");
    return domain.node_id(n);
  };
  std::uint64_t count = 0;
  for (in(count); count > 0; --count) {
    Prescribed p{};
    in(p.node, p.unknown, p.value);
    domain.prescribe_at(id(p.node), p.unknown, p.value);
  }
  for (in(count); count > 0; --count) {
    ObliqueSupport o{};
    in(o.node, o.direction, o.value);
    domain.prescribe_along(id(o.node), o.direction, o.value);
  }
  for (in(count); count > 0; --count) {
    double constant = 0;
    std::string label;
    std::uint64_t terms_left = 0;
    in(constant, label, terms_left);
    std::vector<Domain::EquationTerm> terms;
    for (; terms_left > 0; --terms_left) {
      std::int32_t node = 0;
      Domain::EquationTerm& term = terms.emplace_back();
      in(node, term.unknown, term.coefficient);
      term.node = id(node);
    }
    domain.add_equation(terms, constant, label);
  }
  std::vector<std::int32_t> rotations;
  in(rotations);
  in.require(rotations.size() % 3 == 0, "the list of rotation nodes is incomplete");
  for (std::size_t k = 0; k < rotations.size(); k += 3)
    domain.set_rotation_node(id(rotations[k]), id(rotations[k + 1]), rotations[k + 2] != 0);
}

void put_domain(PartWriter& out, const Domain& domain, const std::vector<const Material*>& materials) {
  std::vector<Id> ids;
  for (std::int32_t n = 0; n < domain.node_count(); ++n) ids.push_back(domain.node_id(n));
  out(ids, std::vector<double>(domain.coordinates().begin(), domain.coordinates().end()));
  out(domain.reference_temperature(), domain.initial_temperatures());
  out(static_cast<std::uint64_t>(domain.block_count()));
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const Material* const material = domain.block(b).material().get();
    const auto at = std::find(materials.begin(), materials.end(), material) - materials.begin();
    put_block(out, domain.block(b), material ? static_cast<std::int32_t>(at) : -1);
  }
  put_sets(out, domain);
  put_constraints(out, domain);
  out(static_cast<std::uint64_t>(domain.load_case_count()));
  for (const auto& loads : domain.load_cases()) put_load_case(out, *loads);
}

std::unique_ptr<Domain> get_domain(PartReader& in, const std::vector<std::shared_ptr<const Material>>& materials) {
  auto domain = std::make_unique<Domain>();
  std::vector<Id> ids;
  std::vector<double> coordinates, initial;
  double reference = 0;
  in(ids, coordinates, reference, initial);
  in.require(coordinates.size() == 3 * ids.size() && initial.size() == ids.size(), "the nodes are incomplete");
  in.require(ids.size() <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
             "there are too many nodes");
  domain->add_nodes(ids, coordinates);
  domain->set_reference_temperature(reference);
  for (std::size_t n = 0; n < initial.size(); ++n)
    if (initial[n] != reference) domain->set_initial_temperature_at(ids[n], initial[n]);
  std::uint64_t blocks = 0;
  for (in(blocks); blocks > 0; --blocks) get_block(in, *domain, materials);
  get_sets(in, *domain);
  get_constraints(in, *domain);
  std::uint64_t cases = 0;
  for (in(cases); cases > 0; --cases) get_load_case(in, *domain);
  return domain;
}

}  // namespace

void put_domains(PartWriter& out, const Job& job) {
  std::vector<const Material*> materials;
  for (const auto& domain : job.domains)
    for (std::size_t b = 0; b < domain->block_count(); ++b) {
      const Material* const material = std::as_const(*domain).block(b).material().get();
      if (material && std::find(materials.begin(), materials.end(), material) == materials.end())
        materials.push_back(material);
    }
  out(static_cast<std::uint64_t>(materials.size()));
  for (const Material* material : materials) put_material(out, *material, job);
  out(static_cast<std::uint64_t>(job.domains.size()));
  for (const auto& domain : job.domains) put_domain(out, *domain, materials);
}

void get_domains(PartReader& in, Job& job) {
  std::vector<std::shared_ptr<const Material>> materials;
  std::uint64_t count = 0;
  for (in(count); count > 0; --count) materials.push_back(get_material(in));
  for (in(count); count > 0; --count) {
    job.domains.push_back(get_domain(in, materials));
    in.require(job.domains.back()->node_count() == job.domains.front()->node_count(), "the models have other nodes");
  }
  in.require(!job.domains.empty(), "it has no model");
}

}  // namespace voussoir::detail
