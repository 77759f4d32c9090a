#include <voussoir/framework/io/picture/mode_sheet.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/detail/for_each_index.hpp>
#include <voussoir/framework/detail/nan.hpp>
#include <voussoir/framework/io/detail/shape_size.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/picture/detail/legend.hpp>
#include <voussoir/framework/io/picture/detail/scene.hpp>

namespace voussoir {
namespace {

using namespace picture;

Painting paint(const Surface& surface, const std::vector<double>& values) {
  Painting painting{std::vector<double>(4 * surface.polygons.size(), detail::nan),
                    std::vector<double>(2 * surface.bars.size(), detail::nan)};
  for (std::size_t p = 0; p < surface.polygons.size(); ++p)
    for (int i = 0; i < surface.polygons[p].corners; ++i)
      painting.polygons[4 * p + static_cast<std::size_t>(i)] =
          values[static_cast<std::size_t>(surface.polygons[p].nodes[static_cast<std::size_t>(i)])];
  for (std::size_t p = 0; p < surface.bars.size(); ++p) {
    painting.bars[2 * p] = values[static_cast<std::size_t>(surface.bars[p].a)];
    painting.bars[2 * p + 1] = values[static_cast<std::size_t>(surface.bars[p].b)];
  }
  return painting;
}

/// Where things are on the sheet, in pixels.
struct SheetGrid {
  int columns, rows, cell_width, cell_height, head, foot;
  double size;  // of text and lines
  static constexpr int margin = 24;

