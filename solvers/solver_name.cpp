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

}  // namespace

SolverName parse_solver_name(const std::string& text) {
  const std::size_t plus = text.find('+');
  SolverName name{name_part(text.substr(0, plus), "solver", text), {}};
  if (plus != std::string::npos) name.preconditioner = name_part(text.substr(plus + 1), "preconditioner", text);
  return name;
}

void refuse_options(const std::string& what, const std::string& options) {
  if (!options.empty()) throw Error(ErrorCode::bad_input, "it has no options; remove ':" + options + "'", what);
}

}  // namespace voussoir
