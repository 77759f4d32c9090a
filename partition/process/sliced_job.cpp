#include <voussoir/partition/process/sliced_job.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>

#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/framework/io/job/job_file.hpp>
#include <voussoir/partition/process/detail/distributed_mesh.hpp>
#include <voussoir/partition/process/detail/swap_all.hpp>

namespace voussoir {
namespace {

using detail::DistributedMesh;

/// A job file as text, which process 0 reads.
std::string shared_text(Processes& processes, const std::filesystem::path& path) {
  std::string text;
  agree(processes, [&] {
    if (!processes.is_first()) return;
    std::ifstream file(path, std::ios::binary);
    if (!file)
      throw Error(ErrorCode::io, std::string("the file cannot be opened: ") + std::strerror(errno), path.string());
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (file.bad()) throw Error(ErrorCode::io, "the file could not be read", path.string());
  });
  processes.broadcast(text);
  return text;
}

/// All processes must have read slices of one file.
void check_same_file(Processes& processes, const GmshSlice& slice, const std::string& file) {
  ByteWriter bytes;
  bytes.put(slice.nodes).put(slice.elements).put(slice.batch_sizes);
  for (const GmshMesh::Group& group : slice.mesh.groups) bytes.put(group.dimension).put(group.tag).put(group.name);
  require_same_file(processes, checksum(bytes.bytes()), file);
}

/// Makes the part of a process from its share of the mesh.
class PartMaker {
 public:
  PartMaker(Processes& processes, const DistributedMesh& mesh) : processes_(processes), mesh_(mesh) {
    // Elements without a section may have the numbers of others: they are in no model.
    for (std::size_t b = 0; b < mesh.mesh.batches.size(); ++b)
      for (std::size_t e = 0; mesh.has_section[b] && e < mesh.mesh.batches[b].ids.size(); ++e)
        of_element_.emplace(mesh.mesh.batches[b].ids[e], Element{b, mesh.places[b][e], mesh.part[b][e]});
  }

  ProcessPart make(std::string_view text, const std::string& name, const std::filesystem::path& folder) {
    Job job = read_job(text, name, folder);
    ProcessPart part;
    std::vector<std::vector<std::int64_t>> base;
    agree(processes_, [&] {
      part = JobDivision(job, 3, local_parts(job)).part(1);
      check_nodes(part);
      base = first_places(job);
    });
    part.part = processes_.own();
    part.parts = processes_.count();
    number_nodes(part);
    for (std::size_t d = 0; d < part.domains.size(); ++d) number_domain(part, d, base[d]);
    check_same_division(part);
    return part;
  }

 private:
  struct Element {
    std::size_t batch;
    std::int64_t place;
    std::int32_t part;
  };

  /// Reads the job twice: first what the own elements contribute to quantities of the whole model, then with these.
  Job read_job(std::string_view text, const std::string& name, const std::filesystem::path& folder) {
    std::vector<double> totals;
    JobShare share;
    share.is_own = [&](Id id) { return of_element_.at(id).part == processes_.own(); };
    share.total = [&](double own) {
      totals.push_back(own);
      return own > 0 ? own : 1.0;
    };
    agree(processes_, [&] { (void)read_job_text(text, name, folder, mesh_.mesh, share); });
    if (processes_.maximum(static_cast<std::int64_t>(totals.size())) > 0) processes_.sum(totals);
    std::size_t next = 0;
    share.total = [&](double) { return totals[next++]; };
    Job job;
    agree(processes_, [&] { job = read_job_text(text, name, folder, mesh_.mesh, share); });
    return job;
  }

  /// Parts of the elements of the local job: 0 of lower processes, 1 the own, 2 of higher processes and those far away.
  /// Loads of nodes on the interface belong to the lowest part, as in the whole model.
  std::vector<std::vector<std::int32_t>> local_parts(const Job& job) const {
    std::vector<std::vector<std::int32_t>> all;
    for (const auto& domain : job.domains) {
      auto& parts = all.emplace_back();
      for (std::size_t b = 0; b < domain->block_count(); ++b)
        for (std::int32_t e = 0; e < std::as_const(*domain).block(b).size(); ++e) {
          const std::int32_t part = of_element_.at(std::as_const(*domain).block(b).id(e)).part;
          parts.push_back(part < 0 || part > processes_.own() ? 2 : part < processes_.own() ? 0 : 1);
        }
    }
    return all;
  }

  void check_nodes(const ProcessPart& part) const {
    const auto& domain = *part.job.domains.front();
    bool same = domain.node_count() == static_cast<std::int32_t>(mesh_.nodes.size());
    for (std::int32_t n = 0; same && n < domain.node_count(); ++n)
      same = domain.node_id(n) == mesh_.nodes[static_cast<std::size_t>(n)];
    if (!same) throw Error(ErrorCode::internal, "the part has other nodes than its elements");
  }

