#pragma once
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/io/job/detail/groups.hpp>
#include <voussoir/framework/io/job/detail/materials.hpp>
#include <voussoir/framework/io/job/job.hpp>

namespace voussoir::job {

/// What a section can be made of.
struct Physics {
  std::string name;  ///< "plane_stress"
  int dimension;     ///< of its elements
  Procedure procedure;
  bool plane;                         ///< z plays no part
  bool continuum;                     ///< its type is "physics.shape", and it has faces
  bool material;                      ///< needs one
  std::vector<std::string> numbers;   ///< of the section, besides what all have
  std::vector<std::string> defaults;  ///< of these, those that are 0 where they are not given
  bool anywhere = false;              ///< points and lines without displacements: fit plane and other models
};

/// A section as the job describes it: which elements it has and what they are.
struct Section {
  Json json;
  const Physics* physics;
  Selection selection;
  std::shared_ptr<const Material> material;  ///< may be null where none is needed
  std::optional<Orientation> orientation;
  std::vector<std::pair<std::string, double>> numbers;  ///< in the words of the element type
  std::shared_ptr<const Physics> own = nullptr;         ///< where the section names an element type itself
};

/// The material that a section names; an Error with a proposal where there is none.
std::shared_ptr<const Material> find_material(const Json& name, const Materials& materials);
/// Reads "orientation".
Orientation read_orientation(const Json& json);

/// Reads "sections".
std::vector<Section> read_sections(const Json& json, const Groups& groups, const Materials& materials);

/// A section for everything of one dimension, of a material that stands in for one: to look at a mesh that has none.
/// `name` is the mesh. Error (bad_input) where there are no elements for what the mesh has.
Section stand_in_section(const Groups& groups, int dimension, const std::string& name);

/// The element type of a section for a shape; an Error of the section where there is none.
std::string element_type(const Section& section, const std::string& shape);

}  // namespace voussoir::job
