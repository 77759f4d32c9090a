#include <algorithm>
#include <cmath>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/detail/response_columns.hpp>
#include <voussoir/framework/analysis/superposed_response.hpp>
#include <voussoir/framework/detail/nan.hpp>

namespace voussoir {
namespace {

using detail::nan;

void require_time(std::size_t time, std::size_t count) {
  if (time >= count)
    throw Error(ErrorCode::misuse,
                "the history has " + std::to_string(count) + " times, and time " + std::to_string(time) +
                    " was asked for; they are counted from 0",
                "mode superposition");
}

std::vector<double> row(const std::vector<double>& values, std::size_t index, std::size_t width) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(index * width);
  return {first, first + static_cast<std::ptrdiff_t>(width)};
}

/// Coordinates at all times: what `make` says of a point.
template <class Make>
CoordinateHistory coordinates_of(const SuperposedHistory& history, const Make& make) {
  CoordinateHistory result;
  result.times.assign(history.times().begin(), history.times().end());
  for (std::size_t t = 0; t < history.count(); ++t) {
    const std::vector<double> c = make(history.point(t));
    result.coordinates = c.size();
    result.values.insert(result.values.end(), c.begin(), c.end());
  }
  return result;
}

ModalValues modal_values(const detail::ColumnValues& columns) {
  ModalValues values;
  for (const std::vector<double>& column : columns) values.add(column);
  return values;
}

/// Fields of extremes, NaN everywhere.
FieldExtremes empty_extremes(const NodalField& like) {
  NodalField empty = like;
  std::fill(empty.values.begin(), empty.values.end(), nan);
  NodalField times = empty;
  times.name = "time";
  return {empty, times, empty, times, empty};
}

void set(FieldExtremes& fields, std::size_t place, const Extremes& e) {
  fields.maximum.values[place] = e.maximum;
  fields.maximum_time.values[place] = e.maximum_time;
  fields.minimum.values[place] = e.minimum;
  fields.minimum_time.values[place] = e.minimum_time;
  fields.magnitude.values[place] = std::abs(e.peak().value);
}

/// The block's entry at the end of the list, begun where it is another one.
PointExtremes& entry_of(const detail::PointColumns& chunk, std::vector<PointExtremes>& results) {
  if (results.empty() || results.back().block != chunk.block) {
    PointExtremes& made = results.emplace_back();
    made.block = chunk.block;
    made.points = chunk.points;
    made.names = chunk.names;
    if (chunk.stress) made.names.emplace_back("mises");
  }
  return results.back();
}

double mises_of_components(std::span<const double> s) { return von_mises({s[0], s[1], s[2], s[3], s[4], s[5]}); }

}  // namespace

Extremes FieldExtremes::at(std::int32_t node, std::string_view component) const {
  return {maximum.at(node, component), maximum_time.at(node, component), minimum.at(node, component),
          minimum_time.at(node, component)};
}

const Extremes& PointExtremes::at(std::size_t place, int point, std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end() || place >= elements.size() || point < 0 || point >= points)
    throw Error(ErrorCode::not_found,
                "there is no '" + std::string(name) + "' of element " + std::to_string(place) + ", point " +
                    std::to_string(point) + ", in these extremes",
                "mode superposition");
  return values[(place * static_cast<std::size_t>(points) + static_cast<std::size_t>(point)) * names.size() +
                static_cast<std::size_t>(found - names.begin())];
}

PointExtremes::Largest PointExtremes::largest(std::string_view name) const {
  Largest result;
  for (std::size_t e = 0; e < elements.size(); ++e)
    for (int p = 0; p < points; ++p) {
      const Peak peak = at(e, p, name).peak();
      if (result.element < 0 || std::abs(peak.value) > std::abs(result.peak.value)) result = {elements[e], p, peak};
    }
  return result;
}

const std::vector<int>& SuperposedHistory::modes() const { return columns_->modes(); }

ModalPoint SuperposedHistory::point(std::size_t time) const {
  require_time(time, count());
  const std::size_t n = columns_->mode_count(), p = columns_->pattern_count();
  return {times_[time],
          row(q_, time, n),
          row(v_, time, n),
          row(a_, time, n),
          row(loads_, time, p),
          row(ground_v_, time, p),
          row(ground_u_, time, p),
          columns_->modes(),
          columns_->basis().fingerprint()};
}

CoordinateHistory SuperposedHistory::coordinates(ModalQuantity quantity) const {
  const std::vector<double>& values = quantity == ModalQuantity::displacement ? q_
                                      : quantity == ModalQuantity::velocity   ? v_
                                                                              : a_;
  return {times_, columns_->mode_count(), values};
}

StepResult SuperposedHistory::state(std::size_t time, bool recover) const {
  require_time(time, count());
  return columns_->state(point(time), "time " + short_number(times_[time], 10), recover);
}

