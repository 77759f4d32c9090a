#include <voussoir/framework/io/vtk/pvd_writer.hpp>

#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/detail/xml_text.hpp>
#include <voussoir/framework/io/output_file.hpp>

namespace voussoir {

void write_pvd(const std::filesystem::path& path, const std::vector<PvdEntry>& entries, bool overwrite) {
  std::string text = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n  <Collection>\n";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!std::isfinite(entries[i].time) || (i > 0 && !(entries[i].time > entries[i - 1].time)))
      throw Error(ErrorCode::bad_input,
                  "the time of '" + entries[i].file + "' is " + exact_number(entries[i].time) +
                      "; times of a series must be finite and increase from file to file",
                  "file '" + path.string() + "'");
    text += "    <DataSet timestep=\"" + exact_number(entries[i].time) + "\" part=\"0\" file=\"" +
            detail::xml_escaped(entries[i].file) + "\"/>\n";
  }
  text += "  </Collection>\n</VTKFile>\n";
  OutputFile file(path, overwrite);
  file.write(text);
  file.commit();
}

}  // namespace voussoir
