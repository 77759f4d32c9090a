#include <voussoir/jobs/detail/merged_step.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include <voussoir/backends/error.hpp>
#include <voussoir/jobs/detail/collect_and_agree.hpp>

namespace voussoir::detail {
namespace {

/// Writes numbers and texts one behind the other.
class MessageWriter {
 public:
  void number(std::int64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(const std::string& value) {
    number(static_cast<std::int64_t>(value.size()));
    bytes_ += value;
  }
  void texts(const std::vector<std::string>& values) {
    number(static_cast<std::int64_t>(values.size()));
    for (const std::string& value : values) text(value);
  }
  template <class T>
  void numbers(const std::vector<T>& values) {
    number(static_cast<std::int64_t>(values.size()));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what a MessageWriter has written, in the same order.
class MessageReader {
 public:
  explicit MessageReader(const std::string& bytes) : bytes_(bytes) {}
  std::int64_t number() {
    std::int64_t value = 0;
    copy(&value, sizeof value);
    return value;
  }
  std::string text() {
    std::string value(size(1), '\0');
    copy(value.data(), value.size());
    return value;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> values(size(sizeof(std::int64_t)));
    for (std::string& value : values) value = text();
    return values;
  }
  template <class T>
  std::vector<T> numbers() {
    std::vector<T> values(size(sizeof(T)));
    copy(values.data(), values.size() * sizeof(T));
    return values;
  }

 private:
  std::size_t size(std::size_t each) {
    const std::int64_t count = number();
    if (count < 0 || static_cast<std::uint64_t>(count) > (bytes_.size() - at_) / each) fail();
    return static_cast<std::size_t>(count);
  }
  void copy(void* to, std::size_t length) {
    if (length > bytes_.size() - at_) fail();
    if (length > 0) std::memcpy(to, bytes_.data() + at_, length);
    at_ += length;
  }
  [[noreturn]] static void fail() { throw Error(ErrorCode::internal, "a message between processes is incomplete"); }
  const std::string& bytes_;
  std::size_t at_ = 0;
};

void pack_field(MessageWriter& to, const NodalField& field) {
  to.texts(field.components);
  to.numbers(field.values);
}

NodalField unpack_field(MessageReader& from) {
  NodalField field;
  field.components = from.texts();
  field.values = from.numbers<double>();
  return field;
}

NodalField field_of_all(const Domain& domain, const std::string& name, const std::vector<std::string>& unknowns) {
  NodalField field{name, unknowns, {}};
  field.values.assign(static_cast<std::size_t>(domain.node_count()) * unknowns.size(),
                      std::numeric_limits<double>::quiet_NaN());
  return field;
}

/// The places as bytes, for the process that merges results.
std::string pack_places(const ProcessPart& part) {
  MessageWriter to;
  to.numbers(part.whole);
  to.number(static_cast<std::int64_t>(part.domains.size()));
  for (const DomainShare& domain : part.domains) {
    to.number(static_cast<std::int64_t>(domain.whole_elements.size()));
    for (const auto& block : domain.whole_elements) to.numbers(block);
  }
  return to.take();
}

PartPlaces unpack_places(const std::string& bytes) {
  MessageReader from(bytes);
  PartPlaces places;
  places.nodes = from.numbers<std::int64_t>();
  places.elements.resize(static_cast<std::size_t>(from.number()));
  for (auto& domain : places.elements) {
    domain.resize(static_cast<std::size_t>(from.number()));
    for (auto& block : domain) block = from.numbers<std::int64_t>();
  }
  return places;
}

}  // namespace

std::vector<PartPlaces> collect_places(Processes& processes, const ProcessPart& part) {
  std::vector<PartPlaces> all;
  collect_and_agree(processes, pack_places(part),
                    [&](int, const std::string& places) { all.push_back(unpack_places(places)); });
  return all;
}

std::string pack_fields(const StepResult& result) {
  MessageWriter to;
  pack_field(to, result.unknowns);
  pack_field(to, result.reactions);
  pack_field(to, result.internal_forces);
  to.number(static_cast<std::int64_t>(result.points.size()));
  for (const PointField& field : result.points) {
    to.number(field.block);
    to.number(field.points);
    to.texts(field.names);
    to.numbers(field.values);
  }
  return to.take();
}

StepMerger::StepMerger(const Domain& whole, std::size_t domain, const std::vector<std::string>& unknowns,
                       const StepResult& own)
    : whole_(whole), domain_(domain) {
  merged_.step = own.step;
  merged_.report = own.report;
  merged_.load_sum = own.load_sum;
  merged_.reaction_sum = own.reaction_sum;
  merged_.energy = own.energy;
  merged_.unknowns = field_of_all(whole, field_name(unknowns), unknowns);
  merged_.reactions = field_of_all(whole, "reaction", unknowns);
  merged_.internal_forces = field_of_all(whole, "internal_force", unknowns);
}

void StepMerger::put(const PartPlaces& places, const NodalField& from, NodalField& to) const {
  const std::size_t width = from.components.size();
  for (std::size_t c = 0; c < width; ++c) {
    const int column = to.component_index(from.components[c]);
    for (std::size_t n = 0; n < places.nodes.size(); ++n) {
      const double value = from.values[n * width + c];
      if (!std::isnan(value))
        to.values[static_cast<std::size_t>(places.nodes[n]) * to.components.size() + static_cast<std::size_t>(column)] =
            value;
    }
  }
}

void StepMerger::add(const PartPlaces& places, const std::string& bytes) {
  MessageReader from(bytes);
  put(places, unpack_field(from), merged_.unknowns);
  put(places, unpack_field(from), merged_.reactions);
  put(places, unpack_field(from), merged_.internal_forces);
  const std::int64_t fields = from.number();
  for (std::int64_t f = 0; f < fields; ++f) {
    const auto block = static_cast<std::int32_t>(from.number());
    const int points = static_cast<int>(from.number());
    const std::vector<std::string> names = from.texts();
    const std::vector<double> values = from.numbers<double>();
    const std::size_t width = static_cast<std::size_t>(points) * names.size();
    auto same = std::find_if(merged_.points.begin(), merged_.points.end(),
                             [&](const PointField& field) { return field.block >= block; });
    if (same == merged_.points.end() || same->block != block) {
      PointField whole{block, points, names, {}};
      whole.values.assign(static_cast<std::size_t>(whole_.block(static_cast<std::size_t>(block)).size()) * width, 0.0);
      same = merged_.points.insert(same, std::move(whole));
    }
    const auto& elements = places.elements.at(domain_).at(static_cast<std::size_t>(block));
    for (std::size_t e = 0; e < elements.size(); ++e)
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(e * width), width,
                  same->values.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(elements[e]) * width));
  }
}

StepResult gather_step(Processes& processes, const ProcessPart& part, const std::vector<PartPlaces>& places,
                       const Job* whole, std::size_t domain, const StepResult& own) {
  std::optional<StepMerger> merger;
  std::string packed;
  agree(processes, [&] {
    if (whole) merger.emplace(*whole->domains[domain], domain, part.domains[domain].unknown_names, own);
    packed = pack_fields(own);
  });
  collect_and_agree(processes, packed,
                    [&](int p, const std::string& bytes) { merger->add(places[static_cast<std::size_t>(p)], bytes); });
  return merger ? merger->take() : StepResult();
}

void take_moments_off(const Job& job, StepResult& result) {
  const int width = std::min(3, result.unknowns.width());
  for (const std::int32_t node : job.rotation_nodes)
    for (int k = 0; k < width; ++k) {
      const double all = result.internal_forces.at(node, k), support = result.reactions.at(node, k);
      if (std::isnan(all)) continue;
      const double reaction = std::isnan(support) ? 0.0 : support;
      result.reaction_sum[k] -= reaction;
      result.load_sum[k] -= all - reaction;
    }
}

}  // namespace voussoir::detail
