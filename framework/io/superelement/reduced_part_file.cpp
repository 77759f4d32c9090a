#include <voussoir/framework/io/superelement/reduced_part_file.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include <nlohmann/json.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/detail/file_bytes.hpp>
#include <voussoir/framework/io/output_file.hpp>

namespace voussoir {
namespace {

using PartJson = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "reduced parts are written as the machine keeps numbers");

constexpr std::string_view part_mark = "voussoir superelement";
constexpr std::uint64_t most_numbers = std::uint64_t{1} << 40;

std::string hexadecimal(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

/// Collects arrays and describes them.
class PartArrays {
 public:
  template <class T>
  void add(const std::string& name, std::span<const T> values, std::vector<std::size_t> shape) {
    static_assert(sizeof(T) == 8);
    const std::span<const char> bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    description_[name] = {{"type", std::is_same_v<T, double> ? "f64" : "i64"},
                          {"shape", shape},
                          {"offset", data_.size()},
                          {"checksum", hexadecimal(part_checksum(bytes))}};
    data_.append(bytes.data(), bytes.size());
  }
  void add(const std::string& name, const std::vector<double>& values, std::vector<std::size_t> shape) {
    add<double>(name, std::span(values), std::move(shape));
  }
  void add(const std::string& name, const std::vector<Id>& values, std::vector<std::size_t> shape) {
    add<Id>(name, std::span(values), std::move(shape));
  }
  const PartJson& description() const { return description_; }
  const std::string& data() const { return data_; }

 private:
  PartJson description_ = PartJson::object();
  std::string data_;
};

/// One member of all loads, load by load.
std::vector<double> of_loads(const std::vector<ReducedPart::Load>& loads, std::vector<double> ReducedPart::Load::*of) {
  std::vector<double> all;
  for (const auto& load : loads) all.insert(all.end(), (load.*of).begin(), (load.*of).end());
  return all;
}

void add_loads(PartArrays& arrays, const std::string& prefix, const std::vector<ReducedPart::Load>& loads,
               const ReducedPart& part) {
  using Load = ReducedPart::Load;
  arrays.add(prefix + "_force", of_loads(loads, &Load::force), {loads.size(), part.size()});
  arrays.add(prefix + "_displacement", of_loads(loads, &Load::displacement), {loads.size(), part.rows()});
  arrays.add(prefix + "_stress", of_loads(loads, &Load::stress), {loads.size(), part.stress_rows()});
}

void add_arrays(PartArrays& arrays, const ReducedPart& part) {
  const std::size_t n = part.size();
  arrays.add("interface_nodes", part.interface_nodes, {part.interface_nodes.size()});
  arrays.add("interface_coordinates", part.interface_coordinates, {part.interface_nodes.size(), 3});
  arrays.add("eigenvalues", part.eigenvalues, {part.modes()});
  arrays.add("stiffness", part.stiffness, {n, n});
  if (!part.mass.empty()) arrays.add("mass", part.mass, {n, n});
  add_loads(arrays, "load", part.loads, part);
  add_loads(arrays, "acceleration", part.accelerations, part);
  std::vector<Id> rows, elements, element_nodes;
  for (const auto& row : part.row) rows.insert(rows.end(), {row.node, static_cast<Id>(row.unknown)});
  for (const auto& block : part.blocks) {
    elements.insert(elements.end(), block.elements.begin(), block.elements.end());
    element_nodes.insert(element_nodes.end(), block.nodes.begin(), block.nodes.end());
  }
  arrays.add("row", rows, {part.rows(), 2});
  arrays.add("recovery", part.recovery, {part.rows(), n});
  arrays.add("nodes", part.nodes, {part.nodes.size()});
  arrays.add("coordinates", part.coordinates, {part.nodes.size(), 3});
  arrays.add("elements", elements, {elements.size()});
  arrays.add("element_nodes", element_nodes, {element_nodes.size()});
  if (!part.stress_recovery.empty()) arrays.add("stress_recovery", part.stress_recovery, {part.stress_rows(), n});
}

std::vector<std::string> names_of(const std::vector<ReducedPart::Load>& loads) {
  std::vector<std::string> names;
  for (const auto& load : loads) names.push_back(load.name);
  return names;
}

/// Whether nodes move in a plane.
bool is_plane(const std::vector<std::string>& unknowns) {
  const auto has = [&](const char* name) {
    return std::find(unknowns.begin(), unknowns.end(), name) != unknowns.end();
  };
  return has("ux") && !has("uz");
}

/// Reads a header and its arrays.
class PartReader {
 public:
  PartReader(std::string_view bytes, const std::string& name) : name_(name) {
    const std::string first(take_line(bytes)), second(take_line(bytes));
    if (!first.starts_with(part_mark)) fail("it does not begin with '" + std::string(part_mark) + "'");
    if (first != std::string(part_mark) + " " + std::to_string(reduced_part_version))
      fail("it is of version" + first.substr(part_mark.size()) + ", and this program reads version " +
           std::to_string(reduced_part_version));
    std::uint64_t length = 0;
    char sum[17] = {};
    unsigned long long parsed = 0;
    if (std::sscanf(second.c_str(), "header %llu %16[0-9a-f]", &parsed, sum) != 2)
      fail("its second line does not give the length and the checksum of the header");
    length = parsed;
    if (length > bytes.size()) fail("it is damaged: it ends within the header");
    const std::string_view text = bytes.substr(0, length);
    if (hexadecimal(part_checksum(text)) != sum) fail("it is damaged: the checksum of the header is wrong");
    data_ = bytes.substr(length);
    header_ = PartJson::parse(text, nullptr, false);
    if (!header_.is_object()) fail("its header is not a JSON object");
    check_extent();
  }

  [[noreturn]] void fail(const std::string& text) const {
    throw Error(ErrorCode::bad_input, "this is not a reduced part that can be used: " + text, name_);
  }
  const PartJson& member(const PartJson& object, const char* key) const {
    if (!object.is_object() || !object.contains(key)) fail(std::string("the header has no '") + key + "'");
    return object[key];
  }
  const PartJson& header() const { return header_; }
  std::string text(const PartJson& object, const char* key) const {
    const PartJson& value = member(object, key);
    if (!value.is_string()) fail(std::string("'") + key + "' is not a text");
    return value.get<std::string>();
  }
  std::uint64_t count(const PartJson& value, const char* what) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most_numbers)
      fail(std::string("'") + what + "' is not a count");
    return value.get<std::uint64_t>();
  }
  bool flag(const PartJson& object, const char* key) const {
    const PartJson& value = member(object, key);
    if (!value.is_boolean()) fail(std::string("'") + key + "' is neither true nor false");
    return value.get<bool>();
  }
  std::vector<std::string> texts(const char* key) const {
    const PartJson& list = member(header_, key);
    if (!list.is_array()) fail(std::string("'") + key + "' is not a list");
    std::vector<std::string> result;
    for (const PartJson& value : list) {
      if (!value.is_string()) fail(std::string("'") + key + "' has an entry that is not a text");
      result.push_back(value.get<std::string>());
    }
    return result;
  }
  bool has_array(const char* key) const { return member(header_, "arrays").contains(key); }

