#include <voussoir/jobs/detail/part_contribution.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <tuple>

#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/jobs/detail/collect_and_agree.hpp>
#include <voussoir/jobs/detail/nan.hpp>
#include <voussoir/jobs/detail/support_reactions.hpp>

namespace voussoir::detail {
namespace {

/// Replaces what is not known by what another part knows.
void fill_unknown(double& value, double other) {
  if (std::isnan(value)) value = other;
}

/// "S is not printed for 12 elements of block 'A'", before and after the number; −1 in notes that count nothing.
std::tuple<std::string, std::int64_t, std::string> split_at_count(const std::string& note) {
  const std::string begin = " is not printed for ", end = " elements of block ";
  const std::size_t first = note.find(begin), last = note.find(end);
  if (first == std::string::npos || last == std::string::npos || last <= first + begin.size()) return {note, -1, ""};
  const std::string count = note.substr(first + begin.size(), last - first - begin.size());
  if (count.size() > 18 || count.find_first_not_of("0123456789") != std::string::npos) return {note, -1, ""};
  return {note.substr(0, first + begin.size()), std::stoll(count), note.substr(last)};
}

std::vector<double> as_numbers(const std::string& bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(double));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(double));
  return numbers;
}

void pack_range(ByteWriter& out, const PlacedRange& placed) {
  const Range& range = placed.range;
  out.put(range.quantity).put(range.least.value).put(range.least.node).put(placed.least_at);
  out.put(range.greatest.value).put(range.greatest.node).put(placed.greatest_at);
}

PlacedRange unpack_range(ByteReader& in) {
  PlacedRange placed;
  Range& range = placed.range;
  range.quantity = in.text();
  range.least.value = in.get<double>();
  range.least.node = in.get<Id>();
  placed.least_at = in.get<std::int64_t>();
  range.greatest.value = in.get<double>();
  range.greatest.node = in.get<Id>();
  placed.greatest_at = in.get<std::int64_t>();
  return placed;
}

void pack_supported(ByteWriter& out, const SupportedNode& node) {
  out.put(node.whole).put(node.id);
  for (const double x : node.position) out.put(x);
  out.put(node.reactions).put(node.is_own).put(node.rotates).put(node.is_hidden).put(node.is_moment).put(node.sets);
}

SupportedNode unpack_supported(ByteReader& in) {
  SupportedNode node;
  node.whole = in.get<std::int64_t>();
  node.id = in.get<Id>();
  for (double& x : node.position) x = in.get<double>();
  node.reactions = in.list<double>();
  node.is_own = in.get<bool>();
  node.rotates = in.get<std::int64_t>();
  node.is_hidden = in.get<bool>();
  node.is_moment = in.get<bool>();
  node.sets = in.list<std::int32_t>();
  return node;
}

void pack_table(ByteWriter& out, const PrintTable& table) {
  out.put(static_cast<std::uint64_t>(table.request)).put(static_cast<std::uint64_t>(table.item));
  out.put(table.quantity).put(table.set).put(table.heading).put(table.total_heading);
  out.put(table.columns).put(table.total_columns);
  out.put(table.of_nodes).put(table.has_points).put(table.wants_rows).put(table.wants_totals);
  out.put(table.ids).put(table.names).put(table.points).put(table.positions).put(table.values).put(table.slice);
  out.put(table.calculix_columns);
}

PrintTable unpack_table(ByteReader& in) {
  PrintTable table;
  table.request = static_cast<std::size_t>(in.get<std::uint64_t>());
  table.item = static_cast<std::size_t>(in.get<std::uint64_t>());
  table.quantity = in.text();
  table.set = in.text();
  table.heading = in.text();
  table.total_heading = in.text();
  table.columns = in.texts();
  table.total_columns = in.texts();
  table.of_nodes = in.get<bool>();
  table.has_points = in.get<bool>();
  table.wants_rows = in.get<bool>();
  table.wants_totals = in.get<bool>();
  table.ids = in.list<Id>();
  table.names = in.texts();
  table.points = in.list<std::int32_t>();
  table.positions = in.list<double>();
  table.values = in.list<double>();
  table.slice = in.list<double>();
  table.calculix_columns = in.get<int>();
  return table;
}

