#include <voussoir/solvers/registries.hpp>

namespace voussoir {
namespace {

NamePart name_part(const std::string& text, const std::string& kind, const std::string& whole) {
  const std::size_t colon = text.find(':');
  NamePart part{text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
  const std::string where = "solver '" + whole + "'";
  if (part.name.empty())
    throw Error(ErrorCode::not_found, "the name of the " + kind + " is missing; `voussoir info` lists all", where);
  if (colon != std::string::npos && part.options.empty())
    throw Error(ErrorCode::not_found, "options are missing after the colon; add them, or remove the colon", where);
  return part;
}

/// Where the preconditioner begins. A plus sign in the option solver=cg+amg, which names the solver of parts, belongs
/// to that option.
std::size_t preconditioner_sign(const std::string& text) {
  std::size_t plus = text.find('+');
  while (plus != std::string::npos) {
    const std::size_t comma = text.rfind(',', plus), colon = text.find(':');
    const std::size_t before = comma != std::string::npos ? comma : colon;
    const bool in_option = before < plus && text.compare(before + 1, 7, "solver=") == 0;
    if (!in_option) return plus;
    const std::size_t next = text.find(',', plus);
    plus = next == std::string::npos ? next : text.find('+', next);
  }
  return plus;
}

}  // namespace

SolverName parse_solver_name(const std::string& text) {
  const std::size_t plus = preconditioner_sign(text);
  SolverName name{name_part(text.substr(0, plus), "solver", text), {}};
  if (plus != std::string::npos) name.preconditioner = name_part(text.substr(plus + 1), "preconditioner", text);
  return name;
}

void refuse_options(const std::string& what, const std::string& options) {
  if (!options.empty()) throw Error(ErrorCode::bad_input, "it has no options; remove ':" + options + "'", what);
}

}  // namespace voussoir
