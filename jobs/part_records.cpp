#include <voussoir/jobs/detail/part_records.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/jobs/detail/collect_and_agree.hpp>
#include <voussoir/jobs/detail/dynamic_recorder.hpp>
#include <voussoir/jobs/detail/nan.hpp>
#include <voussoir/jobs/detail/part_contribution.hpp>
#include <voussoir/jobs/detail/step_fields.hpp>
#include <voussoir/partition/process/process_analysis.hpp>

namespace voussoir::detail {
namespace {

/// What process 0 asks all processes for.
enum Asked : int {
  ask_start = 32,
  ask_digest,
  ask_nodes,
  ask_values,
  ask_change,
  ask_mark,
  ask_heat,
  ask_form,
  ask_tables,
  ask_pass,
  ask_end
};

TimeIntegrator& method_of(const CommittedState& committed) {
  return static_cast<TimeIntegrator&>(committed.integrator);
}

/// The members of the sets of a step's tables that a part owns: as many as can have curves, and their number.
std::string own_curve_nodes(const ProcessPart& part, const JobStep& step) {
  const Domain& domain = *part.job.domains[step.domain];
  ByteWriter out;
  for (const PrintRequest& print : step.prints) {
    if (print.at != PrintRequest::At::nodes || print.set.empty()) continue;
    std::int64_t count = 0;
    std::vector<std::int64_t> places;
    std::vector<Id> numbers;
    if (has_set(domain, print))
      for (const std::int32_t n : domain.node_set(print.set)) {
        if (!part.owns(n) || static_cast<std::size_t>(++count) > most_curve_nodes) continue;
        places.push_back(part.whole[static_cast<std::size_t>(n)]);
        numbers.push_back(domain.node_id(n));
      }
    out.put(count).put(places).put(numbers);
  }
  return out.take();
}

std::string pack_digest(const MotionDigest& digest) {
  ByteWriter out;
  for (const LargestValue& largest : digest.largest) out.put(largest.value).put(largest.place).put(largest.node);
  out.put(digest.magnitude).put(digest.at_curve_nodes);
  return out.take();
}

void merge_digest(const std::string& bytes, MotionDigest& to) {
  ByteReader in(bytes, "a message between processes");
  for (LargestValue& known : to.largest) {
    LargestValue other;
    other.value = in.get<double>();
    other.place = in.get<std::int64_t>();
    other.node = in.get<Id>();
    const double size = std::abs(other.value), known_size = std::abs(known.value);
    if (other.place >= 0 && (known.place < 0 || size > known_size || (size == known_size && other.place < known.place)))
      known = other;
  }
  to.magnitude = std::max(to.magnitude, in.get<double>());
  const std::vector<double> values = in.list<double>();
  for (std::size_t i = 0; i < values.size() && i < to.at_curve_nodes.size(); ++i)
    if (std::isnan(to.at_curve_nodes[i])) to.at_curve_nodes[i] = values[i];
}

}  // namespace

DividedCurveNodes DividedCurveNodes::find(Processes& processes, const ProcessPart& part, const JobStep& step) {
  struct Set {
    std::int64_t count = 0;
    std::map<std::int64_t, Id> members;
  };
  std::vector<Set> sets;
  std::string own;
  agree(processes, [&] { own = own_curve_nodes(part, step); });
  collect_and_agree(processes, own, [&](int, const std::string& bytes) {
    ByteReader in(bytes, "a message between processes");
    for (std::size_t k = 0; !in.at_end(); ++k) {
      if (k == sets.size()) sets.emplace_back();
      sets[k].count += in.get<std::int64_t>();
      const auto places = in.list<std::int64_t>();
      const auto numbers = in.list<Id>();
      for (std::size_t i = 0; i < places.size(); ++i) sets[k].members.emplace(places[i], numbers[i]);
    }
  });
  std::map<std::int64_t, Id> nodes;
  for (const Set& set : sets)
    if (nodes.size() + static_cast<std::size_t>(set.count) <= most_curve_nodes)
      nodes.insert(set.members.begin(), set.members.end());
  DividedCurveNodes found;
  ByteWriter list;
  for (const auto& [place, number] : nodes) found.nodes.push_back({place, number});
  std::vector<std::int64_t> places;
  for (const CurveNode& node : found.nodes) places.push_back(node.place);
  std::string bytes = list.put(places).take();
  processes.broadcast(bytes);
  agree(processes, [&] {
    ByteReader in(bytes, "a message between processes");
    for (const std::int64_t place : in.list<std::int64_t>()) {
      const auto at = std::lower_bound(part.whole.begin(), part.whole.end(), place);
      const bool here = at != part.whole.end() && *at == place;
      found.local.push_back(here ? static_cast<std::int32_t>(at - part.whole.begin()) : -1);
    }
  });
  return found;
}

MotionDigest merge_digests(Processes& processes, const ProcessPart& part, std::size_t domain, MotionDigest own) {
  const Domain& nodes = *part.job.domains[domain];
  std::string packed;
  agree(processes, [&] {
    for (LargestValue& largest : own.largest)
      if (largest.place >= 0) {
        largest.node = nodes.node_id(static_cast<std::int32_t>(largest.place));
        largest.place = part.whole[static_cast<std::size_t>(largest.place)];
      }
    packed = pack_digest(own);
  });
  collect_and_agree(processes, packed, [&](int, const std::string& bytes) { merge_digest(bytes, own); });
  return own;
}

void complete_fields(Processes& processes, const ProcessPart& part, std::size_t domain, StepResult& own) {
  const auto& names = part.domains[domain].unknown_names;
  agree(processes, [&] {
    give_all_unknowns(own.unknowns, names, field_name(names), part.node_count());
    give_all_unknowns(own.reactions, names, "reaction", part.node_count());
    give_all_unknowns(own.internal_forces, names, "internal_force", part.node_count());
  });
  complete_shared_nodes(processes, part, {&own.unknowns, &own.reactions, &own.internal_forces});
}

/// Sends what the recorder wants to know to all processes as a request.
class PartRecords::Model : public RecordedModel {
 public:
  Model(PartRecords& parts, std::function<void(int)> request) : parts_(parts), request_(std::move(request)) {}

