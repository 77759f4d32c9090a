#include <voussoir/jobs/detail/state_pieces.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>

#include <voussoir/framework/io/vtk/pvtu_writer.hpp>
#include <voussoir/jobs/detail/modal_files.hpp>
#include <voussoir/jobs/detail/shared_means.hpp>
#include <voussoir/jobs/detail/state_view.hpp>

namespace voussoir::detail {

namespace fs = std::filesystem;

std::string StatePieces::stem(std::size_t step) const {
  const std::string& name = options_.name.empty() ? part_.job.name : options_.name;
  return part_.job.steps.size() > 1 ? name + "_step" + std::to_string(step + 1) : name;
}

std::string StatePieces::piece(std::size_t step, std::size_t number, int part) const {
  char ending[16];
  std::snprintf(ending, sizeof ending, "_p%04d.vtu", part);
  return state_name(stem(step), part_.job.steps[step].procedure, number) + ending;
}

std::vector<int> StatePieces::parts_with_elements(std::size_t step) const {
  std::vector<int> list;
  const auto& elements = part_.domains[part_.job.steps[step].domain].part_elements;
  for (int p = 0; p < part_.parts; ++p)
    if (elements[static_cast<std::size_t>(p)] > 0) list.push_back(p);
  return list;
}

std::vector<std::string> StatePieces::files(std::size_t step, std::size_t number) const {
  std::vector<std::string> names;
  for (const int p : parts_with_elements(step)) names.push_back(piece(step, number, p));
  names.push_back(state_name(stem(step), part_.job.steps[step].procedure, number) + ".pvtu");
  return names;
}

std::vector<double> StatePieces::temperatures(std::size_t step, const StepState& state) const {
  const JobStep& asked = part_.job.steps[step];
  std::vector<double> values = temperatures_of(part_.job, asked, state);
  const auto* const request = std::get_if<DynamicStep>(&asked.modal);
  if (!values.empty() || !request) return values;
  const auto& heated = part_.domains[asked.domain].heated_cases;
  const bool given = std::any_of(request->loads.begin(), request->loads.end(), [&](const StepLoad& load) {
    return std::find(heated.begin(), heated.end(), load.load_case) != heated.end();
  });
  return given ? part_.job.domains[asked.domain]->initial_temperatures() : values;
}

void StatePieces::write(std::size_t step, std::size_t number, StepState state) {
  const JobStep& asked = part_.job.steps[step];
  const auto kept = std::make_shared<StepState>(std::move(state));
  std::shared_ptr<StateView> view;
  std::optional<SharedMeans> means;
  std::vector<int> neighbours;
  std::vector<std::string> sent;
  agree(processes_, [&] {
    if (!kept->result.points.empty() || !kept->imaginary)
      complete_points(*part_.job.domains[asked.domain], part_.domains[asked.domain], kept->result.points);
    view = std::make_shared<StateView>(part_.job, asked, *kept, temperatures(step, *kept));
    means.emplace(part_, asked.domain, kept->result.points, view->fields().nodal);
    sent = means->messages();
    for (const SharedNodes& shared : part_.shared) neighbours.push_back(shared.part);
  });
  const std::vector<std::string> received = processes_.exchange(neighbours, sent);
  agree(processes_, [&] {
    means->join(received);
    step_ = step;
    number_ = number;
    if (!part_.has_elements(asked.domain)) return;
    if (!mesh_) mesh_ = std::make_unique<VtuMesh>();
    const fs::path file = options_.folder / piece(step, number, part_.part);
    const auto work = [kept, view, file, mesh = mesh_.get(), overwrite = options_.overwrite] {
      view->write(file, *mesh, overwrite);
    };
    if (options_.in_background)
      background_.begin(work);
    else
      work();
  });
}

std::vector<std::string> StatePieces::settle() {
  agree(processes_, [&] { background_.check(); });
  if (number_ == 0) return {};
  std::vector<std::string> names = files(step_, number_);
  agree(processes_, [&] {  // all pieces are there
    const std::vector<std::string> pieces(names.begin(), names.end() - 1);
    if (pieces.empty() || parts_with_elements(step_).front() != part_.part) return;
    write_pvtu(options_.folder / names.back(), pieces, options_.folder / pieces.front(), options_.overwrite);
  });
  number_ = 0;
  return names;
}

void StatePieces::end(std::size_t step, std::size_t states) {
  mesh_.reset();
  const Procedure procedure = part_.job.steps[step].procedure;
  if (!options_.overwrite || !options_.vtu || procedure == Procedure::spectrum) return;
  std::error_code failed;
  const std::vector<int> parts = parts_with_elements(step);
  const bool lists = !parts.empty() && parts.front() == part_.part;
  for (std::size_t number = states + 1;; ++number) {
    if (lists) fs::remove(options_.folder / (state_name(stem(step), procedure, number) + ".pvtu"), failed);
    if (!fs::remove(options_.folder / piece(step, number, part_.part), failed) || failed) return;
  }
}

}  // namespace voussoir::detail
