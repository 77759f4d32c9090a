#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include <voussoir/framework/io/picture/detail/image.hpp>

// A font of strokes: every letter is a few lines and arcs, drawn with a round pen.

namespace voussoir::picture {
namespace {

/// Capitals are 7 units high, small letters 5. "L" is a line through points, "A" an arc: its middle, both radii, and
/// the angles in degrees where it begins and ends.
struct Letter {
  const char* sign;
  double width;
  const char* strokes;
};

constexpr Letter letters[] = {
    {" ", 1.6, ""},
    {"A", 5.6, "L 0 0 2.8 7 5.6 0 L 1 2.4 4.6 2.4"},
    {"B", 4.8, "L 2.8 0 0 0 0 7 2.6 7 A 2.6 5.3 1.8 1.7 90 -90 L 0 3.6 2.8 3.6 A 2.8 1.8 2 1.8 90 -90"},
    {"C", 5.6, "A 3.2 3.5 3.2 3.5 50 310"},
    {"D", 5.4, "L 2.2 0 0 0 0 7 2.2 7 A 2.2 3.5 3.2 3.5 90 -90"},
    {"E", 4.4, "L 4.4 7 0 7 0 0 4.4 0 L 0 3.6 3.8 3.6"},
    {"F", 4.2, "L 4.2 7 0 7 0 0 L 0 3.6 3.6 3.6"},
    {"G", 6.2, "A 3.2 3.5 3.2 3.5 50 350 L 6.35 3.1 3.6 3.1"},
    {"H", 5.2, "L 0 0 0 7 L 5.2 0 5.2 7 L 0 3.6 5.2 3.6"},
    {"I", 0.2, "L 0 0 0 7"},
    {"J", 3.2, "L 3.2 7 3.2 2 A 1.6 2 1.6 2 0 -180"},
    {"K", 5.0, "L 0 0 0 7 L 4.8 7 0 2.7 L 1.6 4.2 5 0"},
    {"L", 4.0, "L 0 7 0 0 4 0"},
    {"M", 6.4, "L 0 0 0 7 3.2 2 6.4 7 6.4 0"},
    {"N", 5.2, "L 0 0 0 7 5.2 0 5.2 7"},
    {"O", 6.6, "A 3.3 3.5 3.3 3.5 0 360"},
    {"P", 4.6, "L 0 0 0 7 2.6 7 A 2.6 5.1 2 1.9 90 -90 L 2.6 3.2 0 3.2"},
    {"Q", 6.6, "A 3.3 3.5 3.3 3.5 0 360 L 4.2 1.8 6.4 -0.6"},
    {"R", 4.8, "L 0 0 0 7 2.6 7 A 2.6 5.1 2 1.9 90 -90 L 2.6 3.2 0 3.2 L 2.4 3.2 4.8 0"},
    {"S", 4.6, "A 2.4 5.2 2 1.8 35 270 A 2.4 1.7 2.2 1.7 90 -145"},
    {"T", 5.0, "L 0 7 5 7 L 2.5 7 2.5 0"},
    {"U", 5.0, "L 0 7 0 2.4 A 2.5 2.4 2.5 2.4 180 360 L 5 2.4 5 7"},
    {"V", 5.4, "L 0 7 2.7 0 5.4 7"},
    {"W", 7.6, "L 0 7 1.9 0 3.8 6 5.7 0 7.6 7"},
    {"X", 5.0, "L 0 0 5 7 L 0 7 5 0"},
    {"Y", 5.2, "L 0 7 2.6 3.4 5.2 7 L 2.6 3.4 2.6 0"},
    {"Z", 4.8, "L 0 7 4.8 7 0 0 4.8 0"},
    {"a", 4.4, "A 2.2 2.5 2.2 2.5 0 360 L 4.4 5 4.4 0"},
    {"b", 4.4, "L 0 7.4 0 0 A 2.2 2.5 2.2 2.5 0 360"},
    {"c", 3.8, "A 2.2 2.5 2.2 2.5 50 310"},
    {"d", 4.4, "L 4.4 7.4 4.4 0 A 2.2 2.5 2.2 2.5 0 360"},
    {"e", 4.4, "L 0.05 2.6 4.4 2.6 A 2.2 2.5 2.2 2.5 3 315"},
    {"f", 2.6, "A 2.5 5.9 1.4 1.5 80 180 L 1.1 5.9 1.1 0 L 0 4.9 2.5 4.9"},
    {"g", 4.4, "A 2.2 2.5 2.2 2.5 0 360 L 4.4 5 4.4 -0.2 A 2.3 -0.2 2.1 1.9 0 -145"},
    {"h", 4.0, "L 0 7.4 0 0 A 2 2.9 2 2.1 180 0 L 4 2.9 4 0"},
    {"i", 0.2, "L 0 5 0 0 L 0 6.95 0 7.05"},
    {"j", 1.2, "L 1 5 1 -0.8 A -0.3 -0.8 1.3 1.3 0 -80 L 1 6.95 1 7.05"},
    {"k", 3.9, "L 0 7.4 0 0 L 3.6 5 0 1.9 L 1.3 3 3.9 0"},
    {"l", 0.2, "L 0 7.4 0 0"},
    {"m", 6.4, "L 0 5 0 0 A 1.6 3.2 1.6 1.8 180 0 L 3.2 3.2 3.2 0 A 4.8 3.2 1.6 1.8 180 0 L 6.4 3.2 6.4 0"},
    {"n", 4.0, "L 0 5 0 0 A 2 2.9 2 2.1 180 0 L 4 2.9 4 0"},
    {"o", 4.4, "A 2.2 2.5 2.2 2.5 0 360"},
    {"p", 4.4, "L 0 5 0 -2.2 A 2.2 2.5 2.2 2.5 0 360"},
    {"q", 4.4, "L 4.4 5 4.4 -2.2 A 2.2 2.5 2.2 2.5 0 360"},
    {"r", 2.3, "L 0 5 0 0 A 1.9 3 1.9 2 180 78"},
    {"s", 3.6, "A 1.9 3.75 1.6 1.25 35 270 A 1.9 1.25 1.8 1.25 90 -145"},
    {"t", 2.5, "L 1 6.7 1 1.4 A 2.3 1.4 1.3 1.4 180 275 L 0 4.9 2.5 4.9"},
    {"u", 4.0, "L 0 5 0 2.1 A 2 2.1 2 2.1 180 360 L 4 5 4 0"},
    {"v", 4.0, "L 0 5 2 0 4 5"},
    {"w", 6.0, "L 0 5 1.5 0 3 4.4 4.5 0 6 5"},
    {"x", 3.8, "L 0 0 3.8 5 L 0 5 3.8 0"},
    {"y", 4.2, "L 0 5 2.1 0.1 L 4.2 5 1.5 -1.7 0.6 -2.2"},
    {"z", 3.6, "L 0 5 3.6 5 0 0 3.6 0"},
    {"0", 4.4, "A 2.2 3.5 2.2 3.5 0 360"},
    {"1", 4.4, "L 0.8 5.6 2.6 7 2.6 0"},
    {"2", 4.4, "A 2.2 5 2.1 2 165 -30 L 4.02 4 0.1 0 4.4 0"},
    {"3", 4.4, "A 2.1 5.3 1.9 1.7 150 -90 A 2.1 1.8 2.2 1.8 90 -150"},
    {"4", 4.4, "L 3.4 0 3.4 7 0 2 4.6 2"},
    {"5", 4.4, "L 4 7 0.8 7 0.5 3.7 A 2.1 2.2 2.2 2.2 137 -150"},
    {"6", 4.4, "A 2.2 2.2 2.2 2.2 0 360 A 4.4 2.2 4.4 4.8 180 105"},
    {"7", 4.4, "L 0 7 4.4 7 1.6 0"},
    {"8", 4.4, "A 2.2 5.3 1.8 1.7 0 360 A 2.2 1.8 2.2 1.8 0 360"},
    {"9", 4.4, "A 2.2 4.8 2.2 2.2 0 360 A 0 4.8 4.4 4.8 0 -75"},
    {".", 0.4, "L 0.2 0.05 0.2 0.15"},
    {",", 0.8, "L 0.5 0.3 0.1 -1.1"},
    {":", 0.4, "L 0.2 0.1 0.2 0.2 L 0.2 3.8 0.2 3.9"},
    {";", 0.8, "L 0.5 0.3 0.1 -1.1 L 0.5 3.8 0.5 3.9"},
    {"!", 0.4, "L 0.2 0.05 0.2 0.15 L 0.2 2 0.2 7"},
    {"?", 3.6, "L 1.7 0.05 1.7 0.15 A 1.8 5.3 1.8 1.7 160 -50 L 2.95 4 1.7 2.9 1.7 2"},
    {"-", 2.4, "L 0 2.7 2.4 2.7"},
    {"\xe2\x88\x92", 3.8, "L 0 2.7 3.8 2.7"},  // minus
    {"\xe2\x80\x93", 3.4, "L 0 2.7 3.4 2.7"},  // en dash
    {"+", 3.8, "L 0 2.7 3.8 2.7 L 1.9 0.8 1.9 4.6"},
    {"=", 3.8, "L 0 1.9 3.8 1.9 L 0 3.7 3.8 3.7"},
    {"<", 3.6, "L 3.6 4.8 0 2.7 3.6 0.6"},
    {">", 3.6, "L 0 4.8 3.6 2.7 0 0.6"},
    {"(", 1.6, "A 3.4 2.7 3.4 5.6 125 235"},
    {")", 1.6, "A -1.8 2.7 3.4 5.6 55 -55"},
    {"[", 1.4, "L 1.4 7.6 0 7.6 0 -1.4 1.4 -1.4"},
    {"]", 1.4, "L 0 7.6 1.4 7.6 1.4 -1.4 0 -1.4"},
    {"/", 2.8, "L 0 -1 2.8 7.6"},
    {"%", 6.0, "A 1.3 5.6 1.3 1.4 0 360 A 4.7 1.4 1.3 1.4 0 360 L 1 0 5 7"},
    {"_", 4.0, "L 0 -1.2 4 -1.2"},
    {"'", 0.4, "L 0.2 7.2 0.2 5.4"},
    {"\"", 1.6, "L 0.2 7.2 0.2 5.4 L 1.4 7.2 1.4 5.4"},
    {"*", 2.8, "L 1.4 6.8 1.4 4 L 0.2 6.1 2.6 4.7 L 2.6 6.1 0.2 4.7"},
    {"\xc3\x97", 3.2, "L 0 1.1 3.2 4.3 L 0 4.3 3.2 1.1"},                     // times
    {"\xc2\xb7", 0.4, "L 0.2 2.65 0.2 2.75"},                                 // middle dot
    {"\xc2\xb0", 1.8, "A 0.9 6.3 0.9 0.9 0 360"},                             // degree
    {"\xc2\xb2", 2.0, "A 1 6.3 0.9 0.8 160 -30 L 1.8 5.9 0.1 4.2 2 4.2"},     // squared
    {"\xc2\xb3", 2.0, "A 1 6.3 0.8 0.7 150 -90 A 1 4.9 0.9 0.7 90 -150"},     // cubed
    {"\xc2\xb5", 4.2, "L 0 5 0 -2 L 0 2.1 A 2 2.1 2 2.1 180 360 L 4 5 4 0"},  // micro
    {"\xe2\x89\xa5", 3.6, "L 0 5.6 3.6 3.8 0 2 L 0 0.6 3.6 0.6"},             // greater or equal
    {"\xe2\x89\xa4", 3.6, "L 3.6 5.6 0 3.8 3.6 2 L 0 0.6 3.6 0.6"},           // less or equal
    {"|", 0.2, "L 0 -1.4 0 7.6"},
    {"&", 5.2, "L 5.2 0 1.2 5.2 A 2.4 5.6 1.3 1.4 200 -20 L 3.7 5.1 0.6 2.6 A 2.2 1.6 2.1 1.6 140 300 L 3.2 0.2 5 3"},
    {"~", 4.0, "A 1 2.6 1 0.8 180 0 A 3 2.6 1 0.8 180 360"},
    {"#", 4.8, "L 1 0 2 7 L 3 0 4 7 L 0.2 2.3 4.4 2.3 L 0.6 4.8 4.8 4.8"},
    {"\xc3\x9f", 4.0, "L 0 0 0 5.4 A 1.7 5.4 1.7 1.6 180 -40 L 3 4.4 2 3.9 A 2 2 1.9 1.9 90 -120"},  // sharp s
    {"\xce\x94", 5.6, "L 0 0 2.8 7 5.6 0 0 0"},                                                      // Delta
    {"\xce\xbb", 4.2, "L 0.3 7 1.2 7 4.2 0 L 2.4 4.2 0 0"},                                          // lambda
    {"\xcf\x80", 5.0, "L 0 5 5 5 L 1.3 5 1 0 L 3.7 5 4 0"},                                          // pi
    {"\xcf\x81", 4.2, "L 0 -2 0 2.5 A 2 2.5 2 2.5 180 -180"},                                        // rho
};
constexpr Letter unknown_letter = {"", 4.4, "L 0 0 0 7 4.4 7 4.4 0 0 0"};
constexpr double gap = 1.75;

/// A letter with an accent, made of both.
struct AccentedLetter {
  std::string sign, strokes;
  double width;
};

/// Marks above (or, for the cedilla, below) letters of height 0, centred at x = 0.
constexpr Letter accents[] = {
    {"grave", 0, "L -0.8 1.9 0.5 0.8"},           {"acute", 0, "L 0.8 1.9 -0.5 0.8"},
    {"circumflex", 0, "L -1 0.8 0 1.9 1 0.8"},    {"tilde", 0, "L -1.3 0.9 -0.5 1.6 0.5 1.0 1.3 1.7"},
    {"dots", 0, "L -1 1.3 -1 1.4 L 1 1.3 1 1.4"}, {"ring", 0, "L 0 2 0.6 1.4 0 0.8 -0.6 1.4 0 2"},
    {"cedilla", 0, "L 0.1 0 0.5 -0.9 -0.4 -1.8"}};

/// Letters of Latin-1 with accents: U+00C0 … U+00FF, two bytes in UTF-8. A row has letters and the number of an accent.
struct AccentedRow {
  const char* plain;       ///< base letters
  unsigned char first[6];  ///< second bytes of their signs, after 0xc3
  int accent;
};
constexpr AccentedRow accented_rows[] = {{"AEIOU", {0x80, 0x88, 0x8c, 0x92, 0x99}, 0},
                                         {"aeiou", {0xa0, 0xa8, 0xac, 0xb2, 0xb9}, 0},
                                         {"AEIOUY", {0x81, 0x89, 0x8d, 0x93, 0x9a, 0x9d}, 1},
                                         {"aeiouy", {0xa1, 0xa9, 0xad, 0xb3, 0xba, 0xbd}, 1},
                                         {"AEIOU", {0x82, 0x8a, 0x8e, 0x94, 0x9b}, 2},
                                         {"aeiou", {0xa2, 0xaa, 0xae, 0xb4, 0xbb}, 2},
                                         {"ANO", {0x83, 0x91, 0x95}, 3},
                                         {"ano", {0xa3, 0xb1, 0xb5}, 3},
                                         {"AEIOU", {0x84, 0x8b, 0x8f, 0x96, 0x9c}, 4},
                                         {"aeiouy", {0xa4, 0xab, 0xaf, 0xb6, 0xbc, 0xbf}, 4},
                                         {"A", {0x85}, 5},
                                         {"a", {0xa5}, 5},
                                         {"C", {0x87}, 6},
                                         {"c", {0xa7}, 6}};

const Letter* plain_letter(std::string_view sign) {
  for (const Letter& letter : letters)
    if (sign == letter.sign) return &letter;
  return nullptr;
}

/// Strokes of an accent, moved above the middle of a letter.
std::string moved_strokes(const char* strokes, double x, double y) {
  std::string text;
  std::string_view rest = strokes;
  bool across = true;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word == "L") {
      text += "L ";
      across = true;
      continue;
    }
    double value = 0;
    std::from_chars(word.data(), word.data() + word.size(), value);
    char digits[32];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value + (across ? x : y));
    text += std::string(digits, end) + " ";
    across = !across;
  }
  return text;
}