  void show(RecordedState&) override {
    if (!started_) request_(ask_start);
    started_ = true;
    request_(ask_digest);
  }
  const MotionDigest& motion() const override { return parts_.digest_; }
  const std::vector<CurveNode>& curve_nodes() override { return parts_.curve_nodes_.nodes; }
  bool has_force_sums() override { return parts_.force_sums_; }
  std::int64_t node_count() const override { return parts_.part_.whole_nodes; }
  Nodes nodes() override {
    request_(ask_nodes);
    return std::move(parts_.nodes_);
  }
  std::vector<double> values() override {
    request_(ask_values);
    return std::move(parts_.values_);
  }
  double change() override {
    request_(ask_change);
    return parts_.change_;
  }
  void mark_written() override { request_(ask_mark); }
  std::vector<double> written() const override { return {}; }  // each process saves its own
  void set_written(std::vector<double>) override {}
  const HeatedState* keep_temperatures(std::size_t stress, HeatedState head) override {
    ByteWriter out;
    out.put(static_cast<std::uint64_t>(stress));
    put(out, head);
    ask(ask_heat, out);
    return nullptr;
  }
  void restore_temperatures(std::size_t, HeatedState) override {
    throw Error(ErrorCode::internal, "the temperatures of a divided model are saved by each process");
  }
  void form(const Wanted& wanted) override {
    ByteWriter out;
    out.put(wanted.time).put(wanted.points).put(wanted.velocity).put(wanted.acceleration).put(wanted.temperatures);
    ask(ask_form, out);
  }
  std::vector<PrintTable> tables_of_history(std::size_t index, std::vector<std::string>& notes) override {
    ByteWriter out;
    out.put(static_cast<std::uint64_t>(index));
    ask(ask_tables, out);
    for (const std::string& note : parts_.notes_)
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    return std::move(parts_.tables_);
  }
  void pass_on(StepState head, bool with_points) override {
    ByteWriter out;
    out.put(head.at).put(head.time).put(head.for_viewers).put(head.prints).put(head.result.step).put(with_points);
    ask(ask_pass, out);
  }

