#include <voussoir/partition/process/detail/distributed_mesh.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include <voussoir/partition/process/detail/swap_all.hpp>

namespace voussoir::detail {
namespace {

constexpr std::size_t head_numbers = 3;  // batch, place and id of an element

template <class T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Places of ids in an ascending list.
class SortedIds {
 public:
  explicit SortedIds(const std::vector<Id>& ids) : ids_(ids) {}
  /// −1 for an id that is not there.
  std::int64_t find(Id id) const {
    const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
    return at != ids_.end() && *at == id ? at - ids_.begin() : -1;
  }

 private:
  const std::vector<Id>& ids_;
};

std::vector<Id> nodes_of(const ElementList& elements) {
  std::vector<Id> ids;
  for (std::size_t e = 0; e < elements.size(); ++e)
    ids.insert(ids.end(), elements.nodes(e).begin(), elements.nodes(e).end());
  sort_unique(ids);
  return ids;
}

class Distribution {
 public:
  Distribution(Processes& processes, GmshSlice slice, const std::vector<char>& has_section, const std::string& file,
               ProcessGraphPartitioner* partitioner)
      : processes_(processes),
        partitioner_(partitioner),
        has_section_(has_section),
        file_(file),
        slice_(std::move(slice)),
        homes_(processes, slice_.mesh),
        body_(widths()),
        attached_(widths()),
        own_(widths()),
        near_(widths()),
        touching_(widths()),
        far_(widths()) {}

  DistributedMesh run() {
    note_nodes(slice_.mesh.node_ids.size() + homes_.held());
    slice_.mesh.node_ids = {};
    slice_.mesh.coordinates = {};
    split_slice();
    check_element_ids();
    send_body();
    find_own_nodes();
    send_neighbours();
    send_attached();
    send_witnesses();
    return assemble();
  }

 private:
  std::vector<std::int32_t> widths() const {
    std::vector<std::int32_t> list;
    for (const GmshMesh::Batch& batch : slice_.mesh.batches) list.push_back(batch.nodes_per_element);
    return list;
  }
  std::size_t count() const { return static_cast<std::size_t>(processes_.count()); }
  void note_nodes(std::size_t nodes) { most_nodes_ = std::max(most_nodes_, static_cast<std::int64_t>(nodes)); }

  /// Elements with and without a section.
  void split_slice() {
    for (std::size_t b = 0; b < slice_.mesh.batches.size(); ++b) {
      GmshMesh::Batch& batch = slice_.mesh.batches[b];
      const auto width = static_cast<std::size_t>(batch.nodes_per_element);
      for (std::size_t e = 0; e < batch.ids.size(); ++e)
        (has_section_[b] ? body_ : attached_)
            .add(b, slice_.places[b][e], batch.ids[e], std::span(batch.nodes).subspan(e * width, width));
      batch.ids = {};
      batch.nodes = {};
    }
    slice_.places.clear();
  }

  /// Two elements with the same number could be in different parts, where neither process would notice.
  void check_element_ids() {
    std::vector<std::vector<Id>> sent(count());
    for (std::size_t e = 0; e < body_.size(); ++e)
      sent[static_cast<std::size_t>(body_.id(e)) % count()].push_back(body_.id(e));
    std::vector<Id> ids;
    for (const auto& from : swap_all(processes_, std::move(sent))) ids.insert(ids.end(), from.begin(), from.end());
    std::sort(ids.begin(), ids.end());
    agree(processes_, [&] {
      if (const auto twice = std::adjacent_find(ids.begin(), ids.end()); twice != ids.end())
        throw Error(ErrorCode::bad_input,
                    "element " + std::to_string(*twice) + " occurs twice; save the mesh again from Gmsh", file_);
    });
  }