  /// Per block of a domain and batch of the mesh: where the elements of the batch begin in the block of the whole
  /// domain; −1 for others. The last entry of each list is the size of the block.
  std::vector<std::vector<std::int64_t>> first_places(const Job& job) const {
    std::vector<std::vector<std::int64_t>> all;
    const std::size_t batches = mesh_.batch_sizes.size();
    for (const auto& domain : job.domains) {
      auto& of_domain = all.emplace_back();
      for (std::size_t b = 0; b < domain->block_count(); ++b) {
        const ElementBlock& block = std::as_const(*domain).block(b);
        std::vector<std::int64_t> first(batches + 1, -1);
        std::int64_t size = 0;
        // Every batch has an element here, and batches follow each other as in the whole domain.
        for (std::int32_t e = 0; e < block.size(); ++e)
          if (const std::size_t batch = of_element_.at(block.id(e)).batch; first[batch] < 0) {
            first[batch] = size;
            size += mesh_.batch_sizes[batch];
          }
        first.back() = size;
        of_domain.insert(of_domain.end(), first.begin(), first.end());
      }
    }
    return all;
  }

  /// Nodes of a part that another part has as well, by ascending ranks: the same list on both sides.
  std::map<std::int32_t, std::vector<std::int32_t>> common_nodes() const {
    std::map<std::int32_t, std::vector<std::int32_t>> common;
    for (std::size_t n = 0; n < mesh_.nodes.size(); ++n)
      for (const std::int32_t p : mesh_.node_places[n].parts)
        if (p != processes_.own()) common[p].push_back(static_cast<std::int32_t>(n));
    return common;
  }

  /// Numbers that are contiguous for each owner, of which each node has `width(node)`; returns the first of each node.
  template <class Width>
  std::vector<std::int64_t> contiguous(const ProcessPart& part, std::vector<std::int64_t>& ranges, const Width& width) {
    std::int64_t own = 0;
    for (std::int32_t n = 0; n < part.node_count(); ++n)
      if (part.owns(n)) own += width(n);
    const std::vector<std::int64_t> counts = detail::gather_numbers(processes_, own);
    ranges.assign(1, 0);
    for (const std::int64_t count : counts) ranges.push_back(ranges.back() + count);
    std::vector<std::int64_t> first(static_cast<std::size_t>(part.node_count()), -1);
    std::int64_t next = ranges[static_cast<std::size_t>(part.part)];
    for (std::int32_t n = 0; n < part.node_count(); ++n)
      if (part.owns(n)) {
        first[static_cast<std::size_t>(n)] = next;
        next += width(n);
      }
    // Owners tell the others.
    const auto common = common_nodes();
    std::vector<std::vector<std::int64_t>> sent(static_cast<std::size_t>(processes_.count()));
    for (const auto& [other, nodes] : common)
      for (const std::int32_t n : nodes)
        if (part.owns(n)) sent[static_cast<std::size_t>(other)].push_back(first[static_cast<std::size_t>(n)]);
    const auto received = detail::swap_all(processes_, std::move(sent));
    for (const auto& [other, nodes] : common) {
      std::size_t at = 0;
      for (const std::int32_t n : nodes)
        if (part.owner[static_cast<std::size_t>(n)] == other)
          first[static_cast<std::size_t>(n)] = received[static_cast<std::size_t>(other)][at++];
    }
    return first;
  }

  void number_nodes(ProcessPart& part) {
    part.whole_nodes = mesh_.whole_nodes;
    for (std::size_t n = 0; n < mesh_.nodes.size(); ++n) {
      part.whole[n] = mesh_.node_places[n].rank;
      part.owner[n] = mesh_.node_places[n].parts.front();
    }
    part.global_node = contiguous(part, part.ownership, [](std::int32_t) { return 1; });
    part.shared.clear();
    for (auto& [other, nodes] : common_nodes()) {
      std::sort(nodes.begin(), nodes.end(), [&](std::int32_t a, std::int32_t b) {
        return part.global_node[static_cast<std::size_t>(a)] < part.global_node[static_cast<std::size_t>(b)];
      });
      part.shared.push_back({other, std::move(nodes)});
    }
  }

