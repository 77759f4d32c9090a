#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/backends/unknown_set.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/framework/model/analysis_model.hpp>
#include <voussoir/partition/partition.hpp>

// A job divided among processes: what one of them holds, and how its numbers relate to those of the whole model.
// Nothing here communicates. docs/distributed_parts.md describes the parts, their binary form and their files.

namespace voussoir {

/// Nodes that a part shares with another one.
struct SharedNodes {
  std::int32_t part = 0;            ///< number of the other part
  std::vector<std::int32_t> nodes;  ///< local indices by ascending global number: the same order on both sides
};

/// How the unknowns and elements of one domain of a part relate to those of the whole domain.
struct DomainShare {
  std::vector<std::string> unknown_names;  ///< of the whole domain; a part may have fewer, in another order
  /// Per local node: all unknowns that the node has in the whole domain, as indices into `unknown_names`. Some of them
  /// may exist in other parts only, such as rotations at a node where a shell meets a solid. A node that no element
  /// uses but an equation names has all of them; see held_unknowns().
  std::vector<UnknownSet> unknowns;
  /// Per local node: global number of its first unknown; the others follow in the order of `unknown_names`.
  std::vector<std::int64_t> first_unknown;
  /// Per part, and one entry more: part p owns the global unknowns from ownership[p] to ownership[p + 1], exclusive.
  std::vector<std::int64_t> ownership;
  std::vector<std::int64_t> block_sizes;  ///< number of elements of each block of the whole domain
  /// Per block and local element: index within the block of the whole domain, ascending.
  std::vector<std::vector<std::int64_t>> whole_elements;

  std::vector<std::int64_t> part_elements;  ///< per part: number of its elements
  std::vector<std::string> heated_cases;    ///< load cases that give temperatures to some node of the whole domain

  std::int64_t unknown_count() const { return ownership.back(); }  ///< unknowns of the whole domain
  /// Global number of an unknown of a local node, or −1 if the node does not have it in any part.
  std::int64_t global_unknown(std::int32_t node, std::string_view unknown) const;
  /// Number of unknowns of each node of the whole domain if all nodes have the same number; 0 otherwise.
  int nodal_unknowns = 0;
};

/// What one process of a distributed run holds of a job.
///
/// The elements of the whole model are divided; a node is in every part that has one of its elements, and it is owned
/// by the lowest of these parts. Global numbers of nodes and unknowns are contiguous for each owner. A part may have
/// neither elements nor nodes if there are more processes than elements.
///
/// `job` can be used like any other: its domains and steps are those of the whole job, restricted to the part (see
/// Subdomain). Domains have blocks and load cases of the same names in the same order; sets that have no members here
/// are missing. Output requests name sets of the whole job. Steps of mode superposition have no request: the process
/// that has the whole job superposes modes.
struct ProcessPart {
  std::int32_t part = 0;                  ///< number of this part, from 0
  std::int32_t parts = 1;                 ///< number of all parts
  Job job;                                ///< restricted to the part
  std::int64_t whole_nodes = 0;           ///< number of nodes of the whole job, including those that no element uses
  std::vector<std::int64_t> whole;        ///< per local node: its index in the whole job, ascending
  std::vector<std::int64_t> global_node;  ///< per local node: its global number, contiguous for each owner
  std::vector<std::int64_t> ownership;    ///< per part, and one more: global nodes of part p, as in DomainShare
  std::vector<std::int32_t> owner;        ///< per local node: the part that owns it
  std::vector<SharedNodes> shared;        ///< by ascending part
  std::vector<DomainShare> domains;       ///< one entry per entry of Job::domains

  std::int32_t node_count() const { return static_cast<std::int32_t>(owner.size()); }  ///< number of local nodes
  bool owns(std::int32_t node) const { return owner[static_cast<std::size_t>(node)] == part; }  ///< of a local node
  bool has_elements(std::size_t domain) const;  ///< whether a domain of this part has an element
};

/// Throws Error (bad_input, unavailable) that names what cannot be divided:
/// procedures of users, loads with a course of their own, structures that follow an unknown temperature of the same
/// model, meshes without sections.
void check_divisible(const Job& job);

/// Divides a job into parts, which are made one at a time: no more than one is in memory.
///
///   const JobDivision division(job, 64);
///   for (int p = 0; p < 64; ++p) send(p, encode(division.part(p)));
class JobDivision {
 public:
  /// Divides the elements by a partitioner (make_partitioner(): "auto", "metis", "coordinate" …), weighted by their
  /// costs (element_costs()), with those of a second model at the same elements. Elements that a multi-point equation
  /// or a rigid body connects stay together. If there are fewer groups of elements than parts, the
  /// last parts are empty. Refuses what check_divisible() does. The job must outlive this object and not change.
  JobDivision(const Job& job, int parts, const std::string& method = "auto");
  /// With the part of each element of each domain, block by block. Throws Error (bad_input) if an equation would cross
  /// the interface.
  JobDivision(const Job& job, int parts, std::vector<std::vector<std::int32_t>> part_of_element);
  ~JobDivision();
  JobDivision(JobDivision&&) noexcept;  ///< leaves the other object empty

  int parts() const;                                     ///< number of parts, empty ones included
  int filled_parts() const;                              ///< number of parts that have elements
  const Partition& partition(std::size_t domain) const;  ///< of a domain, into filled_parts()
  ProcessPart part(int part) const;                      ///< makes one part

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The global number of each equation of a model of a part's domain. Throws Error (misuse) if the model is not one of
/// that domain.
std::vector<std::int64_t> global_equations(const ProcessPart& part, std::size_t domain, const AnalysisModel& model);

/// Global numbers of unknowns without an equation in any part: those of a node that no element uses and of which an
/// equation names some unknowns only. They have no stiffness and are held at zero: a solver gives them a unit diagonal.
/// They belong to the part that has the equation.
std::vector<std::int64_t> held_unknowns(const ProcessPart& part, std::size_t domain, const AnalysisModel& model);

/// A part as bytes, with a version and a checksum, for messages and files. Numbers are little-endian.
std::string encode(const ProcessPart& part);
/// The part of these bytes. `where` is what errors name, usually a path. Bytes that are damaged, incomplete or of
/// another version are an Error (bad_input); an element type that this process does not know is an Error (not_found).
ProcessPart decode(std::string_view bytes, const std::string& where);

}  // namespace voussoir
