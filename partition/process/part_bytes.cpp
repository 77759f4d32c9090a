#include <voussoir/backends/error.hpp>
#include <voussoir/partition/process/detail/part_archive.hpp>

// Parts as bytes: a mark, a version, the length and a checksum, then the contents.

namespace voussoir::detail {

template <class A>
void walk(A& archive, Walked<A, SharedNodes>& shared) {
  auto& [part, nodes] = shared;
  archive(part, nodes);
}

void walk(PartWriter& out, const UnknownSet& set) { out(set.bits()); }

void walk(PartReader& in, UnknownSet& set) {
  std::uint32_t bits = 0;
  in(bits);
  set = UnknownSet();
  for (int k = 0; k < UnknownSet::most; ++k)
    if (bits >> k & 1u) set.add(k);
}

template <class A>
void walk(A& archive, Walked<A, DomainShare>& share) {
  auto& [unknown_names, unknowns, first_unknown, ownership, block_sizes, whole_elements, part_elements, heated_cases,
         nodal_unknowns] = share;
  archive(unknown_names, unknowns, first_unknown, ownership, block_sizes, whole_elements, part_elements, heated_cases,
          nodal_unknowns);
}

}  // namespace voussoir::detail

namespace voussoir {
namespace {

constexpr std::string_view part_mark = "VSRPART\n";
constexpr std::uint32_t part_version = 2;
constexpr std::size_t part_head = 8 + sizeof(std::uint32_t) + 2 * sizeof(std::uint64_t);

template <class A>
void walk_part(A& archive, detail::Walked<A, ProcessPart>& whole) {
  auto& [part, parts, job, whole_nodes, whole_index, global_node, ownership, owner, shared, domains] = whole;
  archive(part, parts, whole_nodes, whole_index, global_node, ownership, owner, shared, domains);
}

/// What others use without a check.
void check_share(const detail::PartReader& in, const ProcessPart& part, const DomainShare& share,
                 const Domain& domain) {
  const auto nodes = static_cast<std::size_t>(part.node_count());
  in.require(share.unknowns.size() == nodes && share.first_unknown.size() == nodes, "numbers of unknowns are missing");
  in.require(share.unknown_names.size() <= UnknownSet::most, "there are too many unknowns");
  in.require(share.ownership.size() == static_cast<std::size_t>(part.parts) + 1, "the owners of unknowns are missing");
  in.require(share.part_elements.size() == static_cast<std::size_t>(part.parts), "the sizes of parts are missing");
  for (const UnknownSet set : share.unknowns)
    in.require(share.unknown_names.size() == UnknownSet::most || set.bits() >> share.unknown_names.size() == 0,
               "a node has an unknown that has no name");
  for (std::size_t n = 0; n < nodes; ++n)
    in.require(
        share.unknowns[n].empty() || (share.first_unknown[n] >= 0 &&
                                      share.first_unknown[n] + share.unknowns[n].count() <= share.unknown_count()),
        "the number of an unknown is out of range");
  in.require(share.block_sizes.size() == domain.block_count() && share.whole_elements.size() == domain.block_count(),
             "the blocks of the whole model are missing");
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    in.require(share.whole_elements[b].size() == static_cast<std::size_t>(domain.block(b).size()),
               "the elements of the whole model are missing");
    for (const std::int64_t e : share.whole_elements[b])
      in.require(e >= 0 && e < share.block_sizes[b], "an element of the whole model is out of range");
  }
}

void check_part(const detail::PartReader& in, const ProcessPart& part) {
  in.require(part.parts >= 1 && part.part >= 0 && part.part < part.parts, "the number of the part is out of range");
  const auto nodes = static_cast<std::size_t>(part.job.domains.front()->node_count());
  in.require(part.owner.size() == nodes && part.whole.size() == nodes && part.global_node.size() == nodes,
             "numbers of nodes are missing");
  in.require(part.ownership.size() == static_cast<std::size_t>(part.parts) + 1, "the owners of nodes are missing");
  for (std::size_t n = 0; n < nodes; ++n) {
    in.require(part.owner[n] >= 0 && part.owner[n] < part.parts, "the owner of a node does not exist");
    in.require(part.whole[n] >= 0 && part.whole[n] < part.whole_nodes, "a node of the whole model is out of range");
    const auto owner = static_cast<std::size_t>(part.owner[n]);
    in.require(part.global_node[n] >= part.ownership[owner] && part.global_node[n] < part.ownership[owner + 1],
               "the number of a node does not fit its owner");
  }
  for (const SharedNodes& shared : part.shared) {
    in.require(shared.part >= 0 && shared.part < part.parts && shared.part != part.part, "a neighbour does not exist");
    for (const std::int32_t n : shared.nodes)
      in.require(n >= 0 && n < part.node_count(), "a shared node does not exist");
  }
  in.require(part.domains.size() == part.job.domains.size(), "numbers of unknowns are missing");
  for (std::size_t d = 0; d < part.domains.size(); ++d) check_share(in, part, part.domains[d], *part.job.domains[d]);
}

ProcessPart decode_contents(std::string_view bytes, const std::string& where) {
  detail::PartReader in(bytes, where);
  ProcessPart part;
  detail::get_domains(in, part.job);
  detail::get_steps(in, part.job);
  walk_part(in, part);
  in.expect_end();
  check_part(in, part);
  return part;
}

}  // namespace

std::string encode(const ProcessPart& part) {
  detail::PartWriter out;
  detail::put_domains(out, part.job);
  detail::put_steps(out, part.job);
  walk_part(out, part);
  const std::string contents = out.take();
  ByteWriter all;
  all.raw(part_mark);
  all.put(part_version).put(static_cast<std::uint64_t>(contents.size())).put(checksum(contents));
  all.raw(contents);
  return all.take();
}

ProcessPart decode(std::string_view bytes, const std::string& where) {
  const auto refuse = [&](const std::string& why) -> void { throw Error(ErrorCode::bad_input, why, where); };
  if (bytes.size() < part_head || bytes.substr(0, part_mark.size()) != part_mark)
    refuse("this is not a part of a divided job; write one with 'voussoir partition --output'");
  ByteReader head(bytes.substr(part_mark.size()), where);
  const auto version = head.get<std::uint32_t>();
  if (version != part_version)
    refuse("the part has format " + std::to_string(version) + ", but this program reads format " +
           std::to_string(part_version) + "; divide the job again");
  const auto size = head.get<std::uint64_t>(), sum = head.get<std::uint64_t>();
  if (size != bytes.size() - part_head)
    refuse("the part is damaged: it does not have the length that it was written with");
  const std::string_view contents = bytes.substr(part_head);
  if (checksum(contents) != sum) refuse("the part is damaged: its checksum is wrong");
  try {
    return decode_contents(contents, where);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::bad_input && error.where() == where)
      refuse("the part does not hold together: " + error.text());
    throw Error(error.code(), "the part cannot be used: " + error.text(),
                where + (error.where().empty() ? "" : ", " + error.where()));
  }
}

}  // namespace voussoir
