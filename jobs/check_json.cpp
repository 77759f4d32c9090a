#include <cmath>
#include <nlohmann/json.hpp>

#include <voussoir/backends/version.hpp>
#include <voussoir/framework/io/safe_text.hpp>
#include <voussoir/jobs/check_job.hpp>

namespace voussoir {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json counts(const std::vector<Count>& list) {
  Json object = Json::object();
  for (const Count& c : list) object[c.name] = c.count;
  return object;
}

Json element(Id id, double value) { return {{"value", number(value)}, {"element", id}}; }

Json memory(const std::vector<MemoryEstimate>& list) {
  Json array = Json::array();
  for (const MemoryEstimate& m : list)
    array.push_back({{"solver", m.solver},
                     {"storage", m.storage},
                     {"model_bytes", std::llround(m.model)},
                     {"matrix_bytes", std::llround(m.matrix)},
                     {"work_bytes", std::llround(m.work)},
                     {"total_bytes", std::llround(m.total())}});
  return array;
}

Json domain(const DomainCheck& d) {
  Json quality{{"measured_elements", d.quality.measured}};
  if (d.quality.measured > 0) {
    quality["largest_aspect_ratio"] = element(d.longest_element, d.quality.largest_aspect_ratio);
    quality["smallest_scaled_jacobian"] = element(d.worst_element, d.quality.smallest_scaled_jacobian);
    Json aspect = Json::array(), jacobian = Json::array();
    for (std::size_t i = 0; i < d.quality.aspect_histogram.size(); ++i)
      aspect.push_back({{"up_to", i < MeshQuality::aspect_limits.size() ? Json(MeshQuality::aspect_limits[i]) : Json()},
                        {"elements", d.quality.aspect_histogram[i]}});
    for (std::size_t i = 0; i < d.quality.jacobian_histogram.size(); ++i)
      jacobian.push_back({{"up_to", static_cast<double>(i) / 10}, {"elements", d.quality.jacobian_histogram[i]}});
    quality["aspect_ratios"] = aspect;
    quality["scaled_jacobians"] = jacobian;
  }
  return {{"nodes", d.nodes},
          {"unused_nodes", d.unused_nodes},
          {"elements", d.elements},
          {"element_types", counts(d.element_types)},
          {"materials", counts(d.materials)},
          {"node_sets", counts(d.node_sets)},
          {"element_sets", counts(d.element_sets)},
          {"surfaces", counts(d.surfaces)},
          {"equations_between_nodes", d.equations},
          {"parts", d.parts},
          {"lower_corner", d.lower},
          {"upper_corner", d.upper},
          {"unknowns", d.size.equations},
          {"solver", d.chosen_solver},
          {"quality", quality},
          {"memory", memory(d.memory)}};
}

}  // namespace

std::string to_json(const CheckReport& report) {
  Json document{{"voussoir", version()},
                {"file", report.source},
                {"name", report.name},
                {"title", report.title},
                {"can_run", report.can_run() && !report.mesh_only},
                {"mesh_only", report.mesh_only}};
  document["domains"] = Json::array();
  for (const DomainCheck& d : report.domains) document["domains"].push_back(domain(d));
  document["steps"] = Json::array();
  for (const StepCheck& s : report.steps)
    document["steps"].push_back({{"name", s.name},
                                 {"procedure", to_string(s.procedure)},
                                 {"domain", s.domain},
                                 {"prescribed_unknowns", s.prescribed},
                                 {"free_unknowns", s.unknowns},
                                 {"loads", s.loads}});
  document["findings"] = Json::array();
  for (const Finding& f : report.findings) {
    Json finding{{"severity", to_string(f.severity)}, {"kind", f.kind}, {"where", f.where}, {"text", f.text}};
    if (!f.elements.empty()) finding["elements"] = f.elements;
    if (!f.nodes.empty()) finding["nodes"] = f.nodes;
    document["findings"].push_back(finding);
  }
  document["notes"] = Json::array();
  for (const JobNote& n : report.notes) document["notes"].push_back({{"where", n.where}, {"text", n.text}});
  // Titles come from files in any encoding: what is not UTF-8 is replaced rather than refused.
  return printable_json(document.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace voussoir
