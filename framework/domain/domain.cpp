#include <voussoir/framework/domain/domain.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/domain/detail/boundary_faces.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir {
namespace {

template <class Map>
std::vector<std::string> sorted_names(const Map& map) {
  std::vector<std::string> names;
  for (const auto& [name, members] : map)
    if (!members.empty()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

/// For messages, of names in the order given.
std::string known_names(const std::vector<std::string>& names) {
  if (names.empty()) return "none is defined yet";
  std::string text = "available are ";
  for (std::size_t i = 0; i < names.size() && i < 12; ++i) text += (i ? ", '" : "'") + names[i] + "'";
  if (names.size() > 12) text += ", …";
  return text;
}

template <class Map>
auto find_named(const Map& map, const std::string& name, const char* kind) {
  const auto it = map.find(name);
  if (it == map.end())
    throw Error(ErrorCode::not_found, "no " + std::string(kind) + " has this name; " + known_names(sorted_names(map)),
                std::string(kind) + " '" + name + "'");
  if (it->second.empty())
    throw Error(ErrorCode::bad_input,
                "the " + std::string(kind) + " is empty, so it would have no effect; fill it or leave it out",
                std::string(kind) + " '" + name + "'");
  return std::span(it->second);
}

template <class Map>
bool has_named(const Map& map, const std::string& name) {
  const auto it = map.find(name);
  return it != map.end() && !it->second.empty();
}

/// Blocks or load cases: the one of that name.
template <class Owners>
auto& find_owned(const Owners& owners, std::string_view name, const char* kind) {
  for (const auto& owner : owners)
    if (owner->name() == name) return *owner;
  std::vector<std::string> names;
  for (const auto& owner : owners) names.push_back(owner->name());
  std::sort(names.begin(), names.end());
  throw Error(ErrorCode::not_found, "no " + std::string(kind) + " has this name; " + known_names(names),
              std::string(kind) + " '" + std::string(name) + "'");
}

std::span<const ShapeFace> faces_of(const ElementBlock& block) {
  const std::string& shape = block.type().shape();
  return shape.empty() ? std::span<const ShapeFace>() : std::span(shape_topology(shape).faces);
}

bool face_before(const FaceRef& a, const FaceRef& b) {
  return std::tie(a.block, a.element, a.face) < std::tie(b.block, b.element, b.face);
}

}  // namespace

void Domain::add_node(Id id, double x, double y, double z) {
  changed(&DomainRevisions::nodes);
  const auto where = [id] { return "node " + std::to_string(id); };
  if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z))
    throw Error(ErrorCode::bad_input, "a coordinate is not a finite number", where());
  if (find_node(id) >= 0) throw Error(ErrorCode::bad_input, "the node exists already; ids must be unique", where());
  const std::int32_t index = node_count();
  if (index == INT32_MAX) throw Error(ErrorCode::bad_input, "a domain has at most 2^31 − 1 nodes", where());
  if (node_ids_consecutive_ && index > 0 && id != node_ids_.front() + index) {
    node_ids_consecutive_ = false;
    node_index_.reserve(node_ids_.capacity());
    for (std::int32_t i = 0; i < index; ++i) node_index_.emplace(node_ids_[i], i);
  }
  if (!node_ids_consecutive_) node_index_.emplace(id, index);
  node_ids_.push_back(id);
  coordinates_.insert(coordinates_.end(), {x, y, z});
}

void Domain::add_nodes(std::span<const Id> ids, std::span<const double> coordinates) {
  if (coordinates.size() % 3 != 0 || (!ids.empty() && ids.size() * 3 != coordinates.size()))
    throw Error(ErrorCode::bad_input, "add_nodes needs three coordinates per node: got " + std::to_string(ids.size()) +
                                          " ids and " + std::to_string(coordinates.size()) + " coordinates");
  const std::size_t count = coordinates.size() / 3;
  node_ids_.reserve(node_ids_.size() + count);
  coordinates_.reserve(coordinates_.size() + coordinates.size());
  Id next = 1;
  if (ids.empty())
    for (Id id : node_ids_) next = std::max(next, id + 1);
  const std::int32_t old_count = node_count();
  try {
    for (std::size_t i = 0; i < count; ++i)
      add_node(ids.empty() ? next++ : ids[i], coordinates[3 * i], coordinates[3 * i + 1], coordinates[3 * i + 2]);
  } catch (...) {
    forget_nodes(old_count);
    throw;
  }
}