/// Rows of a table of nodes that several parts have are joined; all rows are sorted.
PrintTable with_sorted_rows(const PrintTable& all) {
  std::vector<std::size_t> order(all.ids.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (all.ids[a] != all.ids[b]) return all.ids[a] < all.ids[b];
    return !all.points.empty() && all.points[a] < all.points[b];
  });
  PrintTable sorted = all;
  for (auto* list : {&sorted.positions, &sorted.values, &sorted.slice}) list->clear();
  sorted.ids.clear();
  sorted.names.clear();
  sorted.points.clear();
  const std::size_t width = all.width();
  for (const std::size_t row : order) {
    if (all.of_nodes && !sorted.ids.empty() && sorted.ids.back() == all.ids[row]) {
      for (std::size_t c = 0; c < width; ++c)
        fill_unknown(sorted.values[sorted.values.size() - width + c], all.at(row, c));
      if (!all.slice.empty()) sorted.slice.back() = std::min(sorted.slice.back(), all.slice[row]);
      continue;
    }
    sorted.ids.push_back(all.ids[row]);
    if (!all.names.empty()) sorted.names.push_back(all.names[row]);
    if (!all.points.empty()) sorted.points.push_back(all.points[row]);
    if (!all.slice.empty()) sorted.slice.push_back(all.slice[row]);
    for (std::size_t k = 0; k < 3 && !all.positions.empty(); ++k)
      sorted.positions.push_back(all.positions[3 * row + k]);
    for (std::size_t c = 0; c < width; ++c) sorted.values.push_back(all.at(row, c));
  }
  return sorted;
}

/// Nodes that several parts have, joined, in the order of the whole model.
std::vector<SupportedNode> joined_nodes(std::vector<SupportedNode> nodes) {
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const SupportedNode& a, const SupportedNode& b) { return a.whole < b.whole; });
  std::vector<SupportedNode> joined;
  for (SupportedNode& node : nodes) {
    if (joined.empty() || joined.back().whole != node.whole) {
      joined.push_back(std::move(node));
      continue;
    }
    SupportedNode& same = joined.back();
    for (std::size_t c = 0; c < same.reactions.size(); ++c) fill_unknown(same.reactions[c], node.reactions[c]);
    if (same.rotates < 0) same.rotates = node.rotates, same.is_hidden = node.is_hidden;
    same.is_moment = same.is_moment || node.is_moment;
    same.sets.insert(same.sets.end(), node.sets.begin(), node.sets.end());
    std::sort(same.sets.begin(), same.sets.end());
    same.sets.erase(std::unique(same.sets.begin(), same.sets.end()), same.sets.end());
  }
  return joined;
}

/// A job that has only supported nodes, so that reactions are summed as those of a whole model.
class SupportJob {
 public:
  SupportJob(const Job& part, std::size_t step, const StepResult& own, std::vector<SupportedNode> nodes)
      : nodes_(std::move(nodes)) {
    job_.instances = part.instances;
    job_.steps.push_back(part.steps[step]);
    job_.steps.front().domain = 0;
    job_.domains.push_back(std::make_unique<Domain>());
    Domain& domain = *job_.domains.front();
    result_.step = own.step;
    result_.report = own.report;
    result_.load_sum = own.load_sum;
    result_.reaction_sum = own.reaction_sum;
    result_.energy = own.energy;
    result_.unknowns = {own.unknowns.name, own.unknowns.components, {}};
    result_.reactions = {own.reactions.name, own.reactions.components, {}};
    std::map<std::int64_t, Id> ids;
    std::int32_t own_nodes = 0;
    for (const SupportedNode& node : nodes_) {
      domain.add_node(node.id, node.position[0], node.position[1], node.position[2]);
      ids.emplace(node.whole, node.id);
      own_nodes += node.is_own;
      if (node.is_moment) job_.rotation_nodes.push_back(domain.node_count() - 1);
      result_.unknowns.values.insert(result_.unknowns.values.end(), own.unknowns.components.size(), nan);
      result_.reactions.values.insert(result_.reactions.values.end(), node.reactions.begin(), node.reactions.end());
    }
    if (own_nodes < domain.node_count()) job_.own_nodes = own_nodes;
    for (const SupportedNode& node : nodes_)
      if (const auto reference = ids.find(node.rotates); node.rotates >= 0 && reference != ids.end())
        domain.set_rotation_node(node.id, reference->second, node.is_hidden);
  }

