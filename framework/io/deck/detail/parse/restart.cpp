#include <algorithm>
#include <filesystem>
#include <utility>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

// *RESTART. A restart file has the text of the deck that wrote it. A deck that continues it is read after that text,
// as if both were one deck.

namespace voussoir::deck {
namespace {

/// Steps as decks count them: one of heat and stress is one of them.
int count_steps(const Deck& deck) {
  return static_cast<int>(
      std::count_if(deck.steps.begin(), deck.steps.end(), [](const StepCard& step) { return !step.stress_of_heat; }));
}

std::string list_of_steps(const RestartFile& found) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(found.points.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(found.points[i].step);
  return found.points.size() > most ? text + ", …" : text;
}

}  // namespace

void Parser::read_restart(Card& card) {
  const bool reads = card.flag("READ"), writes = card.flag("WRITE");
  if (reads == writes) card.fail(ErrorCode::bad_input, "*RESTART needs READ or WRITE, and not both");
  if (reads) return read_restart_file(card);
  begun_ = true;  // what it asks for would end with the steps that a *RESTART, READ after it reads
  const double every = card.number("FREQUENCY", 1);
  restart_write_ = {every == 0 ? 0 : states_between(card, every), card.flag("OVERLAY"), card.place()};
  card.ignore({"NUMBER INTERVAL", "TIME MARKS"});
  card.done();
  // When checkpoints are made does not change results: one number serves all steps.
  deck_.checkpoint_every = restart_write_.every;
  skip_data();
}

void Parser::read_restart_file(Card& card) {
  const std::string wanted = card.value("STEP");
  card.refuse("INC", "a job is continued at the end of a step: give STEP");
  card.ignore({"END STEP"});
  card.done();
  if (begun_ || in_step_)
    card.fail(ErrorCode::bad_input,
              "*RESTART, READ must be the first card of the deck (*HEADING may be before it): the model is that of the "
              "restart file");
  // Within the text of a restart file, what it has read itself follows.
  if (lines_.in_kept()) {
    const std::size_t depth = lines_.depth();
    const int steps = lines_.read_next_kept(card.place());
    kept_steps_.push_back({steps, depth, card.place()});
    return;
  }
  if (deck_.restart)
    card.fail(ErrorCode::bad_input,
              "a deck has one *RESTART, READ; the first is at " + deck_.where(deck_.restart->place));
  if (lines_.folder().empty())
    card.fail(ErrorCode::bad_input, "*RESTART, READ has no folder to search: this deck is text in memory");
  const std::filesystem::path path =
      lines_.folder() / (std::filesystem::path(deck_.files.front()).stem().string() + ".rin");
  RestartFile found;
  try {
    found = RestartFile::read(path);
  } catch (const Error& error) {
    card.fail(error.code(), "*RESTART, READ: " + error.text());
  }
  const int step = wanted.empty() ? found.points.back().step
                                  : static_cast<int>(std::min<Id>(number_of(wanted, "STEP"), 1'000'000'000));
  const auto point =
      std::find_if(found.points.begin(), found.points.end(), [&](const RestartPoint& p) { return p.step == step; });
  if (point == found.points.end())
    card.fail(ErrorCode::bad_input, "*RESTART, READ, STEP=" + std::to_string(step) + ": the restart file '" +
                                        path.string() + "' has no state of this step; it has those of " +
                                        (found.points.size() == 1 ? "step " : "steps ") + list_of_steps(found));
  note("the job continues after step " + std::to_string(step) + " of '" + found.deck.files.front().name +
           "', read from '" + path.string() + "'",
       card.place());
  if (found.version != version())
    note("the restart file was written by version " + found.version + ", and the job continues with version " +
             version() + ": results agree up to rounding errors",
         card.place());
  deck_.restart = RestartCard{card.place(), path.string(), found.deck.dialect, std::move(found.job), std::move(*point)};
  kept_steps_.push_back({step, lines_.depth(), card.place()});
  lines_.read_kept(std::move(found.deck.files), step, card.place());
}

void Parser::leave_kept_steps() {
  if (kept_steps_.empty() || count_steps(deck_) < kept_steps_.back().steps) return;
  lines_.leave(kept_steps_.back().depth);
  kept_steps_.pop_back();
  if (!kept_steps_.empty()) return;
  // The deck itself says what is written from now on.
  restart_write_ = {};
  deck_.checkpoint_every = 0;
  for (StepCard& step : deck_.steps) step.restart = {};
  if (deck_.restart->point.job_steps != deck_.steps.size())
    fail(
        "the steps of the restart file are not those that were solved: the file was written by another version of the "
        "program; run the job that wrote it again",
        deck_.restart->place);
  for (const std::string& name : node_sets_.names()) taken_[which(Kind::node_set)].insert(name);
  for (const std::string& name : element_sets_.names()) taken_[which(Kind::element_set)].insert(name);
}

void Parser::check_kept_steps() const {
  if (kept_steps_.empty()) return;
  fail("the deck in the restart file ends before its step " + std::to_string(kept_steps_.back().steps) +
           ": the file was written by another version of the program; run the job that wrote it again",
       kept_steps_.back().place);
}

void Parser::require_new(const Card& card, Kind kind, const std::string& name) const {
  if (taken_[which(kind)].contains(name))
    card.fail(ErrorCode::bad_input, card.name() + ": the set " + in_quotes(name) +
                                        " belongs to the job that *RESTART, READ continues, whose loads and supports "
                                        "use it; give the new set another name");
}

}  // namespace voussoir::deck
