#pragma once
#include <voussoir/backends/element_program.hpp>
#include <voussoir/backends/registry.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

// Element types by name. A model refers to an element type by its name ("solid.hex8", "truss"); the type has a shape,
// which defines faces and edges, and the program that computes its elements.

namespace voussoir {

/// An element type: name, shape and program. Immutable; one object serves all elements of the type.
class ElementType {
 public:
  /// `shape` is the name of a ShapeTopology ("hex8"), or empty if the element has none. `kernel` is the C++ type of the
  /// kernel; it distinguishes two registrations of one kernel from a name clash.
  ElementType(std::string name, std::string shape, std::shared_ptr<const ElementProgram> program,
              std::type_index kernel);

  const std::string& name() const { return name_; }            ///< name in the ElementLibrary: "solid.hex8"
  const std::string& shape() const { return shape_; }          ///< "hex8"; empty for types without a known shape
  const ElementProgram& program() const { return *program_; }  ///< the program that computes its elements
  /// The program, with shared ownership.
  const std::shared_ptr<const ElementProgram>& shared_program() const { return program_; }
  std::type_index kernel() const { return kernel_; }  ///< the C++ type of the kernel
  /// Whether two types have the same kernel and shape, whatever their names.
  bool operator==(const ElementType& other) const { return kernel_ == other.kernel_ && shape_ == other.shape_; }

 private:
  std::string name_;
  std::string shape_;
  std::shared_ptr<const ElementProgram> program_;
  std::type_index kernel_;
};

/// All element types of the process. Thread-safe. A reference to a type stays valid until the process ends, even if the
/// type is replaced.
class ElementLibrary {
 public:
  static ElementLibrary& instance();  ///< the only object of this class

  /// Adds a type. Registering the same kernel again under the same name has no effect (a header included twice
  /// registers twice). A name that is taken by another kernel, or by another library, is an Error (bad_input) that
  /// names both origins.
  void add(ElementType type);
  /// Replaces the type of that name, or adds one. Models that are numbered afterwards use the new type; existing ones
  /// keep the old type. Replacing a built-in type is an Error (bad_input), since a GPU would go on computing the
  /// built-in one.
  void replace(ElementType type);
  /// As add(), for static objects, which must not throw: a name clash is thrown by load_library() if the object belongs
  /// to a library that is being loaded, else by the first find() of that name. Returns whether the type was added.
  bool add_at_start(ElementType type);
  /// As add(), for types of Voussoir itself.
  void add_built_in(ElementType type);
  /// Reserves names for types of Voussoir itself whose code is loaded when one of them is first looked up, or by all():
  /// `load` adds them by add_built_in(). See Registry::add_on_demand().
  void add_on_demand(const std::vector<std::string>& names, RegistryBase::Load load);

  /// The type of that name. An unknown name is an Error (not_found) that proposes similar ones.
  const ElementType& find(std::string_view name) const;
  /// As find(), but null for an unknown name.
  const ElementType* find_if(std::string_view name) const;
  /// All types, sorted by name. Loads those that are loaded on demand.
  std::vector<const ElementType*> all() const;
  /// The types whose code is loaded, sorted by name.
  std::vector<const ElementType*> loaded() const;
  /// The names of all types, sorted. Loads nothing.
  std::vector<std::string> names() const;
  /// Where a type comes from: "built in", "this program", or the path of the library that load_library() loaded.
  std::string origin(std::string_view name) const { return types_.origin(name); }

 private:
  ElementLibrary();
  Registry<ElementType> types_;
};

}  // namespace voussoir