  /// Whether all nodes are those of the deck reader, which are not reported.
  bool is_empty() const {
    return std::none_of(nodes_.begin(), nodes_.end(), [](const SupportedNode& node) { return node.is_own; });
  }
  void add_sets(const std::vector<OwnedSet>& sets, bool complete_ones_only) {
    std::vector<std::vector<Id>> members(sets.size());
    for (const SupportedNode& node : nodes_)
      for (const std::int32_t set : node.sets) members[static_cast<std::size_t>(set)].push_back(node.id);
    for (std::size_t s = 0; s < sets.size(); ++s) {
      if (members[s].empty()) continue;
      if (complete_ones_only && static_cast<std::int64_t>(members[s].size()) != sets[s].nodes) continue;
      job_.domains.front()->add_node_set(sets[s].name, members[s]);
    }
  }
  const Job& job() const { return job_; }
  const StepResult& result() const { return result_; }

 private:
  std::vector<SupportedNode> nodes_;
  Job job_;
  StepResult result_;
};

}  // namespace

void give_all_unknowns(NodalField& field, const std::vector<std::string>& names, const std::string& name,
                       std::int32_t nodes) {
  NodalField all{name, names, std::vector<double>(static_cast<std::size_t>(nodes) * names.size(), nan)};
  for (std::size_t c = 0; c < field.components.size(); ++c) {
    const auto column = static_cast<std::size_t>(all.component_index(field.components[c]));
    for (std::size_t n = 0; n < static_cast<std::size_t>(nodes); ++n)
      all.values[n * names.size() + column] = field.values[n * field.components.size() + c];
  }
  field = std::move(all);
}

