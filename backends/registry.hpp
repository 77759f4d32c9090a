#pragma once
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <voussoir/backends/abi.hpp>

// Tables of objects that are chosen by name at run time: solvers, preconditioners, storages, partitioners, procedures.
// Built-in entries and those of users are added by the same functions and found by the same look-up:
//
//   preconditioners().add("mine", "one line about it", {[](const std::string& options) { … }});   // while running
//   VSR_REGISTER(preconditioners, "mine", "one line about it", {[](const std::string& options) { … }});   // at start
//
// The second form, at namespace scope, registers while the program starts or while load_library() loads the code.

namespace voussoir {

/// The name, description and origin of an entry of a registry.
struct RegistryEntry {
  std::string name;         ///< unique in its registry
  std::string description;  ///< one line for help texts
  std::string origin;       ///< "built in", "this program", or the path of the library that load_library() loaded
};

/// Rules for the names of a registry.
struct RegistryRules {
  const char* not_in_names = ":+,|";      ///< characters not allowed in names, since they separate names and options
  const char* fixed_built_ins = nullptr;  ///< why built-in entries cannot be replaced; null if they can
};

/// The part of Registry that does not depend on the type of its values. All functions may be called from several
/// threads at once.
class RegistryBase {
 public:
  virtual ~RegistryBase();
  RegistryBase(const RegistryBase&) = delete;
  RegistryBase& operator=(const RegistryBase&) = delete;

  const std::string& kind() const { return kind_; }  ///< the term for an entry in messages: "preconditioner"
  /// All entries in the order of their registration, the built-in ones first. Entries on demand are loaded.
  std::vector<RegistryEntry> entries() const;
  /// The names of all entries, in the order of entries(). Loads nothing.
  std::vector<std::string> names() const;
  /// RegistryEntry::origin of an entry. An unknown name is an Error (not_found).
  std::string origin(std::string_view name) const;

  /// All registries of the process, sorted by kind.
  static std::vector<const RegistryBase*> all();

  /// A function that loads code which registers entries, or throws. The argument is the beginning of an error message,
  /// what needs the entries: "element type 'orthotropic_solid.hex8'".
  using Load = std::function<void(const std::string& what)>;

 protected:
  /// What put() does if the name is taken: throw an Error, or replace the entry.
  enum class Mode { add, replace };
  /// A function that compares two values for equality; null where the type has no comparison.
  using Same = bool (*)(const void*, const void*);
  RegistryBase(std::string kind, const RegistryRules& rules, Same same);  ///< adds itself to all()

  /// Adds or replaces an entry; false if an equal one exists already. Throws as Registry::add() does.
  bool put(RegistryEntry entry, std::shared_ptr<const void> value, Mode mode);
  /// As put() with Mode::add, but a failure is kept and thrown by the first look-up of the name.
  bool put_at_start(RegistryEntry entry, std::shared_ptr<const void> value) noexcept;
  /// Reserves names for entries that `load` registers.
  void put_on_demand(const std::vector<std::string>& names, Load load);
  const void* get(std::string_view name) const;     ///< the value of a name; unknown names are an Error (not_found)
  const void* get_if(std::string_view name) const;  ///< the value of a name; null if it is unknown
  std::vector<const void*> all_values() const;      ///< all values, in the order of entries()
  std::vector<const void*> loaded_values() const;   ///< as all_values(), without those that would have to be loaded

 private:
  struct State;
  std::string kind_;
  RegistryRules rules_;
  Same same_;
  std::unique_ptr<State> state_;
};

/// A table from names to values of type T, usually a factory with the properties of what it makes. References to values
/// stay valid as long as the registry, even if the entry is replaced.
template <class T>
class Registry : public RegistryBase {
 public:
  /// `kind` is the term for an entry in messages. Where T can be compared, registering an equal value again under the
  /// same name and from the same origin has no effect: a header that is included twice registers twice.
  explicit Registry(std::string kind, const RegistryRules& rules = {}) : RegistryBase(std::move(kind), rules, same()) {}

  /// Adds an entry. A name that is taken is an Error (bad_input) that names both origins; during load_library(), that
  /// function throws it.
  void add(std::string name, std::string description, T value) {
    put({std::move(name), std::move(description), {}}, shared(std::move(value)), Mode::add);
  }
  /// Replaces the entry of that name, or adds one. Objects made by the old entry are not affected.
  void replace(std::string name, std::string description, T value) {
    put({std::move(name), std::move(description), {}}, shared(std::move(value)), Mode::replace);
  }
  /// As add(), for static objects, which must not throw: the first look-up of the name throws the error. Returns
  /// whether the entry was added.
  bool add_at_start(std::string name, std::string description, T value) {
    return put_at_start({std::move(name), std::move(description), {}}, shared(std::move(value)));
  }
  /// As add(), for entries of the library itself: their origin is "built in".
  void add_built_in(std::string name, std::string description, T value) {
    put({std::move(name), std::move(description), "built in"}, shared(std::move(value)), Mode::add);
  }

  /// Reserves names for entries of the library itself whose code is loaded only when one of them is first looked up, or
  /// when all are listed: `load` then registers them by add_built_in(). It has to be thread-safe and to do nothing if
  /// they are loaded. Only for registries whose built-in entries cannot be replaced; else an Error (misuse).
  void add_on_demand(const std::vector<std::string>& names, Load load) { put_on_demand(names, std::move(load)); }

  /// The value of a name. An unknown name is an Error (not_found) with the nearest name and a list of all.
  const T& find(std::string_view name) const { return *static_cast<const T*>(get(name)); }
  /// As find(), but null for an unknown name.
  const T* find_if(std::string_view name) const { return static_cast<const T*>(get_if(name)); }
  /// All values, in the order of entries().
  std::vector<const T*> values() const { return typed(all_values()); }
  /// As values(), without those that would have to be loaded.
  std::vector<const T*> loaded() const { return typed(loaded_values()); }

 private:
  static std::vector<const T*> typed(const std::vector<const void*>& values) {
    std::vector<const T*> list;
    for (const void* value : values) list.push_back(static_cast<const T*>(value));
    return list;
  }
  static std::shared_ptr<const void> shared(T&& value) { return std::make_shared<const T>(std::move(value)); }
  static Same same() {
    if constexpr (std::equality_comparable<T>)
      return [](const void* a, const void* b) { return *static_cast<const T*>(a) == *static_cast<const T*>(b); };
    else
      return nullptr;
  }
};

/// An object whose constructor registers an entry. VSR_REGISTER defines a static one.
struct Registration {
  /// Adds an entry by Registry::add_at_start(), which defers errors.
  template <class T>
  Registration(Registry<T>& registry, std::string name, std::string description, T value) {
    registry.add_at_start(std::move(name), std::move(description), std::move(value));
  }
};

}  // namespace voussoir

#define VSR_JOIN_(a, b) a##b
#define VSR_JOIN(a, b) VSR_JOIN_(a, b)

/// VSR_REGISTER(registry, name, description, value): at namespace scope, adds an entry to voussoir::registry().
#define VSR_REGISTER(registry, name, ...)                                                           \
  [[maybe_unused]] static const ::voussoir::Registration VSR_JOIN(vsr_registration_, __COUNTER__) { \
    ::voussoir::registry(), name, __VA_ARGS__                                                       \
  }
