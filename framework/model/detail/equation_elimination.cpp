#include <voussoir/framework/model/detail/equation_elimination.hpp>

#include <algorithm>
#include <cmath>
#include <queue>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/model/detail/affine_rows.hpp>

namespace voussoir::detail {
namespace {

// A row of which no coefficient is above this fraction of what it was summed from says nothing that others do not:
// coefficients are commonly written with eight digits, and the limit keeps clear of these.
constexpr double redundant = 1e-7;
// One that is barely above it is enforced as it was written, and a note says so.
constexpr double doubtful = 1e-5;
// The largest coefficient of T, in scaled unknowns, that is left alone.
constexpr double growth_limit = 10;

/// The equations as sparse rows, reduced column by column.
class Elimination {
 public:
  Elimination(const NumberedConstraints& constraints, const std::vector<std::uint8_t>& prescribed,
              const std::vector<double>& value, double threshold)
      : constraints_(constraints), value_(value), threshold_(threshold), rows_(constraints, prescribed) {
    const std::size_t count = constraints.multi.size();
    done_.assign(count, 0);
    combined_with_.resize(count);
    column_rows_.resize(rows_.columns());
    column_count_.assign(rows_.columns(), 0);
    for (std::size_t i = 0; i < count; ++i)
      for (const AffineTerm& t : rows_[i].terms)
        if (!rows_.prescribed(t.column)) {
          column_rows_[t.column].push_back(static_cast<std::int32_t>(i));
          ++column_count_[t.column];
        }
    equations_of_column_ = column_count_;
  }

  void run() {
    for (std::size_t i = 0; i < constraints_.multi.size(); ++i) push(static_cast<std::int32_t>(i));
    while (!queue_.empty()) {
      const Candidate next = queue_.top();
      queue_.pop();
      if (done_[next.row]) continue;
      const Choice choice = choose(next.row);
      if (choice.cost > next.cost) {  // others have grown into its way since
        queue_.push({choice.cost, next.row});
        continue;
      }
      if (choice.term < 0)
        drop(next.row, choice.quality);
      else
        eliminate(next.row, choice);
    }
    back_substitute();
  }

  AffineRows& rows() { return rows_; }
  /// Rows that were solved, and the column that each was solved for.
  const std::vector<std::pair<std::int32_t, std::int32_t>>& pivots() const { return pivots_; }
  /// A sentence for each equation that was dropped or is in doubt; many that are alike (of a tie or a rigid body, which
  /// have one label for all their equations) make one, and no more than ten are given.
  std::vector<std::string> notes() const {
    std::vector<std::pair<std::string, std::size_t>> told;
    for (const auto& [row, text] : notes_) {
      const auto same = std::find_if(told.begin(), told.end(), [&](const auto& t) { return t.first == text; });
      if (same != told.end())
        ++same->second;
      else if (told.size() <= 10)
        told.push_back({text, 1});
    }
    std::vector<std::string> texts;
    for (const auto& [text, count] : told)
      texts.push_back(text + (count > 1 ? " (" + std::to_string(count) + " equations)" : ""));
    if (texts.size() > 10) {
      texts.pop_back();
      texts.push_back("more equations are redundant; " + std::to_string(notes_.size()) + " in all");
    }
    return texts;
  }

 private:
  static constexpr std::int64_t last_of_all = INT64_MAX;
  struct Candidate {
    std::int64_t cost;
    std::int32_t row;
    bool operator<(const Candidate& other) const {  // the cheapest first, and earlier equations before later ones
      return cost != other.cost ? cost > other.cost : row > other.row;
    }
  };
  struct Choice {
    std::int64_t cost = 0;
    int term = -1;       // number in the row; −1: nothing is left to solve for
    double quality = 0;  // of the best coefficient: its size over that of what it was summed from
  };

