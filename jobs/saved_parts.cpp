#include <voussoir/jobs/detail/saved_parts.hpp>

#include <exception>
#include <functional>

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
  Link(SavedParts& parts, int code) : StepCheckpoint(parts.run_, parts.step_), parts_(parts), code_(code) {}

  bool is_on() const override { return parts_.on_; }
  bool is_complete() const override { return parts_.status_ == Status::complete; }
  bool is_open() const override { return parts_.status_ == Status::open; }
  std::string ending() const override { return parts_.own_; }
  const std::string& state() const override { return parts_.own_; }
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
  int code_;
};

SavedParts::SavedParts(const ProcessPart& part, Processes& processes, DividedGroup& group, RunCheckpoints* run)
    : part_(part), processes_(processes), group_(group), run_(run) {}

std::shared_ptr<StepCheckpoint> SavedParts::link(int code) { return std::make_shared<Link>(*this, code); }

void SavedParts::gather() {
  ByteWriter all;
  all.put(static_cast<std::int64_t>(processes_.count())).put(account.free_equations).put(account.iterated);
  if (settle) settle();
  ByteWriter own;
  agree(processes_, [&] {
    own.put(fingerprint_of_part(part_));
    ByteWriter more;
    if (save_more) save_more(more);
    if (save_more) own.put(more.bytes());
    own.raw(own_);
  });
  std::exception_ptr failure;
  processes_.collect(own.bytes(), [&](int, const std::string& bytes) {
    try {
      if (!failure) all.put(bytes);
    } catch (...) {
      failure = std::current_exception();  // the others wait for all of them to be taken
    }
  });
  agree(processes_, [&] {
    if (failure) std::rethrow_exception(failure);
  });
  if (run_) packed_ = all.take();
}

/// What a process has saved.
std::string SavedParts::unpack(const std::string& bytes, int process) const {
  ByteReader in(bytes, "the checkpoint of step " + std::to_string(step_ + 1));
  in.get<std::int64_t>();
  in.get<std::int64_t>();
  in.get<bool>();
  for (int p = 0; p < process; ++p) in.text();
  return in.text();
}

void SavedParts::begin(std::size_t step) {
  step_ = step;
  own_.clear();
  account = {};
  std::string saved, header(2, static_cast<char>(Status::none));
  agree(processes_, [&] {
    if (!run_) return;
    const StepCheckpoint found(run_, step);
    header[0] = '+';
    if (!found.is_complete() && !found.is_open()) return;
    saved = found.is_complete() ? found.ending() : found.state();
    header[1] = static_cast<char>(found.is_complete() ? Status::complete : Status::open);
    ByteReader in(saved, "the checkpoint of step " + std::to_string(step + 1));
    if (const auto processes = in.get<std::int64_t>(); processes != processes_.count())
      throw Error(ErrorCode::bad_input, "the run cannot be resumed: the checkpoint was made by " +
                                            std::to_string(processes) + (processes == 1 ? " process" : " processes") +
                                            ", and this run has " + std::to_string(processes_.count()) +
                                            "; start the same number of processes");
    account.free_equations = in.get<std::int64_t>();
    account.iterated = in.get<bool>();
    for (int p = 0; p < processes_.count(); ++p) in.text();
    in.expect_end();
  });
  header += std::to_string(account.free_equations) + (account.iterated ? "+" : "-");
  processes_.broadcast(header);
  on_ = header[0] == '+';
  status_ = static_cast<Status>(header[1]);
  account.free_equations = std::stoll(header.substr(2));
  account.iterated = header.back() == '+';
  if (status_ == Status::none) return;
  own_ = processes_.distribute([&](int p) { return unpack(saved, p); });
  agree(processes_, [&] {
    ByteReader in(own_, "the checkpoint of step " + std::to_string(step + 1));
    if (in.get<std::uint64_t>() != fingerprint_of_part(part_))
      throw Error(ErrorCode::bad_input,
                  "the run cannot be resumed: the model was divided differently when the checkpoint was written; start "
                  "again with --force and without --resume");
    std::size_t read = sizeof(std::uint64_t);
    if (restore_more) {
      const std::string more = in.text();
      ByteReader kept(more, "the checkpoint of step " + std::to_string(step + 1));
      restore_more(kept);
      kept.expect_end();
      read += sizeof(std::uint64_t) + more.size();
    }
    own_.erase(0, read);
  });
}

}  // namespace voussoir::detail
