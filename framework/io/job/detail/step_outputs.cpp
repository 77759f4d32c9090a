#include <voussoir/framework/io/job/detail/step_outputs.hpp>

#include <voussoir/framework/io/job/detail/modal_steps.hpp>

namespace voussoir::job {
namespace {

/// A word for a table, and what decks call it.
struct Quantity {
  std::string word, code;
  PrintRequest::At at;
  Procedure procedure;
  bool history = false;  // of histories alone
};

/// All words for tables and histories.
const std::vector<Quantity>& all_quantities() {
  using At = PrintRequest::At;
  constexpr auto statics = Procedure::statics;
  constexpr auto heat = Procedure::steady_heat;
  static const std::vector<Quantity> all = {
      {"displacement", "U", At::nodes, statics},
      {"reaction", "RF", At::nodes, statics},
      {"velocity", "V", At::nodes, statics},
      {"temperature", "NT", At::nodes, heat},
      {"heat_flow", "RFL", At::nodes, heat},
      {"stress", "S", At::elements, statics},
      {"strain", "E", At::elements, statics},
      {"energy", "ENER", At::elements, statics},
      {"volume", "EVOL", At::elements, statics},
      {"section_force", "SF", At::elements, statics},
      {"heat_flux", "HFL", At::elements, heat},
      {"acceleration", "A", At::nodes, statics, true},
      {"mises", "MISES", At::elements, statics, true},
      {"element_energy", "ELSE", At::elements, statics, true},
      {"plastic_strain", "PEEQ", At::elements, statics},
  };
  return all;
}

/// "at", "group", "values" and "totals" of a table or a history. Of a request for all steps, quantities that a step
/// does not have are left out.
PrintRequest read_request(const Json& json, Model& model, const JobStep& step, bool for_all, bool history) {
  PrintRequest request;
  request.where = json.where();
  request.at =
      json.at("at").choice({"nodes", "elements"}) == "nodes" ? PrintRequest::At::nodes : PrintRequest::At::elements;
  std::vector<std::string> words;
  for (const Quantity& q : all_quantities())
    if (q.at == request.at && (history || !q.history)) words.push_back(q.word);
  for (const Json& item : json.at("values").items()) {
    const std::string& word = item.choice(words);
    for (const Quantity& q : all_quantities()) {
      if (q.word != word || q.at != request.at) continue;
      if (q.code == "V" && step.procedure != Procedure::modal_dynamic && step.procedure != Procedure::harmonic &&
          step.procedure != Procedure::dynamic)
        item.fail("'velocity' is a result of steps of dynamics, modal dynamics and harmonic response");
      if (is_heat(q.procedure) == is_heat(step.procedure))
        request.quantities.push_back(q.code);
      else if (!for_all)
        item.fail("'" + word + "' is not a result of a step of " + to_string(step.procedure));
    }
  }
  if (json.at("values").items().empty()) json.at("values").fail("the list is empty; name the results");
  if (json.has("totals")) {
    const std::string& totals = json.at("totals").choice({"no", "also", "only"});
    request.totals = totals == "no"     ? PrintRequest::Totals::no
                     : totals == "also" ? PrintRequest::Totals::also
                                        : PrintRequest::Totals::only;
  }
  if (json.has("group") && !request.quantities.empty()) {
    Body& body = model.body(step.domain);
    const Json group = json.at("group");
    request.set =
        request.at == PrintRequest::At::nodes
            ? body.node_set(model.groups().select(group, {0, 1, 2, 3}, "a table is of"), group)
            : body.element_set(model.groups().select(group, body.element_dimensions(), "a table of elements is of"),
                               group);
  }
  return request;
}

}  // namespace

void read_prints(const Json& json, const Json& root, Model& model, JobStep& step) {
  const Json& owner = json.has("print") ? json : root;
  if (!owner.has("print")) return;
  // A request for all steps is for those that have such a result.
  const bool for_all = &owner == &root && model.body_count() > 1;
  for (const Json& item : owner.at("print").items()) {
    item.allow({"at", "group", "values", "totals"});
    PrintRequest request = read_request(item, model, step, for_all, false);
    if (!request.quantities.empty()) step.prints.push_back(std::move(request));
  }
}

void read_histories(const Json& json, Model& model, JobStep& step) {
  if (!json.has("histories")) return;
  const double period = std::get<DynamicStep>(step.modal).times.period;
  for (const Json& item : json.at("histories").items()) {
    item.allow({"name", "at", "group", "values", "totals", "position", "every", "interval", "number", "times"});
    HistoryRequest history;
    history.of = read_request(item, model, step, false, true);
    history.name = item.has("name") ? item.at("name").text() : history.of.set;
    if (history.name.empty()) history.name = history.of.at == PrintRequest::At::nodes ? "NALL" : "EALL";
    if (item.has("position")) {
      if (history.of.at == PrintRequest::At::nodes) item.at("position").fail("this is for histories of elements");
      history.centroids = item.at("position").choice({"points", "centroids"}) == "centroids";
    }
    read_history_states(item, period, history.states);
    step.histories.push_back(std::move(history));
  }
}

}  // namespace voussoir::job
