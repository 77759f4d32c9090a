#include <voussoir/jobs/detail/step_histories.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <voussoir/jobs/detail/nan.hpp>
#include <voussoir/jobs/detail/print_tables.hpp>
#include <voussoir/jobs/detail/table_csv.hpp>

namespace voussoir::detail {
namespace {

/// Curves of one history. A table with more columns is not read by anybody.
constexpr std::size_t most_history_curves = 2000;
/// Values of all histories of a step: 0.8 GB.
constexpr std::size_t most_history_values = 100'000'000;

bool asks_for(const HistoryRequest& request, std::initializer_list<const char*> quantities) {
  return std::any_of(request.of.quantities.begin(), request.of.quantities.end(), [&](const std::string& q) {
    return std::any_of(quantities.begin(), quantities.end(), [&](const char* name) { return q == name; });
  });
}

/// The values of a sample, one for each curve, and what the curves are called.
struct SampledCurves {
  std::vector<std::string> names, columns;
  std::vector<double> values;

  void add(const std::string& place, const std::string& column, double value) {
    names.push_back(place + " " + column);
    columns.push_back(column);
    values.push_back(value);
  }
};

/// What a column is called in curves: energies of elements and energy densities at points have the same name in tables.
std::string curve_column(const PrintTable& table, std::size_t column) {
  return table.quantity == "ENER" ? "energy_density" : table.columns[column];
}

std::string place_of_row(const PrintTable& table, std::size_t row, bool centroids) {
  std::string place = table.of_nodes ? "node " : "element ";
  place += table.names.empty() ? std::to_string(table.ids[row]) : table.names[row];
  if (table.has_points && !centroids) place += " point " + std::to_string(table.points[row]);
  return place;
}

void add_table(const PrintTable& table, const HistoryRequest& request, SampledCurves& curves) {
  const auto is_kept = [&](const std::string& column) {
    return request.columns.empty() ||
           std::find(request.columns.begin(), request.columns.end(), column) != request.columns.end();
  };
  if (table.wants_rows)
    for (std::size_t row = 0; row < table.ids.size(); ++row)
      for (std::size_t c = 0; c < table.width(); ++c)
        if (is_kept(table.columns[c]))
          curves.add(place_of_row(table, row, request.centroids), curve_column(table, c), table.at(row, c));
  if (!table.wants_totals) return;
  for (std::size_t c = 0; c < table.width(); ++c) {
    if (!is_kept(table.columns[c])) continue;
    double sum = 0;
    for (std::size_t row = 0; row < table.ids.size(); ++row)
      if (!std::isnan(table.at(row, c))) sum += table.at(row, c);
    curves.add("sum over " + table.set, curve_column(table, c), sum);
  }
}

}  // namespace

PointField centroid_values(const PointField& field) {
  PointField means;
  means.block = field.block;
  means.points = 1;
  means.names = field.names;
  const std::size_t width = field.names.size(), points = static_cast<std::size_t>(field.points);
  if (width == 0 || points == 0) return means;
  const int volume = field.has("volume") ? field.name_index("volume") : -1;
  const std::size_t elements = field.values.size() / (width * points);
  means.values.assign(elements * width, 0.0);
  for (std::size_t e = 0; e < elements; ++e) {
    const double* const of = field.values.data() + e * points * width;
    double* const mean = means.values.data() + e * width;
    double whole = 0;
    for (std::size_t p = 0; p < points; ++p) {
      const double weight = volume < 0 ? 1.0 : of[p * width + static_cast<std::size_t>(volume)];
      whole += weight;
      for (std::size_t k = 0; k < width; ++k) mean[k] += weight * of[p * width + k];
    }
    for (std::size_t k = 0; k < width; ++k) mean[k] /= whole;
    if (volume >= 0) mean[volume] = whole;
  }
  return means;
}

std::vector<std::string> history_file_names(const JobStep& step) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const HistoryRequest& request : step.histories) {
    const std::string base = "_history_" + as_file_name(request.name);
    std::string unique = base;
    for (int k = 2; !taken.insert(unique).second; ++k) unique = base + "_" + std::to_string(k);
    names.push_back(unique);
  }
  return names;
}

StepHistories::StepHistories(const Job& job, std::size_t step, const DynamicTimes& times)
    : times_(times), heat_(is_heat(job.steps[step].procedure)) {
  for (const HistoryRequest& request : job.steps[step].histories) {
    const bool sums = asks_for(request, {"RF", "RFL", "ELSE", "EVOL"});
    if (request.of.totals != PrintRequest::Totals::no && !sums)
      throw Error(ErrorCode::bad_input,
                  "this history requests sums, but none of its quantities can be summed; RF, RFL, ELSE and EVOL can",
                  request.of.where);
    Record record;
    record.request = &request;
    record.history.name = request.name;
    records_.push_back(std::move(record));
  }
}

std::vector<double> StepHistories::targets() const {
  std::vector<double> all;
  for (const Record& record : records_) {
    const std::vector<double>& times = record.request->states.times;
    all.insert(all.end(), times.begin(), times.end());
  }
  return all;
}

bool StepHistories::takes(Record& record, std::int64_t increment, double time) const {
  const StateOutput& states = record.request->states;
  const double near = 1e-9 * times_.increment;
  const bool last = std::abs(time - times_.period) <= near;
  if (!states.times.empty())
    return std::any_of(states.times.begin(), states.times.end(), [&](double t) { return std::abs(t - time) <= near; });
  if (states.every > 0) return last || increment % states.every == 0;
  if (!(states.interval > 0)) return true;
  const double slack = 1e-9 * states.interval;
  const bool due = time >= record.next - slack;
  if (due) record.next = (std::floor((time + slack) / states.interval) + 1) * states.interval;
  return due || last;
}