  std::vector<std::array<double, 3>> centres() {
    const std::vector<Id> ids = nodes_of(body_);
    note_nodes(ids.size() + homes_.held());
    const std::vector<double> x = homes_.coordinates(ids);
    const SortedIds index(ids);
    std::vector<std::array<double, 3>> points(body_.size());
    for (std::size_t e = 0; e < body_.size(); ++e) {
      points[e] = {};
      for (const Id node : body_.nodes(e))
        for (std::size_t k = 0; k < 3; ++k)
          points[e][k] += x[3 * static_cast<std::size_t>(index.find(node)) + k] / double(body_.nodes(e).size());
    }
    return points;
  }

  /// The parts of the elements with sections.
  std::vector<std::int32_t> cut_body() {
    const auto counts = gather_numbers(processes_, static_cast<std::int64_t>(body_.size()));
    agree(processes_, [&] {
      if (std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) < processes_.count())
        throw Error(ErrorCode::bad_input, "the mesh has too few elements for so many processes; start fewer of them",
                    file_);
    });
    std::vector<std::int32_t> part;
    const std::vector<std::array<double, 3>> points = centres();  // all nodes exist, then
    if (partitioner_)
      part = partitioner_->partition(distributed_graph(processes_, homes_, body_, slice_.mesh.batches),
                                     processes_.count());
    else
      part = bisect_points(processes_, points, element_weights(body_), processes_.count());
    fill_empty_parts(processes_, part);
    return part;
  }

  void send_body() {
    const std::vector<std::int32_t> part = cut_body();
    std::vector<ElementList> sent(count(), ElementList(body_.widths()));
    for (std::size_t e = 0; e < body_.size(); ++e) sent[static_cast<std::size_t>(part[e])].add(body_, e);
    body_ = ElementList(body_.widths());
    for (const auto& from : swap(sent)) own_.add(from);
  }

  std::vector<std::vector<std::int64_t>> swap(const std::vector<ElementList>& lists) {
    std::vector<std::vector<std::int64_t>> sent;
    for (const ElementList& list : lists) sent.push_back(list.numbers());
    return swap_all(processes_, std::move(sent));
  }

  void find_own_nodes() {
    nodes_ = nodes_of(own_);
    homes_.announce(nodes_);
    places_ = homes_.places(nodes_);
    note_nodes(nodes_.size() + homes_.held());
  }

  /// Sends each neighbour the own elements that touch its nodes.
  void send_neighbours() {
    const SortedIds index(nodes_);
    std::vector<ElementList> sent(count(), ElementList(own_.widths()));
    std::set<std::int32_t> parts;
    for (std::size_t e = 0; e < own_.size(); ++e) {
      parts.clear();
      for (const Id node : own_.nodes(e)) {
        const auto& list = places_[static_cast<std::size_t>(index.find(node))].parts;
        parts.insert(list.begin(), list.end());
      }
      parts.erase(processes_.own());
      for (const std::int32_t p : parts) sent[static_cast<std::size_t>(p)].add(own_, e);
    }
    const auto received = swap(sent);
    for (std::size_t p = 0; p < received.size(); ++p) {
      near_.add(received[p]);
      near_part_.resize(near_.size(), static_cast<std::int32_t>(p));
    }
  }

  /// Sends elements without a section to all parts that have one of their nodes; those of nobody go to process 0, which
  /// then finds the same errors as with the whole mesh.
  void send_attached() {
    const std::vector<Id> ids = nodes_of(attached_);
    const auto places = homes_.places(ids);
    const SortedIds index(ids);
    std::vector<ElementList> sent(count(), ElementList(attached_.widths()));
    std::set<std::int32_t> parts;
    for (std::size_t e = 0; e < attached_.size(); ++e) {
      parts.clear();
      for (const Id node : attached_.nodes(e)) {
        const auto& list = places[static_cast<std::size_t>(index.find(node))].parts;
        parts.insert(list.begin(), list.end());
      }
      if (parts.empty()) parts.insert(0);
      for (const std::int32_t p : parts) sent[static_cast<std::size_t>(p)].add(attached_, e);
    }
    attached_ = ElementList(attached_.widths());
    for (const auto& from : swap(sent)) touching_.add(from);
  }

