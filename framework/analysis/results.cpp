#include <voussoir/framework/analysis/nodal_mean.hpp>
#include <voussoir/framework/analysis/results.hpp>

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <voussoir/backends/large_vector.hpp>
#include <voussoir/framework/analysis/detail/carry_to_nodes.hpp>
#include <voussoir/framework/analysis/detail/compact_field.hpp>
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
  const std::size_t apart = (width + 15) / 16 * 16;  // threads write to lines of memory of their own
  std::vector<double> locals(apart * static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel if (domain.node_count() > detail::worth_threads)
  {
    const detail::NodeRange mine(domain.node_count());
    double* const local = locals.data() + apart * static_cast<std::size_t>(omp_get_thread_num());
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const ElementBlock& block = domain.block(fields[f]->block);
      const auto extrapolation = block.type().program().extrapolation();
      const int nodes = extrapolation.empty() ? 0 : block.nodes_per_element();
      const std::int32_t* node = block.connectivity().data();
      for (std::int32_t e = 0; nodes > 0 && e < block.size(); ++e)
        for (int a = 0; a < nodes; ++a, ++node) {
          if (!mine.contains(*node)) continue;
          detail::carry_to_node(extrapolation.data() + static_cast<std::size_t>(a) * fields[f]->points, *fields[f],
                                columns[f], e, local);
          ++count[*node];
          for (std::size_t k = 0; k < width; ++k) sum[*node * stride + k] += local[k];
        }
    }
  }
}

/// Means at the nodes, each with what compute(means, where to write) makes of them behind it: `extra` numbers, NaN
/// where a mean is NaN. Nodes without elements have NaN.
template <class Compute>
NodalField means_and_more(const Domain& domain, const std::string& name, const std::vector<const PointField*>& fields,
                          const std::vector<std::string>& names, const std::vector<std::string>& extra,
                          const Compute& compute) {
  const std::size_t width = names.size(), stride = width + extra.size();
  NodalField field{name, names, large_zeros(static_cast<std::size_t>(domain.node_count()) * stride)};
  field.components.insert(field.components.end(), extra.begin(), extra.end());
  std::vector<std::int32_t> count(domain.node_count(), 0);
  add_to_nodes(domain, fields, names, stride, field.values, count);
#pragma omp parallel for schedule(static) if (domain.node_count() > detail::worth_threads)
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    double* const record = field.values.data() + static_cast<std::size_t>(n) * stride;
    for (std::size_t k = 0; k < width; ++k) record[k] = count[n] ? record[k] / count[n] : nan;
    if (std::none_of(record, record + width, [](double v) { return std::isnan(v); }))
      compute(record, record + width);
    else
      std::fill(record + width, record + stride, nan);
  }
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
  return means_and_more(domain, "nodal", fields, names, {}, [](const double*, double*) {});
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

double von_mises(const std::array<double, 6>& stress) {
  // Squares of stresses beyond 1e150 would overflow, those of stresses below 1e-150 vanish: a power of two brings them
  // near 1, which is exact.
  double largest = 0;
  for (const double v : stress) largest = std::max(largest, std::abs(v));
  const bool plain = (largest > 1e-140 && largest < 1e140) || !std::isfinite(largest) || largest == 0;
  const int power = plain ? 0 : std::ilogb(largest);
  std::array<double, 6> s = stress;
  if (!plain)
    for (double& v : s) v = std::ldexp(v, -power);
  const double d1 = s[0] - s[1], d2 = s[1] - s[2], d3 = s[2] - s[0];
  const double mises = std::sqrt(0.5 * (d1 * d1 + d2 * d2 + d3 * d3) + 3 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
  return plain ? mises : std::ldexp(mises, power);
}

std::array<double, 3> principal_values(const std::array<double, 6>& t) {
  // Jacobi's rotations (Golub and Van Loan, Matrix Computations, section 8.5): unlike the roots of the characteristic
  // cubic, they lose no digits where two values are alike, as in every uniaxial stress.
  double a[3][3] = {{t[0], t[3], t[5]}, {t[3], t[1], t[4]}, {t[5], t[4], t[2]}};
  for (int sweep = 0; sweep < 20; ++sweep) {
    const double off = std::abs(a[0][1]) + std::abs(a[0][2]) + std::abs(a[1][2]);
    if (!(off > 0) || off <= 1e-18 * (std::abs(a[0][0]) + std::abs(a[1][1]) + std::abs(a[2][2]))) break;
    for (const auto& [p, q, r] : {std::array{0, 1, 2}, std::array{0, 2, 1}, std::array{1, 2, 0}}) {
      if (a[p][q] == 0) continue;
      const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
      const double tangent = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::hypot(theta, 1.0));
      const double c = 1 / std::hypot(tangent, 1.0), s = tangent * c;
      a[p][p] -= tangent * a[p][q];
      a[q][q] += tangent * a[p][q];
      a[p][q] = a[q][p] = 0;
      const double rp = a[r][p], rq = a[r][q];
      a[r][p] = a[p][r] = c * rp - s * rq;
      a[r][q] = a[q][r] = s * rp + c * rq;
    }
  }
  std::array<double, 3> values{a[0][0], a[1][1], a[2][2]};
  std::sort(values.begin(), values.end(), std::greater<>());
  return values;
}

