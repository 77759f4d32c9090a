#pragma once
#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <voussoir/backends/abi.hpp>

// Tables of things that are chosen by name at run time: solvers, preconditioners, storages, partitioners, procedures.
// Those of the library and those of users are added by the same calls and found by the same look-up:
//
//   preconditioners().add("mine", "one line about it", {[](const std::string& options) { … }});   // while running
//   VSR_REGISTER(preconditioners, "mine", "one line about it", {[](const std::string& options) { … }});   // at start
//
// The second form, at namespace scope, registers while the program starts or while load_library() loads the code.

namespace voussoir {

/// What a registry tells about an entry.
struct RegistryEntry {
  std::string name;         ///< by which it is found
  std::string description;  ///< one line
  std::string origin;       ///< "built in", "this program", or the path of the library that load_library() loaded
};

/// What registries differ in.
struct RegistryRules {
  const char* not_in_names = ":+,|";      ///< characters with a meaning of their own where the names are used
  const char* fixed_built_ins = nullptr;  ///< why a built-in entry cannot be replaced; null: it can
};

/// The part of Registry that is the same for all values. All functions may be called from several threads at once.
class RegistryBase {
 public:
  virtual ~RegistryBase();
  RegistryBase(const RegistryBase&) = delete;
  RegistryBase& operator=(const RegistryBase&) = delete;

  const std::string& kind() const { return kind_; }  ///< what the entries are called in messages: "preconditioner"
  /// All entries in the order of their registration, the built-in ones first.
  std::vector<RegistryEntry> entries() const;
  /// Their names, in the same order.
  std::vector<std::string> names() const;
  /// Where an entry comes from. Throws as find() does.
  std::string origin(std::string_view name) const;

  /// All registries of the process, sorted by kind.
  static std::vector<const RegistryBase*> all();

 protected:
  enum class Mode { add, replace };  ///< replace: an entry of the same name is allowed
  /// Whether two values are the same thing.
  using Same = bool (*)(const void*, const void*);
  RegistryBase(std::string kind, const RegistryRules& rules, Same same);  ///< Adds itself to all()

  bool put(RegistryEntry entry, std::shared_ptr<const void> value, Mode mode);
  bool put_at_start(RegistryEntry entry, std::shared_ptr<const void> value) noexcept;
  const void* get(std::string_view name) const;     ///< throws Error (not_found) that proposes names
  const void* get_if(std::string_view name) const;  ///< null where there is no such name
  std::vector<const void*> all_values() const;      ///< in the order of entries()

 private:
  struct State;
  std::string kind_;
  RegistryRules rules_;
  Same same_;
  std::unique_ptr<State> state_;
};

/// A table from names to values of type T, usually a factory with what is known of its products. References to values
/// stay valid as long as the registry, also when an entry is replaced.
template <class T>
class Registry : public RegistryBase {
 public:
  /// `kind` names the entries in messages. Where T can be compared, an equal value that the same origin registers under
  /// the same name again is ignored: a header that is included twice registers twice.
  explicit Registry(std::string kind, const RegistryRules& rules = {}) : RegistryBase(std::move(kind), rules, same()) {}

  /// Adds an entry. A taken name is an Error (bad_input) naming both origins; while loading, load_library() throws it.
  void add(std::string name, std::string description, T value) {
    put({std::move(name), std::move(description), {}}, shared(std::move(value)), Mode::add);
  }
  /// Puts an entry in the place of the one of that name, or adds it. What was made by the old one stays as it is.
  void replace(std::string name, std::string description, T value) {
    put({std::move(name), std::move(description), {}}, shared(std::move(value)), Mode::replace);
  }
  /// As add(), for static objects, which must not throw: the error is thrown by the first look-up of the name. Returns
  /// true where the entry was added.
  bool add_at_start(std::string name, std::string description, T value) {
    return put_at_start({std::move(name), std::move(description), {}}, shared(std::move(value)));
  }
  /// As add(), for entries of the library itself.
  void add_built_in(std::string name, std::string description, T value) {
    put({std::move(name), std::move(description), "built in"}, shared(std::move(value)), Mode::add);
  }

  /// The value of a name. Throws Error (not_found) with the nearest name and a list of all.
  const T& find(std::string_view name) const { return *static_cast<const T*>(get(name)); }
  /// As find(), with null instead of an Error where the name is unknown.
  const T* find_if(std::string_view name) const { return static_cast<const T*>(get_if(name)); }
  /// All values, in the order of entries().
  std::vector<const T*> values() const {
    std::vector<const T*> list;
    for (const void* value : all_values()) list.push_back(static_cast<const T*>(value));
    return list;
  }

 private:
  static std::shared_ptr<const void> shared(T&& value) { return std::make_shared<const T>(std::move(value)); }
  static Same same() {
    if constexpr (std::equality_comparable<T>)
      return [](const void* a, const void* b) { return *static_cast<const T*>(a) == *static_cast<const T*>(b); };
    else
      return nullptr;
  }
};

/// Registers while it is constructed; what VSR_REGISTER makes a static object of.
struct Registration {
  template <class T>
  /// Adds an entry; what fails is reported later, as Registry::add_at_start() says.
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