 private:
  void ask(int code, ByteWriter& arguments) {
    parts_.arguments_ = arguments.take();
    request_(code);
  }
  PartRecords& parts_;
  std::function<void(int)> request_;
  bool started_ = false;
};

void PartRecords::begin(std::size_t step) {
  step_ = step;
  motion_.emplace(part_.job, asked());
  histories_.emplace(part_.job, step);
}

std::unique_ptr<RecordedModel> PartRecords::model(std::function<void(int)> request) {
  return std::make_unique<Model>(*this, std::move(request));
}

bool PartRecords::is_code(int code) { return code >= ask_start && code < ask_end; }

void PartRecords::respond(int code, const CommittedState* current) {
  if (code == ask_heat || code == ask_form || code == ask_tables || code == ask_pass) processes_.broadcast(arguments_);
  if (code == ask_start) start(current);
  if (code == ask_digest) {
    NodalField field = motion_of(current, 0);
    MotionDigest own;
    agree(processes_, [&] {
      motion_->set(std::move(field));
      own = motion_->digest(curve_nodes_.local);
    });
    digest_ = merge_digests(processes_, part_, asked().domain, std::move(own));
  }
  if (code == ask_nodes) collect_nodes();
  if (code == ask_values) collect_values();
  if (code == ask_change) find_change();
  if (code == ask_mark) agree(processes_, [&] { motion_->mark_written(); });
  if (code == ask_heat) keep_heat();
  if (code == ask_form) form(current);
  if (code == ask_tables) make_tables();
  if (code == ask_pass) pass_on();
}

void PartRecords::start(const CommittedState* current) {
  curve_nodes_ = DividedCurveNodes::find(processes_, part_, asked());
  const Domain& domain = *part_.job.domains[asked().domain];
  const bool springs = current && !current->model.constraints().springs.empty();
  force_sums_ = !processes_.any(springs || !domain.oblique_supports().empty() || !part_.job.rotation_nodes.empty());
}

/// Displacements, velocities or accelerations of the part, complete on shared nodes.
NodalField PartRecords::motion_of(const CommittedState* current, int derivative) {
  const auto& names = part_.domains[asked().domain].unknown_names;
  NodalField field;
  agree(processes_, [&] {
    if (current) field = method_of(*current).motion(current->model, current->state, derivative);
    give_all_unknowns(field, names, current ? field.name : field_name(names), part_.node_count());
  });
  complete_shared_nodes(processes_, part_, {&field});
  return field;
}

void PartRecords::collect_nodes() {
  const Domain& domain = *part_.job.domains[asked().domain];
  ByteWriter out;
  agree(processes_, [&] {
    std::vector<std::int64_t> places;
    std::vector<Id> numbers;
    std::vector<char> hidden;
    for (std::int32_t n = 0; n < part_.node_count(); ++n) {
      if (!part_.owns(n)) continue;
      places.push_back(part_.whole[static_cast<std::size_t>(n)]);
      numbers.push_back(domain.node_id(n));
      hidden.push_back(motion_->hidden()[static_cast<std::size_t>(n)]);
    }
    out.put(places).put(numbers).put(hidden);
    if (!processes_.is_first()) return;
    nodes_.numbers.assign(static_cast<std::size_t>(part_.whole_nodes), 0);
    nodes_.hidden.assign(static_cast<std::size_t>(part_.whole_nodes), 1);  // those of no part have no motion
  });
  collect_and_agree(processes_, out.bytes(), [&](int, const std::string& bytes) {
    ByteReader in(bytes, "a message between processes");
    const auto places = in.list<std::int64_t>();
    const auto numbers = in.list<Id>();
    const auto hidden = in.list<char>();
    for (std::size_t i = 0; i < places.size(); ++i) {
      nodes_.numbers[static_cast<std::size_t>(places[i])] = numbers[i];
      nodes_.hidden[static_cast<std::size_t>(places[i])] = hidden[i];
    }
  });
}

void PartRecords::collect_values() {
  const std::size_t width = part_.domains[asked().domain].unknown_names.size();
  ByteWriter out;
  agree(processes_, [&] {
    std::vector<std::int64_t> places;
    std::vector<double> values;
    for (std::int32_t n = 0; n < part_.node_count(); ++n) {
      if (!part_.owns(n)) continue;
      places.push_back(part_.whole[static_cast<std::size_t>(n)]);
      for (std::size_t c = 0; c < width; ++c) values.push_back(motion_->field().at(n, static_cast<int>(c)));
    }
    out.put(places).put(values);
    if (processes_.is_first()) values_.assign(static_cast<std::size_t>(part_.whole_nodes) * width, nan);
  });
  collect_and_agree(processes_, out.bytes(), [&](int, const std::string& bytes) {
    ByteReader in(bytes, "a message between processes");
    const auto places = in.list<std::int64_t>();
    const auto values = in.list<double>();
    for (std::size_t i = 0; i < places.size(); ++i)
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                  values_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(places[i]) * width));
  });
}

