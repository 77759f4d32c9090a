#pragma once
#include <voussoir/backends/element_program.hpp>

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
  const std::shared_ptr<const ElementProgram>& shared_program() const { return program_; }
  std::type_index kernel() const { return kernel_; }

 private:
  std::string name_;
  std::string shape_;
  std::shared_ptr<const ElementProgram> program_;
  std::type_index kernel_;
};

/// All element types of the process. Every function may be called from several threads at once; a reference to a type
/// stays valid until the process ends.
class ElementLibrary {
 public:
  static ElementLibrary& instance();

  /// Adds a type. The same kernel under the same name again is ignored (a header included twice registers twice);
  /// another kernel under a name that is taken is an Error, bad_input.
  void add(ElementType type);
  /// As add(), for static objects, which must not throw: a clash is kept and thrown by the first find() of that name.
  void add_at_start(ElementType type) noexcept;

  /// The type of that name, or an Error, not_found, that proposes similar names.
  const ElementType& find(std::string_view name) const;
  /// As find(), with null instead of an Error where the name is unknown.
  const ElementType* find_if(std::string_view name) const;
  /// All types, sorted by name.
  std::vector<const ElementType*> all() const;

 private:
  ElementLibrary();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voussoir
