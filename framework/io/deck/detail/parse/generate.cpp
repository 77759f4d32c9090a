#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

// Nodes that are made of other nodes: *NGEN, *NFILL, *NCOPY, *NMAP. Those of a set are the ones that it holds by then.

namespace voussoir::deck {
namespace {

using Vector = std::array<double, 3>;

constexpr Id most_step = 10'000'000'000;

Vector plus(const Vector& a, const Vector& b, double factor = 1) {
  return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]};
}
Vector minus(const Vector& a, const Vector& b) { return plus(a, b, -1); }
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double norm(const Vector& a) { return std::hypot(a[0], a[1], a[2]); }

/// cos and sin of an angle in degrees, exact for quarter turns.
std::array<double, 2> turned(double degrees) {
  const double quarters = degrees / 90;
  double c = std::cos(degrees * std::numbers::pi / 180), s = std::sin(degrees * std::numbers::pi / 180);
  if (quarters == std::round(quarters)) c = std::round(c), s = std::round(s);
  return {c, s};
}

}  // namespace

std::string Parser::coordinate_system(Card& card) {
  // Abaqus's RC is the rectangular one.
  if (squeezed(card.value("SYSTEM")) == "RC") return "RECTANGULAR";
  return card.choice("SYSTEM", {"RECTANGULAR", "CYLINDRICAL", "SPHERICAL"}, 1);
}

Vector Parser::from_system(const Vector& x, std::string_view system) {
  if (system == "RECTANGULAR") return x;
  const auto [c, s] = turned(x[1]);
  if (system == "CYLINDRICAL") return {x[0] * c, x[0] * s, x[2]};
  const auto [up, out] = std::array{turned(x[2])[1], turned(x[2])[0]};
  return {x[0] * out * c, x[0] * out * s, x[0] * up};
}

std::optional<std::size_t> Parser::find_node(Id node) {
  const NodeTable& nodes = deck_.nodes;
  node_at_.reserve(nodes.ids.size());
  for (; nodes_indexed_ < nodes.ids.size(); ++nodes_indexed_) node_at_[nodes.ids[nodes_indexed_]] = nodes_indexed_;
  const auto found = node_at_.find(node);
  return found == node_at_.end() ? std::nullopt : std::optional(found->second);
}

Vector Parser::position_of(Id node, std::string_view what) {
  const auto index = find_node(node);
  if (!index)
    fail(std::string(what) + ": node " + std::to_string(node) + " does not exist yet: define it before this line",
         lines_.place(), ErrorCode::not_found);
  const double* const x = &deck_.nodes.coordinates[3 * *index];
  return {x[0], x[1], x[2]};
}

void Parser::add_node(Id node, const Vector& x, SetStore::Pieces* set) {
  if (++generated_ > most_generated)
    fail("the deck generates more than " + std::to_string(most_generated) + " nodes and elements");
  if (!std::isfinite(x[0]) || !std::isfinite(x[1]) || !std::isfinite(x[2]))
    fail("the coordinates of node " + std::to_string(node) + ", generated here, are not finite");
  NodeTable& nodes = deck_.nodes;
  nodes.ids.push_back(node);
  nodes.coordinates.insert(nodes.coordinates.end(), x.begin(), x.end());
  count_as_used(Kind::node_set, node);
  if (set) set->add(node);
}

std::vector<Id> Parser::members_now(const std::string& set, Kind kind, const Card& card) {
  const std::string name = scoped(set);
  const SetStore& store = kind == Kind::node_set ? node_sets_ : element_sets_;
  const SetStore::Pieces* const pieces = store.find(name);
  if (!pieces) fail_unknown(kind, name, lines_.place());
  if (!pieces->is_whole())
    fail(card.name() + ": the set " + in_quotes(name) +
         " contains members that are defined later; move this card after them");
  std::vector<Id> members;
  for (const SetStore::Range& range : pieces->ranges) {
    if ((range.last - range.first) / range.step >= static_cast<Id>(most_generated))
      fail(card.name() + ": the set " + in_quotes(name) + " has a range far larger than the model");
    for (Id id = range.first;; id += range.step) {
      const bool there = kind == Kind::node_set ? find_node(id).has_value() : find_element(id).has_value();
      if (there) members.push_back(id);
      if (range.last - id < range.step) break;
    }
    if ((generated_ += static_cast<std::size_t>((range.last - range.first) / range.step)) > most_generated)
      fail("the generators of the deck process more than " + std::to_string(most_generated) + " members of sets");
  }
  if (!pieces->unsorted) {
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
  }
  if (members.empty()) fail(card.name() + ": the set " + in_quotes(name) + " is empty here: fill it before this card");
  return members;
}