  /// Of each batch, all processes get the first element that a part has, with the elements that use its nodes: what is
  /// said of a group then has a meaning everywhere. Of a batch without a section they get the first element at each
  /// batch with a section that it touches: a support of a group may be meant for one of several models, whose sections
  /// cover different bodies.
  void send_witnesses() {
    const std::size_t batches = has_section_.size();
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
    const SortedIds index(nodes_);
    const std::vector<std::vector<std::size_t>> touched = batches_of_nodes(index);
    // By batch and touched batch; a batch with a section stands for itself, and one that touches nothing, too.
    std::vector<std::int64_t> best(batches * batches, none), element(batches * batches, -1);
    const auto offer = [&](const ElementList& list, std::size_t e, std::size_t at) {
      const std::size_t key = list.batch(e) * batches + at;
      if (-list.place(e) <= best[key]) return;
      best[key] = -list.place(e);
      element[key] = static_cast<std::int64_t>(e);
    };
    for (std::size_t e = 0; e < own_.size(); ++e) offer(own_, e, own_.batch(e));
    for (std::size_t e = 0; e < touching_.size(); ++e) {
      bool touches = false;
      for (const Id node : touching_.nodes(e)) {
        const std::int64_t n = index.find(node);
        if (n < 0) continue;
        touches = true;
        for (const std::size_t at : touched[static_cast<std::size_t>(n)]) offer(touching_, e, at);
      }
      if (!touches) offer(touching_, e, touching_.batch(e));
    }
    std::vector<std::int64_t> all = best, speaker(best.size(), none);
    processes_.maximum(all);
    // Elements that touch nothing are sent only if all of their batch do so.
    for (std::size_t b = 0; b < batches; ++b) {
      const auto row = all.begin() + static_cast<std::ptrdiff_t>(b * batches);
      if (!has_section_[b] &&
          std::count(row, row + static_cast<std::ptrdiff_t>(batches), none) + 1 < static_cast<std::ptrdiff_t>(batches))
        best[b * batches + b] = none;
    }
    for (std::size_t key = 0; key < best.size(); ++key)
      if (best[key] == all[key] && best[key] != none) speaker[key] = -processes_.own();
    processes_.maximum(speaker);
    ElementList said(own_.widths());
    for (std::size_t key = 0; key < best.size(); ++key) {
      if (speaker[key] != -processes_.own() || element[key] < 0) continue;
      const ElementList& from = has_section_[key / batches] ? own_ : touching_;
      const auto e = static_cast<std::size_t>(element[key]);
      said.add(from, e);
      add_users(from.nodes(e), index, said);
    }
    const std::vector<ElementList> sent(count(), said);
    for (const auto& heard : swap(sent)) far_.add(heard);
  }

  /// Per own node the batches of the elements with sections that use it.
  std::vector<std::vector<std::size_t>> batches_of_nodes(const SortedIds& index) const {
    std::vector<std::vector<std::size_t>> touched(nodes_.size());
    for (const ElementList* list : {&own_, &near_})
      for (std::size_t e = 0; e < list->size(); ++e)
        for (const Id node : list->nodes(e)) {
          const std::int64_t n = index.find(node);
          if (n < 0) continue;
          auto& batches = touched[static_cast<std::size_t>(n)];
          if (std::find(batches.begin(), batches.end(), list->batch(e)) == batches.end())
            batches.push_back(list->batch(e));
        }
    return touched;
  }

  /// Adds the elements of this process, and of its neighbours, that use own nodes among these.
  void add_users(std::span<const Id> nodes, const SortedIds& index, ElementList& to) const {
    std::set<Id> wanted;
    for (const Id node : nodes)
      if (index.find(node) >= 0) wanted.insert(node);
    for (const ElementList* list : {&own_, &near_})
      for (std::size_t e = 0; e < list->size(); ++e)
        if (std::any_of(list->nodes(e).begin(), list->nodes(e).end(), [&](Id node) { return wanted.contains(node); }))
          to.add(*list, e);
  }