void Domain::move_node(Id id, std::array<double, 3> position) {
  for (const double x : position)
    if (!std::isfinite(x))
      throw Error(ErrorCode::bad_input, "a coordinate is not a finite number", "node " + std::to_string(id));
  std::copy(position.begin(), position.end(), coordinates_.begin() + 3 * static_cast<std::ptrdiff_t>(node_index(id)));
  changed(&DomainRevisions::nodes);
}

void Domain::forget_nodes(std::int32_t first) {
  if (!node_ids_consecutive_)
    for (std::size_t i = first; i < node_ids_.size(); ++i) node_index_.erase(node_ids_[i]);
  node_ids_.resize(first);
  coordinates_.resize(3 * static_cast<std::size_t>(first));
}

std::int32_t Domain::find_node(Id id) const {
  if (node_ids_consecutive_) {
    if (node_ids_.empty() || id < node_ids_.front() || id - node_ids_.front() >= node_count()) return -1;
    return static_cast<std::int32_t>(id - node_ids_.front());
  }
  const auto it = node_index_.find(id);
  return it == node_index_.end() ? -1 : it->second;
}

std::int32_t Domain::node_index(Id id) const {
  const std::int32_t index = find_node(id);
  if (index < 0) throw Error(ErrorCode::not_found, "there is no such node", "node " + std::to_string(id));
  return index;
}

Node Domain::node(Id id) const {
  const std::size_t i = node_index(id);
  return {id, {coordinates_[3 * i], coordinates_[3 * i + 1], coordinates_[3 * i + 2]}};
}

ElementBlock& Domain::add_block(const std::string& name, const std::string& type) {
  changed(&DomainRevisions::elements);
  if (has_block(name))
    throw Error(ErrorCode::bad_input, "a block of this name exists; give each block a unique name",
                "block '" + name + "'");
  blocks_.push_back(
      std::unique_ptr<ElementBlock>(new ElementBlock(*this, static_cast<std::int32_t>(blocks_.size()), name, type)));
  block_index_.emplace(name, blocks_.size() - 1);
  return *blocks_.back();
}

ElementBlock& Domain::block(std::string_view name) { return find_owned(blocks_, name, "block"); }
const ElementBlock& Domain::block(std::string_view name) const { return find_owned(blocks_, name, "block"); }

std::int64_t Domain::element_count() const {
  std::int64_t count = 0;
  for (const auto& block : blocks_) count += block->size();
  return count;
}

ElementRef Domain::find_element(Id id) const {
  const auto run = std::upper_bound(element_runs_.begin(), element_runs_.end(), id,
                                    [](Id value, const ElementRun& r) { return value < r.first; });
  if (run != element_runs_.begin()) {
    const auto& r = *(run - 1);
    if (id - r.first < r.count) return {r.ref.block, r.ref.element + static_cast<std::int32_t>(id - r.first)};
  }
  const auto it = other_elements_.find(id);
  return it == other_elements_.end() ? ElementRef{-1, -1} : it->second;
}

void Domain::register_element(Id id, ElementRef ref) {
  if (id > largest_element_id_ || (element_runs_.empty() && other_elements_.empty())) {
    if (!element_runs_.empty()) {
      auto& last = element_runs_.back();
      if (last.ref.block == ref.block && id == last.first + last.count &&
          ref.element == last.ref.element + last.count) {
        ++last.count;
        largest_element_id_ = id;
        return;
      }
    }
    element_runs_.push_back({id, ref, 1});
    largest_element_id_ = id;
    return;
  }
  if (find_element(id).block >= 0)
    throw Error(ErrorCode::bad_input, "the element exists already; ids must be unique over all blocks",
                "element " + std::to_string(id));
  other_elements_.emplace(id, ref);
}

Domain::ElementMark Domain::mark_elements() const {
  return {element_runs_.size(), element_runs_.empty() ? 0 : element_runs_.back().count, largest_element_id_};
}

void Domain::forget_elements(const ElementMark& mark, std::span<const Id> ids) {
  element_runs_.resize(mark.runs);
  if (mark.runs > 0) element_runs_.back().count = mark.last_count;
  for (Id id : ids) other_elements_.erase(id);  // those that were in a run are not there
  largest_element_id_ = mark.largest_id;
}

ElementRef Domain::element_ref(Id id) const {
  const ElementRef ref = find_element(id);
  if (ref.block < 0) throw Error(ErrorCode::not_found, "there is no such element", "element " + std::to_string(id));
  return ref;
}

