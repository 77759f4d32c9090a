#include <voussoir/framework/domain/reduced_part.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

/// How far a matrix may be from symmetric, relative to its largest entry.
constexpr double part_symmetry = 1e-9;

[[noreturn]] void refuse_part(const std::string& text, const std::string& where) {
  throw Error(ErrorCode::bad_input, "the reduced part is not consistent: " + text, where);
}

void check_numbers(const std::vector<double>& values, std::size_t wanted, const std::string& what,
                   const std::string& where) {
  if (values.size() != wanted)
    refuse_part(what + " has " + std::to_string(values.size()) + " numbers instead of " + std::to_string(wanted),
                where);
  for (const double v : values)
    if (!std::isfinite(v)) refuse_part(what + " has a number that is not finite", where);
}

void check_symmetric(const std::vector<double>& matrix, std::size_t n, const std::string& what,
                     const std::string& where) {
  check_numbers(matrix, n * n, what, where);
  double largest = 0, worst = 0, least = 0;
  for (std::size_t i = 0; i < n; ++i) {
    least = std::min(least, matrix[i * n + i]);
    for (std::size_t j = 0; j <= i; ++j) {
      largest = std::max(largest, std::abs(matrix[i * n + j]));
      worst = std::max(worst, std::abs(matrix[i * n + j] - matrix[j * n + i]));
    }
  }
  if (worst > part_symmetry * largest) refuse_part(what + " is not symmetric", where);
  if (least < -part_symmetry * largest) refuse_part(what + " has a negative number on its diagonal", where);
}

}  // namespace

const std::vector<std::string>& ReducedPart::stress_names() {
  static const std::vector<std::string> names{"sxx", "syy", "szz", "sxy", "syz", "sxz"};
  return names;
}

std::size_t ReducedPart::stress_rows() const {
  if (stress_recovery.empty()) return 0;
  std::size_t elements = 0;
  for (const Block& block : blocks)
    if (block.has_stress) elements += block.elements.size();
  return elements * stress_names().size();
}

std::size_t ReducedPart::bytes() const {
  std::size_t numbers = stiffness.size() + mass.size() + recovery.size() + stress_recovery.size() +
                        interface_coordinates.size() + coordinates.size() + nodes.size() + 2 * row.size();
  for (const auto* list : {&loads, &accelerations})
    for (const Load& l : *list) numbers += l.force.size() + l.displacement.size() + l.stress.size();
  for (const Block& block : blocks) numbers += block.elements.size() + block.nodes.size();
  return 8 * numbers;
}

std::string plane_state(const std::string& element_type) {
  const std::string law = element_type.substr(0, element_type.find('.'));
  for (const char* state : {"stress", "strain"})
    if (law.ends_with("plane_" + std::string(state))) return state;
  return {};
}

void ReducedPart::check(const std::string& where) const {
  if (unknowns.empty() || interface_nodes.empty()) refuse_part("it has no interface", where);
  if (std::set<Id>(interface_nodes.begin(), interface_nodes.end()).size() != interface_nodes.size())
    refuse_part("an interface node is listed twice", where);
  if (std::set<std::string>(unknowns.begin(), unknowns.end()).size() != unknowns.size())
    refuse_part("an unknown is listed twice", where);
  if (!plane.empty() && ((plane != "stress" && plane != "strain") || axisymmetric))
    refuse_part("its plane state is '" + plane + "'" + (axisymmetric ? " in an axisymmetric part" : ""), where);
  check_numbers(interface_coordinates, 3 * interface_nodes.size(), "the list of interface coordinates", where);
  check_numbers(eigenvalues, modes(), "the list of eigenvalues", where);
  for (const double value : eigenvalues)
    if (!(value > 0)) refuse_part("the eigenvalue of a fixed-interface mode is not positive", where);
  check_symmetric(stiffness, size(), "the stiffness", where);
  if (!mass.empty()) check_symmetric(mass, size(), "the mass", where);
  if (modes() > 0 && mass.empty()) refuse_part("it has modes but no mass", where);
  if (!accelerations.empty() && (accelerations.size() != 3 || mass.empty()))
    refuse_part("it has loads of accelerations along some axes only, or without a mass", where);
  check_numbers(recovery, rows() * size(), "the recovery matrix", where);
  check_numbers(stress_recovery, stress_rows() * size(), "the recovery matrix of stresses", where);
  check_numbers(coordinates, 3 * nodes.size(), "the list of coordinates", where);
  std::set<std::string> names;
  for (const auto* list : {&loads, &accelerations})
    for (const Load& l : *list) {
      if (!names.insert(l.name).second) refuse_part("two loads are called '" + l.name + "'", where);
      check_numbers(l.force, size(), "load '" + l.name + "'", where);
      check_numbers(l.displacement, rows(), "load '" + l.name + "'", where);
      check_numbers(l.stress, stress_rows(), "load '" + l.name + "'", where);
    }
  for (const Block& block : blocks)
    if (block.nodes_per_element < 1 ||
        block.nodes.size() != block.elements.size() * static_cast<std::size_t>(block.nodes_per_element))
      refuse_part("block '" + block.name + "' has a wrong number of nodes", where);
  const std::set<Id> known(nodes.begin(), nodes.end());
  for (const Block& block : blocks)
    for (const Id n : block.nodes)
      if (!known.contains(n)) refuse_part("an element uses node " + std::to_string(n) + ", which is not listed", where);
  for (const Row& r : row)
    if (r.unknown < 0 || static_cast<std::size_t>(r.unknown) >= part_unknowns.size() || !known.contains(r.node))
      refuse_part("a recovered unknown belongs to no node or has no name", where);
}