void complete_shared_nodes(Processes& processes, const ProcessPart& part, const std::vector<NodalField*>& fields) {
  std::vector<int> neighbours;
  std::vector<std::string> sent;
  std::size_t width = 0;
  for (const NodalField* field : fields) width += field->components.size();
  for (const SharedNodes& shared : part.shared) {
    std::vector<double> values;
    for (const std::int32_t node : shared.nodes)
      for (const NodalField* field : fields)
        for (int c = 0; c < field->width(); ++c) values.push_back(field->at(node, c));
    neighbours.push_back(shared.part);
    sent.emplace_back(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  }
  const std::vector<std::string> received = processes.exchange(neighbours, sent);
  agree(processes, [&] {
    for (std::size_t k = 0; k < part.shared.size(); ++k) {
      const SharedNodes& shared = part.shared[k];
      const std::vector<double> values = as_numbers(received[k]);
      if (values.size() != shared.nodes.size() * width)
        throw Error(ErrorCode::internal, "parts " + std::to_string(part.part) + " and " + std::to_string(shared.part) +
                                             " do not agree on the nodes that they share");
      const double* at = values.data();
      for (const std::int32_t node : shared.nodes)
        for (NodalField* field : fields)
          for (std::size_t c = 0; c < field->components.size(); ++c, ++at)
            fill_unknown(field->values[static_cast<std::size_t>(node) * field->components.size() + c], *at);
    }
  });
}

void take_moments_off_parts(Processes& processes, const ProcessPart& part, StepResult& result) {
  const int width = std::min(3, result.unknowns.width());
  std::vector<double> sums(6, 0.0);  // moments of supports, and of loads
  for (const std::int32_t node : part.job.rotation_nodes) {
    if (!part.owns(node)) continue;
    for (int k = 0; k < width; ++k) {
      const double all = result.internal_forces.at(node, k), support = result.reactions.at(node, k);
      if (std::isnan(all)) continue;
      const double reaction = std::isnan(support) ? 0.0 : support;
      sums[static_cast<std::size_t>(k)] += reaction;
      sums[static_cast<std::size_t>(3 + k)] += all - reaction;
    }
  }
  processes.sum(sums);
  for (std::size_t k = 0; k < static_cast<std::size_t>(width); ++k) {
    result.reaction_sum[k] -= sums[k];
    result.load_sum[k] -= sums[3 + k];
  }
}

void add_ranges(const ProcessPart& part, const Domain& domain, const std::vector<Range>& ranges,
                std::vector<PlacedRange>& to) {
  const auto place = [&](Id id) { return part.whole[static_cast<std::size_t>(domain.node_index(id))]; };
  for (const Range& range : ranges) to.push_back({range, place(range.least.node), place(range.greatest.node)});
}

void add_supports(const ProcessPart& part, const Domain& domain, const StepResult& result, PartContribution& to) {
  const auto count = static_cast<std::size_t>(domain.node_count());
  std::vector<char> needed(count, 0), held(count, 0);
  for (std::size_t n = 0; n < count; ++n)
    for (int c = 0; c < result.reactions.width(); ++c)
      if (!std::isnan(result.reactions.at(static_cast<std::int32_t>(n), c))) needed[n] = held[n] = 1;
  for (std::size_t n = 0; n < count; ++n)
    if (const RotationNode* rotation = domain.rotation_node(static_cast<std::int32_t>(n)); rotation && held[n]) {
      const auto reference = static_cast<std::size_t>(rotation->reference);
      needed[reference] = 1;
      if (rotation->hidden) held[reference] = 1;  // its rotation is
    }
  std::vector<std::vector<std::int32_t>> sets_of(count);
  for (const std::string& name : domain.node_set_names()) {
    OwnedSet& set = to.sets.emplace_back(OwnedSet{name, 0});
    for (const std::int32_t n : domain.node_set(name)) {
      set.nodes += part.owns(n);
      if (held[static_cast<std::size_t>(n)])
        sets_of[static_cast<std::size_t>(n)].push_back(static_cast<std::int32_t>(to.sets.size()) - 1);
    }
  }
  const std::int32_t reported = reported_nodes(part.job, domain);
  const auto& moments = part.job.rotation_nodes;
  for (std::size_t n = 0; n < count; ++n) {
    if (!needed[n]) continue;
    const auto node = static_cast<std::int32_t>(n);
    SupportedNode& entry = to.supported.emplace_back();
    entry.whole = part.whole[n];
    entry.id = domain.node_id(node);
    std::copy_n(domain.coordinates().data() + 3 * n, 3, entry.position.begin());
    for (int c = 0; c < result.reactions.width(); ++c) entry.reactions.push_back(result.reactions.at(node, c));
    entry.is_own = node < reported;
    if (const RotationNode* rotation = domain.rotation_node(node)) {
      entry.rotates = part.whole[static_cast<std::size_t>(rotation->reference)];
      entry.is_hidden = rotation->hidden;
    }
    entry.is_moment = std::binary_search(moments.begin(), moments.end(), node);
    entry.sets = std::move(sets_of[n]);
  }
}

void add_tables(const ProcessPart& part, std::size_t step, const StepResult& result,
                const std::vector<double>& temperatures, PartContribution& to, PrintSelection selection) {
  const JobStep& asked = part.job.steps[step];
  const Domain& domain = *part.job.domains[asked.domain];
  std::vector<char> prints;
  for (const PrintRequest& request : asked.prints)
    prints.push_back(has_set(domain, request) && (!selection.prints || (*selection.prints)[prints.size()] != 0));
  selection.prints = &prints;
  to.tables = print_tables(part.job, asked, result, temperatures, to.notes, selection);
}

std::string pack_contribution(const PartContribution& contribution) {
  ByteWriter out;
  out.put(static_cast<std::uint64_t>(contribution.ranges.size()));
  for (const PlacedRange& range : contribution.ranges) pack_range(out, range);
  out.put(static_cast<std::uint64_t>(contribution.sets.size()));
  for (const OwnedSet& set : contribution.sets) out.put(set.name).put(set.nodes);
  out.put(static_cast<std::uint64_t>(contribution.supported.size()));
  for (const SupportedNode& node : contribution.supported) pack_supported(out, node);
  out.put(static_cast<std::uint64_t>(contribution.tables.size()));
  for (const PrintTable& table : contribution.tables) pack_table(out, table);
  out.put(contribution.notes);
  return out.take();
}

PartContribution unpack_contribution(const std::string& bytes) {
  ByteReader in(bytes, "a message between processes");
  PartContribution result;
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) result.ranges.push_back(unpack_range(in));
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
    OwnedSet& set = result.sets.emplace_back();
    set.name = in.text();
    set.nodes = in.get<std::int64_t>();
  }
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) result.supported.push_back(unpack_supported(in));
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) result.tables.push_back(unpack_table(in));
  result.notes = in.texts();
  in.expect_end();
  return result;
}