const std::vector<std::pair<AccentedLetter, Letter>>& accented_letters() {
  static const auto all = [] {
    std::vector<AccentedLetter> made;
    for (const AccentedRow& row : accented_rows)
      for (std::size_t i = 0; row.plain[i] != 0; ++i) {
        const Letter* base = plain_letter(std::string_view(row.plain + i, 1));
        if (!base) continue;
        const bool capital = row.plain[i] < 'a';
        const double above = row.accent == 6 ? 0 : capital ? 7 : 5;
        AccentedLetter letter;
        letter.sign = {static_cast<char>(0xc3), static_cast<char>(row.first[i])};
        letter.width = base->width;
        // The dot of an i gives way to the accent.
        letter.strokes = row.plain[i] == 'i' ? "L 0.2 0 0.2 5 " : std::string(base->strokes) + " ";
        letter.strokes +=
            moved_strokes(accents[row.accent].strokes, row.plain[i] == 'i' ? 0.2 : 0.5 * base->width, above);
        made.push_back(std::move(letter));
      }
    std::vector<std::pair<AccentedLetter, Letter>> kept;
    kept.reserve(made.size());
    for (AccentedLetter& letter : made) kept.emplace_back(std::move(letter), Letter{});
    for (auto& [own, view] : kept) view = {own.sign.c_str(), own.width, own.strokes.c_str()};
    return kept;
  }();
  return all;
}

