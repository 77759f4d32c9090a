#include <sys/resource.h>
#include <sys/utsname.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include <voussoir/backends/version.hpp>
#include <voussoir/framework/io/safe_text.hpp>
#include <voussoir/jobs/detail/results_json.hpp>
#include <voussoir/jobs/mode_files.hpp>

namespace voussoir::detail {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has neither NaN nor infinity.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (double v : values) list.push_back(number(v));
  return list;
}

/// Values by the names of their unknowns: {"ux": 1.5, …}.
Json by_name(const std::vector<std::string>& names, const std::vector<double>& values) {
  Json object = Json::object();
  for (std::size_t i = 0; i < names.size() && i < values.size(); ++i) object[names[i]] = number(values[i]);
  return object;
}

std::string now() {
  const std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

const char* name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::bad_input:
      return "bad_input";
    case ErrorCode::misuse:
      return "misuse";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::singular:
      return "singular";
    case ErrorCode::not_converged:
      return "not_converged";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::inverted:
      return "inverted";
    case ErrorCode::not_finite:
      return "not_finite";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::device:
      return "device";
    case ErrorCode::io:
      return "io";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

Json machine(const JsonContents& c) {
  Json object;
  utsname system{};
  ::uname(&system);
  object["architecture"] = system.machine;
  object["system"] = system.sysname;
  object["processors"] = std::thread::hardware_concurrency();
  if (c.result && c.result->threads > 0) object["threads"] = c.result->threads;
  return object;
}

WholeSizes whole_sizes(const Job& job) {
  WholeSizes all;
  auto& [nodes, elements, by_type] = all;
  // A body that is heated and then loaded stands in two models; its nodes are the same.
  for (const auto& domain : job.domains) {
    nodes = std::max<std::int64_t>(nodes, reported_nodes(job, *domain));
    elements = std::max<std::int64_t>(elements, domain->element_count());
    for (std::size_t b = 0; b < domain->block_count(); ++b)
      by_type[domain->block(b).type_name()] += domain->block(b).size();
  }
  return all;
}

Json sizes(const JsonContents& c) {
  Json object;
  const WholeSizes all = c.record->whole_sizes ? *c.record->whole_sizes : whole_sizes(*c.job);
  object["nodes"] = all.nodes;
  object["elements"] = all.elements;
  object["elements_by_type"] = all.elements_by_type;
  if (c.result) {
    object["equations"] = c.result->equations;
    object["free_equations"] = c.result->free_equations;
    object["matrix"] = c.result->matrix;
    object["backend_bytes"] = c.result->backend_bytes;
  }
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0)
    object["peak_memory_bytes"] = static_cast<std::int64_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
  return object;
}

Json processes(const std::vector<ProcessShare>& list) {
  Json all = Json::array();
  for (const ProcessShare& p : list)
    all.push_back({{"machine", p.machine},
                   {"backend", p.backend},
                   {"processors", p.processors},
                   {"threads", p.threads},
                   {"elements", p.elements},
                   {"nodes", p.nodes},
                   {"owned_nodes", p.owned_nodes},
                   {"part_bytes", p.part_bytes},
                   {"peak_memory_bytes", p.peak_bytes}});
  return all;
}

Json solver(const SolveReport& report) {
  Json object;
  object["name"] = report.solver;
  object["choice"] = report.choice;
  object["converged"] = report.converged;
  object["reason"] = report.reason;
  object["iterations"] = report.iterations;
  object["true_residual"] = number(report.true_residual);
  object["setup_seconds"] = number(report.setup_seconds);
  object["solve_seconds"] = number(report.solve_seconds);
  object["memory_bytes"] = report.memory_bytes;
  if (!report.preconditioner.empty()) object["preconditioner"] = report.preconditioner;
  if (!report.advice.empty()) object["advice"] = report.advice;
  if (!report.note.empty()) object["note"] = report.note;
  // Of a long iteration a picture's worth is kept.
  const std::size_t stride = report.history.size() / 500 + 1;
  std::vector<double> history;
  for (std::size_t i = 0; i < report.history.size(); i += stride) history.push_back(report.history[i]);
  object["history_stride"] = stride;
  object["history"] = numbers(history);
  return object;
}

Json extreme(const Extreme& e) {
  Json object{{"value", number(e.value)}, {"node", e.node}};
  if (!e.name.empty()) object["name"] = e.name;
  return object;
}

