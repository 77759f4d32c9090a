#include <voussoir/framework/io/frd/frd_writer.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/io/safe_text.hpp>

// The format is described in the manual of CalculiX GraphiX, section "Result Format"; columns and heads are those that
// CalculiX 2.20 writes.

namespace voussoir {
namespace {

/// A shape as the format has it: its number there, and which of our nodes stand where.
struct FrdShape {
  std::string_view name;
  int type;
  std::vector<int> order;
};

const FrdShape* find_shape(std::string_view name) {
  // Middle nodes of vertical edges stand before those of the upper ones; the middle of a line stands last here, as in
  // files of CalculiX.
  static const std::vector<int> hexahedron = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 12, 13, 14, 15};
  static const std::vector<int> wedge = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 9, 10, 11};
  static const std::vector<FrdShape> shapes = {
      {"hex8", 1, {0, 1, 2, 3, 4, 5, 6, 7}},
      {"wedge6", 2, {0, 1, 2, 3, 4, 5}},
      {"tet4", 3, {0, 1, 2, 3}},
      {"hex20", 4, hexahedron},
      {"hex27", 4, hexahedron},
      {"wedge15", 5, wedge},
      {"wedge18", 5, wedge},
      {"tet10", 6, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
      {"tri3", 7, {0, 1, 2}},
      {"tri6", 8, {0, 1, 2, 3, 4, 5}},
      {"quad4", 9, {0, 1, 2, 3}},
      {"quad8", 10, {0, 1, 2, 3, 4, 5, 6, 7}},
      {"quad9", 10, {0, 1, 2, 3, 4, 5, 6, 7}},
      {"line2", 11, {0, 1}},
      {"line3", 12, {0, 1, 2}},
  };
  const auto it = std::find_if(shapes.begin(), shapes.end(), [&](const FrdShape& s) { return s.name == name; });
  return it == shapes.end() ? nullptr : &*it;
}

/// The shape that a block is drawn as; null for one that the format does not have.
const FrdShape* frd_shape_of(const ElementBlock& block) {
  if (!block.type().shape().empty()) return find_shape(block.type().shape());
  return block.nodes_per_element() == 2 ? find_shape("line2") : nullptr;
}

struct FrdComponent {
  const char* name;
  std::string_view source;  // component of our fields
};

struct FrdBlock {
  const char* name;
  int kind;  // 1 a number, 2 a vector, 4 a symmetric tensor
  std::vector<FrdComponent> components;
};

const FrdBlock& block_of(FrdQuantity quantity) {
  static const FrdBlock displacement{"DISP", 2, {{"D1", "ux"}, {"D2", "uy"}, {"D3", "uz"}}};
  static const FrdBlock temperature{"NDTEMP", 1, {{"T", "T"}}};
  static const FrdBlock stress{
      "STRESS", 4, {{"SXX", "sxx"}, {"SYY", "syy"}, {"SZZ", "szz"}, {"SXY", "sxy"}, {"SYZ", "syz"}, {"SZX", "sxz"}}};
  static const FrdBlock strain{
      "TOSTRAIN", 4, {{"EXX", "exx"}, {"EYY", "eyy"}, {"EZZ", "ezz"}, {"EXY", "exy"}, {"EYZ", "eyz"}, {"EZX", "exz"}}};
  static const FrdBlock plastic{"PE", 1, {{"PE", "peeq"}}};
  static const FrdBlock force{"FORC", 2, {{"F1", "ux"}, {"F2", "uy"}, {"F3", "uz"}}};
  static const FrdBlock flux{"FLUX", 2, {{"F1", "qx"}, {"F2", "qy"}, {"F3", "qz"}}};
  static const FrdBlock heat_flow{"RFL", 1, {{"RFL", "T"}}};
  switch (quantity) {
    case FrdQuantity::displacement:
      return displacement;
    case FrdQuantity::temperature:
      return temperature;
    case FrdQuantity::stress:
      return stress;
    case FrdQuantity::strain:
      return strain;
    case FrdQuantity::plastic:
      return plastic;
    case FrdQuantity::force:
      return force;
    case FrdQuantity::flux:
      return flux;
    case FrdQuantity::heat_flow:
      break;
  }
  return heat_flow;
}

/// Lines with numbers in columns.
class Lines {
 public:
  Lines(OutputFile& file, std::string* copy) : file_(file), copy_(copy) {}

  template <class... Values>
  void print(const char* format, Values... values) {
    char line[256];
    const int length = std::snprintf(line, sizeof(line), format, values...);
    text_.append(line, static_cast<std::size_t>(std::clamp(length, 0, 255)));
    if (text_.size() > (1 << 20)) flush();
  }
  void put(std::string_view text) { text_ += text; }
  /// Twelve columns. Exponents of three digits cost one of the mantissa's where there is a sign too.
  void real(double value) {
    const double size = std::abs(value);
    if (size < 1e-300) value = 0;
    print(value < 0 && (size >= 9.999995e99 || size < 9.999995e-100) ? "%12.4E" : "%12.5E", value);
  }
  void flush() {
    file_.write(text_);
    if (copy_) *copy_ += text_;
    text_.clear();
  }