Element Domain::element(Id id) const {
  const ElementRef ref = element_ref(id);
  Element e{id, blocks_[ref.block].get(), ref.element, {}};
  for (std::int32_t n : e.block->nodes(ref.element)) e.nodes.push_back(node_ids_[n]);
  return e;
}

void Domain::add_node_set(const std::string& name, std::span<const Id> nodes) {
  ++revision_;
  std::vector<std::int32_t> members;
  for (Id id : nodes) {
    const std::int32_t index = find_node(id);
    if (index < 0)
      throw Error(ErrorCode::not_found,
                  "node " + std::to_string(id) + " does not exist; add nodes before the sets that name them",
                  "node set '" + name + "'");
    members.push_back(index);
  }
  auto& set = node_sets_[name];
  set.insert(set.end(), members.begin(), members.end());
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
}

void Domain::add_element_set(const std::string& name, std::span<const Id> elements) {
  changed(&DomainRevisions::loads);
  std::vector<ElementRef> members;
  members.reserve(elements.size());
  for (Id id : elements) {
    const ElementRef ref = find_element(id);
    if (ref.block < 0)
      throw Error(ErrorCode::not_found, "element " + std::to_string(id) + " does not exist",
                  "element set '" + name + "'");
    members.push_back(ref);
  }
  auto& set = element_sets_[name];
  set.insert(set.end(), members.begin(), members.end());
  const auto before = [](const ElementRef& a, const ElementRef& b) {
    return a.block != b.block ? a.block < b.block : a.element < b.element;
  };
  if (!std::is_sorted(set.begin(), set.end(), before)) std::sort(set.begin(), set.end(), before);
  set.erase(std::unique(set.begin(), set.end()), set.end());
}

void Domain::add_surface(const std::string& name, std::span<const FaceRef> faces) {
  const std::string where = "surface '" + name + "'";
  std::int32_t counted = -1, face_count = 0;  // of the block of the face before
  for (const FaceRef& f : faces) {
    if (f.block < 0 || f.block >= static_cast<std::int32_t>(blocks_.size()))
      throw Error(ErrorCode::not_found,
                  "there is no block of index " + std::to_string(f.block) + "; the domain has " +
                      std::to_string(blocks_.size()) + " blocks, counted from 0",
                  where);
    const ElementBlock& block = *blocks_[f.block];
    if (f.element < 0 || f.element >= block.size())
      throw Error(ErrorCode::not_found,
                  "block '" + block.name() + "' has no element of index " + std::to_string(f.element) + "; it has " +
                      std::to_string(block.size()) + " elements, counted from 0",
                  where);
    if (f.block != counted) {
      counted = f.block;
      face_count = static_cast<std::int32_t>(faces_of(block).size());
    }
    if (f.face < 0 || f.face >= face_count)
      throw Error(ErrorCode::not_found,
                  element_label({f.block, f.element}) + " has no face S" + std::to_string(f.face + 1) +
                      "; elements of its type have " + std::to_string(face_count),
                  where);
  }
  changed(&DomainRevisions::loads);
  auto& surface = surfaces_[name];
  surface.insert(surface.end(), faces.begin(), faces.end());
  std::sort(surface.begin(), surface.end(), face_before);
  surface.erase(std::unique(surface.begin(), surface.end()), surface.end());
}

void Domain::add_surface(const std::string& name, std::span<const ElementFace> faces) {
  std::vector<FaceRef> members;
  members.reserve(faces.size());
  for (const ElementFace& f : faces) {
    const ElementRef ref = find_element(f.element);
    if (ref.block < 0)
      throw Error(ErrorCode::not_found, "element " + std::to_string(f.element) + " does not exist",
                  "surface '" + name + "'");
    members.push_back({ref.block, ref.element, f.face - 1});
  }
  add_surface(name, members);
}

void Domain::add_surface_from_nodes(const std::string& name, const std::string& node_set) {
  std::vector<char> inside(node_ids_.size());
  for (std::int32_t n : this->node_set(node_set)) inside[n] = 1;
  add_surface(name, boundary_faces(inside));
}

std::vector<FaceRef> Domain::boundary_faces(std::span<const char> inside) const {
  return detail::boundary_faces(*this, inside);
}

std::span<const std::int32_t> Domain::node_set(const std::string& name) const {
  return find_named(node_sets_, name, "node set");
}
std::span<const ElementRef> Domain::element_set(const std::string& name) const {
  return find_named(element_sets_, name, "element set");
}
std::span<const FaceRef> Domain::surface(const std::string& name) const {
  return find_named(surfaces_, name, "surface");
}

