#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/domain/superelement_instance.hpp>
#include <voussoir/framework/io/job/detail/body.hpp>
#include <voussoir/framework/io/job/detail/groups.hpp>
#include <voussoir/framework/io/job/detail/json.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/framework/io/job/job_file.hpp>

// What acts on a model: loads and supports, read once and given to the steps that name them.

namespace voussoir::job {

/// The bodies of a job, one per procedure that its sections have.
class Model {
 public:
  /// `share` is null where the mesh is whole.
  Model(const Groups& groups, std::vector<Body>& bodies, const JobShare* share)
      : groups_(groups), bodies_(bodies), share_(share) {}

  const Groups& groups() const { return groups_; }
  std::size_t body_count() const { return bodies_.size(); }
  Body& body(std::size_t index) { return bodies_[index]; }
  std::optional<std::size_t> find(Procedure procedure) const;
  /// The procedure of the body that has an unknown. T is that of heat conduction, unless only elements with other
  /// unknowns beside it have it.
  Procedure procedure_of(const std::string& unknown) const;
  /// The body that something acts on; an Error of `json` where no section makes one.
  std::size_t require(Procedure procedure, const Json& json, const std::string& what) const;
  /// Null where the mesh is whole.
  const JobShare* share() const { return share_; }

 private:
  const Groups& groups_;
  std::vector<Body>& bodies_;
  const JobShare* share_;
};

/// Puts "superelements" into the only body of a job. Files are relative to `folder`. Returns the number of nodes that
/// the user knows: nodes of modes come after them.
std::int32_t read_superelements(const Json& json, const std::filesystem::path& folder, Model& model);

/// One entry of "loads".
struct Load {
  Json json;
  std::string name;
  std::size_t body;
  std::string kind;                                              ///< "pressure", …
  std::string set;                                               ///< of nodes, elements or faces; empty: all elements
  std::vector<double> numbers;                                   ///< as LoadCase takes them
  std::vector<std::string> unknowns;                             ///< of a nodal load that names them, one per number
  std::shared_ptr<SuperelementInstance> superelement = nullptr;  ///< of a load of kind "superelement"
  std::string load_of_part = {};                                 ///< likewise
};
std::vector<Load> read_loads(const Json& json, Model& model);
/// Adds a load to a case of a domain. A factor multiplies forces and heat, and the difference of a temperature from the
/// initial one.
void apply_load(const Load& load, double factor, const Domain& domain, LoadCase& load_case);
/// Adds a load case of one load to a domain and returns its name: `name`, or "NAME (2)" and so on if
/// that is taken.
std::string add_load_case(const Load& load, double factor, const std::string& name, Domain& domain);
/// Gives the bodies their initial temperature: a number, or a list of groups with a number each.
void read_initial_temperature(const Json& json, Model& model);

/// One entry of "supports".
struct Support {
  Json json;
  std::string name;
  std::size_t body;
  std::vector<std::int32_t> nodes;
  std::vector<std::pair<std::string, double>> values;  ///< unknown and value
  std::optional<std::pair<std::array<double, 3>, double>> along;
};
std::vector<Support> read_supports(const Json& json, Model& model);
void apply_support(const Support& support, Supports& supports);
/// What a support prescribes along the axes.
std::vector<Prescribed> prescribed_values(const Support& support);

/// Gives "equations" to the bodies.
void read_equations(const Json& json, Model& model);

}  // namespace voussoir::job