/// The letter at the front of a text, which is taken off.
const Letter& next_letter(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  const std::string_view sign = text.substr(0, std::min(bytes, text.size()));
  text.remove_prefix(sign.size());
  if (const Letter* letter = plain_letter(sign)) return *letter;
  for (const auto& [own, letter] : accented_letters())
    if (sign == own.sign) return letter;
  return unknown_letter;
}

using Stroke = std::vector<std::array<double, 2>>;

std::vector<Stroke> strokes_of(const Letter& letter) {
  std::vector<Stroke> strokes;
  std::string_view text = letter.strokes;
  const auto number = [&] {
    double value = 0;
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
  };
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return strokes;
    const char kind = text[0];
    text.remove_prefix(1);
    Stroke stroke;
    if (kind == 'A') {
      const double x = number(), y = number(), rx = number(), ry = number(), from = number(), to = number();
      constexpr int pieces = 28;
      for (int i = 0; i <= pieces; ++i) {
        const double angle = (from + (to - from) * i / pieces) * std::numbers::pi / 180;
        stroke.push_back({x + rx * std::cos(angle), y + ry * std::sin(angle)});
      }
    } else {
      while (!text.empty() && text.find_first_not_of(' ') != std::string_view::npos &&
             text[text.find_first_not_of(' ')] != 'L' && text[text.find_first_not_of(' ')] != 'A') {
        const double x = number();
        stroke.push_back({x, number()});
      }
    }
    strokes.push_back(std::move(stroke));
  }
}

