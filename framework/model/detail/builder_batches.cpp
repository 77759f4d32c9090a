// Blocks and loads as batches of elements.
#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/model/detail/model_builder.hpp>

#include <algorithm>
#include <map>

#include <voussoir/framework/domain/block_parameter.hpp>
#include <voussoir/framework/domain/large_displacements.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/model/detail/full_tangent_program.hpp>
#include <voussoir/framework/model/detail/renamed_program.hpp>
#include <voussoir/framework/model/detail/symmetry.hpp>

namespace voussoir {
namespace {

/// The load element for faces of a block: "pressure.quad4", "plane_pressure.line2", "axisymmetric_pressure.line3". A
/// pressure on elements of large displacements follows their faces.
std::string load_type(const ElementBlock& block, const std::string& kind, const std::string& face_shape) {
  if (kind == "pressure" && has_large_displacements(block.type())) return "follower_pressure." + face_shape;
  const auto& topology = shape_topology(block.type().shape());
  std::string geometry;
  if (topology.dim == 2) geometry = block.type().program().axisymmetric() ? "axisymmetric_" : "plane_";
  return geometry + kind + "." + face_shape;
}

/// The program of a load on faces of a block. What flows into a field with one unknown is written for T, and acts on
/// the unknown that the block has.
std::shared_ptr<const ElementProgram> load_program(const ElementType& type, const std::string& kind,
                                                   const ElementBlock& block) {
  const auto own = type.program().unknown_names(), names = block.type().program().unknown_names();
  const bool any_field = kind == "flux" || kind == "convection";  // radiation is for temperatures alone
  if (!any_field || own.size() != 1 || names.size() != 1 || own[0] == names[0]) return type.shared_program();
  return std::make_shared<detail::RenamedProgram>(type.shared_program(),
                                                  std::vector<std::string>(names.begin(), names.end()));
}

/// A load acts on unknowns that the elements under it have.
void require_unknowns(const ElementProgram& load, const ElementBlock& block, const std::string& kind,
                      const std::string& where) {
  const auto own = block.type().program().unknown_names();
  for (const std::string& name : load.unknown_names())
    if (std::find(own.begin(), own.end(), name) == own.end())
      throw Error(ErrorCode::bad_input,
                  "a " + kind + " load acts on '" + name + "', which elements of block '" + block.name() + "' (" +
                      block.type_name() + ") do not have",
                  where);
}

/// Whether the density of a block follows temperature.
bool density_varies(const ElementBlock& block, const ElementBlock::Parameters& p) {
  const auto names = block.type().program().parameter_names();
  const auto k = static_cast<std::size_t>(std::find(names.begin(), names.end(), "density") - names.begin());
  if (k == names.size()) return false;
  const std::size_t stride = names.size() + 1, rows = static_cast<std::size_t>(p.rows);
  for (std::size_t record = 0; record < p.records.size(); record += rows * stride)
    for (std::size_t row = 1; row < rows; ++row)
      if (p.records[record + row * stride + 1 + k] != p.records[record + 1 + k]) return true;
  return false;
}

/// Whether elements of a program feel a body load at all: forces act on displacements, heat on a temperature.
bool feels(const ElementProgram& program, const BodyLoad& load) {
  if (!program.takes_body_load()) return false;
  return load.source != 0 ? program.components() == 1 : program.unknown_names()[0] == "ux";
}

}  // namespace

void AnalysisModel::Builder::add_batch(std::shared_ptr<const ElementProgram> program, std::vector<std::int32_t> nodes,
                                       std::vector<double> parameters, std::vector<std::int32_t> record, int rows,
                                       BatchOrigin origin) {
  BatchDescription b;
  b.program = std::move(program);
  b.parameters = std::move(parameters);
  b.record = std::move(record);
  b.table_rows = rows;
  b.expansion_reference = domain.reference_temperature();
  if (origin.kind == BatchOrigin::Kind::block || origin.kind == BatchOrigin::Kind::body_load)
    if (const auto& material = domain.block(origin.block).material())
      b.expansion_reference = material->expansion_reference().value_or(b.expansion_reference);
  batches.push_back(std::move(b));
  connectivity.push_back(std::move(nodes));
  origins.push_back(std::move(origin));
}

void AnalysisModel::Builder::add_blocks() {
  for (std::size_t i = 0; i < domain.block_count(); ++i) {
    if (domain.block(i).size() == 0) continue;
    add_block(static_cast<int>(i));
    if (batches.back().table_rows > 1) model.depends_on_temperature_ = true;
    if (batches.back().program->reads_temperature()) model.laws_read_temperature_ = true;
  }
  if (batches.empty()) throw Error(ErrorCode::bad_input, "the domain has no elements; add a block and fill it");
}

void AnalysisModel::Builder::add_block(int index) {
  const ElementBlock& block = domain.block(index);
  const auto& program = block.type().shared_program();
  if (const std::string defect = program->defect(); !defect.empty())
    throw Error(ErrorCode::misuse, "element type '" + program->name() + "' is wrong: " + defect,
                "block '" + block.name() + "'");
  auto p = block.parameters();
  BatchOrigin origin;
  origin.block = index;
  add_batch(program, {block.connectivity().begin(), block.connectivity().end()}, std::move(p.records),
            std::move(p.record), p.rows, std::move(origin));
}

bool AnalysisModel::Builder::add_new_blocks() {
  const auto& known = model.block_revisions_;
  if (!idle.empty() || known.size() > domain.block_count()) return false;
  for (std::size_t i = 0; i < domain.block_count(); ++i) {
    const ElementBlock& block = domain.block(i);
    if (i < known.size() && known[i].second > 0) {
      if (known[i].first != block.revision()) return false;
      continue;
    }
    if (block.size() == 0) continue;
    add_block(static_cast<int>(i));
    const BatchDescription& batch = batches.back();
    if (batch.table_rows > 1 && !model.depends_on_temperature_) return false;
    if (batch.program->reads_temperature() && !model.laws_read_temperature_) return false;
    const auto names = batch.program->unknown_names();
    const bool other_field =
        model.temperature_component_ >= 0 && std::find(names.begin(), names.end(), "T") == names.end();
    if (other_field && !model.follows_other_field_) return false;
    const std::vector<int> own = unknowns_of(*batch.program);
    for (const std::int32_t node : connectivity.back())
      for (const int unknown : own)
        if (unknown >= static_cast<int>(model.unknown_names_.size()) || !unknowns[node].has(unknown)) return false;
  }
  return true;
}

void AnalysisModel::Builder::add_surface_loads() {
  for (std::size_t c = 0; c < domain.load_case_count(); ++c) {
    for (const auto& load : domain.load_case(c).surface_loads()) {
      // Faces of one block and one shape make one batch.
      std::map<std::pair<int, std::string>, std::vector<FaceRef>> groups;
      for (const FaceRef& f : domain.surface(load.surface)) {
        const auto& shape = shape_topology(domain.block(f.block).type().shape());
        groups[{f.block, shape.faces[f.face].shape}].push_back(f);
      }
      for (const auto& [key, faces] : groups) add_faces(static_cast<int>(c), load, key.first, key.second, faces);
    }
  }
}

void AnalysisModel::Builder::add_faces(int load_case, const LoadCase::Surface& load, int block_index,
                                       const std::string& face_shape, const std::vector<FaceRef>& faces) {
  const ElementBlock& block = domain.block(block_index);
  const std::string where = "surface '" + load.surface + "', load case '" + domain.load_case(load_case).name() + "'";
  if (face_shape.empty())
    throw Error(ErrorCode::bad_input, "elements of block '" + block.name() + "' have no faces to load; use nodal loads",
                where);
  const ElementType* type = ElementLibrary::instance().find_if(load_type(block, load.kind, face_shape));
  if (!type)
    throw Error(ErrorCode::bad_input,
                "there is no " + load.kind + " load for faces of " + block.type_name() + " elements", where);
  auto program = load_program(*type, load.kind, block);
  require_unknowns(*program, block, load.kind, where);
  const auto& shape = shape_topology(block.type().shape());
  const auto names = type->program().parameter_names();
  if (load.kind == "traction" && type->program().components() == 2 && load.values[2] != 0)
    throw Error(ErrorCode::bad_input, "a traction along z cannot act on plane elements", where);
  const bool has_thickness = !names.empty() && names.back() == "thickness";
  const auto block_parameters = block.parameters();
  std::vector<double> parameters;
  std::vector<std::int32_t> record, nodes;
  BatchOrigin origin;
  origin.kind = BatchOrigin::Kind::surface_load;
  origin.block = block_index;
  origin.load_case = load_case;
  for (const FaceRef& f : faces) {
    for (int local : shape.faces[f.face].nodes) nodes.push_back(block.nodes(f.element)[local]);
    origin.elements.push_back({f.block, f.element});
    if (parameters.empty() || has_thickness) {
      parameters.push_back(0.0);  // temperature of the only row
      for (std::size_t k = 0; k + (has_thickness ? 1 : 0) < names.size(); ++k)
        parameters.push_back(k < load.values.size() ? load.values[k] : 0.0);
      if (has_thickness) parameters.push_back(block_parameter(block, block_parameters, "thickness", f.element, 1.0));
    }
    if (has_thickness) record.push_back(static_cast<std::int32_t>(record.size()));
  }
  add_batch(std::move(program), std::move(nodes), std::move(parameters), std::move(record), 1, std::move(origin));
}

void AnalysisModel::Builder::add_body_loads() {
  for (std::size_t c = 0; c < domain.load_case_count(); ++c) {
    const LoadCase& load_case = domain.load_case(c);
    for (const auto& load : load_case.body_loads()) {
      std::map<int, std::vector<std::int32_t>> members;
      if (load.element_set.empty()) {
        for (std::size_t b = 0; b < domain.block_count(); ++b)
          for (std::int32_t e = 0; e < domain.block(b).size(); ++e) members[static_cast<int>(b)].push_back(e);
      } else {
        for (const ElementRef& ref : domain.element_set(load.element_set)) members[ref.block].push_back(ref.element);
      }
      const std::string where = "load case '" + load_case.name() + "'" +
                                (load.element_set.empty() ? "" : ", element set '" + load.element_set + "'");
      bool any = false, heavy = false;
      for (auto& [b, elements] : members) {
        const ElementBlock& block = domain.block(b);
        const ElementProgram& program = block.type().program();
        if (!feels(program, load.load)) continue;
        any = true;
        if (program.components() == 2 && load.load.acceleration[2] != 0)
          throw Error(ErrorCode::bad_input,
                      "gravity along z cannot act on the plane elements of block '" + block.name() + "'", where);
        if (load.load.angular_velocity_squared != 0 && has_large_displacements(block.type()))
          throw Error(ErrorCode::bad_input,
                      "centrifugal loads on elements of large displacements (block '" + block.name() +
                          "') would have to follow the deformed body, which is not supported; use elements of small "
                          "displacements",
                      where);
        auto p = block.parameters();
        if (model.temperature_component_ >= 0 && load.load.source == 0 && density_varies(block, p))
          throw Error(ErrorCode::bad_input,
                      "the weight of block '" + block.name() +
                          "' would depend on a temperature that is solved for, since its density is a table over "
                          "temperature; give a constant density",
                      where);
        for (std::size_t i = 0; i < elements.size() && !heavy; ++i)
          heavy = load.load.source != 0 || block_parameter(block, p, "density", elements[i], 1.0) != 0;
        BatchOrigin origin;
        origin.kind = BatchOrigin::Kind::body_load;
        origin.block = b;
        origin.load_case = static_cast<int>(c);
        origin.body = load.load;
        if (static_cast<std::int32_t>(elements.size()) == block.size()) {
          whole_body_loads.push_back(std::move(origin));
          continue;
        }
        std::vector<std::int32_t> nodes, record;
        for (std::int32_t e : elements) {
          nodes.insert(nodes.end(), block.nodes(e).begin(), block.nodes(e).end());
          origin.elements.push_back({b, e});
          if (!p.record.empty()) record.push_back(p.record[e]);
        }
        add_batch(block.type().shared_program(), std::move(nodes), std::move(p.records), std::move(record), p.rows,
                  std::move(origin));
      }
      if (!any)
        throw Error(ErrorCode::bad_input,
                    load.load.source != 0
                        ? "a heat source needs elements that conduct heat, and there are none"
                        : "gravity and rotation need elements with mass and displacements, and there are none",
                    where);
      if (!heavy)
        throw Error(ErrorCode::bad_input,
                    "all elements under this load have density 0, so it would have no effect; set 'density'", where);
    }
  }
}

void AnalysisModel::Builder::take_initial_temperatures() {
  std::vector<double> t = domain.initial_temperatures();
  bool known = false, same = true;
  for (std::size_t n = 0; n < t.size(); ++n) {
    if (unknowns[n].empty()) continue;
    if (!known) start_temperature = t[n];
    known = true;
    same = same && t[n] == start_temperature;
  }
  if (!same) initial_temperature = std::move(t);
}

void AnalysisModel::Builder::check_symmetry() const {
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const BatchOrigin& origin = origins[b];
    if (origin.kind == BatchOrigin::Kind::body_load) continue;  // elements of a block that has a batch
    detail::BatchSample sample;
    sample.batch = &batches[b];
    sample.nodes = connectivity[b];
    sample.coordinates = domain.coordinates();
    sample.initial_temperature = initial_temperature;
    sample.start_temperature = start_temperature;
    const detail::Asymmetry found = detail::find_asymmetry(sample);
    if (found.element < 0) continue;
    throw Error(ErrorCode::misuse,
                "the tangent of element type '" + batches[b].program->name() + "' is not symmetric (by " +
                    short_number(found.size, 2) + " of its entries" +
                    (found.at_rest ? "" : ", away from zero unknowns") +
                    "); a law must satisfy A : dflux(B) = B : dflux(A), or declare symmetric = false",
                domain.element_label(voussoir::element_of(origin, found.element)));
  }
}

bool has_full_tangent(const ElementBlock& block) {
  if (block.size() == 0) return false;
  const ElementProgram& program = block.type().program();
  const auto names = program.unknown_names();
  if (std::find(names.begin(), names.end(), "T") == names.end()) return false;
  const auto p = block.parameters();
  return detail::FullTangentProgram::applies(program, p.records, p.rows);
}

Route full_tangent_route(const ElementBlock& block, const Backend& backend) {
  return backend.route(detail::FullTangentProgram(block.type().shared_program()));
}

void AnalysisModel::Builder::take_full_tangents() {
  for (std::size_t b = 0; b < batches.size(); ++b) {
    if (origins[b].kind != BatchOrigin::Kind::block) continue;
    auto& program = batches[b].program;
    if (detail::FullTangentProgram::applies(*program, batches[b].parameters, batches[b].table_rows))
      program = std::make_shared<detail::FullTangentProgram>(program);
  }
}

}  // namespace voussoir