SetStore::Pieces* Parser::begin_generated(const std::string& set, const Card& card) {
  deck_.nodes.cards.push_back(card.place());
  deck_.nodes.first.push_back(deck_.nodes.ids.size());
  return set.empty() ? nullptr : &node_sets_.at(scoped(set), card.place());
}

void Parser::read_ngen(Card& card) {
  const std::string line = card.choice("LINE", {"STRAIGHT", "PARABOLA", "CIRCLE"}, 1);
  const std::string set = card.value("NSET"), system = coordinate_system(card);
  card.done();
  const Id by = shift_of_new(Kind::node_set, card);
  SetStore::Pieces* const members = begin_generated(set, card);
  while (next_fields()) {
    if (fields_.empty()) continue;
    at_most(10, card, "first node, last node, increment, extra node or its coordinates, normal of a circle");
    const Id first = number_of(field(0), "first node"), last = number_of(field(1), "last node");
    const Id step = field(2).empty() ? 1 : integer(field(2), "increment");
    if (step == 0 || (last - first) % step != 0 || (last - first) / step < 1)
      fail("*NGEN: the increment " + std::to_string(step) + " does not lead from node " + std::to_string(first) +
           " to node " + std::to_string(last));
    const Id count = (last - first) / step;
    check_number(std::max(first, last), by);
    if (static_cast<std::size_t>(count) + generated_ > most_generated)
      fail("the deck generates more than " + std::to_string(most_generated) + " nodes and elements");
    const Vector a = position_of(first + by, "*NGEN"), b = position_of(last + by, "*NGEN");
    Vector extra{};
    if (line != "STRAIGHT") {
      if (!field(3).empty()) {
        extra = position_of(number_of(field(3), "extra node") + by, "*NGEN");
      } else {
        if (fields_.size() < 5)
          fail("*NGEN, LINE=" + line.substr(0, 1) + " needs " +
               (line == "CIRCLE" ? "the centre of the circle" : "the point in the middle of the parabola") +
               ": a node, or coordinates after an empty field");
        extra = from_system({real_or(field(4), 0, "coordinate"), real_or(field(5), 0, "coordinate"),
                             real_or(field(6), 0, "coordinate")},
                            system);
      }
    }
    Vector from{}, to{}, across{};
    double angle = 0, radius_a = 0, radius_b = 0;
    if (line == "CIRCLE") {
      from = minus(a, extra), to = minus(b, extra);
      radius_a = norm(from), radius_b = norm(to);
      if (radius_a == 0 || radius_b == 0) fail("*NGEN, LINE=C: an end of the arc coincides with its centre");
      if (std::abs(radius_a - radius_b) > 1e-3 * std::max(radius_a, radius_b))
        note(
            "*NGEN, LINE=C: the ends of an arc are at different distances from its centre; the radius varies linearly "
            "from one "
            "to the other",
            lines_.place());
      Vector normal{real_or(field(7), 0, "normal"), real_or(field(8), 0, "normal"), real_or(field(9), 0, "normal")};
      const bool given = norm(normal) > 0;
      if (!given) normal = cross(from, to);
      if (norm(normal) <= (given ? 0 : 1e-6 * radius_a * radius_b))
        fail("*NGEN, LINE=C: an arc of 180° or a full circle needs its normal, in fields 8 to 10");
      const double length = norm(normal);
      for (double& component : normal) component /= length;
      if (std::abs(dot(normal, from)) > 1e-3 * radius_a || std::abs(dot(normal, to)) > 1e-3 * radius_b)
        fail("*NGEN, LINE=C: the normal is not perpendicular to the radii of the arc");
      for (double& component : from) component /= radius_a;
      across = cross(normal, from);
      angle = std::atan2(dot(to, across), dot(to, from)) * 180 / std::numbers::pi;
      if (angle <= 1e-9) angle += 360;  // about the normal, by the right hand
    }
    if (members) members->add(first + by);
    for (Id i = 1; i < count; ++i) {
      const double t = static_cast<double>(i) / static_cast<double>(count);
      Vector x = plus(a, minus(b, a), t);
      if (line == "PARABOLA")
        for (int k = 0; k < 3; ++k)
          x[k] = (1 - t) * (1 - 2 * t) * a[k] + 4 * t * (1 - t) * extra[k] + t * (2 * t - 1) * b[k];
      if (line == "CIRCLE") {
        const auto [c, s] = turned(angle * t);
        const double radius = radius_a + t * (radius_b - radius_a);
        x = plus(plus(extra, from, radius * c), across, radius * s);
      }
      add_node(first + by + i * step, x, members);
    }
    if (members) members->add(last + by);
  }
}

