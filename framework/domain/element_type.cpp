#include <voussoir/backends/error.hpp>
#include <voussoir/backends/spelling.hpp>
#include <voussoir/framework/domain/element_type.hpp>

#include <algorithm>
#include <utility>

namespace voussoir {

ElementType::ElementType(std::string name, std::string shape, std::shared_ptr<const ElementProgram> program,
                         std::type_index kernel)
    : name_(std::move(name)), shape_(std::move(shape)), program_(std::move(program)), kernel_(kernel) {
  if (name_.empty()) throw Error(ErrorCode::bad_input, "an element type needs a name");
  if (!program_) throw Error(ErrorCode::bad_input, "element type '" + name_ + "' has no program");
}

ElementLibrary::ElementLibrary() : types_("element type", {"", "since GPUs have it compiled in"}) {}

ElementLibrary& ElementLibrary::instance() {
  // Never destroyed, so that objects destroyed at the end of the process may still hold references to types.
  static ElementLibrary* const library = new ElementLibrary;
  return *library;
}

namespace {

/// What `voussoir info` says of a type: its unknowns.
std::string unknowns_text(const ElementType& type) {
  std::string text;
  for (const std::string& unknown : type.program().unknown_names()) text += (text.empty() ? "" : " ") + unknown;
  return text;
}

}  // namespace

void ElementLibrary::add(ElementType type) {
  std::string name = type.name(), text = unknowns_text(type);
  types_.add(std::move(name), std::move(text), std::move(type));
}

void ElementLibrary::replace(ElementType type) {
  std::string name = type.name(), text = unknowns_text(type);
  types_.replace(std::move(name), std::move(text), std::move(type));
}

bool ElementLibrary::add_at_start(ElementType type) {
  std::string name = type.name(), text = unknowns_text(type);
  return types_.add_at_start(std::move(name), std::move(text), std::move(type));
}

void ElementLibrary::add_built_in(ElementType type) {
  std::string name = type.name(), text = unknowns_text(type);
  types_.add_built_in(std::move(name), std::move(text), std::move(type));
}

void ElementLibrary::add_on_demand(const std::vector<std::string>& names, RegistryBase::Load load) {
  types_.add_on_demand(names, std::move(load));
}

const ElementType* ElementLibrary::find_if(std::string_view name) const { return types_.find_if(name); }

const ElementType& ElementLibrary::find(std::string_view name) const {
  if (const ElementType* type = find_if(name)) return *type;

  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& other : types_.names()) {
    const std::size_t distance = edit_distance(name, other);
    // Half the letters wrong is no longer a slip, but a name that goes on ("solid" for "solid.hex8") may be meant.
    const bool begins_alike = !name.empty() && other.starts_with(name);
    if (begins_alike || distance <= std::max<std::size_t>(2, name.size() / 3))
      near.emplace_back(begins_alike ? 0 : distance, other);
  }
  std::sort(near.begin(), near.end());
  if (near.size() > 5) near.resize(5);
  std::string text = "there is no element type '" + std::string(name) + "'";
  for (std::size_t i = 0; i < near.size(); ++i) text += (i == 0 ? "; did you mean '" : ", '") + near[i].second + "'";
  text += near.empty() ? "; " : "? ";
  text += "ElementLibrary::instance().all() or `voussoir info --elements` lists all types";
  throw Error(ErrorCode::not_found, text);
}

namespace {

std::vector<const ElementType*> by_name(std::vector<const ElementType*> types) {
  std::sort(types.begin(), types.end(), [](auto* a, auto* b) { return a->name() < b->name(); });
  return types;
}

}  // namespace

std::vector<const ElementType*> ElementLibrary::all() const { return by_name(types_.values()); }

std::vector<const ElementType*> ElementLibrary::loaded() const { return by_name(types_.loaded()); }

std::vector<std::string> ElementLibrary::names() const {
  std::vector<std::string> names = types_.names();
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace voussoir
