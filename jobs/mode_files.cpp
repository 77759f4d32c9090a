#include <voussoir/jobs/mode_files.hpp>

#include <cstdio>
#include <nlohmann/json.hpp>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/vtk/pvd_writer.hpp>
#include <voussoir/framework/io/vtk/vtu_writer.hpp>

namespace voussoir {

CsvTable modal_table(const ModeSet& modes) {
  std::vector<std::string> columns{"mode", "frequency", "eigenvalue", "residual", "modal_mass"};
  for (const char* kind : {"participation_", "effective_mass_", "accumulated_"})
    for (const std::string& direction : ModeSet::direction_names()) columns.push_back(kind + direction);
  CsvTable table(columns);
  for (int m = 0; m < modes.count(); ++m) {
    const auto place = static_cast<std::size_t>(m);
    table.row()
        .add(m + 1)
        .add(modes.frequency(m))
        .add(modes.eigenvalue(m))
        .add(modes.report.modes[place].residual)
        .add(modes.modal_masses[place]);
    for (const double factor : modes.participation[place]) table.add(factor);
    for (int d = 0; d < ModeSet::directions; ++d) table.add(modes.effective_mass(m, d));
    for (int d = 0; d < ModeSet::directions; ++d) table.add(modes.accumulated(m, d));
  }
  return table;
}

std::string modes_as_json(const ModeSet& modes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (int m = 0; m < modes.count(); ++m) {
    const auto place = static_cast<std::size_t>(m);
    nlohmann::ordered_json factors, masses, accumulated;
    for (int d = 0; d < ModeSet::directions; ++d) {
      const std::string& name = ModeSet::direction_names()[static_cast<std::size_t>(d)];
      factors[name] = modes.participation[place][static_cast<std::size_t>(d)];
      masses[name] = modes.effective_mass(m, d);
      accumulated[name] = modes.accumulated(m, d);
    }
    list.push_back({{"mode", m + 1},
                    {"frequency", modes.frequency(m)},
                    {"eigenvalue", modes.eigenvalue(m)},
                    {"residual", modes.report.modes[place].residual},
                    {"rigid", modes.report.modes[place].free},
                    {"modal_mass", modes.modal_masses[place]},
                    {"participation", factors},
                    {"effective_mass", masses},
                    {"accumulated", accumulated}});
  }
  return list.dump();
}

const char* name_of(Completeness completeness) {
  switch (completeness) {
    case Completeness::verified:
      return "verified";
    case Completeness::probed:
      return "probed";
    case Completeness::incomplete:
      return "incomplete";
    case Completeness::unchecked:
      break;
  }
  return "unchecked";
}

std::string fault_of(const EigenReport& report, double tolerance) {
  if (!report.converged)
    return "not all modes have residuals within the tolerance " + short_number(tolerance, 6) +
           "; their shapes are approximate";
  return report.completeness == Completeness::incomplete ? report.statement : std::string();
}

namespace {

std::string shape_file(const std::string& stem, int mode) {
  char number[16];
  std::snprintf(number, sizeof number, "%03d", mode + 1);
  return stem + "_mode_" + number + ".vtu";
}

}  // namespace

std::vector<std::string> mode_shape_files(const std::string& stem, int modes) {
  std::vector<std::string> files{stem + "_modes.pvd"};
  for (int m = 0; m < modes; ++m) files.push_back(shape_file(stem, m));
  return files;
}

std::vector<std::filesystem::path> write_mode_shapes(const Domain& domain, const ModeSet& modes,
                                                     const std::filesystem::path& folder, const std::string& stem,
                                                     bool overwrite) {
  std::vector<std::filesystem::path> written;
  if (modes.count() == 0) return written;
  VtuMesh mesh;
  std::vector<PvdEntry> series;
  for (int m = 0; m < modes.count(); ++m) {
    const std::string file = shape_file(stem, m);
    VtuWriter(domain)
        .add(modes.shapes[static_cast<std::size_t>(m)])
        .comment("mode " + std::to_string(m + 1) + ", " + short_number(modes.frequency(m), 9) + " Hz, M-orthonormal")
        .reuse(mesh)
        .write(folder / file, {overwrite});
    series.push_back({static_cast<double>(m + 1), file});
    written.push_back(folder / file);
  }
  write_pvd(folder / (stem + "_modes.pvd"), series, overwrite);
  written.push_back(folder / (stem + "_modes.pvd"));
  return written;
}

}  // namespace voussoir
