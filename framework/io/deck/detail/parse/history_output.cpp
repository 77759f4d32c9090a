#include <algorithm>
#include <string>
#include <string_view>

#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

// *NODE OUTPUT and *ELEMENT OUTPUT: curves where they belong to *OUTPUT, HISTORY, otherwise the states of files.

namespace voussoir::deck {
namespace {

/// A word of an output card, the quantity that it is part of, and its column; no column: all of them.
struct HistoryWord {
  std::string_view word, quantity, column;
};

constexpr HistoryWord node_words[] = {{"U", "U", ""},
                                      {"U1", "U", "ux"},
                                      {"U2", "U", "uy"},
                                      {"U3", "U", "uz"},
                                      {"UR1", "U", "rx"},
                                      {"UR2", "U", "ry"},
                                      {"UR3", "U", "rz"},
                                      {"V", "V", ""},
                                      {"V1", "V", "velocity_ux"},
                                      {"V2", "V", "velocity_uy"},
                                      {"V3", "V", "velocity_uz"},
                                      {"A", "A", ""},
                                      {"A1", "A", "acceleration_ux"},
                                      {"A2", "A", "acceleration_uy"},
                                      {"A3", "A", "acceleration_uz"},
                                      {"RF", "RF", ""},
                                      {"RF1", "RF", "fx"},
                                      {"RF2", "RF", "fy"},
                                      {"RF3", "RF", "fz"},
                                      {"RM1", "RF", "mx"},
                                      {"RM2", "RF", "my"},
                                      {"RM3", "RF", "mz"},
                                      {"NT", "NT", ""},
                                      {"NT11", "NT", ""},
                                      {"RFL", "RFL", ""},
                                      {"RFL11", "RFL", ""}};

constexpr HistoryWord element_words[] = {
    {"S", "S", ""},        {"S11", "S", "sxx"},   {"S22", "S", "syy"},    {"S33", "S", "szz"},   {"S12", "S", "sxy"},
    {"S13", "S", "sxz"},   {"S23", "S", "syz"},   {"MISES", "MISES", ""}, {"E", "E", ""},        {"E11", "E", "exx"},
    {"E22", "E", "eyy"},   {"E33", "E", "ezz"},   {"E12", "E", "exy"},    {"E13", "E", "exz"},   {"E23", "E", "eyz"},
    {"HFL", "HFL", ""},    {"HFL1", "HFL", "qx"}, {"HFL2", "HFL", "qy"},  {"HFL3", "HFL", "qz"}, {"ENER", "ENER", ""},
    {"SENER", "ENER", ""}, {"ELSE", "ELSE", ""},  {"EVOL", "EVOL", ""},   {"SF", "SF", ""},      {"PEEQ", "PEEQ", ""}};

/// All columns of a quantity, as tables name them.
std::vector<std::string> all_columns(std::string_view quantity) {
  if (quantity == "U") return {"ux", "uy", "uz", "rx", "ry", "rz"};
  if (quantity == "V" || quantity == "A") {
    const std::string of = quantity == "V" ? "velocity_" : "acceleration_";
    return {of + "ux", of + "uy", of + "uz", of + "rx", of + "ry", of + "rz"};
  }
  if (quantity == "RF") return {"fx", "fy", "fz", "mx", "my", "mz"};
  if (quantity == "NT") return {"temperature"};
  if (quantity == "RFL") return {"heat_flow"};
  if (quantity == "S") return {"sxx", "syy", "szz", "sxy", "sxz", "syz"};
  if (quantity == "E") return {"exx", "eyy", "ezz", "exy", "exz", "eyz"};
  if (quantity == "MISES") return {"mises"};
  if (quantity == "PEEQ") return {"peeq"};
  if (quantity == "HFL") return {"qx", "qy", "qz"};
  if (quantity == "EVOL") return {"volume"};
  if (quantity == "SF") return {"N", "Vy", "Vz", "T", "My", "Mz"};
  return {"energy"};
}

template <class Words>
const HistoryWord* find_word(const Words& words, const std::string& name) {
  const auto found = std::find_if(std::begin(words), std::end(words), [&](const auto& w) { return w.word == name; });
  return found == std::end(words) ? nullptr : &*found;
}

}  // namespace

void Parser::read_node_output(Card& card) {
  if (history_) return read_history(card, PrintRequest::At::nodes);
  read_file_request(card);
}

void Parser::read_element_output(Card& card) {
  if (history_) return read_history(card, PrintRequest::At::elements);
  read_file_request(card);
}

void Parser::read_history(Card& card, PrintRequest::At at) {
  const bool nodes = at == PrintRequest::At::nodes;
  HistoryCard history;
  history.place = card.place();
  HistoryRequest& request = history.request;
  request.of.at = at;
  request.of.where = deck_.where(card.place());
  request.of.set = card.value(nodes ? "NSET" : "ELSET");
  request.of.local = !card.flag("GLOBAL");
  const std::string totals = card.choice("TOTALS", {"NO", "YES", "ONLY"}, 2);
  if (totals == "YES") request.of.totals = PrintRequest::Totals::also;
  if (totals == "ONLY") request.of.totals = PrintRequest::Totals::only;
  if (!nodes) request.centroids = card.choice("POSITION", {"INTEGRATION POINTS", "CENTROIDAL"}, 4) == "CENTROIDAL";
  card.ignore({"VARIABLE", "EXTERIOR", "DIRECTIONS", "REBAR", "ALLSECTIONPTS", "SECTION POINTS"});
  card.done();
  request.name = request.of.set.empty() ? (nodes ? "NALL" : "EALL") : request.of.set;
  if (!request.of.set.empty()) {
    request.of.set = scoped(request.of.set);
    refer(nodes ? Kind::node_set : Kind::element_set, request.of.set, card.place());
  }
  request.states.every = history_->every.value_or(0);
  history.interval = history_->interval;
  history.number = history_->number;
  history.time_points = history_->time_points;
  bool parts = false;
  while (next_fields())
    for (const std::string_view text : fields_) {
      if (text.empty()) continue;
      const std::string name = squeezed(text);
      const HistoryWord* const word = nodes ? find_word(node_words, name) : find_word(element_words, name);
      if (!word) {
        note(card.name() + ": " + in_quotes(name) + " has no history; there are " +
                 (nodes ? "U, V, A, RF, NT, RFL and their components, such as U1"
                        : "S, E, MISES, HFL, ENER, ELSE, EVOL, SF and components of S, E and HFL, such as S11"),
             lines_.place());
        continue;
      }
      auto& quantities = request.of.quantities;
      if (std::find(quantities.begin(), quantities.end(), word->quantity) == quantities.end())
        quantities.emplace_back(word->quantity);
      parts = parts || !word->column.empty();
      const std::vector<std::string> columns =
          word->column.empty() ? all_columns(word->quantity) : std::vector<std::string>{std::string(word->column)};
      for (const std::string& column : columns)
        if (std::find(request.columns.begin(), request.columns.end(), column) == request.columns.end())
          request.columns.push_back(column);
    }
  if (!parts) request.columns.clear();
  if (request.of.quantities.empty())
    note(card.name() + " after *OUTPUT, HISTORY names no quantity, and nothing is recorded; name some, such as " +
             (nodes ? "U" : "S"),
         card.place());
  else
    step().histories.push_back(std::move(history));
}

}  // namespace voussoir::deck
