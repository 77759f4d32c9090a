#include <voussoir/jobs/mode_pictures.hpp>

#include <algorithm>
#include <cstdio>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/picture/modal_plots.hpp>
#include <voussoir/framework/io/picture/mode_sheet.hpp>
#include <voussoir/framework/io/picture/picture.hpp>
#include <voussoir/framework/io/vtk/mode_animation.hpp>

namespace voussoir {
namespace {

bool is_visible(const Domain& domain) {
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    if (domain.block(b).nodes_per_element() > 1 && domain.block(b).size() > 0) return true;
  return false;
}

void write_sheet(const Domain& domain, const ModeSet& modes, const std::string& title,
                 const std::filesystem::path& path, bool overwrite) {
  ModeSheet sheet(domain);
  sheet.add(modes);
  ModeSheetOptions how;
  how.overwrite = overwrite;
  how.title = title;
  const int shown = sheet.count(), all = modes.count();
  how.subtitle = (shown == all ? std::to_string(all) + (all == 1 ? " natural mode" : " natural modes")
                               : "the first " + std::to_string(shown) + " of " + std::to_string(all) + " modes") +
                 " · " + std::to_string(domain.node_count()) + " nodes · shapes have no size: each is drawn with the " +
                 "same largest displacement";
  if (lies_in_a_plane(domain)) {
    how.view = {0, 0, 1};
    how.up = {0, 1, 0};
    how.shadow = false;
  }
  sheet.write(path, how);
}

}  // namespace

std::vector<std::filesystem::path> write_mode_pictures(const Domain& domain, const ModeSet& modes,
                                                       const std::string& title, const ModeFileNames& files) {
  std::vector<std::filesystem::path> written;
  if (modes.count() == 0) return written;
  constexpr std::size_t longest_title = 60;
  const std::string head = title.empty() || title.size() > longest_title ? files.name : title;
  if (is_visible(domain)) {
    written.push_back(files.folder / (files.name + "_modes.png"));
    write_sheet(domain, modes, head, written.back(), files.overwrite);
  }
  written.push_back(files.folder / (files.name + "_modes.svg"));
  OutputFile plot(written.back(), files.overwrite);
  plot.write(effective_mass_plot(head, modes).svg());
  plot.commit();
  return written;
}

std::string mode_animation_name(const std::string& name, int mode) {
  char number[48];
  std::snprintf(number, sizeof number, "_mode_%03d_animation", mode);
  return name + number;
}

std::vector<std::filesystem::path> write_mode_animations(const Domain& domain, const ModeSet& modes, int mode,
                                                         int frames, const ModeFileNames& files) {
  if (mode > modes.count())
    throw Error(ErrorCode::bad_input,
                "there is no mode " + std::to_string(mode) + " to animate; there are " + std::to_string(modes.count()));
  std::vector<std::filesystem::path> written;
  VtuMesh mesh;
  const int first = mode > 0 ? mode : 1, last = mode > 0 ? mode : modes.count();
  for (int m = first; m <= last; ++m) {
    ModeAnimationOptions how;
    how.overwrite = files.overwrite;
    how.frames = frames;
    how.comment = "mode " + std::to_string(m) + ", " + short_number(modes.frequency(m - 1), 9) +
                  " Hz; time is the fraction of its period";
    written.push_back(write_mode_animation(domain, modes.shapes[static_cast<std::size_t>(m) - 1], files.folder,
                                           mode_animation_name(files.name, m), mesh, how));
  }
  return written;
}

}  // namespace voussoir
