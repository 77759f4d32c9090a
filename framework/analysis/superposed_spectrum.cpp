#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/detail/response_columns.hpp>
#include <voussoir/framework/analysis/mode_superposition.hpp>

// Response-spectrum analysis: peaks of each mode, combined over modes, then over directions.

namespace voussoir {
namespace {

/// One direction: the peaks of the modal coordinates, and the acceleration that the modes left out follow.
struct Direction {
  std::vector<double> modal_loads;  // of the selected modes
  std::vector<double> coordinates;  // of modes and, where they respond, of what is left out
  bool rest = false;                // there is a coordinate of the modes left out
};

/// Combines the peaks of all directions. Columns are those of the modes and, after them, one of each direction.
class Combination {
 public:
  Combination(const ModalSystem& system, std::span<const Direction> directions, ModalCombination modal,
              DirectionalCombination directional)
      : system_(system), directions_(directions), modal_(modal), directional_(directional) {}

  std::vector<double> operator()(const detail::ColumnValues& columns) const {
    std::vector<std::vector<double>> peaks;
    for (std::size_t d = 0; d < directions_.size(); ++d) {
      ModalValues values;
      for (std::size_t i = 0; i < system_.modes(); ++i) values.add(columns[i]);
      std::vector<double> residual;
      if (directions_[d].rest) {
        residual = residual_values(columns[system_.modes() + d], values, directions_[d].modal_loads, system_.omegas());
        values.add(residual);
      }
      peaks.push_back(combine_modes(system_, values, directions_[d].coordinates, modal_));
    }
    return combine_directions(peaks, directional_);
  }

 private:
  const ModalSystem& system_;
  std::span<const Direction> directions_;
  ModalCombination modal_;
  DirectionalCombination directional_;
};

/// The acceleration of a rigid structure, where it is known.
std::optional<double> rigid_acceleration(const SpectrumInput& input) {
  if (input.rigid_acceleration) return std::abs(*input.rigid_acceleration);
  if (input.spectrum.axis() == ResponseSpectrum::Axis::period && input.spectrum.points().front().first == 0)
    return input.factor * input.spectrum.at_period(0);
  return {};
}

void check(std::span<const SpectrumInput> inputs) {
  if (inputs.empty() || inputs.size() > 3)
    throw Error(ErrorCode::bad_input, "a response-spectrum analysis has one, two or three directions",
                "response spectrum");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string where = "response spectrum along " + inputs[i].direction;
    if (!(inputs[i].factor >= 0) || !std::isfinite(inputs[i].factor))
      throw Error(ErrorCode::bad_input, "the factor of a spectrum must be finite and not negative", where);
    if (inputs[i].rigid_acceleration && !std::isfinite(*inputs[i].rigid_acceleration))
      throw Error(ErrorCode::bad_input, "the acceleration of a rigid structure is not finite", where);
    for (std::size_t j = 0; j < i; ++j)
      if (inputs[j].direction == inputs[i].direction)
        throw Error(ErrorCode::bad_input, "the direction is given twice", where);
  }
}

std::string rest_text(const Direction& direction, const SpectrumInput& input, bool corrected) {
  const std::string left_out = "along " + input.direction + ", modes left out ";
  if (direction.rest)
    return left_out + "respond with the acceleration " + short_number(direction.coordinates.back(), 6);
  if (!corrected) return left_out + "do not respond: there is no static correction";
  return left_out +
         "do not respond: the spectrum does not begin at period 0; give the acceleration of a rigid structure, "
         "rigid_acceleration";
}

/// Peaks at points, element by element as in a StepResult: NaN at elements that were not asked for.
void add_point_peaks(const detail::ResponseColumns& all, const PointRequest& request, const Combination& combined,
                     std::vector<PointField>& fields) {
  all.visit_points(request, [&](const detail::PointColumns& chunk) {
    const std::size_t width = static_cast<std::size_t>(chunk.points) * chunk.names.size();
    if (fields.empty() || fields.back().block != chunk.block) {
      const ElementBlock& block = all.model().domain().block(static_cast<std::size_t>(chunk.block));
      fields.push_back({chunk.block, chunk.points, chunk.names, {}});
      fields.back().values.assign(static_cast<std::size_t>(block.size()) * width,
                                  std::numeric_limits<double>::quiet_NaN());
    }
    const std::vector<double> peaks = combined(chunk.columns);
    for (std::size_t e = 0; e < chunk.elements.size(); ++e)
      std::copy_n(peaks.begin() + static_cast<std::ptrdiff_t>(e * width), width,
                  fields.back().values.begin() +
                      static_cast<std::ptrdiff_t>(static_cast<std::size_t>(chunk.elements[e]) * width));
  });
}

}  // namespace

SpectrumPeaks ModeSuperposition::response_spectrum(std::span<const SpectrumInput> inputs, ModalCombination combination,
                                                   DirectionalCombination directional,
                                                   const PointRequest& points) const {
  check(inputs);
  SpectrumPeaks result;
  const ModalSystem modes = system();
  std::vector<int> patterns;
  for (const SpectrumInput& input : inputs) patterns.push_back(basis_->pattern_of_direction(input.direction));
  const auto all = columns(patterns);
  std::vector<Direction> directions(inputs.size());
  for (std::size_t d = 0; d < inputs.size(); ++d) {
    std::vector<double> participation;
    for (std::size_t i = 0; i < modes.modes(); ++i) {
      directions[d].modal_loads.push_back(all->modal_load(i, d));
      participation.push_back(-all->modal_load(i, d));
    }
    directions[d].coordinates = spectral_coordinates(modes, participation, inputs[d].spectrum);
    for (double& q : directions[d].coordinates) q *= inputs[d].factor;
    const std::optional<double> rigid = rigid_acceleration(inputs[d]);
    directions[d].rest = all->corrected() && rigid;
    if (directions[d].rest) directions[d].coordinates.push_back(*rigid);
    result.notes.push_back(rest_text(directions[d], inputs[d], all->corrected()));
  }
  const Combination combined(modes, directions, combination, directional);
  const AnalysisModel& model = basis_->model();
  result.displacement = all->field_of(combined(all->motion_columns(ModalQuantity::displacement, MotionFrame::relative)),
                                      field_name(model.unknown_names()));
  detail::ColumnValues reaction_columns;
  const std::vector<std::size_t> places = all->reaction_places(reaction_columns);
  const std::vector<double> reactions = combined(reaction_columns);
  result.reactions = all->field_of(
      std::vector<double>(static_cast<std::size_t>(model.equation_count()), std::numeric_limits<double>::quiet_NaN()),
      "reaction");
  for (std::size_t k = 0; k < places.size(); ++k) result.reactions.values[places[k]] = reactions[k];
  result.reaction_sum.assign(reactions.begin() + static_cast<std::ptrdiff_t>(places.size()), reactions.end());
  add_point_peaks(*all, points, combined, result.points);
  return result;
}

}  // namespace voussoir