  DistributedMesh assemble() {
    struct Entry {
      const ElementList* list;
      std::size_t element;
      std::int32_t part;
    };
    std::vector<std::map<std::int64_t, Entry>> chosen(has_section_.size());  // by place; the first entry counts
    const auto take = [&](const ElementList& list, const auto& part) {
      for (std::size_t e = 0; e < list.size(); ++e)
        chosen[list.batch(e)].try_emplace(list.place(e), Entry{&list, e, part(e)});
    };
    take(own_, [&](std::size_t) { return static_cast<std::int32_t>(processes_.own()); });
    take(near_, [&](std::size_t e) { return near_part_[e]; });
    take(touching_, [](std::size_t) { return -1; });
    take(far_, [](std::size_t) { return -1; });
    DistributedMesh result;
    result.mesh = std::move(slice_.mesh);
    result.part.resize(chosen.size());
    result.places.resize(chosen.size());
    std::vector<Id>& ids = result.mesh.node_ids;
    for (std::size_t b = 0; b < chosen.size(); ++b)
      for (const auto& [place, entry] : chosen[b]) {
        const auto nodes = entry.list->nodes(entry.element);
        GmshMesh::Batch& batch = result.mesh.batches[b];
        batch.ids.push_back(entry.list->id(entry.element));
        batch.nodes.insert(batch.nodes.end(), nodes.begin(), nodes.end());
        result.part[b].push_back(entry.part);
        result.places[b].push_back(place);
        if (has_section_[b]) ids.insert(ids.end(), nodes.begin(), nodes.end());
      }
    sort_unique(ids);
    result.mesh.coordinates = homes_.coordinates(ids);
    note_nodes(ids.size() + homes_.held());
    result.batch_sizes = std::move(slice_.batch_sizes);
    result.has_section = has_section_;
    result.nodes = std::move(nodes_);
    result.node_places = std::move(places_);
    result.whole_nodes = homes_.announced();
    result.most_nodes = most_nodes_;
    return result;
  }

  Processes& processes_;
  ProcessGraphPartitioner* partitioner_;  // null: bisection
  const std::vector<char>& has_section_;
  const std::string& file_;
  GmshSlice slice_;
  NodeHomes homes_;
  ElementList body_, attached_;  // of the slice, with and without a section
  ElementList own_;              // of this part
  ElementList near_;             // of other parts, at own nodes
  std::vector<std::int32_t> near_part_;
  ElementList touching_;  // without a section, at own nodes
  ElementList far_;       // one of each batch, with users of its nodes
  std::vector<Id> nodes_;
  std::vector<NodeHomes::Place> places_;
  std::int64_t most_nodes_ = 0;
};

}  // namespace

void ElementList::add(std::size_t batch, std::int64_t place, Id id, std::span<const Id> nodes) {
  first_.push_back(numbers_.size());
  numbers_.insert(numbers_.end(), {static_cast<std::int64_t>(batch), place, id});
  numbers_.insert(numbers_.end(), nodes.begin(), nodes.end());
}

void ElementList::add(const ElementList& other, std::size_t element) {
  add(other.batch(element), other.place(element), other.id(element), other.nodes(element));
}

void ElementList::add(std::span<const std::int64_t> numbers) {
  for (std::size_t at = 0; at < numbers.size();) {
    const auto width = static_cast<std::size_t>(widths_[static_cast<std::size_t>(numbers[at])]);
    first_.push_back(numbers_.size() + at);
    at += head_numbers + width;
  }
  numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
}

std::span<const Id> ElementList::nodes(std::size_t element) const {
  return std::span<const Id>(numbers_).subspan(first_[element] + head_numbers,
                                               static_cast<std::size_t>(widths_[batch(element)]));
}

DistributedMesh distribute_mesh(Processes& processes, GmshSlice slice, const std::vector<char>& has_section,
                                const std::string& file, ProcessGraphPartitioner* partitioner) {
  return Distribution(processes, std::move(slice), has_section, file, partitioner).run();
}

}  // namespace voussoir::detail