bool Domain::has_node_set(const std::string& name) const { return has_named(node_sets_, name); }
bool Domain::has_element_set(const std::string& name) const { return has_named(element_sets_, name); }
bool Domain::has_surface(const std::string& name) const { return has_named(surfaces_, name); }

std::vector<std::string> Domain::node_set_names() const { return sorted_names(node_sets_); }
std::vector<std::string> Domain::element_set_names() const { return sorted_names(element_sets_); }
std::vector<std::string> Domain::surface_names() const { return sorted_names(surfaces_); }

void Domain::prescribe(const std::string& set, const std::string& unknown, double value) {
  changed(&DomainRevisions::supports);
  if (!std::isfinite(value))
    throw Error(ErrorCode::bad_input, "the prescribed value of " + unknown + " is not a finite number",
                "node set '" + set + "'");
  for (std::int32_t n : node_set(set)) prescribed_.push_back({n, unknown, value});
}

void Domain::prescribe_at(Id node, const std::string& unknown, double value) {
  changed(&DomainRevisions::supports);
  if (!std::isfinite(value))
    throw Error(ErrorCode::bad_input, "the prescribed value of " + unknown + " is not a finite number",
                "node " + std::to_string(node));
  prescribed_.push_back({node_index(node), unknown, value});
}

void Domain::prescribe_along(Id node, std::array<double, 3> direction, double value) {
  changed(&DomainRevisions::supports);
  const double length = std::hypot(direction[0], direction[1], direction[2]);
  if (!std::isfinite(value) || !std::isfinite(length))
    throw Error(ErrorCode::bad_input, "the direction or the value of an oblique support is not a finite number",
                "node " + std::to_string(node));
  if (length == 0)
    throw Error(ErrorCode::bad_input, "the direction of an oblique support is zero", "node " + std::to_string(node));
  for (double& d : direction) d /= length;
  oblique_.push_back({node_index(node), direction, value});
}

void Domain::add_equation(std::span<const EquationTerm> terms, double constant, const std::string& label) {
  changed(&DomainRevisions::nodes);
  ConstraintEquation equation;
  equation.constant = constant;
  equation.label = label.empty() ? "equation " + std::to_string(equations_.size() + 1) : label;
  if (terms.empty()) throw Error(ErrorCode::bad_input, "the equation has no terms", equation.label);
  if (!std::isfinite(constant))
    throw Error(ErrorCode::bad_input, "the constant is not a finite number", equation.label);
  for (const auto& term : terms) {
    if (!has_node(term.node))
      throw Error(ErrorCode::not_found, "node " + std::to_string(term.node) + " does not exist", equation.label);
    if (!std::isfinite(term.coefficient))
      throw Error(ErrorCode::bad_input,
                  "the coefficient of node " + std::to_string(term.node) + " is not a finite number", equation.label);
    equation.terms.push_back({node_index(term.node), term.unknown, term.coefficient});
  }
  if (equation.terms.front().coefficient == 0)
    throw Error(ErrorCode::bad_input, "the coefficient of the first term is zero; leave the term out", equation.label);
  equations_.push_back(std::move(equation));
}

void Domain::set_rotation_node(Id node, Id reference, bool hidden) {
  changed(&DomainRevisions::nodes);
  rotation_nodes_[node_index(node)] = {node_index(reference), hidden};
}

LoadCase& Domain::add_load_case(const std::string& name) {
  changed(&DomainRevisions::loads);
  for (const auto& c : load_cases_)
    if (c->name() == name)
      throw Error(ErrorCode::bad_input, "a load case of this name exists", "load case '" + name + "'");
  load_cases_.push_back(std::unique_ptr<LoadCase>(new LoadCase(*this, name)));
  return *load_cases_.back();
}

const LoadCase& Domain::load_case(const std::string& name) const { return find_owned(load_cases_, name, "load case"); }

std::string Domain::element_label(ElementRef ref) const {
  const auto& block = *blocks_[ref.block];
  return "element " + std::to_string(block.id(ref.element)) + " (block '" + block.name() + "', " + block.type_name() +
         ")";
}

std::string Domain::node_label(std::int32_t index) const {
  const RotationNode* rotation = rotation_node(index);
  return "node " + std::to_string(node_ids_[rotation && rotation->hidden ? rotation->reference : index]);
}

}  // namespace voussoir
