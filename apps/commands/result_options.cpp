#include <voussoir/apps/commands/result_options.hpp>

#include <cmath>
#include <cstdlib>

namespace voussoir::app {
namespace {

constexpr int most_points = 1000000;

std::vector<std::string> fields_of(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

/// A number that is all of a text; NaN where it is none.
double number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool whole = !text.empty() && end == text.c_str() + text.size() && text.find_first_not_of(' ') == 0;
  return whole && std::isfinite(value) ? value : std::nan("");
}

/// "A=1,2,3" → "A" and "1,2,3"; without a name, what `number` is.
std::pair<std::string, std::string> named(const std::string& text, const std::string& otherwise) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return {otherwise, text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

bool read_position(const std::string& text, std::array<double, 3>& position) {
  const auto parts = fields_of(text, ',');
  if (parts.size() != 2 && parts.size() != 3) return false;
  position = {0, 0, 0};
  for (std::size_t k = 0; k < parts.size(); ++k) position[k] = number(parts[k]);
  return !std::isnan(position[0]) && !std::isnan(position[1]) && !std::isnan(position[2]);
}

ProbePoint read_point(const std::string& text, std::size_t index) {
  ProbePoint point;
  const auto [name, place] = named(text, "P" + std::to_string(index + 1));
  point.name = name;
  point.where = "--point " + text;
  if (name.empty() || !read_position(place, point.position))
    throw CLI::ValidationError("--point", "'" + text + "' is not a point; write x,y,z or NAME=x,y,z");
  return point;
}

ProbePath read_path(const std::string& text, std::size_t index) {
  ProbePath path;
  const auto [name, places] = named(text, std::to_string(index + 1));
  path.name = name;
  path.where = "--path " + text;
  const auto parts = fields_of(places, ':');
  bool good = !name.empty() && (parts.size() == 2 || parts.size() == 3) && read_position(parts[0], path.from) &&
              read_position(parts[1], path.to);
  if (good && parts.size() == 3) {
    const double count = number(parts[2]);
    good = count >= 2 && count <= most_points && count == std::floor(count);
    if (good) path.points = static_cast<int>(count);
  }
  if (!good)
    throw CLI::ValidationError("--path",
                               "'" + text +
                                   "' is not a path; write x0,y0,z0:x1,y1,z1 or NAME=x0,y0,z0:x1,y1,z1:N with N "
                                   "points, 2 or more");
  return path;
}

}  // namespace

Pictures ResultOptions::pictures() const {
  if (picture.empty()) return picture_field.empty() ? Pictures::none : Pictures::worst;
  return picture == "each" ? Pictures::each : Pictures::worst;
}

std::vector<std::string> with_omitted_values(std::vector<std::string> words) {
  const auto is_number = [](const std::string& word) {
    return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
  };
  if (words.size() > 1 && words[1] == "partition") return words;  // its --picture names a file
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") break;
    const std::string next = i + 1 < words.size() ? words[i + 1] : "";
    if (words[i] == "--picture" && next != "worst" && next != "each") words[i] = "--picture=worst";
    if (words[i] == "--animate" && !is_number(next)) words[i] = "--animate=24";
  }
  return words;
}

void ResultOptions::apply(Job& job) const {
  const auto is_taken = [](const auto& list, const std::string& name) {
    for (const auto& other : list)
      if (other.name == name) return true;
    return false;
  };
  for (const std::string& text : points) {
    ProbePoint point = read_point(text, job.points.size());
    if (is_taken(job.points, point.name))
      throw Error(ErrorCode::bad_input, "there is a point '" + point.name + "' already; give each a unique name",
                  point.where);
    job.points.push_back(std::move(point));
  }
  for (const std::string& text : paths) {
    ProbePath path = read_path(text, job.paths.size());
    if (is_taken(job.paths, path.name))
      throw Error(ErrorCode::bad_input, "there is a path '" + path.name + "' already; give each a unique name",
                  path.where);
    job.paths.push_back(std::move(path));
  }
  if (!units.empty()) job.units = Units::parse(units, "--units");
}

void add_result_options(CLI::App& command, ResultOptions& options, const std::string& group) {
  command
      .add_option("--picture", options.picture,
                  "Draw the worst step (that of the largest stress) as NAME.png, or each step as NAME_step1.png …; "
                  "default: worst")
      ->type_name("worst|each")
      ->check(CLI::IsMember({"worst", "each"}).description(""))
      ->group(group);
  command
      .add_option("--picture-field", options.picture_field,
                  "Field shown in pictures: mises, principal1, sxx, displacement, ux, temperature, flux, "
                  "axial_stress, N, Mz, error … (default: by the type of step)")
      ->type_name("FIELD")
      ->group(group);
  const auto readable = [](auto read) {
    return [read](const std::string& text) {
      try {
        (void)read(text, 0);
        return std::string();
      } catch (const CLI::ValidationError& error) {
        return std::string(error.what());
      }
    };
  };
  command
      .add_option("--point", options.points,
                  "Results at a point, printed and in NAME_points.csv; may be given several times")
      ->type_name("[NAME=]X,Y,Z")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(CLI::Validator(readable(read_point), "", "point"))
      ->group(group);
  command
      .add_option("--path", options.paths,
                  "Results along a straight path of N points (default 101), in NAME_path_NAME.csv and .svg; may be "
                  "given several times")
      ->type_name("[NAME=]X0,Y0,Z0:X1,Y1,Z1[:N]")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(CLI::Validator(readable(read_path), "", "path"))
      ->group(group);
  command
      .add_option("--units", options.units,
                  "Names of the units of force, length and stress, and of temperature and heat flow, as labels in "
                  "tables, pictures and files; nothing is converted")
      ->type_name("N,mm,MPa[,K,mW]")
      ->check([](const std::string& text) {
        try {
          (void)Units::parse(text, "");
          return std::string();
        } catch (const Error& error) {
          return std::string(error.what());
        }
      })
      ->group(group);
}

}  // namespace voussoir::app