void Parser::read_nfill(Card& card) {
  const std::string set = card.value("NSET");
  const double bias = card.number("BIAS", 1);
  const bool two_step = card.flag("TWO STEP");
  card.refuse("SINGULAR", "move the nodes beside the crack tip themselves");
  card.done();
  if (!(bias > 0)) card.fail(ErrorCode::bad_input, "*NFILL, BIAS is a ratio of lengths and must be positive");
  shift_of_new(Kind::node_set, card);
  SetStore::Pieces* const members = begin_generated(set, card);
  while (next_fields()) {
    if (fields_.empty()) continue;
    at_most(4, card, "first set, second set, intervals, increment");
    const std::vector<Id> first = members_now(name_of(field(0), "first set"), Kind::node_set, card);
    const std::vector<Id> second = members_now(name_of(field(1), "second set"), Kind::node_set, card);
    const Id intervals = number_of(field(2), "number of intervals");
    const Id step = field(3).empty() ? 1 : integer(field(3), "increment");
    if (intervals > static_cast<Id>(most_generated)) fail("*NFILL: the number of intervals is too large");
    if (step > most_step || step < -most_step) fail("*NFILL: the increment " + std::to_string(step) + " is too large");
    if (two_step && intervals % 2 != 0) fail("*NFILL, TWO STEP needs an even number of intervals");
    if (first.size() != second.size())
      note("*NFILL: the sets " + in_quotes(field(0)) + " and " + in_quotes(field(1)) +
               " differ in length; surplus members are ignored",
           lines_.place());
    if (static_cast<std::size_t>(intervals) * first.size() + generated_ > most_generated)
      fail("the deck generates more than " + std::to_string(most_generated) + " nodes and elements");
    // Where each node lies between the two bounds: every length is that of the one before over the bias.
    std::vector<double> at(static_cast<std::size_t>(intervals) + 1, 0);
    double length = 1;
    for (std::size_t i = 1; i < at.size(); ++i) {
      at[i] = at[i - 1] + length;
      if (!two_step || i % 2 == 0) length /= bias;
    }
    if (!std::isfinite(at.back()) || at.back() <= 0) fail("*NFILL: with this BIAS the intervals have no finite length");
    for (std::size_t n = 0; n < std::min(first.size(), second.size()); ++n) {
      const Vector a = position_of(first[n], "*NFILL"), b = position_of(second[n], "*NFILL");
      if (members) members->add(first[n]);
      for (Id i = 1; i < intervals; ++i) {
        const Id node = first[n] + i * step;
        if (node < 1) fail("*NFILL: node number " + std::to_string(node) + " is not allowed: numbers start at 1");
        add_node(node, plus(a, minus(b, a), at[static_cast<std::size_t>(i)] / at.back()), members);
      }
      if (members) members->add(second[n]);
    }
  }
}

