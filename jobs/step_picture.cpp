#include <voussoir/jobs/detail/step_picture.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/picture/picture.hpp>
#include <voussoir/jobs/detail/modal_files.hpp>
#include <voussoir/jobs/detail/nan.hpp>
#include <voussoir/jobs/detail/step_bytes.hpp>
#include <voussoir/jobs/detail/step_fields.hpp>

namespace voussoir::detail {
namespace {

const std::vector<std::string> stress_fields{"mises", "principal1", "principal2", "principal3", "sxx",
                                             "syy",   "szz",        "sxy",        "syz",        "sxz"};
const std::vector<std::string> flux_fields{"flux", "qx", "qy", "qz"};
/// Of bars and beams: what they recover, and how it is called in files.
const std::vector<std::pair<std::string, std::string>> line_fields{
    {"stress", "axial_stress"}, {"N", "N"}, {"Vy", "Vy"}, {"Vz", "Vz"}, {"T", "torque"}, {"My", "My"}, {"Mz", "Mz"}};

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// What the label of the bar says.
std::string words_for(const std::string& field) {
  static const std::map<std::string, std::string> words{{"mises", "von Mises stress"},
                                                        {"principal1", "largest principal stress"},
                                                        {"principal2", "middle principal stress"},
                                                        {"principal3", "smallest principal stress"},
                                                        {"flux", "heat flux"},
                                                        {"axial_stress", "axial stress"},
                                                        {"N", "axial force"},
                                                        {"error", "estimated error"},
                                                        {"torque", "torque"}};
  const auto it = words.find(field);
  return it == words.end() ? field : it->second;
}

NodalField one_component(const std::string& name, std::vector<double> values) {
  return {name, {name}, std::move(values)};
}

bool is_translation(const std::string& unknown) { return unknown == "ux" || unknown == "uy" || unknown == "uz"; }

/// The displacements re cos φ − im sin φ of a harmonic motion at the phase φ at which the sum of their squares is
/// largest.
NodalField largest_of_motion(const NodalField& re, const NodalField& im) {
  double real = 0, imaginary = 0, both = 0;
  const std::size_t width = re.components.size();
  for (std::size_t i = 0; i < re.values.size(); ++i) {
    const double a = re.values[i], b = im.values[i];
    if (!is_translation(re.components[i % width]) || std::isnan(a) || std::isnan(b)) continue;
    real += a * a;
    imaginary += b * b;
    both += a * b;
  }
  // The sum is (real + imaginary)/2 + (real − imaginary)/2 cos 2φ − both sin 2φ.
  const double phase = 0.5 * std::atan2(-2 * both, real - imaginary), c = std::cos(phase), s = std::sin(phase);
  NodalField motion = re;
  for (std::size_t i = 0; i < motion.values.size(); ++i) motion.values[i] = c * re.values[i] - s * im.values[i];
  return motion;
}

}  // namespace

std::vector<std::string> picture_fields(const Job& job, const JobStep& step) {
  const Domain& domain = *job.domains[step.domain];
  std::vector<std::string> unknowns;
  std::set<std::string> recovered;
  bool moves = false, seen = false;
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementProgram& program = domain.block(b).type().program();
    seen = seen || domain.block(b).nodes_per_element() > 1;
    for (const std::string& u : program.unknown_names()) {
      if (!contains(unknowns, u)) unknowns.push_back(u);
      moves = moves || u == "ux";
    }
    const bool carries = !program.extrapolation().empty();
    for (const std::string& name : program.recovered_names())
      if (carries ||
          std::any_of(line_fields.begin(), line_fields.end(), [&](const auto& l) { return l.first == name; }))
        recovered.insert(name);
  }
  std::vector<std::string> fields;
  if (!seen) return fields;  // masses, and springs to the ground
  if (recovered.contains("sxx")) fields.insert(fields.end(), stress_fields.begin(), stress_fields.end());
  // Solids recover no forces of bars, so that what is left are those of lines.
  for (const auto& [name, shown] : line_fields)
    if (recovered.contains(name)) fields.push_back(shown);
  if (moves && !recovered.contains("sxx") && !recovered.contains("stress"))
    fields.insert(fields.begin(), "displacement");
  else if (moves)
    fields.push_back("displacement");
  for (const std::string& u : unknowns)
    if (u == "T")
      fields.insert(fields.begin(), "temperature");
    else if (!moves)
      fields.insert(fields.begin(), u);
    else
      fields.push_back(u);
  if (recovered.contains("qx")) fields.insert(fields.end(), flux_fields.begin(), flux_fields.end());
  if (recovered.contains("sxx") || recovered.contains("qx")) fields.push_back("error");
  const bool heated =
      step.heated_by || (!step.load_case.empty() && !domain.load_case(step.load_case).temperatures().empty());
  if (moves && heated) fields.push_back("temperature");
  return fields;
}

