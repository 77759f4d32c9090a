#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include <voussoir/backends/detail/loading.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/registry.hpp>
#include <voussoir/backends/spelling.hpp>

namespace voussoir {
namespace {

struct AllRegistries {
  std::mutex mutex;
  std::vector<const RegistryBase*> list;
};

// Never destroyed: registries may be destroyed later than any static object of this file.
AllRegistries& all_registries() {
  static AllRegistries* const all = new AllRegistries;
  return *all;
}

}  // namespace

struct RegistryBase::State {
  struct Item {
    RegistryEntry entry;
    std::shared_ptr<const void> value;
    std::size_t order = 0;  // of registration
  };
  struct Reserved {
    std::shared_ptr<const Load> load;
    std::size_t order = 0;  // that of the entry once it is loaded
  };
  mutable std::mutex mutex;
  std::map<std::string, Item, std::less<>> items;
  std::map<std::string, Reserved, std::less<>> reserved;  // names of entries on demand that are not loaded
  std::size_t registered = 0;
  std::map<std::string, Error, std::less<>> clashes;
  std::vector<std::shared_ptr<const void>> retired;  // replaced or taken back; references to them stay valid

  Item* find(std::string_view name) {
    const auto found = items.find(name);
    return found == items.end() ? nullptr : &found->second;
  }
  std::vector<const Item*> in_order() const {
    std::vector<const Item*> list;
    for (const auto& entry : items) list.push_back(&entry.second);
    std::sort(list.begin(), list.end(), [](const Item* a, const Item* b) { return a->order < b->order; });
    return list;
  }
  /// Takes a registration back: `before` is there again, or nothing where it has no value.
  void restore(const std::string& name, const Item& before, const std::optional<Reserved>& reservation) {
    const std::lock_guard lock(mutex);
    if (const Item* const item = find(name)) retired.push_back(item->value);
    if (before.value)
      items[name] = before;
    else
      items.erase(name);
    if (reservation) reserved[name] = *reservation;
  }
  /// Loads the entry of a reserved name; does nothing for other names.
  void load(std::string_view name, const std::string& what) {
    std::shared_ptr<const Load> load;
    {
      const std::lock_guard lock(mutex);
      const auto found = reserved.find(name);
      if (found == reserved.end()) return;
      load = found->second.load;
    }
    (*load)(what);  // registers, and so must not find the mutex locked
    const std::lock_guard lock(mutex);
    if (reserved.contains(name))
      throw Error(ErrorCode::unavailable, what + ": what was loaded does not contain '" + std::string(name) +
                                              "'; it belongs to another version of Voussoir");
  }
  /// Loads all entries on demand of a registry of that kind.
  void load_all(const std::string& kind) {
    for (;;) {
      std::string name;
      {
        const std::lock_guard lock(mutex);
        if (reserved.empty()) return;
        name = reserved.begin()->first;
      }
      load(name, "the list of all " + kind + "s");
    }
  }
};

RegistryBase::RegistryBase(std::string kind, const RegistryRules& rules, Same same)
    : kind_(std::move(kind)), rules_(rules), same_(same), state_(std::make_unique<State>()) {
  AllRegistries& all = all_registries();
  const std::lock_guard lock(all.mutex);
  all.list.push_back(this);
}

RegistryBase::~RegistryBase() {
  AllRegistries& all = all_registries();
  const std::lock_guard lock(all.mutex);
  std::erase(all.list, this);
}

std::vector<const RegistryBase*> RegistryBase::all() {
  AllRegistries& all = all_registries();
  const std::lock_guard lock(all.mutex);
  auto list = all.list;
  std::sort(list.begin(), list.end(),
            [](const RegistryBase* a, const RegistryBase* b) { return a->kind() < b->kind(); });
  return list;
}

std::vector<RegistryEntry> RegistryBase::entries() const {
  state_->load_all(kind_);
  const std::lock_guard lock(state_->mutex);
  std::vector<RegistryEntry> list;
  for (const State::Item* item : state_->in_order()) list.push_back(item->entry);
  return list;
}

std::vector<const void*> RegistryBase::all_values() const {
  state_->load_all(kind_);
  return loaded_values();
}

std::vector<const void*> RegistryBase::loaded_values() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<const void*> list;
  for (const State::Item* item : state_->in_order()) list.push_back(item->value.get());
  return list;
}

std::vector<std::string> RegistryBase::names() const {
  std::map<std::size_t, std::string> in_order;
  const std::lock_guard lock(state_->mutex);
  for (const auto& [name, item] : state_->items) in_order.emplace(item.order, name);
  for (const auto& [name, reserved] : state_->reserved) in_order.emplace(reserved.order, name);
  std::vector<std::string> list;
  for (auto& entry : in_order) list.push_back(std::move(entry.second));
  return list;
}