namespace {

const std::vector<std::string> stress_names{"sxx", "syy", "szz", "sxy", "syz", "sxz"};
const std::vector<std::string> invariant_names{"mises", "principal1", "principal2", "principal3"};

/// Records of `width` numbers, each with `extra` more behind it that compute(record, where to write) makes of it. NaN
/// where a record holds NaN.
template <class Compute>
std::vector<double> extended(const std::vector<double>& values, std::size_t width, std::size_t extra,
                             const Compute& compute) {
  const std::size_t count = width ? values.size() / width : 0;
  std::vector<double> result(count * (width + extra), nan);
#pragma omp parallel for schedule(static) if (count > detail::worth_threads)
  for (std::size_t i = 0; i < count; ++i) {
    const double* given = values.data() + i * width;
    double* out = result.data() + i * (width + extra);
    std::copy_n(given, width, out);
    if (std::none_of(given, given + width, [](double v) { return std::isnan(v); })) compute(given, out + width);
  }
  return result;
}

std::array<double, 6> six(const double* values) {
  std::array<double, 6> t;
  std::copy_n(values, 6, t.begin());
  return t;
}

/// nodal_values() of some names, and what compute() makes of them.
template <class Compute>
std::vector<MaterialField> nodal(const Domain& domain, const StepResult& result, const std::string& name,
                                 const std::vector<std::string>& names, const std::vector<std::string>& extra,
                                 const Compute& compute) {
  std::vector<MaterialField> materials;
  for (const auto& [material, fields] : by_material(domain, result.points, names))
    materials.push_back({material, means_and_more(domain, name, fields, names, extra, compute)});
  return materials;
}

void write_invariants(const std::array<double, 6>& stress, double* out) {
  const auto principal = principal_values(stress);
  out[0] = von_mises(stress);
  std::copy(principal.begin(), principal.end(), out + 1);
}

}  // namespace

void add_invariants(PointField& field) {
  const auto has = [&](const std::string& n) { return field.has(n); };
  if (!std::all_of(stress_names.begin(), stress_names.end(), has) || field.has(invariant_names[0])) return;
  std::array<int, 6> place;
  for (int i = 0; i < 6; ++i) place[i] = field.name_index(stress_names[i]);
  const std::size_t width = field.names.size(), extra = invariant_names.size();
  field.values = extended(field.values, width, extra, [&](const double* given, double* out) {
    std::array<double, 6> stress;
    for (int i = 0; i < 6; ++i) stress[i] = given[place[i]];
    write_invariants(stress, out);
  });
  field.names.insert(field.names.end(), invariant_names.begin(), invariant_names.end());
}

std::vector<MaterialField> nodal_stress(const Domain& domain, const StepResult& result) {
  return nodal(domain, result, "stress", stress_names, invariant_names,
               [](const double* s, double* out) { write_invariants(six(s), out); });
}

std::vector<MaterialField> nodal_strain(const Domain& domain, const StepResult& result) {
  return nodal(domain, result, "strain", {"exx", "eyy", "ezz", "exy", "eyz", "exz"},
               {"principal1", "principal2", "principal3"}, [](const double* e, double* out) {
                 const auto principal = principal_values(six(e));
                 std::copy(principal.begin(), principal.end(), out);
               });
}

std::vector<MaterialField> nodal_flux(const Domain& domain, const StepResult& result) {
  return nodal(domain, result, "flux", {"qx", "qy", "qz"}, {"magnitude"},
               [](const double* q, double* out) { *out = std::hypot(q[0], q[1], q[2]); });
}

}  // namespace voussoir
