#include <voussoir/backends/cuda/programs/jit_text.hpp>

#include <algorithm>
#include <cstdlib>

#include <voussoir/backends/error.hpp>

namespace voussoir::cuda {

namespace {

constexpr const char* user_text = "voussoir_user_kernel.hpp";
constexpr int most_errors = 5;

/// A file's name between quotes in a directive.
std::string quoted(const std::string& file) {
  std::string text;
  for (const char c : file) {
    if (c == '"' || c == '\\') text += '\\';
    text += c == '\n' || c == '\r' ? ' ' : c;
  }
  return text;
}

/// A name as g++ prints it, as a compiler reads it: from inside the text the unnamed namespace needs no name.
std::string readable_name(std::string expression) {
  static constexpr std::string_view unnamed = "(anonymous namespace)::";
  for (std::size_t at; (at = expression.find(unnamed)) != std::string::npos;) expression.erase(at, unnamed.size());
  return expression;
}

const char* name_of(Routine routine) {
  switch (routine) {
    case Routine::tangent:
      return "tangent";
    case Routine::mass:
      return "mass";
    case Routine::lumped_mass:
      return "lumped_mass";
    case Routine::residual:
      return "residual";
    case Routine::action:
      return "action";
    case Routine::mass_action:
      return "mass_action";
    case Routine::lumped_action:
      return "lumped_action";
    case Routine::body_load:
      return "body_load";
    case Routine::history:
      return "history";
    case Routine::recover:
      return "recover";
  }
  return "unknown";
}

/// One message begins with "FILE(LINE): error" and goes on to an empty line. After "detected during" come the templates
/// that led there, of which those in the user's file say something to the user.
struct Message {
  std::string place;  ///< "FILE:LINE", empty where it has none
  std::string text;
};

/// Splits "FILE(LINE): error: TEXT"; false for every other line.
bool begins_message(std::string_view line, Message& message) {
  std::size_t mark = line.find("): error");
  if (mark == line.npos) mark = line.find("): catastrophic error");
  if (mark == line.npos) return false;
  const std::size_t open = line.rfind('(', mark);
  const std::size_t colon = line.find(": ", mark + 3);
  if (open == line.npos || colon == line.npos) return false;
  message.place = std::string(line.substr(0, open)) + ":" + std::string(line.substr(open + 1, mark - open - 1));
  message.text = line.substr(colon + 2);
  return true;
}

std::vector<Message> messages_of(std::string_view log, const std::string& user_file) {
  std::vector<Message> messages;
  bool inside = false, templates = false;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    Message next;
    if (begins_message(line, next)) {
      messages.push_back(std::move(next));
      inside = true;
      templates = false;
    } else if (line.find_first_not_of(' ') == line.npos) {
      inside = false;
    } else if (inside && line.find("detected during") != line.npos) {
      templates = true;
    } else if (inside && (!templates || line.find(" of " + user_file) != line.npos)) {
      messages.back().text += "\n" + std::string(line);
    }
  }
  return messages;
}

}  // namespace

Target choose_target(int gpu, std::span<const int> known) {
  if (std::find(known.begin(), known.end(), gpu) != known.end()) return {"sm_" + std::to_string(gpu), true};
  const auto above = std::upper_bound(known.begin(), known.end(), gpu);
  if (above == known.begin())
    throw Error(ErrorCode::unavailable, "NVIDIA's run-time compiler does not support GPUs of compute capability " +
                                            std::to_string(gpu / 10) + "." + std::to_string(gpu % 10) +
                                            "; install an older one, or use the backend 'openmp'");
  return {"compute_" + std::to_string(*(above - 1)), false};
}

KernelTemplate values_template(Routine routine) {
  return {"element_values", std::string("voussoir::cuda::Routine::") + name_of(routine)};
}

namespace {

/// Adds the user's text, the options and the expression of a kernel to a request whose text has its first includes.
void finish_request(const KernelSource& source, const KernelTemplate& kernel, const Target& target,
                    const std::vector<NamedText>& headers, CompileRequest& request) {
  request.text += std::string("#include <") + user_text + ">\n";
  request.headers = headers;
  request.headers.push_back({user_text, "#line 1 \"" + quoted(source.file) + "\"\n" + source.text + "\n"});
  // Tables of constants and the small functions that make them are wanted on the device without being marked.
  request.options = {"--std=c++20", "--gpu-architecture=" + target.option, "--device-as-default-execution-space"};
  request.expression = "voussoir::cuda::" + kernel.name + "<" + readable_name(source.type_expression) +
                       (kernel.more.empty() ? "" : ", " + kernel.more) + ">";
  request.machine_code = target.machine_code;
}

}  // namespace

CompileRequest jit_grid_request(const KernelSource& source, const Target& target,
                                const std::vector<NamedText>& headers) {
  CompileRequest request;
  request.text = "#include <voussoir/backends/cuda/grid/grid_kernels.hpp>\n";
  finish_request(source, {"grid_values"}, target, headers, request);
  return request;
}

CompileRequest jit_request(const KernelSource& source, const KernelTemplate& kernel, const Target& target,
                           const std::vector<NamedText>& headers) {
  CompileRequest request;
  if (source.energy_operations > 0)
    request.text = "#define VSR_ENERGY_OPERATIONS " + std::to_string(source.energy_operations) + "\n";
  request.text += "#include <voussoir/elements/point/point_element.hpp>\n";
  for (const char* header : {"cluster_kernels", "element_kernels", "force_kernels", "tangent_ways"})
    request.text += std::string("#include <voussoir/backends/cuda/elements/") + header + ".hpp>\n";
  finish_request(source, kernel, target, headers, request);
  return request;
}

Error jit_error(const KernelSource& source, std::string_view log) {
  const std::vector<Message> messages = messages_of(log, source.file);
  if (messages.empty())
    return {ErrorCode::bad_input, "this kernel does not compile for the GPU: " + std::string(log), source.file};
  const auto in_user_file = [&](const Message& m) { return m.place.starts_with(source.file + ":"); };
  auto first = std::find_if(messages.begin(), messages.end(), in_user_file);
  const std::string where = first == messages.end() ? source.file : first->place;
  if (first == messages.end()) first = messages.begin();

  std::string text = "this kernel does not compile for the GPU: " + first->text;
  int shown = 1;
  for (auto m = messages.begin(); m != messages.end() && shown < most_errors; ++m) {
    if (m == first) continue;
    text += "\n" + m->place + ": " + m->text;
    ++shown;
  }
  if (std::any_of(messages.begin(), messages.end(),
                  [](const Message& m) { return m.text.find("could not open source file") != std::string::npos; }))
    text +=
        "\nA kernel file may include <voussoir/elements/kernel/…>, <voussoir/elements/physics/…> and "
        "<voussoir/elements/register.hpp>, but nothing of the standard library and no other files";
  return {ErrorCode::bad_input, text, where};
}

}  // namespace voussoir::cuda