  void number_domain(ProcessPart& part, std::size_t d, const std::vector<std::int64_t>& base) {
    DomainShare& share = part.domains[d];
    share.first_unknown = contiguous(
        part, share.ownership, [&](std::int32_t n) { return share.unknowns[static_cast<std::size_t>(n)].count(); });
    std::int64_t most[2] = {0, -UnknownSet::most};
    for (const UnknownSet& unknowns : share.unknowns) {
      most[0] = std::max<std::int64_t>(most[0], unknowns.count());
      most[1] = std::max<std::int64_t>(most[1], -unknowns.count());
    }
    processes_.maximum(most);
    share.nodal_unknowns = most[0] == -most[1] ? static_cast<int>(most[0]) : 0;
    const Domain& domain = *part.job.domains[d];
    share.part_elements = detail::gather_numbers(processes_, domain.element_count());
    const std::size_t stride = mesh_.batch_sizes.size() + 1;
    for (std::size_t b = 0; b < domain.block_count(); ++b) {
      const ElementBlock& block = domain.block(b);
      share.block_sizes[b] = base[b * stride + stride - 1];
      share.whole_elements[b].clear();
      for (std::int32_t e = 0; e < block.size(); ++e) {
        const Element& element = of_element_.at(block.id(e));
        share.whole_elements[b].push_back(base[b * stride + element.batch] + element.place);
      }
    }
  }

  /// Blocks, unknowns and steps must be the same on all processes.
  void check_same_division(const ProcessPart& part) {
    ByteWriter bytes;
    bytes.put(part.whole_nodes).put(part.ownership);
    for (const DomainShare& share : part.domains)
      bytes.put(share.ownership).put(share.part_elements).put(share.block_sizes).put(share.unknown_names);
    for (const JobStep& step : part.job.steps) bytes.put(step.name).put(step.load_case).put(step.load_factor);
    const auto fingerprint = static_cast<std::int64_t>(checksum(bytes.bytes()) >> 1);
    const std::int64_t largest = processes_.maximum(fingerprint);
    agree(processes_, [&] {
      if (fingerprint != largest)
        throw Error(ErrorCode::internal, "the parts of the job do not fit together; run without --slices");
    });
  }

  Processes& processes_;
  const DistributedMesh& mesh_;
  std::unordered_map<Id, Element> of_element_;
};

/// Sizes of all parts, on process 0.
PartitionQuality quality_of(Processes& processes, const DistributedMesh& mesh) {
  enum { elements, weight, nodes, interface, neighbours, owned_interface, numbers };
  std::vector<std::int64_t> own(numbers, 0);
  for (std::size_t b = 0; b < mesh.part.size(); ++b) {
    const std::int64_t width = mesh.mesh.batches[b].nodes_per_element;
    const auto count = std::count(mesh.part[b].begin(), mesh.part[b].end(), processes.own());
    own[elements] += count;
    own[weight] += count * width * width;
  }
  std::set<std::int32_t> others;
  own[nodes] = static_cast<std::int64_t>(mesh.nodes.size());
  for (const auto& place : mesh.node_places) {
    if (place.parts.size() < 2) continue;
    ++own[interface];
    own[owned_interface] += place.parts.front() == processes.own();
    others.insert(place.parts.begin(), place.parts.end());
  }
  own[neighbours] = std::max<std::int64_t>(0, static_cast<std::int64_t>(others.size()) - 1);
  PartitionQuality quality;
  double total = 0, heaviest = 0;
  ByteWriter bytes;
  bytes.put(own);
  processes.collect(bytes.bytes(), [&](int p, const std::string& from) {
    ByteReader reader(from, "sizes of a part");
    const auto found = reader.list<std::int64_t>();
    PartQuality& part = quality.parts.emplace_back();
    part.part = p;
    part.elements = found[elements];
    part.weight = static_cast<double>(found[weight]);
    part.nodes = found[nodes];
    part.interface_nodes = found[interface];
    part.neighbours = static_cast<int>(found[neighbours]);
    part.pieces = 1;
    quality.interface_nodes += found[owned_interface];
    total += part.weight;
    heaviest = std::max(heaviest, part.weight);
  });
  if (total > 0) quality.imbalance = heaviest * processes.count() / total;
  return quality;
}

}  // namespace

SlicedPart read_sliced_job(Processes& processes, const std::filesystem::path& path,
                           ProcessGraphPartitioner* partitioner) {
  const std::string name = path.filename().string(), text = shared_text(processes, path);
  GmshSlice slice;
  std::string mesh_name;
  std::vector<char> has_section;
  agree(processes, [&] { mesh_name = mesh_of_job(text, name); });
  const std::filesystem::path mesh_path = path.parent_path() / mesh_name;
  agree(processes, [&] { slice = read_gmsh_slice(mesh_path, processes.own(), processes.count()); });
  check_same_file(processes, slice, mesh_path.string());
  agree(processes, [&] { has_section = batches_with_sections(text, name, slice.mesh); });
  const detail::DistributedMesh mesh =
      detail::distribute_mesh(processes, std::move(slice), has_section, mesh_path.filename().string(), partitioner);
  SlicedPart result;
  result.quality = quality_of(processes, mesh);
  result.part = PartMaker(processes, mesh).make(text, name, path.parent_path());
  result.most_nodes = mesh.most_nodes;
  return result;
}

}  // namespace voussoir
