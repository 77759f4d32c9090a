#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/domain/cross_section.hpp>
#include <voussoir/framework/domain/element_type.hpp>
#include <voussoir/framework/domain/id.hpp>
#include <voussoir/framework/domain/material.hpp>
#include <voussoir/framework/domain/orientation.hpp>

namespace voussoir {

class Domain;

/// Elements of one type, one material and one section. The mesh is stored in these blocks as plain arrays.
class ElementBlock {
 public:
  const std::string& name() const { return name_; }  ///< unique within the domain
  /// Type as the user named it, e.g. "solid.hex8".
  const std::string& type_name() const { return type_name_; }
  /// The element type with the law of the block's material. Throws Error where there is no such combination.
  const ElementType& type() const;

  /// The material of all elements of the block, which may be shared with other blocks; its law may change the element
  /// type (type()).
  ElementBlock& set_material(std::shared_ptr<const Material> material);
  const std::shared_ptr<const Material>& material() const { return material_; }  ///< null where none was set
  /// A number of the section ("thickness", "area", …); overrides a material's number of the same name. Whether the
  /// element type has such a parameter is checked by parameters(), since the material's law decides which type it is.
  ///
  /// A parameter that neither section nor material defines is an Error when it is needed, except: thickness is 1;
  /// density, expansion (expansion1, …) and specific_heat are 0, because many analyses do without them.
  ElementBlock& set_section(const std::string& parameter, double value);
  /// All numbers of a beam's cross-section.
  ElementBlock& set_section(const CrossSection& profile);
  /// A number that differs from element to element, in the order of the elements.
  ElementBlock& set_per_element(const std::string& parameter, std::vector<double> values);
  /// Material axes of all elements; the global axes unless set.
  ElementBlock& set_orientation(const Orientation& orientation);
  const Orientation& orientation() const { return orientation_; }  ///< of the material axes
  /// The values given to set_section() and set_per_element().
  const std::map<std::string, double, std::less<>>& section() const { return section_; }
  /// By parameter.
  const std::map<std::string, std::vector<double>, std::less<>>& per_element() const { return per_element_; }

  /// Adds one element by the ids of its nodes.
  void add(Id id, std::span<const Id> nodes);
  /// The same with a list of nodes.
  void add(Id id, std::initializer_list<Id> nodes) { add(id, std::span<const Id>(nodes.begin(), nodes.size())); }
  /// Adds many at once: `ids` may be empty (they are then numbered consecutively after the largest id of the domain).
  /// All or none: after an Error the block is as it was before.
  void add_many(std::span<const Id> ids, std::span<const Id> nodes);

  std::int32_t size() const { return static_cast<std::int32_t>(ids_.size()); }  ///< number of elements
  Id id(std::int32_t element) const { return ids_[element]; }                   ///< the user's id of an element
  int nodes_per_element() const { return nodes_per_element_; }  ///< the same for all elements of the block
  /// Node indices of all elements, element by element.
  std::span<const std::int32_t> connectivity() const { return connectivity_; }
  /// Node indices of one element, in the order of its shape.
  std::span<const std::int32_t> nodes(std::int32_t element) const {
    return std::span(connectivity_).subspan(static_cast<std::size_t>(element) * nodes_per_element_, nodes_per_element_);
  }

  /// The parameters required by the element type, as records of (temperature, parameters…) rows, in the order of
  /// type().program().parameter_names().
  struct Parameters {
    std::vector<double> records;       ///< each of `rows` rows
    std::vector<std::int32_t> record;  ///< of each element; empty: record 0 for all
    int rows = 1;                      ///< of a record: temperatures at which there are values
  };
  /// Throws Error (bad_input) for a parameter that is missing (see set_section() for those that may be), for a number
  /// given by set_section() or set_per_element() under a name that the element type does not have, and for a number of
  /// the material under a name that no element type has.
  Parameters parameters() const;

  /// Counts the changes of the block.
  std::uint64_t revision() const { return revision_; }

 private:
  friend class Domain;
  ElementBlock(Domain& domain, std::int32_t index, std::string name, std::string type_name);
  void changed();

  Domain* domain_;
  std::int32_t index_;  // among the domain's blocks
  std::string name_;
  std::string type_name_;
  int nodes_per_element_ = 0;
  std::shared_ptr<const Material> material_;
  std::map<std::string, double, std::less<>> section_;
  std::map<std::string, std::vector<double>, std::less<>> per_element_;
  Orientation orientation_;
  std::vector<Id> ids_;
  std::vector<std::int32_t> connectivity_;
  std::uint64_t revision_ = 0;
};

}  // namespace voussoir
