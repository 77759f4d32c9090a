#include <voussoir/framework/io/vtk/vti_writer.hpp>

#include <algorithm>
#include <bit>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/vtk/detail/appended_arrays.hpp>

namespace voussoir {

VtiWriter& VtiWriter::add(const std::string& name, std::span<const double> values) {
  if (static_cast<std::int64_t>(values.size()) != grid_->node_count())
    throw Error(ErrorCode::bad_input,
                std::to_string(values.size()) + " values for " + std::to_string(grid_->node_count()) + " nodes",
                "array '" + name + "'");
  const bool taken =
      std::any_of(fields_.begin(), fields_.end(), [&](const auto& field) { return field.first == name; });
  if (name.empty() || taken)
    throw Error(ErrorCode::bad_input, name.empty() ? "an array needs a name" : "there is an array of this name already",
                "array '" + name + "'");
  fields_.emplace_back(name, values);
  return *this;
}

void VtiWriter::write(const std::filesystem::path& path, const VtuOptions& options) const {
  if (options.level < 1 || options.level > 9)
    throw Error(ErrorCode::bad_input,
                "the compression level is " + std::to_string(options.level) + "; it must be 1 to 9");
  OutputFile file(path, options.overwrite);
  const std::map<std::string, std::string> no_units;
  detail::AppendedArrays arrays(file, options, no_units, nullptr);
  std::string extent, origin, spacing;
  for (int a = 0; a < 3; ++a) {
    const char* gap = a ? " " : "";
    extent += gap + ("0 " + std::to_string(grid_->nodes(a) - 1));
    origin += gap + exact_number(grid_->origin()[static_cast<std::size_t>(a)]);
    spacing += gap + exact_number(grid_->spacing(a));
  }
  file.write(std::string("<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"") +
             (std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian") + "\" header_type=\"UInt64\"" +
             (options.compress ? " compressor=\"vtkZLibDataCompressor\"" : "") + ">\n  <ImageData WholeExtent=\"" +
             extent + "\" Origin=\"" + origin + "\" Spacing=\"" + spacing + "\">\n    <Piece Extent=\"" + extent +
             "\">\n      <PointData>\n");
  for (const auto& [name, values] : fields_)
    arrays.announce<double>(name, 1, grid_->node_count(), {},
                            [values = values](std::int64_t first, std::int64_t count, double* out) {
                              std::copy_n(values.begin() + first, count, out);
                            });
  file.write("      </PointData>\n    </Piece>\n  </ImageData>\n  <AppendedData encoding=\"raw\">\n_");
  arrays.write_all();
  file.write("\n  </AppendedData>\n</VTKFile>\n");
  file.commit();
}

}  // namespace voussoir