void Parser::read_ncopy(Card& card) {
  const std::string_view example = "*NCOPY, CHANGE NUMBER=100, OLD SET=A, SHIFT";
  const Id change = integer(card.required("CHANGE NUMBER", example), "CHANGE NUMBER");
  const std::string old_set = card.required("OLD SET", example), new_set = card.value("NEW SET");
  const bool by_shift = card.flag("SHIFT"), pole = card.flag("POLE");
  const std::string reflect =
      card.value("REFLECT").empty() ? "" : card.choice("REFLECT", {"LINE", "MIRROR", "POINT"}, 1);
  const double multiple = card.number("MULTIPLE", 1);
  card.done();
  if (by_shift + pole + !reflect.empty() != 1)
    card.fail(ErrorCode::bad_input, "*NCOPY needs one of SHIFT, POLE and REFLECT=LINE, MIRROR or POINT");
  if (change == 0 || change > most_step || change < -most_step)
    card.fail(ErrorCode::bad_input, "*NCOPY, CHANGE NUMBER=" + std::to_string(change) + " is not allowed");
  if (multiple < 1 || multiple != std::floor(multiple) || multiple > most_generated || (multiple > 1 && !by_shift))
    card.fail(ErrorCode::bad_input, "*NCOPY, MULTIPLE must be a positive integer and requires SHIFT");
  shift_of_new(Kind::node_set, card);
  const std::vector<Id> members = members_now(old_set, Kind::node_set, card);
  SetStore::Pieces* const copies = begin_generated(new_set, card);
  // All numbers of the data lines, one line after the other.
  std::array<double, 12> v{};
  std::vector<std::size_t> lengths;
  const std::size_t per_line = by_shift || pole ? 7 : 6;
  while (next_fields()) {
    if (lengths.size() == 2) fail("*NCOPY has at most two data lines");
    at_most(per_line, card, by_shift ? "a translation, or two points and an angle" : "coordinates of points");
    const std::size_t offset = by_shift ? (lengths.empty() && fields_.size() <= 3 ? 0 : 3) : 6 * lengths.size();
    for (std::size_t i = 0; i < fields_.size(); ++i) v[offset + i] = real_or(field(i), 0, "coordinate");
    lengths.push_back(fields_.size());
  }
  RigidMotion motion;
  const Vector a{v[0], v[1], v[2]}, b{v[3], v[4], v[5]}, c{v[6], v[7], v[8]};
  Vector centre = a, axis{};
  if (by_shift) {
    motion.translate(a);
    const Vector p{v[3], v[4], v[5]}, q{v[6], v[7], v[8]};
    if (v[9] != 0) {
      if (p == q) fail("*NCOPY, SHIFT: the two points of the axis of rotation are the same");
      motion.turn(p, q, v[9]);
    }
  } else if (lengths.empty()) {
    card.fail(ErrorCode::bad_input, "*NCOPY needs a data line with points");
  } else if (pole) {
    // The number of a node, or an empty field and coordinates.
    centre = v[0] > 0 && v[0] == std::floor(v[0]) && v[0] < 1e15
                 ? position_of(in_model(Kind::node_set, static_cast<Id>(v[0])), "*NCOPY, POLE")
                 : Vector{v[1], v[2], v[3]};
  } else {
    axis = reflect == "MIRROR" ? cross(minus(b, a), minus(c, a)) : minus(b, a);
    if (reflect != "POINT" && norm(axis) == 0)
      fail("*NCOPY, REFLECT=" + reflect + ": the points do not define a " + (reflect == "LINE" ? "line" : "plane"));
    const double length = reflect == "POINT" ? 1 : norm(axis);
    for (double& component : axis) component /= length;
  }
  if (multiple * static_cast<double>(members.size()) + static_cast<double>(generated_) >
      static_cast<double>(most_generated))
    card.fail(ErrorCode::bad_input,
              "the deck generates more than " + std::to_string(most_generated) + " nodes and elements");
  std::vector<Vector> positions;
  for (const Id id : members) positions.push_back(position_of(id, "*NCOPY"));
  for (int copy = 1; copy <= static_cast<int>(multiple); ++copy)
    for (std::size_t n = 0; n < members.size(); ++n) {
      Vector& x = positions[n];
      const Vector r = minus(x, centre);
      if (by_shift)
        x = motion.point(x);
      else if (pole)
        x = plus(x, r);
      else if (reflect == "POINT")
        x = minus(centre, r);
      else if (reflect == "LINE")
        x = minus(plus(centre, axis, 2 * dot(axis, r)), r);
      else
        x = plus(x, axis, -2 * dot(axis, r));
      if (members[n] > std::numeric_limits<Id>::max() / 4) fail("*NCOPY: the numbers of the copies are too large");
      const Id node = members[n] + change * copy;
      if (node < 1) fail("*NCOPY: node number " + std::to_string(node) + " is not allowed: numbers start at 1");
      add_node(node, x, copies);
    }
}