const ReducedPart::Load& ReducedPart::load(const std::string& load_name) const {
  std::string all;
  for (const Load& l : loads) {
    if (l.name == load_name) return l;
    all += (all.empty() ? "'" : ", '") + l.name + "'";
  }
  throw Error(ErrorCode::not_found,
              "the reduced part has no load '" + load_name + "'; " +
                  (all.empty() ? "it was reduced without load cases" : "there are " + all),
              "superelement '" + name + "'");
}

std::vector<double> ReducedPart::recovered(const std::vector<double>& matrix, std::size_t count,
                                           std::vector<double> Load::*values,
                                           std::span<const double> coordinates_of_part,
                                           std::span<const double> load_factors,
                                           std::array<double, 3> acceleration) const {
  if (coordinates_of_part.size() != size() || (!load_factors.empty() && load_factors.size() != loads.size()))
    throw Error(ErrorCode::misuse,
                "recovery needs " + std::to_string(size()) + " coordinates and " + std::to_string(loads.size()) +
                    " load factors, or none",
                "superelement '" + name + "'");
  const std::size_t n = size();
  std::vector<double> result(count, 0.0);
#pragma omp parallel for schedule(static) if (count * n > 100000)
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += matrix[i * n + j] * coordinates_of_part[j];
    result[i] = sum;
  }
  const auto add = [&](const Load& l, double factor) {
    if (factor == 0) return;
    for (std::size_t i = 0; i < count; ++i) result[i] += factor * (l.*values)[i];
  };
  for (std::size_t l = 0; l < load_factors.size(); ++l) add(loads[l], load_factors[l]);
  for (std::size_t d = 0; d < accelerations.size(); ++d) add(accelerations[d], acceleration[d]);
  return result;
}

std::vector<double> ReducedPart::displacements(std::span<const double> coordinates_of_part,
                                               std::span<const double> load_factors,
                                               std::array<double, 3> acceleration) const {
  if (rows() == 0)
    throw Error(ErrorCode::bad_input,
                "the part was reduced without recovery, so that nothing is known of its inside; reduce it again with "
                "recovery",
                "superelement '" + name + "'");
  return recovered(recovery, rows(), &Load::displacement, coordinates_of_part, load_factors, acceleration);
}

std::vector<double> ReducedPart::stresses(std::span<const double> coordinates_of_part,
                                          std::span<const double> load_factors,
                                          std::array<double, 3> acceleration) const {
  return recovered(stress_recovery, stress_rows(), &Load::stress, coordinates_of_part, load_factors, acceleration);
}

std::uint64_t part_checksum(std::span<const char> bytes, std::uint64_t start) {
  for (const char byte : bytes) start = (start ^ static_cast<unsigned char>(byte)) * 1099511628211ull;
  return start;
}

}  // namespace voussoir
