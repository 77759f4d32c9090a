#include <voussoir/framework/io/vtk/mode_animation.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/detail/shape_size.hpp>
#include <voussoir/framework/io/vtk/pvd_writer.hpp>

namespace voussoir {
namespace {

std::string frame_name(const std::string& name, int frame) {
  char number[32];
  std::snprintf(number, sizeof number, "_frame_%03d.vtu", frame + 1);
  return name + number;
}

}  // namespace

std::filesystem::path write_mode_animation(const Domain& domain, const NodalField& shape,
                                           const std::filesystem::path& folder, const std::string& name, VtuMesh& mesh,
                                           const ModeAnimationOptions& options) {
  const std::string where = "animation '" + name + "'";
  if (options.frames < 3 || options.frames > 1000)
    throw Error(ErrorCode::bad_input, "a period has 3 to 1000 frames, not " + std::to_string(options.frames), where);
  const std::size_t width = shape.components.size();
  if (width == 0 || shape.values.size() != static_cast<std::size_t>(domain.node_count()) * width)
    throw Error(ErrorCode::bad_input, "the shape does not fit the nodes of this domain", where);
  const double largest = detail::largest_length(detail::displacement_lengths(domain, shape));
  if (!(largest > 0) || !std::isfinite(largest))
    throw Error(ErrorCode::bad_input, "the shape has no displacements that could be shown", where);

  const double scale = options.amplitude * detail::diagonal_of(domain) / largest;
  NodalField frame = shape;
  std::vector<PvdEntry> series;
  for (int i = 0; i < options.frames; ++i) {
    const double time = static_cast<double>(i) / options.frames, factor = scale * std::sin(2 * std::numbers::pi * time);
    for (std::size_t k = 0; k < frame.values.size(); ++k) frame.values[k] = factor * shape.values[k];
    const std::string file = frame_name(name, i);
    VtuWriter writer(domain);
    writer.add(frame).reuse(mesh);
    if (!options.comment.empty()) writer.comment(options.comment);
    writer.write(folder / file, {options.overwrite});
    series.push_back({time, file});
  }
  write_pvd(folder / (name + ".pvd"), series, options.overwrite);
  return folder / (name + ".pvd");
}

std::vector<std::string> mode_animation_files(const std::string& name, int frames) {
  std::vector<std::string> files{name + ".pvd"};
  for (int i = 0; i < frames; ++i) files.push_back(frame_name(name, i));
  return files;
}

}  // namespace voussoir