void ContributionMerger::add(PartContribution part) {
  for (PlacedRange& more : part.ranges) {
    const auto same = std::find_if(ranges_.begin(), ranges_.end(), [&](const PlacedRange& known) {
      return known.range.quantity == more.range.quantity;
    });
    if (same == ranges_.end()) {
      ranges_.push_back(std::move(more));
      continue;
    }
    const double least = same->range.least.value, greatest = same->range.greatest.value;
    if (more.range.least.value < least || (more.range.least.value == least && more.least_at < same->least_at))
      same->range.least = more.range.least, same->least_at = more.least_at;
    if (more.range.greatest.value > greatest ||
        (more.range.greatest.value == greatest && more.greatest_at < same->greatest_at))
      same->range.greatest = more.range.greatest, same->greatest_at = more.greatest_at;
  }
  std::vector<std::int32_t> set_index;
  for (const OwnedSet& set : part.sets) {
    const auto [known, is_new] = set_numbers_.emplace(set.name, static_cast<std::int32_t>(sets_.size()));
    if (is_new) sets_.push_back({set.name, 0});
    sets_[static_cast<std::size_t>(known->second)].nodes += set.nodes;
    set_index.push_back(known->second);
  }
  for (SupportedNode& node : part.supported) {
    for (std::int32_t& set : node.sets) set = set_index[static_cast<std::size_t>(set)];
    supported_.push_back(std::move(node));
  }
  for (PrintTable& table : part.tables) add_table(std::move(table));
  for (const std::string& note : part.notes) add_note(note);
}

void ContributionMerger::add_note(const std::string& note) {
  // A note that counts elements counts those of all parts.
  const auto [before, count, after] = split_at_count(note);
  for (std::string& known : notes_) {
    if (known == note && count < 0) return;
    const auto [known_before, known_count, known_after] = split_at_count(known);
    if (count < 0 || known_count < 0 || known_before != before || known_after != after) continue;
    known = before + std::to_string(known_count + count) + after;
    return;
  }
  notes_.push_back(note);
}

void ContributionMerger::add_table(PrintTable table) {
  const auto same = std::find_if(tables_.begin(), tables_.end(), [&](const PrintTable& known) {
    return known.request == table.request && known.item == table.item;
  });
  if (same == tables_.end()) {
    tables_.push_back(std::move(table));
    return;
  }
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(same->ids, table.ids);
  append(same->names, table.names);
  append(same->points, table.points);
  append(same->positions, table.positions);
  append(same->values, table.values);
  append(same->slice, table.slice);
}

StepSummary ContributionMerger::summary(const Job& job, std::size_t step, const StepResult& own) const {
  const Domain& domain = *job.domains[job.steps[step].domain];
  const std::vector<SupportedNode> nodes = joined_nodes(supported_);
  // Once with all sets, for their reactions, and once with those of which all nodes are held.
  SupportJob all(job, step, own, nodes);
  all.add_sets(sets_, false);
  StepSummary summary = summarize(all.job(), 0, all.result());
  summary.number = step + 1;
  summary.supports.clear();
  if (!all.is_empty()) {
    SupportJob complete(job, step, own, nodes);
    complete.add_sets(sets_, true);
    summary.supports = support_reactions(complete.job(), *complete.job().domains.front(), complete.result());
  }
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    if (domain.block(b).type().program().axisymmetric())
      for (SupportReaction& support : summary.supports) support.moment.clear();
  summary.ranges.clear();
  for (const PlacedRange& placed : ranges_) summary.ranges.push_back(placed.range);
  name_nodes(summary.ranges, job.instances);
  return summary;
}

std::vector<PrintTable> ContributionMerger::take_tables() {
  std::vector<PrintTable> tables;
  for (const PrintTable& table : tables_) tables.push_back(with_sorted_rows(table));
  tables_.clear();
  // In the order of the requests, whichever part had rows first.
  std::stable_sort(tables.begin(), tables.end(), [](const PrintTable& a, const PrintTable& b) {
    return std::pair(a.request, a.item) < std::pair(b.request, b.item);
  });
  return tables;
}

ContributionMerger merge_contributions(Processes& processes, const PartContribution& own) {
  std::string packed;
  agree(processes, [&] { packed = pack_contribution(own); });
  ContributionMerger merger;
  collect_and_agree(processes, packed, [&](int, const std::string& bytes) { merger.add(unpack_contribution(bytes)); });
  return merger;
}

}  // namespace voussoir::detail