std::vector<std::string> picture_fields_of_states(const Job& job, const JobStep& step) {
  if (step.procedure == Procedure::frequency || step.procedure == Procedure::spectrum) return {};
  const bool harmonic = step.procedure == Procedure::harmonic;
  std::vector<std::string> fields = picture_fields(job, step);
  std::erase_if(fields, [&](const std::string& field) {
    return field == "error" || (harmonic && field != "displacement" && !is_translation(field));
  });
  return fields;
}

void StepPicture::take(std::vector<MaterialField> fields, const std::string& component) {
  for (MaterialField& f : fields) {
    const int c = f.field.component_index(component);
    const std::size_t width = f.field.components.size();
    std::vector<double> values(f.field.values.size() / width);
    for (std::size_t n = 0; n < values.size(); ++n) values[n] = f.field.values[n * width + static_cast<std::size_t>(c)];
    fields_.push_back({f.material, one_component(field_, std::move(values))});
  }
}

/// Where a model has many materials: of each element, the mean over its points.
void StepPicture::take_means(const StepResult& result) {
  const Domain& domain = *job_->domains[job_->steps[step_].domain];
  const bool flux = contains(flux_fields, field_);
  const std::vector<std::string> names = flux ? std::vector<std::string>{"qx", "qy", "qz"}
                                              : std::vector<std::string>{"sxx", "syy", "szz", "sxy", "syz", "sxz"};
  std::vector<std::vector<double>> means;
  for (const std::string& name : names) means.push_back(element_means(domain, result.points, name));
  elements_.assign(means[0].size(), nan);
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    std::array<double, 6> s{};
    for (std::size_t k = 0; k < names.size(); ++k) {
      s[k] = means[k][e];
      if (field_ == names[k]) elements_[e] = s[k];
    }
    if (std::isnan(s[0])) continue;
    if (field_ == "flux") elements_[e] = std::hypot(s[0], s[1], s[2]);
    if (field_ == "mises") elements_[e] = von_mises(s);
    if (field_.starts_with("principal"))
      elements_[e] = principal_values(s)[static_cast<std::size_t>(field_.back() - '1')];
  }
}

StepPicture::StepPicture(const Job& job, std::size_t step, const StepResult& result,
                         const std::vector<double>& temperatures, const ErrorEstimate& estimate, std::string field)
    : job_(&job), step_(step), field_(std::move(field)) {
  const Domain& domain = *job.domains[job.steps[step].domain];
  const auto& components = result.unknowns.components;
  if (contains(components, "ux")) moved_ = result.unknowns;
  const auto line =
      std::find_if(line_fields.begin(), line_fields.end(), [&](const auto& l) { return l.second == field_; });
  if (field_ == "displacement") {
    std::vector<double> size(domain.node_count(), nan);
    for (std::int32_t n = 0; n < domain.node_count(); ++n)
      for (int c = 0; c < result.unknowns.width(); ++c)
        if (is_translation(components[c]))
          if (const double u = result.unknowns.at(n, c); !std::isnan(u) && !domain.rotation_node(n))
            size[n] = std::isnan(size[n]) ? std::abs(u) : std::hypot(size[n], u);
    fields_.push_back({"", one_component(field_, std::move(size))});
    any_material_ = true;
  } else if (field_ == "temperature" && !contains(components, "T")) {
    fields_.push_back({"", one_component(field_, temperatures)});
    any_material_ = true;
  } else if (const std::string unknown = field_ == "temperature" ? "T" : field_; contains(components, unknown)) {
    take({{"", result.unknowns}}, unknown);
    if (unknown[0] == 'u')  // that of a rotation node is a rotation
      for (std::int32_t n = 0; n < domain.node_count(); ++n)
        if (domain.rotation_node(n)) fields_.back().field.values[static_cast<std::size_t>(n)] = nan;
    any_material_ = true;
  } else if ((contains(stress_fields, field_) || contains(flux_fields, field_)) &&
             has_many_materials(domain, result.points)) {
    take_means(result);
  } else if (contains(flux_fields, field_)) {
    take(nodal_flux(domain, result), field_ == "flux" ? "magnitude" : field_);
  } else if (contains(stress_fields, field_)) {
    take(nodal_stress(domain, result), field_);
  } else if (field_ == "error") {
    elements_ = estimate.element_percent;
  } else if (line != line_fields.end()) {
    elements_ = element_means(domain, result.points, line->first);
  }
  const auto widen = [&](double v) {
    if (std::isfinite(v)) severity_ = std::max(severity_, std::abs(v));
  };
  for (const MaterialField& f : fields_)
    for (const double v : f.field.values) widen(v);
  for (const double v : elements_) widen(v);
}