NodalField SuperposedHistory::field(std::size_t time, ModalQuantity quantity, MotionFrame frame) const {
  return columns_->motion(point(time), quantity, frame);
}

std::vector<double> SuperposedHistory::history(Id node, const std::string& unknown, ModalQuantity quantity,
                                               MotionFrame frame) const {
  const std::vector<double> entries = columns_->motion_entries(columns_->equation_of(node, unknown), quantity, frame);
  const CoordinateHistory c =
      coordinates_of(*this, [&](const ModalPoint& p) { return columns_->motion_coordinates(p, quantity, frame); });
  const std::size_t entry = 0;
  return histories(c, ModalValues(entries, entries.size()), {&entry, 1});
}

std::vector<std::vector<double>> SuperposedHistory::reaction_sums() const {
  detail::ColumnValues columns;
  const std::size_t places = columns_->reaction_places(columns).size();
  const CoordinateHistory c =
      coordinates_of(*this, [&](const ModalPoint& p) { return columns_->reaction_coordinates(p); });
  std::vector<std::vector<double>> sums;
  for (std::size_t u = 0; u < columns_->model().unknown_names().size(); ++u) {
    const std::size_t entry = places + u;
    sums.push_back(histories(c, modal_values(columns), {&entry, 1}));
  }
  return sums;
}

FieldExtremes SuperposedHistory::extremes(ModalQuantity quantity, MotionFrame frame) const {
  const detail::ColumnValues columns = columns_->motion_columns(quantity, frame);
  const CoordinateHistory c =
      coordinates_of(*this, [&](const ModalPoint& p) { return columns_->motion_coordinates(p, quantity, frame); });
  const std::vector<Extremes> found = voussoir::extremes(c, modal_values(columns));
  const AnalysisModel& model = columns_->model();
  FieldExtremes result =
      empty_extremes(columns_->field_of(std::vector<double>(found.size(), 0.0), field_name(model.unknown_names())));
  const std::size_t width = model.unknown_names().size();
  for (std::int32_t e = 0; e < model.equation_count(); ++e) {
    const auto at = model.place(e);
    set(result, static_cast<std::size_t>(at.node) * width + static_cast<std::size_t>(at.component),
        found[static_cast<std::size_t>(e)]);
  }
  return result;
}

ReactionExtremes SuperposedHistory::reaction_extremes() const {
  detail::ColumnValues columns;
  const std::vector<std::size_t> places = columns_->reaction_places(columns);
  const CoordinateHistory c =
      coordinates_of(*this, [&](const ModalPoint& p) { return columns_->reaction_coordinates(p); });
  const std::vector<Extremes> found = voussoir::extremes(c, modal_values(columns));
  const AnalysisModel& model = columns_->model();
  ReactionExtremes result;
  result.reactions = empty_extremes(
      columns_->field_of(std::vector<double>(static_cast<std::size_t>(model.equation_count()), 0.0), "reaction"));
  for (std::size_t k = 0; k < places.size(); ++k) set(result.reactions, places[k], found[k]);
  result.unknowns = model.unknown_names();
  result.sums.assign(found.begin() + static_cast<std::ptrdiff_t>(places.size()), found.end());
  return result;
}

std::vector<PointExtremes> SuperposedHistory::point_extremes(const PointRequest& request) const {
  const CoordinateHistory c =
      coordinates_of(*this, [&](const ModalPoint& p) { return columns_->displacement_coordinates(p); });
  std::vector<PointExtremes> results;
  columns_->visit_points(request, [&](const detail::PointColumns& chunk) {
    PointExtremes& result = entry_of(chunk, results);
    result.elements.insert(result.elements.end(), chunk.elements.begin(), chunk.elements.end());
    const ModalValues values = modal_values(chunk.columns);
    const std::vector<Extremes> components = voussoir::extremes(c, values);
    if (!chunk.stress) {
      result.values.insert(result.values.end(), components.begin(), components.end());
      return;
    }
    const std::size_t width = chunk.names.size();
    const std::vector<Extremes> mises = extremes_of(c, values, width, mises_of_components);
    for (std::size_t p = 0; p < mises.size(); ++p) {
      const auto first = components.begin() + static_cast<std::ptrdiff_t>(p * width);
      result.values.insert(result.values.end(), first, first + static_cast<std::ptrdiff_t>(width));
      result.values.push_back(mises[p]);
    }
  });
  return results;
}

std::vector<OscillatorPeaks> SuperposedHistory::floor_spectrum(Id node, const std::string& unknown,
                                                               std::span<const double> periods,
                                                               double damping_ratio) const {
  const Accelerogram floor(times_, history(node, unknown, ModalQuantity::acceleration, MotionFrame::absolute),
                           "floor acceleration");
  return oscillator_peaks(floor, periods, damping_ratio);
}

}  // namespace voussoir
