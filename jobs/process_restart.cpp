#include <voussoir/jobs/detail/process_restart.hpp>

#include <numeric>
#include <utility>

#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/jobs/detail/collect_and_agree.hpp>
#include <voussoir/jobs/detail/step_bytes.hpp>
#include <voussoir/jobs/run_checkpoints.hpp>

namespace voussoir::detail {
namespace {

constexpr const char* where = "a message between processes";

}  // namespace

ProcessRestart::ProcessRestart(Processes& processes, const ProcessPart& part, const std::vector<PartPlaces>& places,
                               const Job* whole, StepReceiver* receiver)
    : processes_(processes), part_(part), places_(places), whole_(whole), receiver_(receiver) {
  if (whole_)
    for (const JobStep& step : whole_->steps) written_ += step.restart == RestartWrite::none ? '-' : '+';
  processes_.broadcast(written_);
}

/// Of all parts; nothing on the other processes.
std::vector<SavedPlaces> ProcessRestart::places_of(std::size_t domain) const {
  std::vector<SavedPlaces> places;
  for (const PartPlaces& part : places_) places.push_back({part.nodes, part.elements[domain], {}});
  return places;
}

/// The whole model as one part.
SavedPlaces ProcessRestart::whole_places(std::size_t domain) const {
  SavedPlaces places;
  places.nodes.resize(static_cast<std::size_t>(part_.whole_nodes));
  std::iota(places.nodes.begin(), places.nodes.end(), 0);
  for (const std::int64_t size : part_.domains[domain].block_sizes) {
    std::vector<std::int64_t>& block = places.elements.emplace_back(static_cast<std::size_t>(size));
    std::iota(block.begin(), block.end(), 0);
  }
  return places;
}

ProcessRestart::Start ProcessRestart::begin() {
  RestartState state;
  std::string header;
  agree(processes_, [&] {
    if (!whole_ || !whole_->restart) return;
    state = read_restart_state(*whole_);
    const std::size_t first = whole_->first_step();
    for (RestartState::Unknowns& found : state.unknowns) {
      // Linear statics is the beginning of a step over time without velocities.
      if (!state.motion && found.step + 1 == first && !is_heat(whole_->steps[found.step].procedure))
        state.motion = RestartState::Motion{found.step, found.values, {}, {}};
      keep(found.step, found.values);
    }
    const std::size_t motion = state.motion ? state.motion->step : first;
    header = ByteWriter().put(static_cast<std::uint64_t>(first)).put(static_cast<std::uint64_t>(motion)).take();
  });
  processes_.broadcast(header);
  Start start;
  if (header.empty()) return start;
  ByteReader in(header, where);
  start.first_step = static_cast<std::size_t>(in.get<std::uint64_t>());
  const auto motion = static_cast<std::size_t>(in.get<std::uint64_t>());
  const bool moves = motion < start.first_step;
  std::vector<std::string> sent;
  agree(processes_, [&] {
    if (!whole_) return;
    const std::vector<SavedPlaces> places = places_of(moves ? part_.job.steps[motion].domain : 0);
    std::vector<std::string> ends(places.size());
    if (moves) {
      const std::size_t domain = part_.job.steps[motion].domain;
      RedividedStep step(
          part_, domain,
          {"the job cannot be continued on several processes",
           "continue it without --engine, or run the job that wrote the restart file again", whole_->restart->where});
      ByteWriter end;
      put(end, StepEnd{{}, state.motion->displacement, state.motion->velocity, state.motion->history, {}});
      step.add(whole_places(domain), end.take());
      ends = step.ends_for(places);
    }
    for (std::size_t p = 0; p < places.size(); ++p) {
      ByteWriter out;
      out.put(static_cast<std::uint64_t>(state.unknowns.size()));
      for (const RestartState::Unknowns& found : state.unknowns) {
        out.put(static_cast<std::uint64_t>(found.step));
        put(out, at_nodes(found.values, places[p].nodes));
      }
      out.raw(ends[p]);
      sent.push_back(out.take());
    }
  });
  const std::string bytes = processes_.distribute([&](int p) { return std::move(sent[static_cast<std::size_t>(p)]); });
  agree(processes_, [&] {
    ByteReader own(bytes, where);
    for (auto count = own.get<std::uint64_t>(); count > 0; --count) {
      const auto step = static_cast<std::size_t>(own.get<std::uint64_t>());
      start.unknowns[step] = get_field(own);
    }
    if (own.at_end()) return;  // nothing moves, or the part has no elements
    StepEnd end = get_end(own);
    own.expect_end();
    start.motion = {motion, std::move(end.displacement), std::move(end.velocity), std::move(end.history)};
  });
  return start;
}

void ProcessRestart::keep(std::size_t step, const NodalField& unknowns) {
  if (!whole_ || !is_written_from(step)) return;
  const std::size_t domain = whole_->steps[step].domain;
  last_[domain] = step;
  whole_unknowns_[domain] = unknowns;
}

/// The end of a step over time of the whole model, on process 0.
std::optional<RestartState::Motion> ProcessRestart::collect_motion(std::size_t step,
                                                                   const ProcessDynamicStep& dynamics) {
  const std::size_t domain = part_.job.steps[step].domain;
  std::string own;
  agree(processes_, [&] {
    auto motion = dynamics.motion();
    if (!motion || motion->step != step || !part_.has_elements(domain)) return;
    ByteWriter out;
    put(out, StepEnd{{}, std::move(motion->displacement), std::move(motion->velocity), std::move(motion->history), {}});
    own = out.take();
  });
  std::vector<std::string> ends;
  collect_and_agree(processes_, own, [&](int, std::string bytes) { ends.push_back(std::move(bytes)); });
  std::optional<RestartState::Motion> found;
  agree(processes_, [&] {
    if (!whole_) return;
    std::vector<SavedPlaces> places = places_of(domain);
    RedividedStep parts(part_, domain, {"the restart file cannot be written", "omit *RESTART, WRITE", where});
    for (std::size_t p = 0; p < ends.size(); ++p) parts.add(std::move(places[p]), std::move(ends[p]));
    const std::string bytes = parts.ends_for({whole_places(domain)}).front();
    ByteReader in(bytes, where);
    StepEnd end = get_end(in);
    found = {step, std::move(end.displacement), std::move(end.velocity), std::move(end.history)};
  });
  return found;
}

void ProcessRestart::end_step(std::size_t step, const ProcessDynamicStep* dynamics) {
  const Procedure procedure = part_.job.steps[step].procedure;
  const bool heat = procedure == Procedure::transient_heat;
  const bool is_written = written_[step] == '+';
  std::optional<RestartState::Motion> motion;
  if (dynamics && is_saved(procedure) && (is_written || (heat && is_written_from(step))))
    motion = collect_motion(step, *dynamics);
  agree(processes_, [&] {
    if (!whole_) return;
    if (heat && motion) keep(step, motion->displacement);
    if (!is_written) return;
    RestartState state;
    for (const auto& [domain, last] : last_) state.unknowns.push_back({last, whole_unknowns_.at(domain)});
    state.motion = std::move(motion);
    receiver_->restart(step, state.to_bytes());
  });
}

}  // namespace voussoir::detail