void Parser::read_nmap(Card& card) {
  const std::string set = card.required("NSET", "*NMAP, NSET=ALL, TYPE=CYLINDRICAL");
  card.required("TYPE", "*NMAP, NSET=ALL, TYPE=CYLINDRICAL");
  const std::string type = card.choice("TYPE", {"RECTANGULAR", "CYLINDRICAL", "SPHERICAL"}, 1);
  card.choice("DEFINITION", {"COORDINATES"}, 4);
  card.done();
  std::array<double, 15> v{};  // a, b; c; scales
  std::size_t lines = 0;
  bool only_origin = true;
  while (next_fields()) {
    static constexpr std::size_t first[] = {0, 6, 12}, most[] = {6, 3, 3};
    if (lines == 3) fail("*NMAP has at most three data lines: points a and b, point c, scale factors");
    at_most(most[lines], card, lines == 0 ? "points a and b" : lines == 1 ? "point c" : "three scale factors");
    for (std::size_t i = 0; i < fields_.size(); ++i) v[first[lines] + i] = real_or(field(i), 0, "coordinate");
    if (lines == 1 || fields_.size() > 3) only_origin = only_origin && lines != 1 && fields_.size() <= 3;
    ++lines;
  }
  if (lines == 0) card.fail(ErrorCode::bad_input, "*NMAP needs a data line: points a and b");
  const Vector a{v[0], v[1], v[2]}, b{v[3], v[4], v[5]}, c{v[6], v[7], v[8]};
  Vector axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  if (!only_origin || type != "RECTANGULAR") {
    // b lies on the first axis of rectangular systems and on the third one of the others; c in the plane of the first
    // and the second, or where θ = 0.
    const Vector main = minus(b, a), other = minus(c, a);
    const Vector third = type == "RECTANGULAR" ? cross(main, other) : main;
    const Vector second = type == "RECTANGULAR" ? cross(third, main) : cross(main, other);
    const Vector leading = cross(second, third);
    if (norm(main) == 0 || norm(third) == 0 || norm(second) == 0 || norm(leading) == 0)
      card.fail(ErrorCode::bad_input, "*NMAP: the points a, b and c are collinear and define no axes");
    const Vector* const given[] = {&leading, &second, &third};
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) axes[i][k] = (*given[i])[k] / norm(*given[i]);
  }
  if (type == "SPHERICAL")
    note(
        "*NMAP, TYPE=SPHERICAL: coordinates are the radius, θ about the axis a–b, and φ from the plane normal to it, "
        "in "
        "degrees",
        card.place());
  for (const Id id : members_now(set, Kind::node_set, card)) {
    double* const x = &deck_.nodes.coordinates[3 * *find_node(id)];
    Vector local;
    for (int k = 0; k < 3; ++k) local[k] = x[k] * (v[12 + k] == 0 ? 1 : v[12 + k]);
    local = from_system(local, type);
    Vector y = a;
    for (int i = 0; i < 3; ++i) y = plus(y, axes[i], local[i]);
    if (!std::isfinite(y[0]) || !std::isfinite(y[1]) || !std::isfinite(y[2]))
      card.fail(ErrorCode::bad_input, "*NMAP: the coordinates of node " + std::to_string(id) + " are not finite");
    std::copy(y.begin(), y.end(), x);
  }
}

}  // namespace voussoir::deck
