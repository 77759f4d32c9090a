#include <algorithm>
#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/deck/detail/write/deck_writer.hpp>

namespace voussoir::deck {

int Writer::dof(const std::string& unknown) const {
  static const std::map<std::string, int> numbers = {{"ux", 1}, {"uy", 2}, {"uz", 3}, {"rx", 4},
                                                     {"ry", 5}, {"rz", 6}, {"T", 11}};
  const auto it = numbers.find(unknown);
  if (it == numbers.end())
    throw Error(ErrorCode::bad_input, "a deck has no degree of freedom for the unknown '" + unknown + "'", "deck");
  return it->second;
}

std::string Writer::set_of(const std::vector<std::int32_t>& nodes, const std::string& wish) {
  for (const std::string& name : domain_.node_set_names()) {
    const auto set = domain_.node_set(name);
    if (std::equal(set.begin(), set.end(), nodes.begin(), nodes.end())) return node_sets_.spelling(name);
  }
  if (nodes.size() == 1) return std::to_string(domain_.node_id(nodes[0]));
  const std::string name = node_sets_.make(wish);
  std::vector<Id> ids;
  for (const std::int32_t n : nodes) ids.push_back(domain_.node_id(n));
  out_ << "*NSET, NSET=" << name << "\n";
  write_list<Id>(ids);
  return name;
}

void Writer::find_supports() {
  // Nodes by what is held there; then degrees of freedom of the same nodes and value in a row become one line.
  std::map<std::pair<double, int>, std::vector<std::int32_t>> prescribed;
  for (const Prescribed& p : domain_.prescribed()) {
    if (p.unknown == "all" && heat_)
      prescribed[{p.value, 11}].push_back(p.node);
    else if (p.unknown == "all")
      for (int k = 1; k <= dimension_; ++k) prescribed[{p.value, k}].push_back(p.node);
    else
      prescribed[{p.value, dof(p.unknown)}].push_back(p.node);
  }
  const std::vector<std::int32_t>* before = nullptr;
  for (auto& [what, nodes] : prescribed) {
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    const auto& [value, number] = what;
    if (before != nullptr && supports_.back().value == value && supports_.back().last + 1 == number && *before == nodes)
      supports_.back().last = number;
    else
      supports_.push_back({set_of(nodes, "HELD"), number, number, value});
    before = &nodes;
  }
}

void Writer::write_supports(double factor, bool zero) {
  bool first = true;
  for (const Support& s : supports_) {
    if ((s.value == 0) != zero) continue;
    if (first) out_ << "*BOUNDARY\n";
    first = false;
    out_ << s.target << ", " << s.first << ", " << s.last;
    if (!zero) out_ << ", " << number(s.value * factor);
    out_ << "\n";
  }
}

void Writer::write_cards(const std::string& card, const std::vector<std::string>& lines, bool first) {
  if (lines.empty() && !cards_used_.contains(card)) return;
  // What a step before asked for would go on otherwise.
  out_ << card << (first || !cards_used_.contains(card) ? "" : ", OP=NEW") << "\n";
  for (const std::string& line : lines) out_ << line << "\n";
  cards_used_.insert(card);
}

void Writer::write_nodal_loads(const Step& step, bool first) {
  std::map<std::pair<int, std::int32_t>, double> sums;
  for (const auto& [name, factor] : step.load_cases)
    for (const auto& load : domain_.load_case(name).nodal_loads())
      sums[{dof(load.unknown), load.node}] += factor * load.value;
  std::map<std::pair<int, double>, std::vector<std::int32_t>> alike;
  for (const auto& [place, value] : sums) alike[{place.first, value}].push_back(place.second);
  std::vector<std::string> lines;
  for (const auto& [what, nodes] : alike) {
    std::string target;
    for (const std::string& name : domain_.node_set_names()) {
      const auto set = domain_.node_set(name);
      if (nodes.size() > 1 && std::equal(set.begin(), set.end(), nodes.begin(), nodes.end()))
        target = node_sets_.spelling(name);
    }
    const std::string rest = ", " + std::to_string(what.first) + ", " + number(what.second);
    if (!target.empty())
      lines.push_back(target + rest);
    else
      for (const std::int32_t n : nodes) lines.push_back(std::to_string(domain_.node_id(n)) + rest);
  }
  write_cards(heat_ ? "*CFLUX" : "*CLOAD", lines, first);
}

std::vector<std::string> Writer::face_lines(const Step& step, const std::string& kind, const char* letter) const {
  // One load on a face replaces another one in a deck: loads of all cases are added up here. For films, with
  // coefficient h and sink s: Σ h and Σ h s / Σ h.
  std::map<std::string, std::vector<double>> by_surface;
  for (const auto& [name, factor] : step.load_cases)
    for (const auto& load : domain_.load_case(name).surface_loads()) {
      if (load.kind == "traction")
        throw Error(ErrorCode::bad_input,
                    "decks for both programs have no tractions; use pressures or nodal forces instead",
                    "deck, load case '" + name + "', surface '" + load.surface + "'");
      if (load.kind == "radiation")
        throw Error(ErrorCode::bad_input, "radiation cannot be written to a deck",
                    "deck, load case '" + name + "', surface '" + load.surface + "'");
      if (load.kind != kind) continue;
      auto& sum = by_surface[load.surface];
      sum.resize(2);
      sum[0] += factor * load.values[0];
      if (kind == "convection") sum[1] += factor * load.values[0] * load.values[1];
    }
  const auto values = [&](const std::vector<double>& sum) {
    if (kind != "convection") return ", " + number(sum[0]);
    return ", " + number(sum[0] != 0 ? sum[1] / sum[0] : 0) + ", " + number(sum[0]);
  };
  std::map<std::array<std::int32_t, 3>, std::vector<double>> by_face;
  std::size_t faces = 0;
  if (by_surface.size() > 1)
    for (const auto& [surface, sum] : by_surface)
      for (const FaceRef& f : domain_.surface(surface)) {
        auto& total = by_face[{f.block, f.element, f.face}];
        total.resize(2);
        for (int k = 0; k < 2; ++k) total[k] += sum[k];
        ++faces;
      }
  std::vector<std::string> lines;
  if (by_face.size() == faces) {  // no face twice
    for (const auto& [surface, sum] : by_surface)
      for (const auto& [face, set] : face_sets_.at(surface))
        lines.push_back(set + ", " + letter + std::to_string(face) + values(sum));
    return lines;
  }
  for (const auto& [face, sum] : by_face)
    lines.push_back(std::to_string(domain_.block(static_cast<std::size_t>(face[0])).id(face[1])) + ", " + letter +
                    std::to_string(face[2] + 1) + values(sum));
  return lines;
}

std::vector<std::string> Writer::body_lines(const Step& step) {
  struct Sum {
    std::array<double, 3> acceleration{};
    double source = 0;
    const BodyLoad* turning = nullptr;
    double turning_factor = 0;
  };
  std::map<std::string, Sum> sums;
  for (const auto& [name, factor] : step.load_cases)
    for (const auto& body : domain_.load_case(name).body_loads()) {
      const BodyLoad& load = body.load;
      Sum& sum = sums[body.element_set];
      for (int k = 0; k < 3; ++k) sum.acceleration[k] += factor * load.acceleration[k];
      sum.source += factor * load.source;
      if (load.angular_velocity_squared == 0) continue;
      if (sum.turning != nullptr)
        throw Error(ErrorCode::bad_input,
                    "an element set in a deck has only one centrifugal load; use a set of another name for one of them",
                    "deck, step '" + step.name + "'");
      sum.turning = &load;
      sum.turning_factor = factor;
    }
  std::vector<std::string> lines;
  for (const auto& [element_set, sum] : sums) {
    const std::string set = element_set.empty() ? all_elements_ : element_sets_.spelling(element_set);
    const double size = std::hypot(sum.acceleration[0], sum.acceleration[1], sum.acceleration[2]);
    if (size > 0) {
      std::string line = set + ", GRAV, " + number(size);
      for (const double a : sum.acceleration) line += ", " + number(a / size);
      lines.push_back(line);
    }
    if (sum.turning != nullptr) {
      std::string line = set + ", CENTRIF, " + number(sum.turning_factor * sum.turning->angular_velocity_squared);
      for (const double x : sum.turning->axis_point) line += ", " + number(x);
      for (const double x : sum.turning->axis_direction) line += ", " + number(x);
      lines.push_back(line);
    }
    if (sum.source != 0) lines.push_back(set + ", BF, " + number(sum.source));
  }
  return lines;
}

void Writer::write_distributed_loads(const Step& step, bool first) {
  std::vector<std::string> lines = heat_ ? face_lines(step, "flux", "S") : face_lines(step, "pressure", "P");
  const std::vector<std::string> bodies = body_lines(step);
  lines.insert(lines.end(), bodies.begin(), bodies.end());
  write_cards(heat_ ? "*DFLUX" : "*DLOAD", lines, first);
  if (heat_) write_cards("*FILM", face_lines(step, "convection", "F"), first);
}

void Writer::write_temperatures(const Step& step, bool first) {
  std::vector<std::string> lines;
  for (const auto& [name, factor] : step.load_cases) {
    const std::vector<double>& values = domain_.load_case(name).temperatures();
    if (values.empty()) continue;
    if (factor != 1 || !lines.empty())
      throw Error(ErrorCode::bad_input,
                  "temperatures in a deck cannot be scaled; use a single load case for them with the factor 1",
                  "deck, step '" + step.name + "'");
    for (std::size_t n = 0; n < values.size(); ++n)
      if (!std::isnan(values[n]))
        lines.push_back(std::to_string(domain_.node_id(static_cast<std::int32_t>(n))) + ", " + number(values[n]));
  }
  write_cards("*TEMPERATURE", lines, first);
}

void Writer::write_step(const Step& step, bool first) {
  out_ << "** " << step.name << "\n*STEP\n" << (heat_ ? "*HEAT TRANSFER, STEADY STATE\n" : "*STATIC\n");
  write_supports(step.prescribed_factor, false);
  write_nodal_loads(step, first);
  write_distributed_loads(step, first);
  if (!heat_) write_temperatures(step, first);
  for (const std::string& set : options_.print_nodes) {
    domain_.node_set(set);  // throws where there is none
    out_ << "*NODE PRINT, NSET=" << node_sets_.spelling(set) << "\n" << (heat_ ? "NT, RFL" : "U, RF") << "\n";
  }
  out_ << "*NODE FILE\n" << (heat_ ? "NT" : "U") << "\n*EL FILE\n" << (heat_ ? "HFL" : "S") << "\n*END STEP\n";
}

}  // namespace voussoir::deck

namespace voussoir {

void write_deck(const Domain& domain, const std::vector<Step>& steps, const std::filesystem::path& path,
                const DeckWriteOptions& options) {
  OutputFile file(path, options.overwrite);
  deck::Writer(domain, options, file).write(steps);
  file.commit();
}

}  // namespace voussoir