Json supports(const StepSummary& s) {
  Json list = Json::array();
  for (const SupportReaction& r : s.supports) {
    Json object{{"name", r.name}, {"nodes", r.nodes}, {"centre", r.centre}, {"sum", by_name(s.unknowns, r.sum)}};
    if (!r.moment.empty()) object["moment"] = numbers(r.moment);
    list.push_back(std::move(object));
  }
  return list;
}

Json error(const ErrorSummary& e) {
  Json worst = Json::array();
  for (const ErrorSummary::Worst& w : e.worst) {
    Json entry{{"element", w.element}};
    if (w.name != std::to_string(w.element)) entry["name"] = w.name;
    entry["error"] = number(w.error);
    entry["percent"] = number(w.percent);
    worst.push_back(std::move(entry));
  }
  return {{"quantity", e.quantity},
          {"error", number(e.error)},
          {"solution", number(e.solution)},
          {"percent", number(e.percent)},
          {"worst_elements", worst}};
}

Json points(const std::vector<PointResult>& list) {
  Json result = Json::array();
  for (const PointResult& point : list)
    for (std::size_t i = 0; i < point.sides.size(); ++i) {
      const ProbeValues& side = point.sides[i];
      Json entry{{"name", point.name}, {"position", side.position}, {"element", side.element}};
      if (point.elements.at(i) != std::to_string(side.element)) entry["element_name"] = point.elements[i];
      entry["material"] = side.material;
      entry["values"] = by_name(point.names, side.values);
      result.push_back(std::move(entry));
    }
  return result;
}

/// {"force": "N", …}, those that are given.
Json units(const Units& u) {
  Json object = Json::object();
  const std::pair<const char*, const std::string*> all[] = {{"force", &u.force},
                                                            {"length", &u.length},
                                                            {"stress", &u.stress},
                                                            {"temperature", &u.temperature},
                                                            {"power", &u.power}};
  for (const auto& [name, label] : all)
    if (!label->empty()) object[name] = *label;
  return object;
}

void add_modes(const ModeSet& modes, Json& object) {
  const EigenReport& report = modes.report;
  Json total;
  for (int d = 0; d < ModeSet::directions; ++d)
    total[ModeSet::direction_names()[static_cast<std::size_t>(d)]] = modes.total_mass[static_cast<std::size_t>(d)];
  object["converged"] = report.converged;
  object["completeness"] = name_of(report.completeness);
  object["statement"] = report.statement;
  object["total_mass"] = total;
  object["modes"] = Json::parse(modes_as_json(modes));
  object["solver"] = {{"name", report.solver},
                      {"choice", report.choice},
                      {"iterations", report.iterations},
                      {"factorisations", report.factorisations}};
}

/// What a step of modes or of mode superposition has to say.
void add_modal(const StepSummary& s, Json& object) {
  if (s.modes) return add_modes(*s.modes, object);
  object["statement"] = s.statement;
  Json peaks = Json::array();
  for (const ResponsePeak& peak : s.peaks)
    peaks.push_back({{"quantity", peak.quantity},
                     {"value", number(peak.value)},
                     {s.procedure == Procedure::harmonic ? "frequency" : "time", number(peak.at)},
                     {"place", peak.place}});
  object["peaks"] = peaks;
  const auto add = [&](const char* key, const std::vector<std::pair<std::string, double>>& numbers) {
    if (numbers.empty()) return;
    Json list = Json::object();
    for (const auto& [name, value] : numbers) list[name] = number(value);
    object[key] = list;
  };
  add(s.procedure == Procedure::transient_heat ? "heat" : "energies", s.totals);
  add("integration", s.counts);
}

