#pragma once
#include <voussoir/backends/element_program.hpp>
#include <voussoir/backends/registry.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

// Element types by name. An element type is what a model refers to ("solid.hex8", "truss"): a name, the shape whose
// faces and edges the mesh knows, and the program that computes its elements.

namespace voussoir {

/// One kind of element. Immutable; one object per kind, whatever the number of elements.
class ElementType {
 public:
  /// `shape` names the topology ("hex8"), or is empty where the element has none. `kernel` is the C++ type that the
  /// program computes; it distinguishes two registrations of one kernel from a name clash.
  ElementType(std::string name, std::string shape, std::shared_ptr<const ElementProgram> program,
              std::type_index kernel);

  const std::string& name() const { return name_; }            ///< "solid.hex8"
  const std::string& shape() const { return shape_; }          ///< "hex8"; empty for types without a known shape
  const ElementProgram& program() const { return *program_; }  ///< computes the elements
  /// The program, with shared ownership.
  const std::shared_ptr<const ElementProgram>& shared_program() const { return program_; }
  std::type_index kernel() const { return kernel_; }  ///< the C++ type that the program was compiled from
  /// Whether both compute the same kernel on the same shape.
  bool operator==(const ElementType& other) const { return kernel_ == other.kernel_ && shape_ == other.shape_; }

 private:
  std::string name_;
  std::string shape_;
  std::shared_ptr<const ElementProgram> program_;
  std::type_index kernel_;
};

/// All element types of the process. Every function may be called from several threads at once; a reference to a type
/// stays valid until the process ends, also when the type is replaced.
class ElementLibrary {
 public:
  static ElementLibrary& instance();  ///< the library of the process

  /// Adds a type. The same kernel under the same name again is ignored (a header included twice registers twice);
  /// another kernel, or one of another library, under a name that is taken is an Error, bad_input, that names both
  /// origins.
  void add(ElementType type);
  /// Puts a type in the place of the one of that name, or adds it. Blocks that are numbered after this use the new one;
  /// models that exist keep the old one. A built-in type cannot be replaced, since a GPU would go on computing the
  /// built-in one: Error, bad_input.
  void replace(ElementType type);
  /// As add(), for static objects, which must not throw: a clash is thrown by load_library() where the object belongs
  /// to a library that is being loaded, else by the first find() of that name. True where the type was added.
  bool add_at_start(ElementType type);
  /// As add(), for types of Voussoir itself.
  void add_built_in(ElementType type);

  /// The type of that name, or an Error, not_found, that proposes similar names.
  const ElementType& find(std::string_view name) const;
  /// As find(), with null instead of an Error where the name is unknown.
  const ElementType* find_if(std::string_view name) const;
  /// All types, sorted by name.
  std::vector<const ElementType*> all() const;
  /// Where a type comes from: "built in", "this program", or the path of the library that load_library() loaded.
  std::string origin(std::string_view name) const { return types_.origin(name); }

 private:
  ElementLibrary();
  Registry<ElementType> types_;
};

}  // namespace voussoir
