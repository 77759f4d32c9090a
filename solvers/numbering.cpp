#include <voussoir/solvers/numbering.hpp>

#include <algorithm>
#include <charconv>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/backends/spelling.hpp>
#include <voussoir/framework/model/divided_numberer.hpp>
#include <voussoir/solvers/cost/device_speeds.hpp>

namespace voussoir {
namespace {

const std::string divided_name = "divided", speeds_key = "speeds=", measured_speeds = "speeds=measured";

/// divided:METHOD,speeds=S, taken apart.
struct DividedName {
  std::string method = "auto";
  std::string speeds;  // empty, a list, "measured" or "profile"
};

[[noreturn]] void refuse_numbering(ErrorCode code, const std::string& name, const std::string& text) {
  throw Error(code, text, "numbering '" + name + "'");
}

bool is_divided(const std::string& name) {
  return name == divided_name || name.starts_with(divided_name + ":") || name.starts_with(divided_name + ",");
}

std::vector<double> speeds_in(const std::string& list, const std::string& name) {
  std::vector<double> speeds;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find('/', begin), list.size());
    double value = 0;
    const auto read = std::from_chars(list.data() + begin, list.data() + end, value);
    if (read.ec != std::errc() || read.ptr != list.data() + end || !(value > 0) || !(value < 1e300))
      refuse_numbering(ErrorCode::bad_input, name,
                       "'" + list.substr(begin, end - begin) +
                           "' is not a positive number; give a speed for each device, as in speeds=2/1, or "
                           "speeds=measured, or speeds=profile");
    speeds.push_back(value);
    begin = end + 1;
  }
  return speeds;
}

DividedName take_apart(const std::string& name) {
  DividedName result;
  const std::string rest = name.substr(divided_name.size());
  for (std::size_t begin = 0; begin < rest.size();) {
    const std::size_t end = std::min(rest.find(',', begin + 1), rest.size());
    const std::string word = rest.substr(begin + 1, end - begin - 1);
    if (rest[begin] == ':')
      result.method = word;
    else if (word == speeds_key)
      (void)speeds_in("", name);
    else if (word.starts_with(speeds_key))
      result.speeds = word.substr(speeds_key.size());
    else
      refuse_numbering(ErrorCode::bad_input, name, "there is no setting '" + word + "'; there is speeds=2/1");
    begin = end;
  }
  return result;
}

void check_division(const DividedName& division, const std::string& name) {
  if (division.method != "auto") (void)node_dividers().find(division.method);
  if (division.speeds != "measured" && division.speeds != "profile" && !division.speeds.empty())
    (void)speeds_in(division.speeds, name);
}

std::shared_ptr<DofNumberer> make_divided(const std::string& name, Backend& backend) {
  const DividedName division = take_apart(name);
  check_division(division, name);
  DividedNumberer::Options options;
  options.method = division.method;
  if (division.speeds == "measured")
    options.speeds = measure_device_speeds(backend);
  else if (division.speeds == "profile")
    options.speeds = profile_device_speeds(backend);
  else if (!division.speeds.empty())
    options.speeds = speeds_in(division.speeds, name);
  if (!options.speeds.empty() && static_cast<int>(options.speeds.size()) != backend.devices())
    refuse_numbering(ErrorCode::bad_input, name,
                     std::to_string(options.speeds.size()) + " speeds, but backend '" + backend.name() + "' has " +
                         std::to_string(backend.devices()) + (backend.devices() == 1 ? " device" : " devices"));
  return std::make_shared<DividedNumberer>(options);
}

}  // namespace

void check_numbering(const std::string& name) {
  if (name == "auto" || name == "plain" || name == "rcm") return;
  if (is_divided(name)) return check_division(take_apart(name), name);
  const std::vector<std::string> names{"auto", "plain", "rcm", divided_name};
  const std::string near = nearest_name(name, names);
  refuse_numbering(ErrorCode::not_found, name,
                   std::string("there is no numbering of this name; ") +
                       (near.empty() ? "there are " : "did you mean '" + near + "'? There are ") +
                       "auto, plain, rcm, divided");
}

std::shared_ptr<DofNumberer> make_numberer(const std::string& name, Backend& backend, bool envelope) {
  check_numbering(name);
  if (is_divided(name)) return make_divided(name, backend);
  // An envelope is small in one order alone, and its matrix is on the host.
  if (name == "rcm" || (name == "auto" && envelope)) return std::make_shared<ReverseCuthillMcKeeNumberer>();
  if (name == "auto" && backend.devices() > 1) return std::make_shared<DividedNumberer>();
  return std::make_shared<PlainNumberer>();
}

bool measures_speeds(const std::string& numbering) { return numbering.find(measured_speeds) != std::string::npos; }

std::string with_speeds(const std::string& numbering, const std::vector<double>& speeds) {
  const std::size_t place = numbering.find(measured_speeds);
  if (place == std::string::npos) return numbering;
  std::string list;
  for (const double speed : speeds) list += (list.empty() ? "" : "/") + exact_number(speed);
  return numbering.substr(0, place) + speeds_key + list + numbering.substr(place + measured_speeds.size());
}

}  // namespace voussoir
