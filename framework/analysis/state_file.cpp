#include <algorithm>
#include <bit>
#include <cstring>
#include <istream>
#include <limits>
#include <ostream>

#include <voussoir/framework/analysis/analysis_state.hpp>
#include <voussoir/framework/analysis/detail/element_history.hpp>

// States as bytes: a header (mark, version, length), the values in the domain's numbering, and a checksum. Numbers are
// little-endian.

namespace voussoir {
namespace {

constexpr char mark[8] = {'V', 'S', 'R', 'S', 'T', 'A', 'T', 'E'};
constexpr std::uint32_t version = 1;

static_assert(std::endian::native == std::endian::little, "states are written as the machine keeps them");

/// FNV-1a, 64 bits (Fowler, Noll and Vo): notices damage, not malice.
std::uint64_t checksum(std::span<const char> bytes, std::uint64_t hash = 14695981039346656037ull) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211ull;
  return hash;
}

class Writer {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void put(const std::string& text) {
    put(static_cast<std::uint64_t>(text.size()));
    bytes_ += text;
  }
  void put(const std::vector<double>& numbers) {
    put(static_cast<std::uint64_t>(numbers.size()));
    bytes_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

[[noreturn]] void refuse_state(const std::string& text) {
  throw Error(ErrorCode::bad_input, "the saved state cannot be restored: " + text);
}

class Reader {
 public:
  explicit Reader(std::span<const char> bytes) : bytes_(bytes) {}
  template <class T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }
  std::string text() {
    const std::size_t size = length(1);
    return std::string(take(size), size);
  }
  std::vector<double> numbers() {
    const std::size_t size = length(sizeof(double));
    std::vector<double> values(size);
    if (size > 0) std::memcpy(values.data(), take(size * sizeof(double)), size * sizeof(double));
    return values;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  /// A count of things of so many bytes each, which are there.
  std::size_t length(std::size_t each) {
    const auto count = get<std::uint64_t>();
    if (count > (bytes_.size() - at_) / each) refuse_state("it is damaged: a length leads past its end");
    return static_cast<std::size_t>(count);
  }
  const char* take(std::size_t size) {
    if (size > bytes_.size() - at_) refuse_state("it is damaged: it ends too early");
    at_ += size;
    return bytes_.data() + at_ - size;
  }

  std::span<const char> bytes_;
  std::size_t at_ = 0;
};

/// Equations in the order of the domain's nodes.
std::vector<std::int32_t> equations_by_node(const AnalysisModel& model) {
  const auto nodes = model.numbered_nodes();
  const auto first = model.first_equation();
  std::vector<std::int32_t> position(static_cast<std::size_t>(model.domain().node_count()), -1);
  for (std::size_t k = 0; k < nodes.size(); ++k)
    position[static_cast<std::size_t>(nodes[k])] = static_cast<std::int32_t>(k);
  std::vector<std::int32_t> equations;
  equations.reserve(static_cast<std::size_t>(model.equation_count()));
  for (const std::int32_t k : position)
    if (k >= 0)
      for (std::int32_t e = first[static_cast<std::size_t>(k)]; e < first[static_cast<std::size_t>(k) + 1]; ++e)
        equations.push_back(e);
  return equations;
}

/// Says which nodes have which unknowns, by the user's numbers.
std::uint64_t node_fingerprint(const AnalysisModel& model) {
  std::uint64_t hash = checksum({});
  std::int32_t last = -1;
  for (const std::int32_t e : equations_by_node(model)) {
    const auto [node, component] = model.place(e);
    const Id id = model.domain().node_id(node);
    const char turn = node != last;
    hash = checksum({&turn, 1}, hash);
    if (turn) hash = checksum({reinterpret_cast<const char*>(&id), sizeof(id)}, hash);
    if (!model.nodes_have_first_unknowns()) {
      const auto unknown = static_cast<char>(component);
      hash = checksum({&unknown, 1}, hash);
    }
    last = node;
  }
  return hash;
}

std::vector<double> by_node(const std::vector<std::int32_t>& equations, const Vector& x) {
  if (!x.layout()) return {};
  const std::vector<double> values = x.to_host();
  std::vector<double> ordered(values.size());
  for (std::size_t i = 0; i < ordered.size(); ++i) ordered[i] = values[static_cast<std::size_t>(equations[i])];
  return ordered;
}

Vector from_nodes(const AnalysisModel& model, const std::vector<std::int32_t>& equations,
                  const std::vector<double>& ordered) {
  if (ordered.empty()) return {};
  if (ordered.size() != equations.size())
    refuse_state("it has " + std::to_string(ordered.size()) + " unknowns where the model has " +
                 std::to_string(equations.size()));
  std::vector<double> values(ordered.size());
  for (std::size_t i = 0; i < ordered.size(); ++i) values[static_cast<std::size_t>(equations[i])] = ordered[i];
  Vector x = model.make_vector();
  x.from_host(values);
  return x;
}

/// Temperatures of the nodes that have unknowns, in the order of the domain's nodes; and back.
std::vector<std::size_t> positions_by_node(const AnalysisModel& model) {
  const auto nodes = model.numbered_nodes();
  std::vector<std::size_t> positions(nodes.size());
  for (std::size_t k = 0; k < positions.size(); ++k) positions[k] = k;
  std::sort(positions.begin(), positions.end(), [&](std::size_t a, std::size_t b) { return nodes[a] < nodes[b]; });
  return positions;
}

std::vector<double> temperatures_by_node(const AnalysisModel& model, const NodalValues* values) {
  const std::vector<double> numbers = detail::nodal_numbers(model, values);
  std::vector<double> ordered;
  if (numbers.empty()) return ordered;
  for (const std::size_t k : positions_by_node(model)) ordered.push_back(numbers[k]);
  return ordered;
}

std::shared_ptr<const NodalValues> temperatures_from_nodes(const AnalysisModel& model,
                                                           const std::vector<double>& ordered) {
  if (ordered.empty()) return nullptr;
  const auto positions = positions_by_node(model);
  if (ordered.size() != positions.size()) refuse_state("its temperatures are those of another model");
  std::vector<double> numbers(ordered.size());
  for (std::size_t i = 0; i < ordered.size(); ++i) numbers[positions[i]] = ordered[i];
  return std::make_shared<const NodalValues>(model.device_model().nodal_values(numbers));
}

void put_model(const AnalysisModel& model, Writer& out) {
  out.put(static_cast<std::uint64_t>(model.unknown_names().size()));
  for (const auto& name : model.unknown_names()) out.put(name);
  out.put(static_cast<std::uint64_t>(model.domain().node_count()));
  out.put(node_fingerprint(model));
}

void check_model(const AnalysisModel& model, Reader& in) {
  const auto count = in.get<std::uint64_t>();
  std::vector<std::string> names;
  for (std::uint64_t k = 0; k < count; ++k) names.push_back(in.text());
  if (names != model.unknown_names()) {
    std::string list;
    for (const auto& name : names) list += " " + name;
    refuse_state("it was saved for a model with the unknowns" + list);
  }
  const auto nodes = in.get<std::uint64_t>();
  if (nodes != static_cast<std::uint64_t>(model.domain().node_count()))
    refuse_state("it was saved for a model with " + std::to_string(nodes) + " nodes, and this one has " +
                 std::to_string(model.domain().node_count()));
  if (in.get<std::uint64_t>() != node_fingerprint(model))
    refuse_state("it was saved for a model whose nodes have other numbers or other unknowns");
}

/// Factors by the names of load cases, so that cases without a factor may come and go.
void put_factors(const AnalysisModel& model, const AnalysisState& state, Writer& out) {
  out.put(static_cast<std::uint64_t>(state.case_factors.size()));
  for (std::size_t c = 0; c < state.case_factors.size(); ++c) {
    out.put(model.domain().load_case(c).name());
    out.put(state.case_factors[c]);
  }
}

std::vector<double> get_factors(const AnalysisModel& model, Reader& in) {
  std::vector<double> factors(model.domain().load_case_count(), 0.0);
  const auto count = in.get<std::uint64_t>();
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::string name = in.text();
    const double factor = in.get<double>();
    std::size_t c = 0;
    while (c < factors.size() && model.domain().load_case(c).name() != name) ++c;
    if (c < factors.size())
      factors[c] = factor;
    else if (factor != 0)
      refuse_state("load case '" + name + "' acts in it, and the model has no load case of this name");
  }
  return count == 0 ? std::vector<double>() : factors;
}

void put_history(const AnalysisModel& model, const AnalysisState& state, Writer& out) {
  std::vector<int> remembering;
  for (std::size_t b = 0; b < model.batches().size(); ++b)
    if (model.device_model().part(0).batches[b].program->history_count() > 0)
      remembering.push_back(static_cast<int>(b));
  if (!state.history) remembering.clear();
  out.put(static_cast<std::uint64_t>(remembering.size()));
  for (const int b : remembering) {
    const BatchOrigin& origin = model.batches()[static_cast<std::size_t>(b)];
    out.put(model.domain().block(static_cast<std::size_t>(origin.block)).name());
    out.put(model.device_model().part(0).batches[static_cast<std::size_t>(b)].program->name());
    out.put(detail::history_numbers(model, b, state.history.get()));
  }
}

std::shared_ptr<const ElementHistory> get_history(const AnalysisModel& model, Reader& in) {
  const auto count = in.get<std::uint64_t>();
  if (count == 0) return nullptr;
  std::vector<std::vector<double>> numbers;
  for (std::size_t b = 0; b < model.batches().size(); ++b)
    numbers.push_back(detail::history_numbers(model, static_cast<int>(b), nullptr));
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::string block = in.text(), type = in.text();
    std::vector<double> saved = in.numbers();
    std::size_t b = 0;
    const auto matches = [&](std::size_t at) {
      const BatchOrigin& origin = model.batches()[at];
      return origin.kind == BatchOrigin::Kind::block &&
             model.domain().block(static_cast<std::size_t>(origin.block)).name() == block;
    };
    while (b < numbers.size() && !matches(b)) ++b;
    if (b == numbers.size()) refuse_state("it has the history of block '" + block + "', which the model does not have");
    if (model.device_model().part(0).batches[b].program->name() != type || saved.size() != numbers[b].size())
      refuse_state("the history of block '" + block + "' is that of other elements (" + type + ")");
    numbers[b] = std::move(saved);
  }
  return detail::make_history(model, numbers);
}

}  // namespace

