#include <voussoir/jobs/detail/collect_and_agree.hpp>
#include <voussoir/jobs/detail/saved_parts.hpp>

#include <functional>
#include <utility>

namespace voussoir::detail {
namespace {

/// Which nodes and elements of the whole model a part has, in their order.
std::uint64_t fingerprint_of_part(const ProcessPart& part) {
  ByteWriter bytes;
  bytes.put(part.part).put(part.parts).put(part.whole);
  for (const DomainShare& share : part.domains)
    for (const auto& block : share.whole_elements) bytes.put(block);
  return checksum(bytes.bytes());
}

}  // namespace

/// All processes save at the same increment: when a checkpoint is due on process 0, or when one of them stops.
class SavedParts::Link : public StepCheckpoint {
 public:
  Link(SavedParts& parts, int code, int divide_code)
      : StepCheckpoint(parts.run_, parts.step_), parts_(parts), code_(code), divide_code_(divide_code) {}

  bool is_on() const override { return parts_.on_; }
  bool is_complete() const override { return parts_.status_ == Status::complete; }
  bool is_open() const override { return parts_.status_ == Status::open; }
  std::string ending() const override { return parts_.own_; }
  std::string take_state() override {
    if (parts_.was_divided_otherwise_) parts_.group_.request(divide_code_);
    parts_.was_divided_otherwise_ = false;
    return std::exchange(parts_.own_, {});
  }
  void increment(double time, bool stops, const std::function<void(ByteWriter&)>& save) override {
    if (!parts_.on_) return;
    const bool due = count_increment();
    if (!parts_.group_.any(due || stops)) return flush();
    ByteWriter state;
    save(state);
    parts_.own_ = state.take();
    parts_.group_.request(code_);
    write(time, parts_.packed_);
    forget();
  }
  void finish(double time, std::string_view bytes) override {
    if (!parts_.on_) return;
    parts_.own_ = bytes;
    parts_.group_.request(code_);
    StepCheckpoint::finish(time, parts_.packed_);
    forget();
  }