  Choice choose(std::int32_t row) const {
    const auto& terms = rows_[row].terms;
    Choice choice;
    double largest = 0;
    std::int64_t count = 0;
    for (const AffineTerm& t : terms) {
      if (rows_.prescribed(t.column)) continue;
      ++count;
      choice.quality = std::max(choice.quality, std::abs(t.value) / t.size);
      if (std::abs(t.value) > redundant * t.size)
        largest = std::max(largest, std::abs(t.value) / rows_.scale(t.column));
    }
    if (largest == 0) {  // what cancellation left is looked at when nothing else can change it
      choice.cost = count == 0 ? 0 : last_of_all;
      return choice;
    }
    std::int64_t least = last_of_all, fewest = last_of_all;
    for (std::size_t k = 0; k < terms.size(); ++k) {
      const AffineTerm& t = terms[k];
      if (rows_.prescribed(t.column) || !(std::abs(t.value) > redundant * t.size) ||
          !(std::abs(t.value) / rows_.scale(t.column) >= threshold_ * largest))
        continue;
      // Where both cause the same fill now, that which fewer equations name: the other may be a reference node.
      const std::int64_t equations = equations_of_column_[t.column];
      if (column_count_[t.column] > least || (column_count_[t.column] == least && equations >= fewest)) continue;
      least = column_count_[t.column];
      fewest = equations;
      choice.term = static_cast<int>(k);
    }
    choice.cost = (count - 1) * (least - 1);
    return choice;
  }

  void push(std::int32_t row) { queue_.push({choose(row).cost, row}); }

  void eliminate(std::int32_t row, const Choice& choice) {
    done_[row] = 1;
    const AffineTerm pivot = rows_[row].terms[choice.term];
    pivots_.push_back({row, pivot.column});
    if (choice.quality < doubtful)
      notes_.push_back({row, constraints_.multi[row].label + ": is nearly redundant with " + partners(row) + "; only " +
                                 short_number(choice.quality, 3) +
                                 " of its coefficients is independent of them. It is enforced as written: give "
                                 "coefficients with more digits, or remove it"});
    rows_.solve_for(row, choice.term);
    for (const AffineTerm& t : rows_[row].terms)
      if (!rows_.prescribed(t.column) && t.column != pivot.column) remove_from_column(t.column);
    for (const std::int32_t other : column_rows_[pivot.column]) {
      if (done_[other]) continue;
      const bool met = rows_.substitute(
          other, pivot.column, rows_[row],
          [&](std::int32_t column) {
            if (rows_.prescribed(column)) return;
            column_rows_[column].push_back(other);
            ++column_count_[column];
          },
          [&](std::int32_t column) {
            if (!rows_.prescribed(column) && column != pivot.column) remove_from_column(column);
          });
      if (!met) continue;
      if (combined_with_[other].size() < 4) combined_with_[other].push_back(row);
      push(other);
    }
    column_rows_[pivot.column] = {};
    column_count_[pivot.column] = 0;
  }

  /// One active row less has the column. Where one is left, that one can now be solved for it without fill.
  void remove_from_column(std::int32_t column) {
    if (--column_count_[column] != 1) return;
    for (const std::int32_t row : column_rows_[column])
      if (!done_[row] && rows_.find(row, column) >= 0) push(row);
  }

  /// "*EQUATION at deck.inp:12 and others": what a row was combined with.
  std::string partners(std::int32_t row) const {
    std::string text;
    std::vector<std::string> labels;
    for (const std::int32_t r : combined_with_[row]) {
      const std::string& label = constraints_.multi[r].label;
      if (label != constraints_.multi[row].label && std::find(labels.begin(), labels.end(), label) == labels.end())
        labels.push_back(label);
    }
    if (labels.empty()) return "the prescribed values and the other equations of its unknowns";
    for (std::size_t i = 0; i < std::min<std::size_t>(labels.size(), 3); ++i) text += (i ? ", " : "") + labels[i];
    return text + (labels.size() > 3 ? " and others" : "");
  }

