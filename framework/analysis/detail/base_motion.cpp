#include <voussoir/framework/analysis/detail/base_motion.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/detail/rigid_values.hpp>
#include <voussoir/framework/analysis/mode_set.hpp>
#include <voussoir/framework/domain/generalised_node.hpp>

namespace voussoir::detail {
namespace {

[[noreturn]] void refuse_base_motion(const std::string& text, const std::string& where) {
  throw Error(ErrorCode::bad_input, text, where);
}

bool has_unknown(const AnalysisModel& model, const std::string& name) {
  const auto& names = model.unknown_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

int base_direction(const std::string& name) {
  const auto& names = ModeSet::direction_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw Error(ErrorCode::not_found,
                "there is no direction '" + name + "'; there are x, y, z and rotations about them, rx, ry, rz",
                "base acceleration");
  return static_cast<int>(found - names.begin());
}

Vector rigid_motion(const AnalysisModel& model, int direction) {
  std::vector<double> values(static_cast<std::size_t>(model.equation_count()), 0.0);
  const bool plane = !has_unknown(model, "uz");
  for (std::int32_t e = 0; e < model.equation_count(); ++e) {
    const auto at = model.place(e);
    int unknown = rigid_unknown(model.unknown_names()[static_cast<std::size_t>(at.component)]);
    // The displacements of such a node are rotations; in a plane, ux is that about z.
    if (model.domain().rotation_node(at.node) && unknown < 3) unknown = plane ? (unknown == 0 ? 5 : 6) : unknown + 3;
    if (is_generalised_node(model.domain(), at.node)) continue;
    const double* x = model.domain().coordinates().data() + 3 * static_cast<std::size_t>(at.node);
    values[static_cast<std::size_t>(e)] = rigid_value(unknown, direction, x);
  }
  Vector motion = model.make_vector();
  motion.from_host(values);
  return motion;
}

std::vector<std::string> check_follows_base(const AnalysisModel& model, int direction, const Vector& motion) {
  std::vector<std::string> notes;
  // Coefficients in decks have few digits: 0.33333 thrice is 1 − 1e-5.
  constexpr double exact = 1e-9, rounded = 1e-5;
  const std::string& name = ModeSet::direction_names()[static_cast<std::size_t>(direction)];
  const std::string where = "base acceleration along " + name;
  for (const BatchOrigin& origin : model.batches())
    if (origin.kind == BatchOrigin::Kind::block &&
        model.domain().block(static_cast<std::size_t>(origin.block)).type().program().axisymmetric() && name != "y")
      refuse_base_motion("an axisymmetric body can follow a motion of the base along its axis, y, alone", where);
  if (!has_unknown(model, "uz") && (name == "z" || name == "rx" || name == "ry"))
    refuse_base_motion("the model is plane: its base can move along x and y and turn about z (rz)", where);
  const std::vector<double> r = motion.to_host();
  for (const ConstraintEquation& equation : model.domain().equations()) {
    double sum = 0, size = 0;
    for (const auto& term : equation.terms) {
      const std::int32_t e = model.equation(term.node, term.unknown);
      if (e < 0) continue;
      sum += term.coefficient * r[static_cast<std::size_t>(e)];
      size += std::abs(term.coefficient * r[static_cast<std::size_t>(e)]);
    }
    if (std::abs(sum) > exact * size && std::abs(sum) <= rounded * size)
      notes.push_back(
          "the equation " + (equation.label.empty() ? std::string() : "'" + equation.label + "' ") + "at " +
          model.domain().node_label(equation.terms.front().node) + " holds in a motion of the whole structure " +
          (direction < 3 ? "along " + name : "about " + name.substr(1)) + " to " +
          short_number(std::abs(sum) / size, 2) + " only, as if its coefficients were rounded; it is taken to hold");
    if (std::abs(sum) > rounded * size)
      refuse_base_motion(
          "the equation " + (equation.label.empty() ? std::string() : "'" + equation.label + "' ") +
              "does not hold in a motion of the whole structure, so that it cannot follow the base; apply loads "
              "instead",
          where + ", " + model.domain().node_label(equation.terms.front().node));
  }
  return notes;
}

}  // namespace voussoir::detail