Json step(const StepSummary& s) {
  Json object;
  object["number"] = s.number;
  object["name"] = s.name;
  object["title"] = s.title;
  object["procedure"] = to_string(s.procedure);
  // Modes, harmonic responses and spectra are not of a time.
  if (!has_states(s.procedure) || s.procedure == Procedure::modal_dynamic || is_integrated(s.procedure))
    object["time"] = number(s.time);
  if (has_states(s.procedure)) {
    add_modal(s, object);
    return object;
  }
  Json extremes = Json::object();
  for (const Range& r : s.ranges) extremes[r.quantity] = {{"min", extreme(r.least)}, {"max", extreme(r.greatest)}};
  object["extremes"] = extremes;
  object["load_sum"] = by_name(s.unknowns, s.load_sum);
  object["reaction_sum"] = by_name(s.unknowns, s.reaction_sum);
  Json sets = Json::object();
  // Added at the end: looking each name up in a list of very many sets would take the square of their number.
  auto& named = sets.get_ref<Json::object_t&>();
  for (const SetReaction& r : s.set_reactions) named.emplace_back(r.node_set, by_name(s.unknowns, r.sum));
  object["reactions_by_node_set"] = sets;
  object["supports"] = supports(s);
  if (s.procedure == Procedure::statics) object["energy"] = number(s.energy);
  if (!s.error.quantity.empty()) object["error_estimate"] = error(s.error);
  object["hints"] = s.hints;
  if (!s.points.empty()) object["points"] = points(s.points);
  object["solver"] = solver(s.report);
  return object;
}

/// What the cost model predicted, beside what was measured; null where it knows nothing.
Json predicted(const RunPrediction& p) {
  Json object{{"note", p.note}};
  if (p.stages.empty()) return object;
  Json seconds = Json::object();
  for (const StagePrediction& stage : p.stages)
    seconds[stage.stage] = stage.seconds ? Json(*stage.seconds) : Json(nullptr);
  object["seconds"] = seconds;
  if (p.iterations) {
    object["iterations"] = p.iterations->iterations;
    object["assumption"] = p.iterations->text;
  }
  return object;
}

}  // namespace

std::string modes_json(const ModeSet& modes, const Job& job, const JobStep& step) {
  Json root;
  root["program"] = "voussoir";
  root["version"] = version();
  root["file"] = job.source;
  root["step"] = step.name;
  add_modes(modes, root);
  root["notes"] = modes.report.notes;
  return printable_json(root.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string results_json(const JsonContents& c) {
  Json root;
  root["program"] = "voussoir";
  root["version"] = version();
  root["date"] = now();
  root["status"] = !c.error ? (c.result && !c.result->faults.empty() ? "not converged" : "finished")
                   : c.error->code() == ErrorCode::cancelled ? "cancelled"
                                                             : "failed";
  if (c.error)
    root["error"] = {{"code", name_of(c.error->code())}, {"where", c.error->where()}, {"text", c.error->text()}};
  root["job"] = {
      {"name", c.job->name}, {"title", c.job->title}, {"source", c.job->source}, {"steps", c.job->steps.size()}};
  if (!c.job->units.empty()) root["units"] = units(c.job->units);
  const StaticOptions& asked = c.record->options;
  root["options"] = {{"backend", asked.backend},
                     {"solver", asked.solver},
                     {"storage", asked.storage},
                     {"tangent", asked.tangent},
                     {"relative_tolerance", asked.relative_tolerance},
                     {"max_iterations", asked.max_iterations},
                     {"integration", to_string(asked.work.integration)},
                     {"assembly", to_string(asked.work.assembly)},
                     {"deterministic", asked.work.deterministic}};
  root["backend"] = c.result ? Json(c.result->backend) : Json(nullptr);
  root["machine"] = machine(c);
  root["sizes"] = sizes(c);
  if (!c.record->processes.empty()) root["processes"] = processes(c.record->processes);
  Json seconds;
  seconds["read"] = number(c.record->read_seconds);
  if (c.result)
    for (const StageTime& t : c.result->stage_times) seconds[t.stage] = number(t.seconds);
  seconds["write"] = number(c.write_seconds);
  root["seconds"] = seconds;
  if (c.result) root["predicted"] = predicted(c.result->prediction);
  root["steps"] = Json::array();
  for (const StepSummary& s : *c.steps) root["steps"].push_back(step(s));
  Json notes = Json::array();
  for (const JobNote& n : c.job->notes) notes.push_back((n.where.empty() ? "" : n.where + ": ") + n.text);
  if (c.result)
    for (const std::string& n : c.result->notes) notes.push_back(n);
  if (c.result)
    for (const std::string& n : c.result->faults) notes.push_back(n);
  for (const std::string& n : *c.notes) notes.push_back(n);
  root["notes"] = notes;
  root["files"] = Json::array();
  for (const auto& path : *c.files) root["files"].push_back(path.string());
  if (!c.earlier_files.empty()) root["earlier_files"] = c.earlier_files;
  // Names come from files of any encoding: what is not UTF-8 is replaced, rather than refused.
  return printable_json(root.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace voussoir::detail
