#include <voussoir/apps/bench/files.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <sstream>
#include <vector>

#include <voussoir/apps/bench/scratch.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/io/deck/deck_writer.hpp>
#include <voussoir/framework/io/gmsh/gmsh_reader.hpp>
#include <voussoir/framework/io/gmsh/gmsh_writer.hpp>
#include <voussoir/framework/io/vtk/vtu_writer.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>

namespace voussoir::app {
namespace {

namespace fs = std::filesystem;

void build_block(Domain& domain, int n) {
  BoxMesh box;
  box.type = "solid.hex8.full";
  box.cells = {n - 1, n - 1, n - 1};
  box.upper = {1.0, 1.1, 0.9};  // coordinates with as many digits as meshes have
  add_box_mesh(domain, box).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
}

template <class Work>
double best_of_three(Work work) {
  double best = 1e300;
  for (int i = 0; i < 3; ++i) {
    const Stopwatch watch;
    work();
    best = std::min(best, watch.seconds());
  }
  return best;
}

/// The floor: every byte of the file looked at once.
double touch(const fs::path& path, std::uint64_t& sum) {
  return best_of_three([&] {
    const std::string text = content(path);
    sum += std::accumulate(text.begin(), text.end(), std::uint64_t{0},
                           [](std::uint64_t s, char c) { return s + static_cast<unsigned char>(c); });
  });
}

/// The peer: numbers of a text taken from a stream.
double from_stream(const fs::path& path, double& sum) {
  const Stopwatch watch;
  std::string text = content(path);
  std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream stream(std::move(text));
  for (std::string word; stream;) {
    double value;
    while (stream >> value) sum += value;
    stream.clear();
    if (!(stream >> word)) break;
  }
  return watch.seconds();
}

double peak_of_reading(const fs::path& path) {
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  const std::string command = "'" + program + "' bench --files --child '" + path.string() + "'";
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) throw Error(ErrorCode::device, "cannot start the process that measures memory");
  double kilobytes = 0;
  const int read = std::fscanf(pipe, "%lf", &kilobytes);
  if (pclose(pipe) != 0 || read != 1) throw Error(ErrorCode::device, "the process that measures memory failed");
  return 1024 * kilobytes;
}

void check(bool same, const fs::path& path) {
  if (!same) throw Error(ErrorCode::internal, "the data read differs from the data written", path.filename().string());
}

void row(const std::string& what, double bytes, double seconds, const std::string& beside) {
  fmt::print("  {:<34} {:>8.1f} MB {:>8.3f} s {:>8.0f} MB/s   {}\n", what, bytes * 1e-6, seconds,
             bytes * 1e-6 / seconds, beside);
}

NodalField wavy(const Domain& domain, const std::string& name, const std::vector<std::string>& components) {
  NodalField field{name, components, {}};
  const auto x = domain.coordinates();
  for (std::int32_t i = 0; i < domain.node_count(); ++i)
    for (std::size_t k = 0; k < components.size(); ++k)
      field.values.push_back(std::sin(3 * x[3 * static_cast<std::size_t>(i)] + static_cast<double>(k)) *
                             std::exp(x[3 * static_cast<std::size_t>(i) + 1]));
  return field;
}

}  // namespace

void bench_files(int n) {
  const Scratch scratch("files");
  Domain domain;
  build_block(domain, n);
  const double nodes = domain.node_count(), elements = static_cast<double>(domain.element_count());
  // The final arrays: ids and coordinates of nodes, ids and connectivity of elements.
  const double arrays = nodes * (8 + 24) + elements * (8 + 8 * 4);
  fmt::print("Files of {:.0f} nodes and {:.0f} bricks; the arrays of the domain have {:.0f} MB\n\n", nodes, elements,
             arrays * 1e-6);

  const fs::path deck = scratch.path / "block.inp", text = scratch.path / "text.msh", binary = scratch.path / "bin.msh";
  std::uint64_t bytes_sum = 0;
  double number_sum = 0;
  {
    const Stopwatch watch;
    write_deck(domain, {}, deck);
    row("write a deck", static_cast<double>(fs::file_size(deck)), watch.seconds(), "");
  }
  {
    const Stopwatch watch;
    write_gmsh(domain, text, {.overwrite = false, .format = GmshFormat::ascii_4_1});
    row("write .msh 4.1, text", static_cast<double>(fs::file_size(text)), watch.seconds(), "");
  }
  {
    const Stopwatch watch;
    write_gmsh(domain, binary, {.overwrite = false, .format = GmshFormat::binary_4_1});
    row("write .msh 4.1, binary", static_cast<double>(fs::file_size(binary)), watch.seconds(), "");
  }
  const auto read_row = [&](const char* what, const fs::path& path, double seconds, double memory, bool is_text) {
    const double floor = touch(path, bytes_sum);
    std::string beside = fmt::format("floor {:.3f} s", floor);
    if (is_text) beside += fmt::format(", a stream {:.2f} s", from_stream(path, number_sum));
    row(what, static_cast<double>(fs::file_size(path)), seconds,
        beside + fmt::format("; peak {:.0f} MB = {:.1f} x arrays", memory * 1e-6, memory / arrays));
  };
  read_row("read a deck into a domain", deck, best_of_three([&] {
             const Job job = read_deck(deck);
             check(job.domains[0]->node_count() == domain.node_count() &&
                       job.domains[0]->element_count() == domain.element_count() &&
                       std::equal(domain.coordinates().begin(), domain.coordinates().end(),
                                  job.domains[0]->coordinates().begin()),
                   deck);
           }),
           peak_of_reading(deck), true);
  for (const auto& [what, path] : {std::pair{"read .msh, text", text}, std::pair{"read .msh, binary", binary}})
    read_row(what, path, best_of_three([&, file = path] {
               const GmshMesh mesh = read_gmsh(file);
               check(static_cast<std::int32_t>(mesh.node_ids.size()) == domain.node_count() &&
                         std::equal(mesh.coordinates.begin(), mesh.coordinates.end(), domain.coordinates().begin()),
                     file);
             }),
             peak_of_reading(path), path == text);

  const NodalField displacement = wavy(domain, "displacement", {"ux", "uy", "uz"});
  const NodalField stress = wavy(domain, "stress", {"sxx", "syy", "szz", "sxy", "syz", "sxz", "mises"});
  const fs::path vtu = scratch.path / "block.vtu";
  VtuOptions again;
  again.overwrite = true;
  const double seconds = best_of_three([&] { VtuWriter(domain).add(displacement).add(stress).write(vtu, again); });
  const double raw = nodes * 8 * (3 + 1 + 3 + 7) + elements * (8 * 8 + 8 + 1 + 8 + 8);
  row("write a VTU, 10 values per node", raw, seconds,
      fmt::format("{:.1f} MB on disk (zlib)", static_cast<double>(fs::file_size(vtu)) * 1e-6));
  if (bytes_sum == 0 || number_sum == 0.125) fmt::print("\n");  // keeps both from being optimised away
}

void bench_files_child(const std::string& path) {
  if (path.ends_with(".inp"))
    read_deck(path);
  else
    read_gmsh(path);
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) std::printf("%s\n", line.c_str() + 6);
}

}  // namespace voussoir::app