 private:
  void forget() {
    parts_.own_.clear();
    parts_.packed_.clear();
  }
  SavedParts& parts_;
  int code_, divide_code_;
};

SavedParts::SavedParts(const ProcessPart& part, Processes& processes, DividedGroup& group, RunCheckpoints* run)
    : part_(part), processes_(processes), group_(group), run_(run) {}

std::shared_ptr<StepCheckpoint> SavedParts::link(int code, int divide_code) {
  return std::make_shared<Link>(*this, code, divide_code);
}

void SavedParts::gather() {
  ByteWriter all;
  all.put(static_cast<std::int64_t>(processes_.count())).put(account.free_equations);
  all.put(static_cast<std::uint8_t>(account.iterated));
  if (settle) settle();
  ByteWriter own;
  agree(processes_, [&] {
    own.put(fingerprint_of_part(part_));
    ByteWriter more;
    if (save_more)
      save_more(more);
    else
      more.raw(SavedPlaces::of(part_, domain(), group_.model()).to_bytes());
    own.put(more.bytes());
    own.raw(own_);
  });
  collect_and_agree(processes_, own.bytes(), [&](int, const std::string& bytes) { all.put(bytes); });
  if (run_) packed_ = all.take();
}

std::string SavedParts::where() const { return "the checkpoint of step " + std::to_string(step_ + 1); }

/// What is in the checkpoint of a step, on process 0.
struct SavedParts::Saved {
  std::vector<std::string> parts;  // what each process has saved
  std::string fingerprints;        // of them, a line for each
};

SavedParts::Saved SavedParts::read_saved() {
  Saved saved;
  StepCheckpoint found(run_, step_);
  if (!found.is_complete() && !found.is_open()) return saved;
  status_ = found.is_complete() ? Status::complete : Status::open;
  const std::string bytes = found.is_complete() ? found.ending() : found.take_state();
  ByteReader in(bytes, where());
  const auto processes = in.get<std::int64_t>();
  account.free_equations = in.get<std::int64_t>();
  account.iterated = in.get<std::uint8_t>() != 0;
  while (!in.at_end()) saved.parts.push_back(in.text());
  if (processes != std::ssize(saved.parts)) in.fail("it does not have the states of all processes");
  for (const std::string& part : saved.parts) {
    ByteReader own(part, where());
    saved.fingerprints += std::to_string(own.get<std::uint64_t>()) + "\n";
  }
  return saved;
}

void SavedParts::begin(std::size_t step) {
  step_ = step;
  status_ = Status::none;
  own_.clear();
  account = {};
  former_.reset();
  Saved saved;
  std::string header(1, '-'), fingerprints;
  agree(processes_, [&] {
    if (!run_) return;
    saved = read_saved();
    header[0] = '+';
  });
  header += static_cast<char>(status_);
  header += std::to_string(account.free_equations) + (account.iterated ? "+" : "-");
  processes_.broadcast(header);
  on_ = header[0] == '+';
  status_ = static_cast<Status>(header[1]);
  account.free_equations = std::stoll(header.substr(2));
  account.iterated = header.back() == '+';
  if (status_ == Status::none) return;
  processes_.collect(std::to_string(fingerprint_of_part(part_)) + "\n",
                     [&](int, const std::string& bytes) { fingerprints += bytes; });
  was_divided_otherwise_ = processes_.any(processes_.is_first() && fingerprints != saved.fingerprints);
  agree(processes_, [&] {
    if (!was_divided_otherwise_ || !processes_.is_first()) return;
    if (save_more)
      throw Error(
          ErrorCode::bad_input,
          "the run cannot be resumed: the model was divided differently when the checkpoint was written, and "
          "results in pieces are continued by the same parts only; use as many processes, the same --cut and the same "
          "--backend as before, or start over with --force and without --resume");
    former_.emplace(part_, domain(),
                    RedividedSource{"the run cannot be resumed with another division of the model",
                                    "use as many processes, the same --cut and the same --backend as before, or start "
                                    "over with --force and without --resume",
                                    where()});
    for (std::string& part : saved.parts) {
      ByteReader in(part, where());
      in.get<std::uint64_t>();
      const std::string places = in.text();
      part.erase(0, 2 * sizeof(std::uint64_t) + places.size());
      former_->add(SavedPlaces::from_bytes(places, where()), std::move(part));
    }
  });
  if (was_divided_otherwise_) {
    if (status_ == Status::complete) divide(true);
    return;
  }
  own_ = processes_.distribute([&](int p) { return std::move(saved.parts[static_cast<std::size_t>(p)]); });
  agree(processes_, [&] {
    ByteReader in(own_, where());
    in.get<std::uint64_t>();
    const std::string more = in.text();
    if (restore_more) {
      ByteReader kept(more, where());
      restore_more(kept);
      kept.expect_end();
    }
    own_.erase(0, 2 * sizeof(std::uint64_t) + more.size());
  });
}

void SavedParts::divide() { divide(false); }

/// Of a state, which is divided for the models that the processes have now, or of the end of a step.
void SavedParts::divide(bool ends) {
  std::string own;
  agree(processes_, [&] { own = SavedPlaces::of(part_, domain(), ends ? nullptr : group_.model()).to_bytes(); });
  std::vector<SavedPlaces> parts;
  collect_and_agree(processes_, own, [&](int, const std::string& bytes) {
    parts.push_back(SavedPlaces::from_bytes(bytes, "a message between processes"));
  });
  std::vector<std::string> shares;
  agree(processes_, [&] {
    if (former_) shares = ends ? former_->ends_for(parts) : former_->states_for(parts);
    former_.reset();
  });
  own_ = processes_.distribute([&](int p) { return std::move(shares[static_cast<std::size_t>(p)]); });
}

}  // namespace voussoir::detail