void StepPicture::write(const std::filesystem::path& path, bool overwrite) const {
  const JobStep& step = job_->steps[step_];
  const Domain& domain = *job_->domains[step.domain];
  Picture picture(domain);
  if (!moved_.components.empty()) picture.deform(moved_);
  const std::string unit = job_->units.of(field_ == "error" ? "error_percent" : field_);
  const std::string label = words_for(field_) + (unit.empty() ? "" : " [" + unit + "]");
  if (!elements_.empty())
    picture.colour_elements(elements_, label);
  else if (any_material_)
    picture.colour(fields_.front().field, field_, label);
  else if (!fields_.empty())
    picture.colour(fields_, field_, label);

  PictureOptions how;
  how.overwrite = overwrite;
  how.title = job_->title.empty() ? job_->name : job_->title;
  if (how.title.size() > 76) how.title = job_->name;
  how.subtitle = step.title.empty() ? step.name : step.title;
  if (how.subtitle.size() > 70) how.subtitle = step.name;
  if (!moment_.empty()) how.subtitle += " · " + moment_;
  char factor[64];
  std::snprintf(factor, sizeof factor, " · displacements × %g", picture.deformation());
  if (!moved_.components.empty()) how.subtitle += factor;
  if (lies_in_a_plane(domain)) {
    how.view = {0, 0, 1};
    how.up = {0, 1, 0};
    how.shadow = false;
  }
  picture.write(path, how);
}

StepPictures::StepPictures(const Job& job, const OutputOptions& options)
    : job_(job), wanted_(options.pictures), overwrite_(options.overwrite) {
  if (wanted_ == Pictures::none) return;
  std::set<std::string> known;
  bool any = false;
  for (const JobStep& step : job.steps) {
    const auto fields = has_states(step.procedure) ? picture_fields_of_states(job, step) : picture_fields(job, step);
    known.insert(fields.begin(), fields.end());
    std::string field = options.picture_field;
    if (field.empty() && !fields.empty()) field = fields.front();
    if (!contains(fields, field)) field.clear();
    any = any || !field.empty();
    fields_.push_back(field);
  }
  if (any || job.steps.empty()) return;
  // Natural modes have pictures of their own, and spectra are left out, with a note of ResultFiles.
  if (std::all_of(job.steps.begin(), job.steps.end(), [](const JobStep& s) {
        return s.procedure == Procedure::frequency || s.procedure == Procedure::spectrum;
      })) {
    if (options.picture_field.empty()) return;
    throw Error(ErrorCode::bad_input,
                "pictures of natural modes show their shapes, response spectra have none, and there is no field to "
                "choose; omit the option",
                "--picture-field");
  }
  if (known.empty())
    throw Error(ErrorCode::bad_input, "the model has no elements that can be drawn; omit the option", "--picture");
  std::string list;
  for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
  throw Error(ErrorCode::bad_input,
              "no step of the job has a field '" + options.picture_field + "' to draw; there are " + list,
              "--picture-field");
}

std::string StepPictures::file(std::size_t step, const std::string& name) const {
  const bool numbered = wanted_ == Pictures::each && job_.steps.size() > 1;
  return name + (numbered ? "_step" + std::to_string(step + 1) : "") + ".png";
}