 private:
  OutputFile& file_;
  std::string* copy_;
  std::string text_;
};

void require_id(Id id, const char* what) {
  if (id < 1 || id > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCode::bad_input,
                std::string(what) + " " + std::to_string(id) +
                    " cannot be written: numbers of an .frd file are 1 to 2147483647; renumber the mesh, or leave the "
                    ".frd file out");
}

/// A name in a field of fixed width: control characters are escaped, and no letter is cut in two.
std::string printable(const std::string& name, std::size_t most) {
  std::string text = printable_line(name);
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

}  // namespace

FrdWriter::FrdWriter(std::filesystem::path path, bool overwrite, const std::vector<Mesh>& meshes)
    : file_(std::move(path), overwrite), meshes_(meshes) {
  write_header(meshes);
  write_nodes();
  write_elements();
}

void FrdWriter::write_header(const std::vector<Mesh>& meshes) {
  Lines lines(file_, copy_);
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  static const char* const months[] = {"january", "february", "march",     "april",   "may",      "june",
                                       "july",    "august",   "september", "october", "november", "december"};
  char date[32], clock[16];
  std::snprintf(date, sizeof(date), "%02d.%s.%d", local.tm_mday, months[local.tm_mon], 1900 + local.tm_year);
  std::snprintf(clock, sizeof(clock), "%02d:%02d:%02d", local.tm_hour, local.tm_min, local.tm_sec);
  const std::string number = "Version " + version();
  lines.put("    1C\n");
  for (const auto& [key, value] : {std::pair<const char*, const char*>{"USER", ""},
                                   {"DATE", date},
                                   {"TIME", clock},
                                   {"HOST", ""},
                                   {"PGM", "Voussoir"},
                                   {"VERSION", number.c_str()},
                                   {"DIR", ""},
                                   {"DBN", ""}})
    lines.print("    1U%-18s%-48s\n", key, value);
  std::vector<std::string> materials;
  for (const Mesh& mesh : meshes)
    for (std::size_t b = 0; b < mesh.domain->block_count(); ++b)
      if (const auto& material = mesh.domain->block(b).material();
          material && std::find(materials.begin(), materials.end(), material->name()) == materials.end()) {
        materials.push_back(material->name());
        lines.print("    1UMAT%5d%-58s\n", static_cast<int>(materials.size()), printable(material->name(), 58).c_str());
      }
  lines.flush();
}

void FrdWriter::write_nodes() {
  std::vector<std::vector<char>> known(meshes_.size());  // nodes that a mesh before has
  std::unordered_set<Id> seen;
  std::int64_t count = 0;
  for (std::size_t m = 0; m < meshes_.size(); ++m) {
    known[m].assign(meshes_[m].nodes, 0);
    for (std::int32_t n = 0; n < meshes_[m].nodes; ++n) {
      const Id id = meshes_[m].domain->node_id(n);
      require_id(id, "node");
      if (meshes_.size() > 1) known[m][n] = !seen.insert(id).second;
      count += !known[m][n];
    }
  }
  Lines lines(file_, copy_);
  lines.print("    2C%30lld%38d\n", static_cast<long long>(count), 1);
  for (std::size_t m = 0; m < meshes_.size(); ++m) {
    const auto& x = meshes_[m].domain->coordinates();
    for (std::int32_t n = 0; n < meshes_[m].nodes; ++n) {
      if (known[m][n]) continue;
      lines.print(" -1%10d", static_cast<int>(meshes_[m].domain->node_id(n)));
      for (std::size_t k = 0; k < 3; ++k) lines.real(x[3 * static_cast<std::size_t>(n) + k]);
      lines.put("\n");
    }
  }
  lines.put(" -3\n");
  lines.flush();
}

void FrdWriter::write_elements() {
  // Blocks and elements in the order of the domains; one that a domain before has is the same element.
  const auto each = [&](auto visit) {
    std::vector<std::string> materials;
    std::unordered_set<Id> seen;
    for (const Mesh& mesh : meshes_) {
      const Domain& domain = *mesh.domain;
      for (std::size_t b = 0; b < domain.block_count(); ++b) {
        const ElementBlock& block = domain.block(b);
        int material = 0;
        if (block.material()) {
          auto it = std::find(materials.begin(), materials.end(), block.material()->name());
          if (it == materials.end()) it = materials.insert(materials.end(), block.material()->name());
          material = static_cast<int>(it - materials.begin()) + 1;
        }
        const FrdShape* shape = frd_shape_of(block);
        if (!shape) continue;
        for (std::int32_t e = 0; e < block.size(); ++e)
          if (meshes_.size() == 1 || seen.insert(block.id(e)).second) visit(domain, block, *shape, e, material);
      }
    }
  };
  std::int64_t count = 0;
  each([&](const Domain&, const ElementBlock& block, const FrdShape&, std::int32_t e, int) {
    require_id(block.id(e), "element");
    ++count;
  });
  Lines lines(file_, copy_);
  lines.print("    3C%30lld%38d\n", static_cast<long long>(count), 1);
  each([&](const Domain& domain, const ElementBlock& block, const FrdShape& shape, std::int32_t e, int material) {
    lines.print(" -1%10d%5d%5d%5d\n", static_cast<int>(block.id(e)), shape.type, 0, material);
    const auto nodes = block.nodes(e);
    for (std::size_t k = 0; k < shape.order.size(); ++k) {
      if (k % 10 == 0) lines.put(k == 0 ? " -2" : "\n -2");
      lines.print("%10d", static_cast<int>(domain.node_id(nodes[shape.order[k]])));
    }
    lines.put("\n");
  });
  lines.put(" -3\n");
  lines.flush();
}

void FrdWriter::begin_step(int number, double time) {
  begin_state(number, 1, time);
  kind_ = 0;
}

void FrdWriter::begin_state(int step, int increment, double time) {
  step_ = step;
  increment_ = increment;
  time_ = time;
  kind_ = 1;
  ++state_;
}

void FrdWriter::begin_mode(int step, int mode, double frequency, double eigenvalue) {
  begin_state(step, 1, frequency);
  kind_ = 2;
  mode_ = mode;
  eigenvalue_ = eigenvalue;
}

void FrdWriter::add(const Domain& domain, FrdQuantity quantity, const NodalField& field) {
  const auto mesh = std::find_if(meshes_.begin(), meshes_.end(), [&](const Mesh& m) { return m.domain == &domain; });
  if (mesh == meshes_.end())
    throw Error(ErrorCode::bad_input, "the field is on a domain that the .frd file does not have");
  const FrdBlock& block = block_of(quantity);
  std::vector<int> source;
  for (const FrdComponent& c : block.components) {
    const auto it = std::find(field.components.begin(), field.components.end(), c.source);
    source.push_back(it == field.components.end() ? -1 : static_cast<int>(it - field.components.begin()));
  }
  const auto value = [&](std::int32_t n, int k) { return k < 0 ? 0.0 : field.at(n, k); };
  std::vector<std::int32_t> nodes;
  for (std::int32_t n = 0; n < mesh->nodes; ++n)
    if (std::none_of(source.begin(), source.end(), [&](int k) { return std::isnan(value(n, k)); })) nodes.push_back(n);
  if (nodes.empty() || std::all_of(source.begin(), source.end(), [](int k) { return k < 0; })) return;

  Lines lines(file_, copy_);
  char time[32];
  if (time_ >= 1 && time_ < 1e10)
    std::snprintf(time, sizeof(time), "%12.*f", 9 - static_cast<int>(std::log10(time_)), time_);
  else if (time_ >= 1e-4 && time_ < 1)
    std::snprintf(time, sizeof(time), "%12.9f", time_);
  else
    std::snprintf(time, sizeof(time), "%12.5E", time_);
  lines.print("    1PSTEP%26d%12d%12d          \n", ++results_, increment_, step_);
  if (kind_ == 2) {
    // Generalised mass and stiffness, harmonics and sectors of cyclic symmetry (none), and the number of the mode.
    lines.print("    1PGM%28.6E%34s\n", 1.0, "");
    lines.print("    1PGK%28.6E%34s\n", eigenvalue_, "");
    lines.print("    1PHID%27d%34s\n    1PSUBC%26d%34s\n    1PMODE%26d%34s\n", -1, "", 0, "", mode_, "");
    std::snprintf(time, sizeof(time), "%12.5E", time_);
  }
  lines.print("  100CL%5d%s%12d%20s%2d%5d%-10s%2d\n", 100 + state_, time, static_cast<int>(nodes.size()), "", kind_,
              state_, kind_ == 2 ? "MODAL" : "", 1);
  const int parts = static_cast<int>(block.components.size()), whole = block.kind == 2;
  lines.print(" -4  %-8s%5d%5d\n", block.name, parts + whole, 1);
  for (int k = 0; k < parts; ++k) {
    // Rows and columns of a tensor: xx, yy, zz, xy, yz, zx.
    const int row = block.kind == 1 ? 0 : k % 3 + 1;
    const int column = block.kind != 4 ? 0 : k < 3 ? k + 1 : (k + 1) % 3 + 1;
    lines.print(" -5  %-8s%5d%5d%5d%5d\n", block.components[k].name, 1, block.kind, row, column);
  }
  if (whole) lines.print(" -5  %-8s%5d%5d%5d%5d%5dALL\n", "ALL", 1, 2, 0, 0, 1);
  for (const std::int32_t n : nodes) {
    lines.print(" -1%10d", static_cast<int>(domain.node_id(n)));
    for (const int k : source) lines.real(value(n, k));
    lines.put("\n");
  }
  lines.put(" -3\n");
  lines.flush();
}

void FrdWriter::append(std::string_view text, Counts counts) {
  file_.write(text);
  if (copy_) *copy_ += text;
  state_ = counts.states;
  results_ = counts.results;
}

void FrdWriter::commit() {
  file_.write(" 9999\n");
  file_.commit();
}

}  // namespace voussoir
