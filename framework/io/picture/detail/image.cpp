#include <voussoir/framework/io/picture/detail/image.hpp>

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <voussoir/backends/error.hpp>

namespace voussoir::picture {

namespace {

Colour compute_colour(double t) {
  // Lightness rises evenly; the hue turns from blue-violet to yellow.
  const double lightness = 0.47 + 0.46 * t, hue = (277 - 172 * t) * std::numbers::pi / 180;
  const double chroma = 0.12 + 0.05 * t;
  const double a = chroma * std::cos(hue), b = chroma * std::sin(hue);
  // Oklab to linear light (B. Ottosson, "A perceptual color space for image processing", 2020).
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  const double linear[3] = {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                            -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
  Colour result;
  for (int k = 0; k < 3; ++k) {
    const double c = std::clamp(linear[k], 0.0, 1.0);
    result[k] = static_cast<float>(c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055);
  }
  return result;
}

}  // namespace

Colour scale_colour(double value) {
  constexpr int steps = 1024;
  static const std::vector<Colour> table = [] {
    std::vector<Colour> colours;
    for (int i = 0; i <= steps; ++i) colours.push_back(compute_colour(static_cast<double>(i) / steps));
    return colours;
  }();
  return table[static_cast<std::size_t>(std::lround(steps * std::clamp(value, 0.0, 1.0)))];
}

void Image::blend(int x, int y, const Colour& colour, float cover) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
  Colour& pixel = at(x, y);
  for (int k = 0; k < 3; ++k) pixel[k] += cover * (colour[k] - pixel[k]);
}

void Image::rectangle(int x0, int y0, int x1, int y1, const Colour& colour) {
  for (int y = y0; y < y1; ++y)
    for (int x = x0; x < x1; ++x) blend(x, y, colour, 1);
}

namespace {

/// At most 256 colours that stand for all pixels, and for each pixel which one: a quarter of the file's size, and
/// hardly to be seen. Median cut: the fullest and widest box of colours is halved, again and again.
struct Palette {
  std::string colours;  // three bytes each
  std::vector<unsigned char> index;
};

using Bytes3 = std::array<unsigned char, 3>;

/// Colours that agree in five bits are kept together.
struct Bin {
  std::array<int, 3> place;
  std::int64_t count = 0;
  std::array<std::int64_t, 3> sum{};
};
constexpr std::size_t bin_count = 1 << 15;

int bin_of(const Bytes3& c) { return c[0] >> 3 << 10 | c[1] >> 3 << 5 | c[2] >> 3; }

std::vector<Bin> fill_bins(const std::vector<Bytes3>& pixels) {
  std::vector<Bin> all(bin_count);
  for (const auto& pixel : pixels) {
    Bin& bin = all[bin_of(pixel)];
    ++bin.count;
    for (int k = 0; k < 3; ++k) bin.sum[k] += pixel[k], bin.place[k] = pixel[k] >> 3;
  }
  std::vector<Bin> bins;
  for (const Bin& bin : all)
    if (bin.count > 0) bins.push_back(bin);
  return bins;
}

/// Neighbouring bins, how far they reach along their longest axis, and how much they need a colour more.
struct Box {
  std::size_t first, last;
  int axis = 0, range = 0;
  double weight = 0;
};

Box measure(const std::vector<Bin>& bins, Box box) {
  std::int64_t count = 0;
  std::array<int, 3> low{99, 99, 99}, high{-1, -1, -1};
  for (std::size_t i = box.first; i < box.last; ++i) {
    count += bins[i].count;
    for (int k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], bins[i].place[k]);
      high[k] = std::max(high[k], bins[i].place[k]);
    }
  }
  box.axis = box.range = 0;
  for (int k = 0; k < 3; ++k)
    if (high[k] - low[k] > box.range) box.axis = k, box.range = high[k] - low[k];
  // The root, since a large plain background needs few colours.
  box.weight = box.range * std::sqrt(static_cast<double>(count));
  return box;
}

/// Sorts the bins so that those of each box stand together.
std::vector<Box> cut_boxes(std::vector<Bin>& bins) {
  std::vector<Box> boxes{measure(bins, {0, bins.size()})};
  while (boxes.size() < 256) {
    const auto box =
        std::max_element(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.weight < b.weight; });
    if (box->range == 0) break;
    const int axis = box->axis;
    std::sort(bins.begin() + static_cast<std::ptrdiff_t>(box->first),
              bins.begin() + static_cast<std::ptrdiff_t>(box->last), [&](const Bin& a, const Bin& b) {
                return a.place[axis] != b.place[axis] ? a.place[axis] < b.place[axis] : a.place < b.place;
              });
    double half = 0, total = 0;
    for (std::size_t i = box->first; i < box->last; ++i) total += std::sqrt(static_cast<double>(bins[i].count));
    std::size_t middle = box->first;
    while (middle + 1 < box->last && half < total / 2) half += std::sqrt(static_cast<double>(bins[middle++].count));
    const Box upper = measure(bins, {std::max(middle, box->first + 1), box->last});
    *box = measure(bins, {box->first, std::max(middle, box->first + 1)});
    boxes.push_back(upper);
  }
  return boxes;
}