  SheetGrid(int count, double aspect, const ModeSheetOptions& options) : cell_width(options.cell_width) {
    columns = count <= 3 ? count : count == 4 ? 2 : count <= 6 || count == 9 ? 3 : 4;
    rows = (count + columns - 1) / columns;
    size = cell_width / 440.0;
    label = static_cast<int>(58 * size);
    cell_height = label + static_cast<int>(cell_width * std::clamp(aspect, 0.35, 1.3));
    const bool words = !options.title.empty() || !options.subtitle.empty();
    head = static_cast<int>((words ? 104 : 24) * size);
    foot = static_cast<int>(62 * size);
  }
  int label;  // height of the two lines above each picture
  int width() const { return 2 * margin + columns * cell_width; }
  int height() const { return head + rows * cell_height + foot; }
  int left(int i) const { return margin + i % columns * cell_width; }
  int top(int i) const { return head + i / columns * cell_height; }
};

void draw_centred(Image& image, const std::string& text, double middle, double baseline, double letters,
                  const Colour& colour, double weight) {
  draw_text(image, text, middle - 0.5 * text_width(text, letters), baseline, letters, colour, weight);
}

/// What the colours mean, below all pictures.
void draw_scale(Image& image, const SheetGrid& layout) {
  const double size = layout.size, y = image.height() - 34 * size;
  const int length = static_cast<int>(220 * size), x0 = (image.width() - length) / 2;
  for (int x = 0; x < length; ++x)
    image.rectangle(x0 + x, static_cast<int>(y), x0 + x + 1, static_cast<int>(y + 12 * size),
                    scale_colour((x + 0.5) / length));
  const double letters = 11 * size, baseline = y + 11.5 * size, gap = 12 * size;
  const std::string left = "at rest", right = "largest displacement of the mode";
  draw_text(image, left, x0 - gap - text_width(left, letters), baseline, letters, soft_ink);
  draw_text(image, right, x0 + length + gap, baseline, letters, soft_ink);
}

/// Where the nodes are shown, and the lengths of their displacements as parts of the largest.
struct Shown {
  std::vector<double> position, lengths;
};

/// A shape, drawn with its largest displacement as long as `reach`.
Shown show(const Domain& domain, const NodalField& shape, double reach) {
  Shown shown{{}, detail::displacement_lengths(domain, shape)};
  const double largest = detail::largest_length(shown.lengths);
  if (largest > 0)
    for (double& length : shown.lengths) length /= largest;
  shown.position = moved(domain.coordinates(), shape, largest > 0 ? reach / largest : 0);
  return shown;
}

void paste(const Image& cell, int left, int top, Image& sheet) {
  for (int y = 0; y < cell.height(); ++y)
    for (int x = 0; x < cell.width(); ++x) sheet.at(left + x, top + y) = cell.at(x, y);
}

}  // namespace

ModeSheet& ModeSheet::add(const NodalField& shape, std::string label, std::string note) {
  const std::size_t width = shape.components.size();
  if (width == 0 || shape.values.size() != static_cast<std::size_t>(domain_->node_count()) * width)
    throw Error(ErrorCode::bad_input, "the shape does not fit the nodes of this domain", "sheet of modes");
  shapes_.push_back({&shape, std::move(label), std::move(note)});
  return *this;
}

ModeSheet& ModeSheet::add(const ModeSet& modes, int most) {
  for (int m = 0; m < std::min(modes.count(), most); ++m) {
    int along = 0;
    std::array<double, 3> part{};
    for (int d = 0; d < 3; ++d) {
      const double total = modes.total_mass[static_cast<std::size_t>(d)];
      part[static_cast<std::size_t>(d)] = total > 0 ? 100 * modes.effective_mass(m, d) / total : 0;
      if (part[static_cast<std::size_t>(d)] > part[static_cast<std::size_t>(along)]) along = d;
    }
    char note[64] = "";
    if (const double percent = part[static_cast<std::size_t>(along)]; percent >= 0.5)
      std::snprintf(note, sizeof note, "%.0f %% of the mass along %s", percent,
                    ModeSet::direction_names()[static_cast<std::size_t>(along)].c_str());
    add(modes.shapes[static_cast<std::size_t>(m)], mode_label(modes, m), note);
  }
  return *this;
}

void ModeSheet::write(const std::filesystem::path& path, const ModeSheetOptions& options) const {
  const std::string where = "sheet of modes '" + path.string() + "'";
  if (shapes_.empty()) throw Error(ErrorCode::bad_input, "there are no modes to draw", where);
  if (options.cell_width < 100 || options.cell_width > 2000)
    throw Error(ErrorCode::bad_input, "the picture of a mode is 100 to 2000 pixels wide", where);
  OutputFile file(path, options.overwrite);
  const auto x = domain_->coordinates();
  const double reach = options.amplitude * detail::diagonal_of(*domain_);

  // All shapes first, so that all of them fit into the frame that they have in common.
  Camera camera(options.view, options.up, where);
  const Surface at_rest = find_surface(*domain_, {x.begin(), x.end()});
  const std::vector<char> seen = seen_nodes(at_rest, domain_->node_count());
  if (std::find(seen.begin(), seen.end(), 1) == seen.end())
    throw Error(ErrorCode::bad_input, "the domain has no visible elements", where);
  std::vector<Shown> shown(shapes_.size());
  detail::for_each_index(shown.size(), true,
                         [&](std::size_t i) { shown[i] = show(*domain_, *shapes_[i].shape, reach); });
  for (std::size_t n = 0; n < seen.size(); ++n)
    if (seen[n]) {
      camera.include(&x[3 * n]);
      for (const Shown& each : shown) camera.include(&each.position[3 * n]);
    }

  const SheetGrid layout(count(), camera.aspect(), options);
  Image sheet(layout.width(), layout.height(), {1, 1, 1});
  const int cell_height = layout.cell_height - layout.label;
  const double inset = 22 * layout.size;
  camera.fit(inset, 0.3 * inset, layout.cell_width - inset, cell_height - 1.2 * inset);
  const ColourScale scale;  // 0 to 1
  // A cell is drawn by one thread, all cells at once: they are different places of the sheet.
  detail::for_each_index(shown.size(), true, [&](std::size_t i) {
    Surface surface{at_rest.polygons, {}, at_rest.bars, {}};
    find_edges_and_normals(surface, shown[i].position);
    Image cell(layout.cell_width, cell_height, {1, 1, 1});
    draw_scene({surface, paint(surface, shown[i].lengths), scale, camera, x, shown[i].position, 0.75 * layout.size},
               {true, options.outline, options.shadow, options.up}, cell);
    paste(cell, layout.left(static_cast<int>(i)), layout.top(static_cast<int>(i)) + layout.label, sheet);
  });
  for (int i = 0; i < count(); ++i) {
    const Entry& entry = shapes_[static_cast<std::size_t>(i)];
    const double middle = layout.left(i) + 0.5 * layout.cell_width, top = layout.top(i), size = layout.size;
    draw_centred(sheet, entry.label, middle, top + 24 * size, 15 * size, ink, 0.14);
    draw_centred(sheet, entry.note, middle, top + 46 * size, 10.5 * size, soft_ink, 0.12);
  }
  const double left = layout.margin + 22 * layout.size;
  draw_text(sheet, options.title, left, 52 * layout.size, 21 * layout.size, ink, 0.14);
  draw_text(sheet, options.subtitle, left, 82 * layout.size, 12 * layout.size, soft_ink, 0.12);
  draw_scale(sheet, layout);
  file.write(sheet.png());
  file.commit();
}

std::string mode_label(const ModeSet& modes, int mode) {
  const double frequency = modes.frequency(mode);
  const bool plain = frequency >= 0.001 && frequency < 1e7;
  const int before = plain ? static_cast<int>(std::floor(std::log10(frequency))) : 0;
  char text[64];
  if (plain)  // four digits, zeros at the end included
    std::snprintf(text, sizeof text, "%d · %.*f Hz", mode + 1, std::max(3 - before, 0), frequency);
  else
    std::snprintf(text, sizeof text, "%d · %.4g Hz", mode + 1, frequency);
  return text;
}

}  // namespace voussoir