StepHistories::Needs StepHistories::choose(std::int64_t increment, double time) {
  Needs needs;
  for (Record& record : records_) {
    record.chosen = takes(record, increment, time);
    if (!record.chosen) continue;
    const HistoryRequest& request = *record.request;
    needs.any = true;
    needs.points = needs.points || request.of.at == PrintRequest::At::elements;
    needs.velocity = needs.velocity || asks_for(request, {"V"});
    needs.acceleration = needs.acceleration || asks_for(request, {"A"});
    needs.temperatures = needs.temperatures || asks_for(request, {"NT"});
  }
  return needs;
}

HistoryTables::HistoryTables(const Job& job, std::size_t step)
    : job_(job), requests_(job.steps[step].histories), asked_(job.steps[step]) {
  asked_.prints.clear();
  for (const HistoryRequest& request : requests_) asked_.prints.push_back(request.of);
}

bool HistoryTables::has_members(std::size_t index) const {
  return has_set(*job_.domains[asked_.domain], requests_[index].of);
}

std::vector<PrintTable> HistoryTables::of(std::size_t index, const HistorySample& sample,
                                          std::vector<std::string>& notes) const {
  const HistoryRequest& request = requests_[index];
  const std::vector<double> none;
  std::vector<char> only(requests_.size(), 0);
  only[index] = 1;
  PrintSelection selection;
  selection.velocity = sample.velocity;
  selection.acceleration = sample.acceleration;
  selection.prints = &only;
  const bool changed =
      request.of.at == PrintRequest::At::elements && (request.centroids || asks_for(request, {"MISES"}));
  StepResult own;
  if (changed) {
    own.unknowns = sample.result->unknowns;
    for (const PointField& field : sample.result->points) {
      own.points.push_back(request.centroids ? centroid_values(field) : field);
      add_invariants(own.points.back());
    }
  }
  return print_tables(job_, asked_, changed ? own : *sample.result, sample.temperatures ? *sample.temperatures : none,
                      notes, selection);
}

std::vector<std::string> StepHistories::add(double time, bool at_start,
                                            const std::function<std::vector<PrintTable>(std::size_t request)>& tables) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    Record& record = records_[i];
    if (!record.chosen) continue;
    const HistoryRequest& request = *record.request;
    SampledCurves curves;
    for (const PrintTable& table : tables(i)) add_table(table, request, curves);
    // Flows of heat follow from steps: there are none at the start.
    if (heat_ && at_start)
      for (std::size_t k = 0; k < curves.columns.size(); ++k)
        if (curves.columns[k] == "heat_flow") curves.values[k] = nan;
    const bool first = record.history.curves.empty();
    if (first) {
      if (curves.names.size() > most_history_curves)
        throw Error(ErrorCode::bad_input,
                    "this history would have " + std::to_string(curves.names.size()) +
                        " curves, more than the limit of " + std::to_string(most_history_curves) +
                        "; name a smaller set or fewer quantities",
                    request.of.where);
      for (const std::string& name : curves.names) record.history.curves.emplace_back(name, std::vector<double>());
      record.history.columns = curves.columns;
    }
    append(record, time, curves.values);
    ByteWriter row;
    row.put(static_cast<std::uint64_t>(i)).put(time);
    row.put(first ? curves.names : std::vector<std::string>());
    row.put(first ? curves.columns : std::vector<std::string>()).put(curves.values);
    rows.push_back(row.take());
  }
  return rows;
}

void StepHistories::append(Record& record, double time, const std::vector<double>& values) {
  values_ += values.size();
  if (values_ > most_history_values)
    throw Error(ErrorCode::out_of_memory,
                "the histories of this step have more than " + std::to_string(most_history_values) +
                    " values, which do not fit; choose fewer states by FREQUENCY= or TIME INTERVAL= of *OUTPUT, "
                    "HISTORY, by \"every\" or \"interval\" in a job file, or smaller sets",
                record.request->of.where);
  record.history.times.push_back(time);
  for (std::size_t k = 0; k < values.size(); ++k) record.history.curves[k].second.push_back(values[k]);
}

void StepHistories::restore_row(ByteReader& in) {
  const auto index = static_cast<std::size_t>(in.get<std::uint64_t>());
  if (index >= records_.size()) in.fail("the number of histories differs");
  Record& record = records_[index];
  const double time = in.get<double>();
  const std::vector<std::string> names = in.texts();
  const std::vector<std::string> columns = in.texts();
  const std::vector<double> values = in.list<double>();
  if (!names.empty()) {
    for (const std::string& name : names) record.history.curves.emplace_back(name, std::vector<double>());
    record.history.columns = columns;
  }
  if (values.size() != record.history.curves.size()) in.fail("a row of a history has a different number of values");
  append(record, time, values);
}

void StepHistories::save(ByteWriter& out) const {
  for (const Record& record : records_) out.put(record.next);
}

void StepHistories::restore(ByteReader& in) {
  for (Record& record : records_) record.next = in.get<double>();
}

std::vector<RecordedHistory> StepHistories::take() {
  std::vector<RecordedHistory> all;
  for (Record& record : records_) all.push_back(std::move(record.history));
  records_.clear();
  return all;
}

}  // namespace voussoir::detail
