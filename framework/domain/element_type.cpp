#include <voussoir/backends/error.hpp>
#include <voussoir/backends/spelling.hpp>
#include <voussoir/framework/domain/element_type.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace voussoir {

ElementType::ElementType(std::string name, std::string shape, std::shared_ptr<const ElementProgram> program,
                         std::type_index kernel)
    : name_(std::move(name)), shape_(std::move(shape)), program_(std::move(program)), kernel_(kernel) {
  if (name_.empty()) throw Error(ErrorCode::bad_input, "an element type needs a name");
  if (!program_) throw Error(ErrorCode::bad_input, "element type '" + name_ + "' has no program");
}

struct ElementLibrary::State {
  mutable std::mutex mutex;
  std::map<std::string, ElementType, std::less<>> types;  // nodes of a map never move
  std::map<std::string, Error, std::less<>> clashes;
};

ElementLibrary::ElementLibrary() : state_(std::make_unique<State>()) {}

ElementLibrary& ElementLibrary::instance() {
  // Never destroyed, so that objects destroyed at the end of the process may still hold references to types.
  static ElementLibrary* const library = new ElementLibrary;
  return *library;
}

void ElementLibrary::add(ElementType type) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->types.find(type.name());
  if (found == state_->types.end()) {
    std::string name = type.name();
    state_->types.emplace(std::move(name), std::move(type));
    return;
  }
  if (found->second.kernel() == type.kernel() && found->second.shape() == type.shape()) return;
  throw Error(ErrorCode::bad_input, "two different kernels are registered as element type '" + type.name() +
                                        "'; give one of them another name");
}

void ElementLibrary::add_at_start(ElementType type) noexcept {
  std::string name = type.name();
  try {
    add(std::move(type));
  } catch (const Error& clash) {
    const std::lock_guard lock(state_->mutex);
    state_->clashes.emplace(std::move(name), clash);
  }
}

const ElementType* ElementLibrary::find_if(std::string_view name) const {
  const std::lock_guard lock(state_->mutex);
  const auto clash = state_->clashes.find(name);
  if (clash != state_->clashes.end()) throw clash->second;
  const auto found = state_->types.find(name);
  return found == state_->types.end() ? nullptr : &found->second;
}

const ElementType& ElementLibrary::find(std::string_view name) const {
  if (const ElementType* type = find_if(name)) return *type;

  std::vector<std::pair<std::size_t, std::string>> near;
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& [other, type] : state_->types) {
      const std::size_t distance = edit_distance(name, other);
      // Half the letters wrong is no longer a slip, but a name that goes on ("solid" for "solid.hex8") may be meant.
      const bool begins_alike = !name.empty() && other.starts_with(name);
      if (begins_alike || distance <= std::max<std::size_t>(2, name.size() / 3))
        near.emplace_back(begins_alike ? 0 : distance, other);
    }
  }
  std::sort(near.begin(), near.end());
  if (near.size() > 5) near.resize(5);
  std::string text = "there is no element type '" + std::string(name) + "'";
  for (std::size_t i = 0; i < near.size(); ++i) text += (i == 0 ? "; did you mean '" : ", '") + near[i].second + "'";
  text += near.empty() ? "; " : "? ";
  text += "ElementLibrary::instance().all() or `voussoir info --elements` lists all types";
  throw Error(ErrorCode::not_found, text);
}

std::vector<const ElementType*> ElementLibrary::all() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<const ElementType*> types;
  for (const auto& entry : state_->types) types.push_back(&entry.second);
  return types;
}

}  // namespace voussoir