/// The order of numbers that are not negative is that of their bits.
void PartRecords::find_change() {
  change_ = std::bit_cast<double>(processes_.maximum(std::bit_cast<std::int64_t>(motion_->change())));
}

void PartRecords::keep_heat() {
  agree(processes_, [&] {
    ByteReader in(arguments_, "a message between processes");
    std::vector<HeatedState>& states = heated_[static_cast<std::size_t>(in.get<std::uint64_t>())];
    HeatedState state = get_heated(in);
    check_heated(states.size(), motion_->field().values.size());
    state.temperatures = motion_->field().values;
    states.push_back(std::move(state));
  });
}

void PartRecords::form(const CommittedState* current) {
  RecordedModel::Wanted wanted;
  const std::size_t domain = asked().domain;
  agree(processes_, [&] {
    ByteReader in(arguments_, "a message between processes");
    wanted.time = in.get<double>();
    for (bool* const what : {&wanted.points, &wanted.velocity, &wanted.acceleration, &wanted.temperatures})
      *what = in.get<bool>();
    result_ = {};
    if (current)
      result_ = make_step_result(current->model, current->integrator, current->state, current->report, wanted.points);
    temperatures_.clear();
    if (wanted.temperatures) temperatures_ = acting_temperatures(part_.job, asked(), wanted.time);
  });
  complete_part_result(processes_, part_, domain, current ? &current->model : nullptr, result_);
  complete_fields(processes_, part_, domain, result_);
  velocity_ = wanted.velocity ? motion_of(current, 1) : NodalField();
  acceleration_ = wanted.acceleration ? motion_of(current, 2) : NodalField();
}

void PartRecords::make_tables() {
  PartContribution own;
  agree(processes_, [&] {
    ByteReader in(arguments_, "a message between processes");
    const auto request = static_cast<std::size_t>(in.get<std::uint64_t>());
    if (!histories_->has_members(request)) return;
    own.tables = histories_->of(request,
                                {&result_, velocity_.width() > 0 ? &velocity_ : nullptr,
                                 acceleration_.width() > 0 ? &acceleration_ : nullptr, &temperatures_},
                                own.notes);
  });
  ContributionMerger merger = merge_contributions(processes_, own);
  tables_ = merger.take_tables();
  notes_ = merger.notes();
}

void PartRecords::pass_on() {
  StepState state;
  agree(processes_, [&] {
    ByteReader in(arguments_, "a message between processes");
    state.at = in.get<double>();
    state.time = in.get<double>();
    state.for_viewers = in.get<bool>();
    state.prints = in.list<char>();
    const std::string name = in.text();
    const bool with_points = in.get<bool>();
    state.result = std::move(result_);
    state.result.step = name;
    state.velocity = std::move(velocity_);
    if (with_points) return;
    state.result.points.clear();
    state.result.energy = 0;
  });
  receiver_.state(step_, std::move(state));
}

void PartRecords::save(ByteWriter& out) const {
  out.put(motion_->written()).put(static_cast<std::uint64_t>(heated_.size()));
  for (const auto& [stress, states] : heated_) {
    out.put(static_cast<std::uint64_t>(stress)).put(static_cast<std::uint64_t>(states.size()));
    for (const HeatedState& state : states) put(out, state);
  }
}

void PartRecords::restore(ByteReader& in) {
  motion_->set_written(in.list<double>());
  heated_.clear();
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
    std::vector<HeatedState>& states = heated_[static_cast<std::size_t>(in.get<std::uint64_t>())];
    for (auto count = in.get<std::uint64_t>(); count > 0; --count) states.push_back(get_heated(in));
  }
}

}  // namespace voussoir::detail