  /// An array, whose shape must be the one given; any_extent stands for any number.
  template <class T>
  std::vector<T> array(const std::string& key, const std::vector<std::uint64_t>& wanted) const {
    const PartJson& one = member(member(header_, "arrays"), key.c_str());
    if (text(one, "type") != (std::is_same_v<T, double> ? "f64" : "i64"))
      fail("array '" + key + "' has another type of numbers");
    const std::vector<std::uint64_t> found = shape(one, key);
    bool same = found.size() == wanted.size();
    for (std::size_t i = 0; same && i < wanted.size(); ++i) same = wanted[i] == any_extent || wanted[i] == found[i];
    if (!same) fail("array '" + key + "' has another shape than the rest of the file requires");
    const std::uint64_t numbers = product(found);
    const std::uint64_t offset = count(member(one, "offset"), "offset");
    if (offset > data_.size() || numbers > (data_.size() - offset) / 8)
      fail("it is damaged: it ends within array '" + key + "'");
    const std::string_view bytes = data_.substr(offset, numbers * 8);
    if (hexadecimal(part_checksum(bytes)) != text(one, "checksum"))
      fail("it is damaged: the checksum of array '" + key + "' is wrong");
    std::vector<T> values(numbers);
    if (numbers > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  static constexpr std::uint64_t any_extent = ~std::uint64_t{0};

  /// A count of the header that must be that of what was read.
  void expect_count(const char* key, std::uint64_t found) const {
    if (const std::uint64_t said = count(member(header_, key), key); said != found)
      fail(std::string("the header gives ") + std::to_string(said) + " for '" + key + "', and the arrays have " +
           std::to_string(found));
  }

 private:
  /// The extents of an array, whose product is not too large.
  std::vector<std::uint64_t> shape(const PartJson& one, const std::string& key) const {
    const PartJson& list = member(one, "shape");
    if (!list.is_array() || list.empty()) fail("array '" + key + "' has no shape");
    std::vector<std::uint64_t> extents;
    std::uint64_t numbers = 1;
    for (const PartJson& extent : list) {
      extents.push_back(count(extent, "shape"));
      if (extents.back() > 0 && numbers > most_numbers / extents.back()) fail("array '" + key + "' is too large");
      numbers *= extents.back();
    }
    return extents;
  }
  static std::uint64_t product(const std::vector<std::uint64_t>& extents) {
    std::uint64_t numbers = 1;
    for (const std::uint64_t extent : extents) numbers *= extent;
    return numbers;
  }

  /// The arrays follow each other and fill the file: no gaps, no overlaps, and nothing after the last one.
  void check_extent() const {
    const PartJson& arrays = member(header_, "arrays");
    if (!arrays.is_object()) fail("'arrays' is not an object");
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    for (const auto& [key, one] : arrays.items())
      ranges.emplace_back(count(member(one, "offset"), "offset"), 8 * product(shape(one, key)));
    std::sort(ranges.begin(), ranges.end());
    std::uint64_t end = 0;
    for (const auto& [offset, length] : ranges) {
      if (offset != end) fail("its arrays overlap or leave gaps");
      end += length;
      if (end > data_.size()) fail("it is damaged: it ends within its arrays");
    }
    if (end < data_.size())
      fail(std::to_string(data_.size() - end) + " bytes follow the last array; nothing may follow it");
  }

  std::string_view take_line(std::string_view& bytes) const {
    const std::size_t end = bytes.substr(0, 200).find('\n');
    if (end == std::string_view::npos)
      throw Error(
          ErrorCode::bad_input,
          "this is not a reduced part that can be used: it does not begin with '" + std::string(part_mark) + "'",
          name_);
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    return line;
  }

  std::string name_;
  PartJson header_;
  std::string_view data_;
};

void read_loads(const PartReader& reader, const char* key, const std::string& prefix,
                std::vector<ReducedPart::Load>& loads) {
  using Load = ReducedPart::Load;
  for (const std::string& name : reader.texts(key)) loads.push_back({name, {}, {}, {}});
  for (const auto& [suffix, of] : {std::pair{"_force", &Load::force}, std::pair{"_displacement", &Load::displacement},
                                   std::pair{"_stress", &Load::stress}}) {
    const std::vector<double> all = reader.array<double>(prefix + suffix, {loads.size(), PartReader::any_extent});
    if (loads.empty()) continue;
    const std::size_t each = all.size() / loads.size();
    for (std::size_t l = 0; l < loads.size(); ++l)
      (loads[l].*of)
          .assign(all.begin() + static_cast<std::ptrdiff_t>(l * each),
                  all.begin() + static_cast<std::ptrdiff_t>((l + 1) * each));
  }
}

void read_mesh(const PartReader& reader, ReducedPart& part) {
  part.nodes = reader.array<Id>("nodes", {PartReader::any_extent});
  part.coordinates = reader.array<double>("coordinates", {part.nodes.size(), 3});
  const std::vector<Id> elements = reader.array<Id>("elements", {PartReader::any_extent});
  const std::vector<Id> nodes = reader.array<Id>("element_nodes", {PartReader::any_extent});
  const PartJson& blocks = reader.member(reader.header(), "blocks");
  if (!blocks.is_array()) reader.fail("'blocks' is not a list");
  std::size_t at = 0, at_node = 0;
  for (const PartJson& one : blocks) {
    ReducedPart::Block& block = part.blocks.emplace_back();
    block.name = reader.text(one, "name");
    block.type = reader.text(one, "type");
    block.has_stress = reader.flag(one, "has_stress");
    const std::uint64_t count = reader.count(reader.member(one, "elements"), "elements");
    const std::uint64_t each = reader.count(reader.member(one, "nodes_per_element"), "nodes_per_element");
    if (each < 1 || each > 1000 || count > elements.size() - at || count * each > nodes.size() - at_node)
      reader.fail("block '" + block.name + "' has more elements than are listed");
    block.nodes_per_element = static_cast<int>(each);
    const auto first = elements.begin() + static_cast<std::ptrdiff_t>(at);
    const auto first_node = nodes.begin() + static_cast<std::ptrdiff_t>(at_node);
    block.elements.assign(first, first + static_cast<std::ptrdiff_t>(count));
    block.nodes.assign(first_node, first_node + static_cast<std::ptrdiff_t>(count * each));
    at += count;
    at_node += count * each;
  }
  if (at != elements.size() || at_node != nodes.size()) reader.fail("its blocks have fewer elements than are listed");
}

}  // namespace

std::string reduced_part_bytes(const ReducedPart& part) {
  PartArrays arrays;
  add_arrays(arrays, part);
  PartJson header = {{"format", part_mark},
                     {"version", reduced_part_version},
                     {"byte_order", "little"},
                     {"name", part.name},
                     {"unknowns", part.unknowns},
                     {"axisymmetric", part.axisymmetric},
                     {"plane", part.plane},
                     {"interface_nodes", part.interface_nodes.size()},
                     {"modes", part.modes()},
                     {"loads", names_of(part.loads)},
                     {"accelerations", names_of(part.accelerations)},
                     {"rigid_mass", part.rigid_mass},
                     {"follows_rigid_motions", part.follows_rigid_motions},
                     {"part_unknowns", part.part_unknowns}};
  header["blocks"] = PartJson::array();
  for (const auto& block : part.blocks)
    header["blocks"].push_back({{"name", block.name},
                                {"type", block.type},
                                {"elements", block.elements.size()},
                                {"nodes_per_element", block.nodes_per_element},
                                {"has_stress", block.has_stress}});
  header["arrays"] = arrays.description();
  std::string text = header.dump(1, ' ', false, PartJson::error_handler_t::replace) + "\n";
  const auto start = [&] {
    return std::string(part_mark) + " " + std::to_string(reduced_part_version) + "\nheader " +
           std::to_string(text.size()) + " " + hexadecimal(part_checksum(text)) + "\n";
  };
  // Numbers begin at a multiple of 8 bytes, so that other programs can map them.
  while ((start().size() + text.size()) % 8 != 0) text.insert(text.size() - 1, " ");
  return start() + text + arrays.data();
}

void write_reduced_part(const std::filesystem::path& path, const ReducedPart& part, bool overwrite) {
  part.check("superelement '" + part.name + "'");
  OutputFile file(path, overwrite);
  file.write(reduced_part_bytes(part));
  file.commit();
}

std::shared_ptr<const ReducedPart> read_reduced_part_bytes(std::string_view bytes, const std::string& name) {
  const PartReader reader(bytes, name);
  auto part = std::make_shared<ReducedPart>();
  part->name = reader.text(reader.header(), "name");
  if (reader.text(reader.header(), "byte_order") != "little") reader.fail("its numbers are not little-endian");
  part->unknowns = reader.texts("unknowns");
  // Files of the first programs do not have it. Where there is a displacement uz, there is no doubt.
  if (reader.header().contains("axisymmetric"))
    part->axisymmetric = reader.flag(reader.header(), "axisymmetric");
  else if (std::find(part->unknowns.begin(), part->unknowns.end(), "uz") == part->unknowns.end())
    reader.fail("it does not say whether the part is axisymmetric; reduce the part again");
  if (reader.header().contains("plane"))
    part->plane = reader.text(reader.header(), "plane");
  else if (!part->axisymmetric && is_plane(part->unknowns))
    reader.fail("it does not say whether the part is in plane stress or in plane strain; reduce the part again");
  part->part_unknowns = reader.texts("part_unknowns");
  part->follows_rigid_motions = reader.flag(reader.header(), "follows_rigid_motions");
  const PartJson& rigid = reader.member(reader.header(), "rigid_mass");
  if (!rigid.is_array() || rigid.size() != part->rigid_mass.size()) reader.fail("'rigid_mass' is not a list of 36");
  for (std::size_t i = 0; i < part->rigid_mass.size(); ++i) {
    if (!rigid[i].is_number()) reader.fail("'rigid_mass' has an entry that is not a number");
    part->rigid_mass[i] = rigid[i].get<double>();
  }
  part->interface_nodes = reader.array<Id>("interface_nodes", {PartReader::any_extent});
  reader.expect_count("interface_nodes", part->interface_nodes.size());
  part->interface_coordinates = reader.array<double>("interface_coordinates", {part->interface_nodes.size(), 3});
  part->eigenvalues = reader.array<double>("eigenvalues", {PartReader::any_extent});
  reader.expect_count("modes", part->modes());
  const std::uint64_t n = part->size();
  part->stiffness = reader.array<double>("stiffness", {n, n});
  if (reader.has_array("mass")) part->mass = reader.array<double>("mass", {n, n});
  const std::vector<Id> rows = reader.array<Id>("row", {PartReader::any_extent, 2});
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    if (rows[i + 1] < 0 || rows[i + 1] >= static_cast<Id>(part->part_unknowns.size()))
      reader.fail("a row of the recovery matrix belongs to no unknown");
    part->row.push_back({rows[i], static_cast<int>(rows[i + 1])});
  }
  part->recovery = reader.array<double>("recovery", {part->rows(), n});
  read_mesh(reader, *part);
  if (reader.has_array("stress_recovery"))
    part->stress_recovery = reader.array<double>("stress_recovery", {PartReader::any_extent, n});
  read_loads(reader, "loads", "load", part->loads);
  read_loads(reader, "accelerations", "acceleration", part->accelerations);
  part->check(name);
  return part;
}

std::shared_ptr<const ReducedPart> read_reduced_part(const std::filesystem::path& path) {
  const FileBytes file(path);
  return read_reduced_part_bytes(file.bytes(), path.string());
}

}  // namespace voussoir