/// How much of the pixels round a stroke the pen hides; joined by the maximum, so that strokes that cross do not
/// darken.
class Pen {
 public:
  Pen(Image& image, double x0, double y0, double x1, double y1, double width) : image_(image), radius_(width / 2) {
    left_ = static_cast<int>(std::floor(std::min(x0, x1) - radius_ - 1));
    top_ = static_cast<int>(std::floor(std::min(y0, y1) - radius_ - 1));
    columns_ = static_cast<int>(std::ceil(std::max(x0, x1) + radius_ + 1)) - left_ + 1;
    rows_ = static_cast<int>(std::ceil(std::max(y0, y1) + radius_ + 1)) - top_ + 1;
    cover_.assign(static_cast<std::size_t>(columns_) * rows_, 0);
  }
  void line(double x0, double y0, double x1, double y1) {
    const double dx = x1 - x0, dy = y1 - y0, square = dx * dx + dy * dy;
    const int from_x = std::max(left_, static_cast<int>(std::floor(std::min(x0, x1) - radius_ - 1)));
    const int to_x = std::min(left_ + columns_ - 1, static_cast<int>(std::ceil(std::max(x0, x1) + radius_ + 1)));
    const int from_y = std::max(top_, static_cast<int>(std::floor(std::min(y0, y1) - radius_ - 1)));
    const int to_y = std::min(top_ + rows_ - 1, static_cast<int>(std::ceil(std::max(y0, y1) + radius_ + 1)));
    for (int y = from_y; y <= to_y; ++y)
      for (int x = from_x; x <= to_x; ++x) {
        const double px = x + 0.5 - x0, py = y + 0.5 - y0;
        const double t = square > 0 ? std::clamp((px * dx + py * dy) / square, 0.0, 1.0) : 0;
        const double distance = std::hypot(px - t * dx, py - t * dy);
        float& cover = cover_[static_cast<std::size_t>(y - top_) * columns_ + (x - left_)];
        cover = std::max(cover, static_cast<float>(std::clamp(radius_ - distance + 0.5, 0.0, 1.0)));
      }
  }
  void ink(const Colour& colour) {
    for (int y = 0; y < rows_; ++y)
      for (int x = 0; x < columns_; ++x)
        if (const float cover = cover_[static_cast<std::size_t>(y) * columns_ + x]; cover > 0)
          image_.blend(left_ + x, top_ + y, colour, cover);
  }