std::array<int, 3> mean_colour(const std::vector<Bin>& bins, const Box& box) {
  std::int64_t count = 0;
  std::array<std::int64_t, 3> sum{};
  for (std::size_t i = box.first; i < box.last; ++i) {
    count += bins[i].count;
    for (int k = 0; k < 3; ++k) sum[k] += bins[i].sum[k];
  }
  std::array<int, 3> mean{};
  for (int k = 0; k < 3; ++k) mean[k] = static_cast<int>((sum[k] + count / 2) / count);
  return mean;
}

/// The entry that is nearest to the middle of a colour's bin.
int nearest_entry(const std::vector<std::array<int, 3>>& entries, const Bytes3& wanted) {
  int nearest = 1 << 30, entry = -1;
  for (std::size_t e = 0; e < entries.size(); ++e) {
    int distance = 0;
    for (int k = 0; k < 3; ++k) {
      const int d = entries[e][k] - ((wanted[k] & 0xf8) + 4);
      distance += d * d;
    }
    if (distance < nearest) nearest = distance, entry = static_cast<int>(e);
  }
  return entry;
}

Palette make_palette(const std::vector<Bytes3>& pixels, int width) {
  std::vector<Bin> bins = fill_bins(pixels);
  Palette palette;
  std::vector<std::array<int, 3>> entries;
  for (const Box& box : cut_boxes(bins)) {
    entries.push_back(mean_colour(bins, box));
    for (const int value : entries.back()) palette.colours += static_cast<char>(value);
  }
  // A pattern too fine to be seen makes up for the colours between.
  constexpr int pattern[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
  std::vector<int> entry_of(bin_count, -1);
  palette.index.reserve(pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const int shift = pattern[i / width % 4][i % width % 4] / 2 - 4;
    Bytes3 wanted{};
    for (int k = 0; k < 3; ++k) wanted[k] = static_cast<unsigned char>(std::clamp(pixels[i][k] + shift, 0, 255));
    int& entry = entry_of[bin_of(wanted)];
    if (entry < 0) entry = nearest_entry(entries, wanted);
    palette.index.push_back(static_cast<unsigned char>(entry));
  }
  return palette;
}

}  // namespace

std::string Image::png() const {
  const auto number = [](std::string& out, std::uint32_t n) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(n >> shift & 255);
  };
  std::vector<std::array<unsigned char, 3>> pixels(pixels_.size());
  for (std::size_t i = 0; i < pixels.size(); ++i)
    for (int k = 0; k < 3; ++k)
      pixels[i][k] = static_cast<unsigned char>(std::lround(255 * std::clamp(pixels_[i][k], 0.0F, 1.0F)));
  const Palette palette = make_palette(pixels, width_);
  std::vector<unsigned char> rows;
  rows.reserve((static_cast<std::size_t>(width_) + 1) * height_);
  for (int y = 0; y < height_; ++y) {
    rows.push_back(0);  // the row as it is
    const auto first = palette.index.begin() + static_cast<std::ptrdiff_t>(y) * width_;
    rows.insert(rows.end(), first, first + width_);
  }
  uLongf size = compressBound(rows.size());
  std::vector<unsigned char> packed(size);
  if (compress2(packed.data(), &size, rows.data(), rows.size(), 9) != Z_OK)
    throw Error(ErrorCode::out_of_memory, "out of memory while compressing the picture");

  std::string file = "\x89PNG\r\n\x1a\n";
  const auto chunk = [&](const char* type, const std::string& data) {
    number(file, static_cast<std::uint32_t>(data.size()));
    const std::string body = type + data;
    file += body;
    number(file, static_cast<std::uint32_t>(
                     crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()))));
  };
  std::string head;
  number(head, static_cast<std::uint32_t>(width_));
  number(head, static_cast<std::uint32_t>(height_));
  head += std::string("\x08\x03\x00\x00\x00", 5);  // 8 bits, a palette, the usual methods, not interlaced
  chunk("IHDR", head);
  chunk("PLTE", palette.colours);
  chunk("IDAT", std::string(reinterpret_cast<const char*>(packed.data()), size));
  chunk("IEND", "");
  return file;
}

}  // namespace voussoir::picture