void save_state(const AnalysisModel& model, const AnalysisState& state, std::ostream& to) {
  Writer out;
  put_model(model, out);
  const auto equations = equations_by_node(model);
  out.put(state.name);
  out.put(state.time);
  out.put(state.time_step);
  out.put(state.prescribed_factor);
  put_factors(model, state, out);
  for (const Vector* x : {&state.unknowns, &state.rate, &state.second_rate, &state.loads})
    out.put(by_node(equations, *x));
  out.put(temperatures_by_node(model, state.temperature.get()));
  put_history(model, state, out);

  Writer header;
  header.put(version);
  header.put(static_cast<std::uint64_t>(out.bytes().size()));
  Writer footer;
  footer.put(checksum(out.bytes()));
  to.write(mark, sizeof(mark));
  for (const Writer* part : {&header, &out, &footer})
    to.write(part->bytes().data(), static_cast<std::streamsize>(part->bytes().size()));
  to.flush();
  if (!to) throw Error(ErrorCode::io, "a state could not be written; check the space and the permissions");
}

AnalysisState restore_state(const AnalysisModel& model, std::istream& from) {
  constexpr std::size_t header_size = sizeof(mark) + sizeof(version) + sizeof(std::uint64_t);
  std::string header(header_size, '\0');
  from.read(header.data(), static_cast<std::streamsize>(header.size()));
  if (from.gcount() != static_cast<std::streamsize>(header.size()) || std::memcmp(header.data(), mark, sizeof(mark)))
    refuse_state("these bytes are not a state of Voussoir");
  Reader head({header.data() + sizeof(mark), header.size() - sizeof(mark)});
  if (const auto found = head.get<std::uint32_t>(); found != version)
    refuse_state("it has version " + std::to_string(found) + " of the format, and this program reads version " +
                 std::to_string(version));
  const auto size = head.get<std::uint64_t>();
  // Read piece by piece: a damaged length must not ask for all memory.
  std::string bytes;
  constexpr std::size_t piece = std::size_t{1} << 20;
  while (bytes.size() < size) {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(piece, size - bytes.size()));
    const std::size_t before = bytes.size();
    bytes.resize(before + wanted);
    from.read(bytes.data() + before, static_cast<std::streamsize>(wanted));
    if (from.gcount() != static_cast<std::streamsize>(wanted)) refuse_state("it is damaged: it ends too early");
  }
  std::uint64_t sum = 0;
  from.read(reinterpret_cast<char*>(&sum), sizeof(sum));
  if (from.gcount() != sizeof(sum)) refuse_state("it is damaged: it ends too early");
  if (sum != checksum(bytes)) refuse_state("it is damaged: its checksum does not agree with its contents");

  Reader in(bytes);
  check_model(model, in);
  const auto equations = equations_by_node(model);
  AnalysisState state;
  state.name = in.text();
  state.time = in.get<double>();
  state.time_step = in.get<double>();
  state.prescribed_factor = in.get<double>();
  state.case_factors = get_factors(model, in);
  for (Vector* x : {&state.unknowns, &state.rate, &state.second_rate, &state.loads})
    *x = from_nodes(model, equations, in.numbers());
  state.temperature = temperatures_from_nodes(model, in.numbers());
  state.history = get_history(model, in);
  if (!in.at_end()) refuse_state("it is damaged: there is more in it than a state");
  state.committed_ = std::make_unique<StateValues>(static_cast<const StateValues&>(state).clone());
  return state;
}

}  // namespace voussoir