std::vector<std::string> StepPictures::files(const std::string& name) const {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < fields_.size(); ++i)
    if (!fields_[i].empty() && (wanted_ == Pictures::each || list.empty())) list.push_back(file(i, name));
  return list;
}

std::vector<std::filesystem::path> StepPictures::draw(std::size_t step, const StepResult& result,
                                                      const std::vector<double>& temperatures,
                                                      const ErrorEstimate& estimate,
                                                      const std::filesystem::path& folder, const std::string& name) {
  if (wanted_ == Pictures::none || fields_[step].empty()) return {};
  return draw_or_keep(step, StepPicture(job_, step, result, temperatures, estimate, fields_[step]), folder, name);
}

std::vector<std::filesystem::path> StepPictures::draw_or_keep(std::size_t step, StepPicture picture,
                                                              const std::filesystem::path& folder,
                                                              const std::string& name) {
  if (wanted_ == Pictures::each) {
    picture.write(folder / file(step, name), overwrite_);
    return {folder / file(step, name)};
  }
  // A body that is heated and then loaded is judged by its stress; what is not comparable does not replace.
  const auto heats = [&](std::size_t s) { return is_heat(job_.steps[s].procedure); };
  const bool matters_more = !worst_ || (heats(worst_step_) && !heats(step));
  const bool comparable = worst_ && fields_[worst_step_] == fields_[step];
  if (matters_more || (comparable && picture.severity() > worst_->severity())) {
    worst_.emplace(std::move(picture));
    worst_step_ = step;
  }
  return {};
}

void StepPictures::take_state(std::size_t step, const StepState& state) {
  if (wanted_ == Pictures::none || fields_[step].empty() || !state.for_viewers) return;
  std::string moment = state_word(job_.steps[step].procedure) + (" " + short_number(state.at, 6));
  StepResult motion;
  if (state.imaginary) {
    motion.unknowns = largest_of_motion(state.result.unknowns, state.imaginary->unknowns);
    moment += ", at the phase of the largest displacements";
  }
  StepPicture picture(job_, step, state.imaginary ? motion : state.result, {}, {}, fields_[step]);
  if (worst_state_ && picture.severity() <= worst_state_->severity()) return;
  picture.set_moment(std::move(moment));
  worst_state_.emplace(std::move(picture));
  worst_state_is_new_ = true;
}

void StepPictures::take_added(ByteWriter& out) {
  out.put(worst_state_is_new_);
  if (worst_state_is_new_) worst_state_->save(out);
  worst_state_is_new_ = false;
}

void StepPictures::restore(std::size_t step, ByteReader& in) {
  if (in.get<bool>()) worst_state_.emplace(job_, step, in);
}

void StepPicture::save(ByteWriter& out) const {
  out.put(field_).put(moment_);
  put(out, moved_);
  out.put(static_cast<std::uint64_t>(fields_.size()));
  for (const MaterialField& field : fields_) {
    out.put(field.material);
    put(out, field.field);
  }
  out.put(any_material_).put(elements_).put(severity_);
}

StepPicture::StepPicture(const Job& job, std::size_t step, ByteReader& in) : job_(&job), step_(step) {
  field_ = in.text();
  moment_ = in.text();
  moved_ = get_field(in);
  fields_.resize(in.get<std::uint64_t>());
  for (MaterialField& field : fields_) {
    field.material = in.text();
    field.field = get_field(in);
  }
  any_material_ = in.get<bool>();
  elements_ = in.list<double>();
  severity_ = in.get<double>();
}

std::vector<std::filesystem::path> StepPictures::draw_states(std::size_t step, const std::filesystem::path& folder,
                                                             const std::string& name) {
  if (!worst_state_) return {};
  StepPicture picture = std::move(*worst_state_);
  worst_state_.reset();
  return draw_or_keep(step, std::move(picture), folder, name);
}

std::vector<std::filesystem::path> StepPictures::draw_worst(const std::filesystem::path& folder,
                                                            const std::string& name) {
  if (!worst_) return {};
  worst_->write(folder / file(worst_step_, name), overwrite_);
  worst_.reset();
  return {folder / file(worst_step_, name)};
}

}  // namespace voussoir::detail
