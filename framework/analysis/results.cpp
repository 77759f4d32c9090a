#include <voussoir/framework/analysis/nodal_mean.hpp>
#include <voussoir/framework/analysis/results.hpp>

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <voussoir/backends/large_vector.hpp>
#include <voussoir/framework/analysis/detail/carry_to_nodes.hpp>
#include <voussoir/framework/analysis/detail/compact_field.hpp>
#include <voussoir/framework/analysis/detail/lane_tensors.hpp>
#include <voussoir/framework/detail/nan.hpp>
#include <voussoir/framework/detail/node_range.hpp>

namespace voussoir {
namespace {

using detail::nan;

int index_of(const std::vector<std::string>& names, std::string_view name, const char* what) {
  const auto it = std::find(names.begin(), names.end(), name);
  if (it != names.end()) return static_cast<int>(it - names.begin());
  std::string known;
  for (const auto& n : names) known += (known.empty() ? "" : ", ") + n;
  throw Error(ErrorCode::not_found, "'" + std::string(name) + "' does not exist; there are " + known, what);
}

}  // namespace

int NodalField::component_index(std::string_view component) const {
  return index_of(components, component, name.c_str());
}

NodalField::Extreme NodalField::largest(std::string_view component) const {
  const int c = component_index(component);
  Extreme extreme;
  for (std::size_t i = 0; i * components.size() < values.size(); ++i) {
    const double v = values[i * components.size() + c];
    if (!std::isnan(v) && (extreme.node < 0 || std::abs(v) > std::abs(extreme.value)))
      extreme = {static_cast<std::int32_t>(i), v};
  }
  return extreme;
}

std::string field_name(const std::vector<std::string>& unknowns) {
  const auto is = [](const std::string& name, char kind) {
    return name.size() == 2 && name[0] == kind && name[1] >= 'x' && name[1] <= 'z';
  };
  if (std::any_of(unknowns.begin(), unknowns.end(), [&](const auto& n) { return is(n, 'u'); })) return "displacement";
  if (!unknowns.empty() && std::all_of(unknowns.begin(), unknowns.end(), [&](const auto& n) { return is(n, 'r'); }))
    return "rotation";
  std::string name;
  for (const std::string& n : unknowns) name += (name.empty() ? "" : "_") + (n == "T" ? "temperature" : n);
  return name;
}

double sum_over(const NodalField& field, const Domain& domain, const std::string& node_set,
                std::string_view component) {
  const int c = field.component_index(component);
  double sum = 0;
  for (std::int32_t n : domain.node_set(node_set))
    if (const double value = field.at(n, c); !std::isnan(value)) sum += value;
  return sum;
}

double PointField::at(const Domain& domain, Id element, int point, std::string_view name) const {
  const ElementRef ref = domain.element_ref(element);
  if (ref.block != block)
    throw Error(ErrorCode::not_found,
                "the element is not in these results, which are those of block '" + domain.block(block).name() + "'",
                domain.element_label(ref));
  if (point < 0 || point >= points)
    throw Error(
        ErrorCode::not_found,
        "there is no point " + std::to_string(point) + "; there are " + std::to_string(points) + ", counted from 0",
        domain.element_label(ref));
  return at(ref.element, point, name);
}

int PointField::name_index(std::string_view name) const { return index_of(names, name, "point results"); }
bool PointField::has(std::string_view name) const { return std::find(names.begin(), names.end(), name) != names.end(); }

namespace {

/// Blocks of each material that have all of these values and can carry them to their nodes.
std::map<std::string, std::vector<const PointField*>> by_material(const Domain& domain,
                                                                  const std::vector<PointField>& points,
                                                                  const std::vector<std::string>& names) {
  std::map<std::string, std::vector<const PointField*>> result;
  for (const auto& field : points) {
    const bool complete = std::all_of(names.begin(), names.end(), [&](const auto& n) { return field.has(n); });
    if (!complete || domain.block(field.block).type().program().extrapolation().empty()) continue;
    const auto& material = domain.block(field.block).material();
    result[material ? material->name() : ""].push_back(&field);
  }
  return result;
}

/// Adds what the elements of blocks carry to their nodes to `sum`, whose records begin `stride` apart, and counts them.
/// Values that cannot be carried to nodes are left out.
void add_to_nodes(const Domain& domain, const std::vector<const PointField*>& fields,
                  const std::vector<std::string>& names, std::size_t stride, std::vector<double>& sum,
                  std::vector<std::int32_t>& count) {
  const std::size_t width = names.size();
  std::vector<detail::Columns> columns(fields.size());
  for (std::size_t f = 0; f < fields.size(); ++f)
    if (!domain.block(fields[f]->block).type().program().extrapolation().empty())
      columns[f] = detail::Columns(*fields[f], names);
  std::size_t most = 0;  // nodes of an element
  for (const PointField* field : fields)
    most = std::max(most, static_cast<std::size_t>(domain.block(field->block).nodes_per_element()));
  const std::size_t apart = (most * width + 15) / 16 * 16 + 16;  // threads write to lines of memory of their own
  std::vector<double> locals(apart * static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel if (domain.node_count() > detail::worth_threads)
  {
    const detail::NodeRange mine(domain.node_count());
    double* const local = locals.data() + apart * static_cast<std::size_t>(omp_get_thread_num());
    const auto add = [&](std::int32_t node, const double* values) {
      ++count[node];
      double* const to = sum.data() + node * stride;
      for (std::size_t k = 0; k < width; ++k) to[k] += values[k];
    };
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const ElementBlock& block = domain.block(fields[f]->block);
      const auto extrapolation = block.type().program().extrapolation();
      const double* const rows = extrapolation.data();
      const auto nodes = static_cast<std::size_t>(extrapolation.empty() ? 0 : block.nodes_per_element());
      const std::int32_t* node = block.connectivity().data();
      for (std::int32_t e = 0; nodes > 0 && e < block.size(); ++e, node += nodes) {
        const auto own = static_cast<std::size_t>(
            std::count_if(node, node + nodes, [&](std::int32_t n) { return mine.contains(n); }));
        if (own == nodes) {
          detail::carry_to_nodes(rows, *fields[f], columns[f], e, nodes, local);
          for (std::size_t a = 0; a < nodes; ++a) add(node[a], local + a * width);
        } else if (own > 0) {
          for (std::size_t a = 0; a < nodes; ++a) {
            if (!mine.contains(node[a])) continue;
            detail::carry_to_nodes(rows + a * fields[f]->points, *fields[f], columns[f], e, 1, local);
            add(node[a], local);
          }
        }
      }
    }
  }
}

/// Calls compute(list, count) for `records` of `stride` numbers each, as many as fit in LaneTensors at a time, which
/// adds numbers behind the first `width` of each. Those of records that contain NaN are NaN.
template <class Compute>
void extend(double* values, std::size_t records, std::size_t width, std::size_t stride, const Compute& compute) {
  constexpr std::size_t lanes = detail::LaneTensors::lanes;
  const std::size_t batches = (records + lanes - 1) / lanes;
#pragma omp parallel for schedule(static) if (records > detail::worth_threads)
  for (std::size_t batch = 0; batch < batches; ++batch) {
    std::array<double*, lanes> list;
    std::size_t count = 0;
    for (std::size_t i = batch * lanes; i < std::min(records, (batch + 1) * lanes); ++i) {
      double* const record = values + i * stride;
      if (std::any_of(record, record + width, [](double v) { return std::isnan(v); }))
        std::fill(record + width, record + stride, nan);
      else
        list[count++] = record;
    }
    if (count > 0) compute(list.data(), count);
  }
}

/// Means at the nodes, each with what compute() adds to it: `extra` numbers. Nodes without elements have NaN.
template <class Compute>
NodalField means_and_more(const Domain& domain, const std::string& name, const std::vector<const PointField*>& fields,
                          const std::vector<std::string>& names, const std::vector<std::string>& extra,
                          const Compute& compute) {
  const std::size_t width = names.size(), stride = width + extra.size();
  const auto nodes = static_cast<std::size_t>(domain.node_count());
  NodalField field{name, names, large_zeros(nodes * stride)};
  field.components.insert(field.components.end(), extra.begin(), extra.end());
  std::vector<std::int32_t> count(nodes, 0);
  add_to_nodes(domain, fields, names, stride, field.values, count);
#pragma omp parallel for schedule(static) if (nodes > detail::worth_threads)
  for (std::size_t n = 0; n < nodes; ++n) {
    double* const record = field.values.data() + n * stride;
    for (std::size_t k = 0; k < width; ++k) record[k] = count[n] ? record[k] / count[n] : nan;
  }
  if (!extra.empty()) extend(field.values.data(), nodes, width, stride, compute);
  return field;
}

}  // namespace

std::vector<MaterialField> nodal_values(const Domain& domain, const std::vector<PointField>& points,
                                        const std::vector<std::string>& names) {
  std::vector<MaterialField> result;
  for (const auto& [material, fields] : by_material(domain, points, names))
    result.push_back({material, nodal_mean(domain, fields, names)});
  return result;
}

NodalField nodal_mean(const Domain& domain, const std::vector<const PointField*>& fields,
                      const std::vector<std::string>& names) {
  return means_and_more(domain, "nodal", fields, names, {}, [](double* const*, std::size_t) {});
}

std::map<std::string, detail::CompactField> detail::compact_nodal_values(const Domain& domain,
                                                                         const std::vector<PointField>& points,
                                                                         const std::vector<std::string>& names) {
  std::map<std::string, CompactField> result;
  const auto materials = by_material(domain, points, names);
  if (materials.empty()) return result;
  const std::size_t width = names.size();
  std::vector<double> sum(static_cast<std::size_t>(domain.node_count()) * width, 0.0);
  std::vector<std::int32_t> count(domain.node_count(), 0);
  for (const auto& [material, fields] : materials) {
    CompactField& compact = result[material];
    compact.width = width;
    add_to_nodes(domain, fields, names, width, sum, count);
    for (const PointField* field : fields) {
      const auto nodes = domain.block(field->block).connectivity();
      compact.nodes.insert(compact.nodes.end(), nodes.begin(), nodes.end());
    }
    std::sort(compact.nodes.begin(), compact.nodes.end());
    compact.nodes.erase(std::unique(compact.nodes.begin(), compact.nodes.end()), compact.nodes.end());
    compact.nodes.shrink_to_fit();
    compact.values.reserve(compact.nodes.size() * width);
    for (const std::int32_t n : compact.nodes) {
      for (std::size_t k = 0; k < width; ++k) {
        double& value = sum[static_cast<std::size_t>(n) * width + k];
        compact.values.push_back(value / count[n]);
        value = 0;  // the next material begins anew
      }
      count[n] = 0;
    }
  }
  return result;
}

namespace {

const std::vector<std::string> stress_names{"sxx", "syy", "szz", "sxy", "syz", "sxz"};
const std::vector<std::string> invariant_names{"mises", "principal1", "principal2", "principal3"};

/// nodal_values() of some names, and what compute() adds to them.
template <class Compute>
std::vector<MaterialField> nodal(const Domain& domain, const StepResult& result, const std::string& name,
                                 const std::vector<std::string>& names, const std::vector<std::string>& extra,
                                 const Compute& compute) {
  std::vector<MaterialField> materials;
  for (const auto& [material, fields] : by_material(domain, result.points, names))
    materials.push_back({material, means_and_more(domain, name, fields, names, extra, compute)});
  return materials;
}

/// Principal values of tensors whose components begin at given[i], to where write(i) points.
template <class Write>
void write_principal(const double* const* given, std::size_t count, const Write& write) {
  detail::LaneTensors tensors{};
  for (std::size_t l = 0; l < count; ++l) tensors.set(l, given[l]);
  tensors.diagonalize();
  for (std::size_t l = 0; l < count; ++l) {
    const auto principal = tensors.diagonal(l);
    std::copy(principal.begin(), principal.end(), write(l));
  }
}

double mises_of(const double* stress) {
  std::array<double, 6> six;
  std::copy_n(stress, 6, six.begin());
  return von_mises(six);
}

}  // namespace

void add_invariants(PointField& field) {
  const auto has = [&](const std::string& n) { return field.has(n); };
  if (!std::all_of(stress_names.begin(), stress_names.end(), has) || field.has(invariant_names[0])) return;
  std::array<int, 6> place;
  for (int i = 0; i < 6; ++i) place[i] = field.name_index(stress_names[i]);
  const std::size_t width = field.names.size(), stride = width + invariant_names.size();
  const std::size_t records = width ? field.values.size() / width : 0;
  std::vector<double> extended(records * stride);
#pragma omp parallel for schedule(static) if (records > detail::worth_threads)
  for (std::size_t i = 0; i < records; ++i)
    std::copy_n(field.values.data() + i * width, width, extended.data() + i * stride);
  extend(extended.data(), records, width, stride, [&](double* const* list, std::size_t count) {
    std::array<std::array<double, 6>, detail::LaneTensors::lanes> stress;
    std::array<const double*, detail::LaneTensors::lanes> given;
    for (std::size_t l = 0; l < count; ++l) {
      for (int i = 0; i < 6; ++i) stress[l][i] = list[l][place[i]];
      given[l] = stress[l].data();
      list[l][width] = von_mises(stress[l]);
    }
    write_principal(given.data(), count, [&](std::size_t l) { return list[l] + width + 1; });
  });
  field.values = std::move(extended);
  field.names.insert(field.names.end(), invariant_names.begin(), invariant_names.end());
}

std::vector<MaterialField> nodal_stress(const Domain& domain, const StepResult& result) {
  return nodal(domain, result, "stress", stress_names, invariant_names, [](double* const* list, std::size_t count) {
    for (std::size_t l = 0; l < count; ++l) list[l][6] = mises_of(list[l]);
    write_principal(list, count, [&](std::size_t l) { return list[l] + 7; });
  });
}

std::vector<MaterialField> nodal_strain(const Domain& domain, const StepResult& result) {
  return nodal(domain, result, "strain", {"exx", "eyy", "ezz", "exy", "eyz", "exz"},
               {"principal1", "principal2", "principal3"}, [](double* const* list, std::size_t count) {
                 write_principal(list, count, [&](std::size_t l) { return list[l] + 6; });
               });
}

std::vector<MaterialField> nodal_flux(const Domain& domain, const StepResult& result) {
  return nodal(domain, result, "flux", {"qx", "qy", "qz"}, {"magnitude"}, [](double* const* list, std::size_t count) {
    for (std::size_t l = 0; l < count; ++l) list[l][3] = std::hypot(list[l][0], list[l][1], list[l][2]);
  });
}

}  // namespace voussoir