  void drop(std::int32_t row, double quality) {
    done_[row] = 1;
    const AffineRow& r = rows_[row];
    double rest = r.constant.value, size = r.constant.size;
    bool prescribed = false;
    for (const AffineTerm& t : r.terms) {
      if (!rows_.prescribed(t.column)) {
        remove_from_column(t.column);
        continue;
      }
      prescribed = true;
      const double x = value_[rows_.equation(t.column)];
      rest -= t.value * x;
      size += t.size * std::abs(x);
    }
    const auto& multi = constraints_.multi[row];
    if (std::abs(rest) > std::max(1e-10, 10 * quality) * size) {
      std::string text = "all its unknowns are prescribed or determined by other equations, and they contradict it";
      if (!combined_with_[row].empty() && !partners(row).empty()) text += " (with it: " + partners(row) + ")";
      if (!multi.equations.empty()) text += " (first unknown: " + constraints_.label(multi.equations.front()) + ")";
      throw Error(ErrorCode::bad_input, text + "; remove the equation or a support", multi.label);
    }
    if (multi.support) return;  // a support along a direction that is held already
    notes_.push_back(
        {row, multi.label + ": follows from " +
                  (combined_with_[row].empty() && prescribed ? std::string("the prescribed values of its unknowns")
                                                             : partners(row)) +
                  (quality > 1e-12 ? " to within " + short_number(quality, 3) + " of its coefficients" : "") +
                  ", and was dropped"});
  }

  /// Rows that were solved late are complete first: in them stand only unknowns that were never solved for.
  void back_substitute() {
    std::vector<std::int32_t> row_of(rows_.columns(), -1);
    for (auto p = pivots_.rbegin(); p != pivots_.rend(); ++p) {
      rows_.complete(p->first, row_of);
      row_of[p->second] = p->first;
    }
    std::sort(notes_.begin(), notes_.end());
  }

  const NumberedConstraints& constraints_;
  const std::vector<double>& value_;
  double threshold_;
  AffineRows rows_;
  std::vector<std::uint8_t> done_;
  std::vector<std::vector<std::int32_t>> combined_with_;  // the first few rows that were subtracted from each
  std::vector<std::vector<std::int32_t>> column_rows_;    // rows that have or had a column
  std::vector<std::int64_t> column_count_;                // active rows that have it
  std::vector<std::int64_t> equations_of_column_;         // equations that name it
  std::priority_queue<Candidate> queue_;
  std::vector<std::pair<std::int32_t, std::int32_t>> pivots_;
  std::vector<std::pair<std::int32_t, std::string>> notes_;
};

}  // namespace

EliminatedEquations eliminate_equations(const NumberedConstraints& constraints,
                                        const std::vector<std::uint8_t>& prescribed, const std::vector<double>& value) {
  EliminatedEquations result;
  // Coefficients that are allowed to differ by two leave a choice that keeps rows short. Where they multiply to large
  // numbers, elimination is done again with the largest coefficient of each row.
  for (const double threshold : {0.5, 1.0}) {
    Elimination elimination(constraints, prescribed, value, threshold);
    elimination.run();
    SolvedRows solved(elimination.rows(), elimination.pivots());
    const double growth = solved.largest();
    if (threshold < 1 && !(growth < 1e3 * growth_limit)) continue;
    solved.exchange(growth_limit);
    result.dependent = solved.dependencies();
    result.notes = elimination.notes();
    if (const double left = solved.largest(); !(left <= growth_limit)) {
      if (!std::isfinite(left))
        throw Error(
            ErrorCode::bad_input,
            "the coefficients of the equations differ too much in magnitude to solve for any of their unknowns; "
            "write them with coefficients of similar size",
            constraints.multi.front().label);
      result.notes.push_back("equations: one unknown moves " + short_number(left, 3) +
                             " times as far as another that it depends on; results may lose as many digits");
    }
    break;
  }
  return result;
}

}  // namespace voussoir::detail
