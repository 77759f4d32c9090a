#include <voussoir/jobs/detail/step_fields.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include <voussoir/framework/response/support_motion.hpp>
#include <voussoir/jobs/detail/nan.hpp>

namespace voussoir::detail {
namespace {

/// Each material has an array over all nodes; with more of them than this a picture would be mostly empty.
constexpr std::size_t most_materials = 8;

}  // namespace

std::vector<double> element_means(const Domain& domain, const std::vector<PointField>& points, std::string_view name) {
  std::vector<std::int64_t> first{0};
  for (std::size_t b = 0; b < domain.block_count(); ++b) first.push_back(first.back() + domain.block(b).size());
  std::vector<double> means;
  for (const PointField& field : points) {
    if (!field.has(name)) continue;
    if (means.empty()) means.assign(first.back(), nan);
    const int k = field.name_index(name);
    for (std::int32_t e = 0; e < domain.block(field.block).size(); ++e) {
      double sum = 0;
      for (int p = 0; p < field.points; ++p) sum += field.at(e, p, k);
      means[first[field.block] + e] = sum / field.points;
    }
  }
  return means;
}

namespace {

/// The fields of each material that has stress or flux, by their place in the list.
std::map<std::string, std::vector<std::size_t>> fields_by_material(const Domain& domain,
                                                                   const std::vector<PointField>& points) {
  std::map<std::string, std::vector<std::size_t>> by_material;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!points[i].has("sxx") && !points[i].has("qx")) continue;
    const auto& material = domain.block(points[i].block).material();
    by_material[material ? material->name() : ""].push_back(i);
  }
  return by_material;
}

}  // namespace

bool has_many_materials(const Domain& domain, const std::vector<PointField>& points) {
  return fields_by_material(domain, points).size() > most_materials;
}

std::vector<double> acting_temperatures(const Job& job, const JobStep& step, const LoadCase* loads,
                                        const NodalField* heat) {
  const Domain& domain = *job.domains[step.domain];
  const std::vector<double>* const own = loads && !loads->temperatures().empty() ? &loads->temperatures() : nullptr;
  if (!own && !heat) return {};
  std::vector<double> values = domain.initial_temperatures();
  for (std::size_t n = 0; n < values.size(); ++n) {
    const double given = own && n < own->size() ? (*own)[n] : nan;
    const double hot = heat && n < heat->values.size() ? heat->values[n] : nan;
    if (!std::isnan(given))
      values[n] += step.load_factor * (given - values[n]);
    else if (!std::isnan(hot))
      values[n] = hot;
  }
  return values;
}

std::vector<double> acting_temperatures(const Job& job, const JobStep& step, double total_time) {
  const auto* request = std::get_if<DynamicStep>(&step.modal);
  if (!request) return {};
  const Domain& domain = *job.domains[step.domain];
  std::vector<double> values;
  for (const StepLoad& load : request->loads) {
    const std::vector<double>& given = domain.load_case(load.load_case).temperatures();
    if (given.empty()) continue;
    if (values.empty()) values = domain.initial_temperatures();
    const double factor =
        load.real * sampled(load.amplitude, total_time - request->times.start, request->times.increment);
    for (std::size_t n = 0; n < given.size(); ++n)
      if (!std::isnan(given[n]))
        values[n] += factor * (given[n] - domain.initial_temperature(static_cast<std::int32_t>(n)));
  }
  return values;
}

StepFields make_step_fields(const Job& job, const JobStep& step, StepResult& result, bool ranges_only) {
  const Domain& domain = *job.domains[step.domain];
  const std::int32_t nodes = reported_nodes(job, domain);
  StepFields fields;

  // One material after the other, so that memory holds the nodal values of one.
  const auto by_material = fields_by_material(domain, result.points);
  fields.too_many_materials = by_material.size() > most_materials;
  for (const auto& [material, members] : by_material) {
    StepResult borrowed;
    for (const std::size_t i : members) borrowed.points.push_back(std::move(result.points[i]));
    const std::string ending =
        by_material.size() == 1 ? "" : "_" + (material.empty() ? std::string("(none)") : material);
    const bool keep = !ranges_only && !fields.too_many_materials;
    const auto show = [&](const std::string& name, int first, int count) {
      fields.shown.push_back({name + ending, &fields.nodal.back(), first, count});
    };
    for (MaterialField& m : nodal_stress(domain, borrowed)) {
      join_ranges(fields.ranges, ranges_of(domain, m.field, nodes));
      if (!keep) continue;
      fields.nodal.push_back(std::move(m.field));
      show("stress", 0, 6);
      show("mises", 6, 1);
      show("principal", 7, 3);
    }
    for (MaterialField& m : nodal_flux(domain, borrowed)) {
      std::vector<Range> ranges = ranges_of(domain, m.field, nodes);
      for (Range& r : ranges)
        if (r.quantity == "magnitude") r.quantity = "flux";
      join_ranges(fields.ranges, ranges);
      if (!keep) continue;
      fields.nodal.push_back(std::move(m.field));
      show("flux", 0, 3);
    }
    for (std::size_t k = 0; k < members.size(); ++k) result.points[members[k]] = std::move(borrowed.points[k]);
  }
  if (ranges_only) return fields;

  const auto add_means = [&](const char* of, const char* name) {
    if (auto means = element_means(domain, result.points, of); !means.empty())
      fields.cells.emplace_back(name, std::move(means));
  };
  add_means("stress", "axial_stress");
  add_means("N", "N");
  add_means("Vy", "Vy");
  add_means("Vz", "Vz");
  add_means("T", "torque");
  add_means("My", "My");
  add_means("Mz", "Mz");
  add_means("peeq", "peeq");
  if (fields.too_many_materials) {
    for (const char* name : {"sxx", "syy", "szz", "sxy", "syz", "sxz", "qx", "qy", "qz"}) add_means(name, name);
    const auto stress = [&](std::size_t i) { return &fields.cells[i].second; };
    const auto first =
        std::find_if(fields.cells.begin(), fields.cells.end(), [](const auto& c) { return c.first == "sxx"; });
    if (first != fields.cells.end()) {
      const std::size_t at = static_cast<std::size_t>(first - fields.cells.begin());
      std::vector<double> mises(first->second.size(), nan);
      for (std::size_t e = 0; e < mises.size(); ++e)
        mises[e] = von_mises({(*stress(at))[e], (*stress(at + 1))[e], (*stress(at + 2))[e], (*stress(at + 3))[e],
                              (*stress(at + 4))[e], (*stress(at + 5))[e]});
      fields.cells.emplace_back("mises", std::move(mises));
    }
  }
  return fields;
}

}  // namespace voussoir::detail
