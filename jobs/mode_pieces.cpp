#include <voussoir/jobs/detail/mode_pieces.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/vtk/pvd_writer.hpp>
#include <voussoir/framework/io/vtk/pvtu_writer.hpp>
#include <voussoir/framework/io/vtk/vtu_writer.hpp>

namespace voussoir::detail {
namespace {

constexpr double nearly_largest = 0.9;  // as in orient_modes()

/// The order of numbers that are not negative is that of their bits.
std::int64_t bits_of(double number) {
  std::int64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

double number_of(std::int64_t bits) {
  double number = 0;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

/// The values of a shape that decide its sign: translations of nodes that are not rotation nodes, or everything where
/// none of these moves.
class DecidingValues {
 public:
  DecidingValues(const ProcessPart& part, std::size_t domain, const NodalField& shape)
      : part_(part), names_(part.domains[domain].unknown_names), domain_(*part.job.domains[domain]), shape_(shape) {}

  /// Calls visit(place in the whole model, value) for each value; places ascend in the order of a run on one process.
  template <class Visit>
  void visit(bool everything, const Visit& visit) const {
    const std::size_t width = shape_.components.size();
    if (width == 0) return;
    for (std::int32_t n = 0; n < part_.node_count(); ++n) {
      if (!everything && domain_.rotation_node(n)) continue;
      for (std::size_t c = 0; c < width; ++c) {
        if (!everything && shape_.components[c][0] != 'u') continue;
        const double value = shape_.values[static_cast<std::size_t>(n) * width + c];
        if (std::isnan(value)) continue;
        const auto component = std::find(names_.begin(), names_.end(), shape_.components[c]) - names_.begin();
        visit(part_.whole[static_cast<std::size_t>(n)] * static_cast<std::int64_t>(names_.size()) + component, value);
      }
    }
  }

  double largest(bool everything) const {
    double most = 0;
    visit(everything, [&](std::int64_t, double value) { most = std::max(most, std::abs(value)); });
    return most;
  }

 private:
  const ProcessPart& part_;
  const std::vector<std::string>& names_;
  const Domain& domain_;
  const NodalField& shape_;
};

/// Of the shapes of the whole model: the largest value, and whether it is one of all unknowns.
struct LargestValues {
  std::vector<double> value;
  std::vector<char> everything;
};

LargestValues largest_values(Processes& processes, const ProcessPart& part, std::size_t domain, const ModeSet& own) {
  const std::size_t count = own.shapes.size();
  std::vector<std::int64_t> moves(count), all(count);
  for (std::size_t m = 0; m < count; ++m) {
    const DecidingValues values(part, domain, own.shapes[m]);
    moves[m] = bits_of(values.largest(false));
    all[m] = bits_of(values.largest(true));
  }
  processes.maximum(moves);
  processes.maximum(all);
  LargestValues found;
  for (std::size_t m = 0; m < count; ++m) {
    found.everything.push_back(!(number_of(moves[m]) > 0));
    found.value.push_back(number_of(found.everything[m] ? all[m] : moves[m]));
  }
  return found;
}

/// Of each shape: whether the first large value of the whole model is negative.
std::vector<char> negative_shapes(Processes& processes, const ProcessPart& part, std::size_t domain, const ModeSet& own,
                                  const LargestValues& largest) {
  constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::min();
  const std::size_t count = own.shapes.size();
  std::vector<std::int64_t> first(count, nowhere), signs(count, 0);  // places with a minus sign: the first is largest
  std::vector<double> value(count, 0.0);
  for (std::size_t m = 0; m < count; ++m)
    DecidingValues(part, domain, own.shapes[m]).visit(largest.everything[m] != 0, [&](std::int64_t place, double v) {
      if (std::abs(v) < nearly_largest * largest.value[m] || -place <= first[m]) return;
      first[m] = -place;
      value[m] = v;
    });
  const std::vector<std::int64_t> here = first;
  processes.maximum(first);
  for (std::size_t m = 0; m < count; ++m)
    signs[m] = first[m] != nowhere && here[m] == first[m] && !(value[m] > 0) ? 1 : 0;
  processes.maximum(signs);
  return {signs.begin(), signs.end()};
}

std::string mode_name(const std::string& stem, int mode) {
  char number[16];
  std::snprintf(number, sizeof number, "%03d", mode + 1);
  return stem + "_mode_" + number;
}

std::string mode_piece_name(const std::string& stem, int mode, int part) {
  char number[16];
  std::snprintf(number, sizeof number, "_p%04d.vtu", part);
  return mode_name(stem, mode) + number;
}

std::vector<int> parts_with_shapes(const ProcessPart& part, std::size_t domain) {
  std::vector<int> list;
  for (int p = 0; p < part.parts; ++p)
    if (part.domains[domain].part_elements[static_cast<std::size_t>(p)] > 0) list.push_back(p);
  return list;
}

}  // namespace

void orient_modes_of_parts(Processes& processes, const ProcessPart& part, std::size_t domain, ModeSet& own) {
  const LargestValues largest = largest_values(processes, part, domain, own);
  const std::vector<char> negative = negative_shapes(processes, part, domain, own, largest);
  own.rotation_nodes.clear();
  for (std::int32_t n = 0; n < part.node_count(); ++n)
    if (part.job.domains[domain]->rotation_node(n)) own.rotation_nodes.push_back(n);
  own.modal_masses.assign(own.shapes.size(), 0.0);
  for (std::size_t m = 0; m < own.shapes.size(); ++m) {
    if (largest.value[m] > 0) own.modal_masses[m] = 1 / (largest.value[m] * largest.value[m]);
    if (!negative[m]) continue;
    for (double& value : own.shapes[m].values) value = value == 0 ? 0 : -value;
    for (double& factor : own.participation[m]) factor = -factor;
  }
}

std::vector<std::string> mode_piece_files(const ProcessPart& part, std::size_t domain, const std::string& stem,
                                          int modes) {
  std::vector<std::string> files;
  if (modes == 0) return files;
  files.push_back(stem + "_modes.pvd");
  for (int m = 0; m < modes; ++m) {
    files.push_back(mode_name(stem, m) + ".pvtu");
    for (const int p : parts_with_shapes(part, domain)) files.push_back(mode_piece_name(stem, m, p));
  }
  return files;
}

void write_mode_pieces(Processes& processes, const ProcessPart& part, std::size_t domain, const ModeSet& modes,
                       const std::string& stem, const OutputOptions& options) {
  if (!options.vtu || modes.count() == 0) return;
  const std::vector<int> parts = parts_with_shapes(part, domain);
  agree(processes, [&] {
    if (!part.has_elements(domain)) return;
    VtuMesh mesh;
    for (int m = 0; m < modes.count(); ++m)
      VtuWriter(*part.job.domains[domain])
          .add(modes.shapes[static_cast<std::size_t>(m)])
          .comment("mode " + std::to_string(m + 1) + ", " + short_number(modes.frequency(m), 9) + " Hz, M-orthonormal")
          .reuse(mesh)
          .write(options.folder / mode_piece_name(stem, m, part.part), {options.overwrite});
  });
  agree(processes, [&] {  // all pieces are there
    if (parts.empty() || parts.front() != part.part) return;
    std::vector<PvdEntry> series;
    for (int m = 0; m < modes.count(); ++m) {
      std::vector<std::string> pieces;
      for (const int p : parts) pieces.push_back(mode_piece_name(stem, m, p));
      const std::string list = mode_name(stem, m) + ".pvtu";
      write_pvtu(options.folder / list, pieces, options.folder / pieces.front(), options.overwrite);
      series.push_back({static_cast<double>(m + 1), list});
    }
    write_pvd(options.folder / (stem + "_modes.pvd"), series, options.overwrite);
  });
}

}  // namespace voussoir::detail