 private:
  Image& image_;
  double radius_;
  int left_, top_, columns_, rows_;
  std::vector<float> cover_;
};

}  // namespace

double text_width(std::string_view text, double size) {
  double width = 0;
  while (!text.empty()) width += next_letter(text).width + gap;
  return std::max(0.0, width - gap) * size / 7;
}

void draw_text(Image& image, std::string_view text, double x, double y, double size, const Colour& colour,
               double weight) {
  const double unit = size / 7;
  while (!text.empty()) {
    const Letter& letter = next_letter(text);
    Pen pen(image, x - 2 * unit, y - 8 * unit, x + (letter.width + 2) * unit, y + 3 * unit, size * weight);
    for (const Stroke& stroke : strokes_of(letter))
      for (std::size_t i = 0; i + 1 < stroke.size(); ++i)
        pen.line(x + stroke[i][0] * unit, y - stroke[i][1] * unit, x + stroke[i + 1][0] * unit,
                 y - stroke[i + 1][1] * unit);
    pen.ink(colour);
    x += (letter.width + gap) * unit;
  }
}

void draw_line(Image& image, double x0, double y0, double x1, double y1, double width, const Colour& colour) {
  Pen pen(image, x0, y0, x1, y1, width);
  pen.line(x0, y0, x1, y1);
  pen.ink(colour);
}

}  // namespace voussoir::picture