std::string RegistryBase::origin(std::string_view name) const {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->reserved.contains(name)) return detail::built_in_origin;
  }
  (void)get(name);
  const std::lock_guard lock(state_->mutex);
  const State::Item* const item = state_->find(name);
  return item ? item->entry.origin : std::string();
}

void RegistryBase::put_on_demand(const std::vector<std::string>& names, Load load) {
  if (!rules_.fixed_built_ins)
    throw Error(ErrorCode::misuse, "a " + kind_ + " cannot be loaded on demand, since it can be replaced before");
  const auto shared = std::make_shared<const Load>(std::move(load));
  const std::lock_guard lock(state_->mutex);
  for (const std::string& name : names) {
    if (state_->find(name) || state_->reserved.contains(name))
      throw Error(ErrorCode::misuse, "the " + kind_ + " '" + name + "' is registered and cannot be reserved");
    state_->reserved[name] = {shared, state_->registered++};
  }
}

bool RegistryBase::put(RegistryEntry entry, std::shared_ptr<const void> value, Mode mode) {
  detail::Loading* const loading = detail::Loading::current();
  const auto insert = [&] {
    const std::string name = entry.name, what = kind_ + " '" + name + "'";
    if (name.empty()) throw Error(ErrorCode::bad_input, "a " + kind_ + " needs a name");
    if (name.find_first_of(rules_.not_in_names) != std::string::npos)
      throw Error(ErrorCode::bad_input, "the name of the " + what + " may not contain any of " + rules_.not_in_names +
                                            ", which separate names and options");
    if (entry.origin.empty()) entry.origin = detail::registration_origin();
    const std::lock_guard lock(state_->mutex);
    State::Item* const taken = state_->find(name);
    // A built-in entry takes the place that is reserved for it; for others the name is taken by that entry.
    std::optional<State::Reserved> reservation;
    if (const auto found = state_->reserved.find(name); found != state_->reserved.end()) reservation = found->second;
    const bool is_reserved = reservation && entry.origin != detail::built_in_origin;
    const std::string first = taken ? taken->entry.origin : is_reserved ? detail::built_in_origin : "";
    if (!first.empty() && mode == Mode::add) {
      if (taken && same_ && first == entry.origin && same_(taken->value.get(), value.get())) return false;
      throw Error(ErrorCode::bad_input, "the " + what + " is registered twice: first " +
                                            (first == detail::built_in_origin ? "" : "by ") + first + ", then by " +
                                            entry.origin +
                                            "; choose another name, or replace the first one explicitly");
    }
    if (rules_.fixed_built_ins && first == detail::built_in_origin)
      throw Error(ErrorCode::bad_input, "the " + what + " is built in and cannot be replaced, " +
                                            rules_.fixed_built_ins + "; choose another name");
    State::Item before;
    if (taken) {
      before = *taken;
      state_->retired.push_back(taken->value);
    }
    if (loading)
      loading->add(what,
                   [state = state_.get(), name, before, reservation] { state->restore(name, before, reservation); });
    const std::size_t order = taken ? before.order : reservation ? reservation->order : state_->registered++;
    state_->items[name] = {std::move(entry), std::move(value), order};
    state_->reserved.erase(name);
    return true;
  };
  if (!loading) return insert();
  // An exception would end the process here, inside dlopen(); load_library() throws it afterwards.
  if (loading->replaces()) mode = Mode::replace;
  try {
    return insert();
  } catch (const Error& error) {
    loading->fail(error);
    return false;
  }
}

bool RegistryBase::put_at_start(RegistryEntry entry, std::shared_ptr<const void> value) noexcept {
  const std::string name = entry.name;
  try {
    return put(std::move(entry), std::move(value), Mode::add);
  } catch (const Error& error) {
    const std::lock_guard lock(state_->mutex);
    state_->clashes.emplace(name, error);
    return false;
  }
}

const void* RegistryBase::get_if(std::string_view name) const {
  {
    const std::lock_guard lock(state_->mutex);
    if (const auto clash = state_->clashes.find(name); clash != state_->clashes.end()) throw clash->second;
    if (const State::Item* const item = state_->find(name)) return item->value.get();
  }
  state_->load(name, kind_ + " '" + std::string(name) + "'");
  const std::lock_guard lock(state_->mutex);
  const State::Item* const item = state_->find(name);
  return item ? item->value.get() : nullptr;
}

const void* RegistryBase::get(std::string_view name) const {
  if (const void* const value = get_if(name)) return value;
  const std::vector<std::string> known = names();
  std::string text = "there is no " + kind_ + " of this name";
  const std::string near = nearest_name(name, known);
  if (!near.empty()) text += "; did you mean '" + near + "'?";
  text += near.empty() ? "; there are " : " There are ";
  for (std::size_t i = 0; i < known.size(); ++i) text += (i ? ", " : "") + known[i];
  throw Error(ErrorCode::not_found, text, kind_ + " '" + std::string(name) + "'");
}

}  // namespace voussoir
