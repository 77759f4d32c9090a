#include <voussoir/solvers/transient_problem.hpp>

#include <cstdlib>
#include <map>

#include <voussoir/backends/spelling.hpp>
#include <voussoir/framework/analysis/first_order_integrators.hpp>
#include <voussoir/framework/analysis/incremental_statics.hpp>

namespace voussoir {
namespace {

/// "hht:alpha=-0.1" as its name and numbers. Numbers start at their defaults; others are refused.
std::string method_numbers(const std::string& text, std::map<std::string, double>& numbers) {
  const std::size_t colon = text.find(':');
  const std::string where = "time integration '" + text + "'";
  std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string part = rest.substr(0, comma);
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    const std::size_t equals = part.find('=');
    const auto known = numbers.find(part.substr(0, equals));
    std::string list;
    for (const auto& [name, value] : numbers) list += (list.empty() ? "" : ", ") + name;
    if (equals == std::string::npos || known == numbers.end())
      throw Error(ErrorCode::bad_input, "'" + part + "' is not an option of this method; it has " + list, where);
    char* end = nullptr;
    const std::string value = part.substr(equals + 1);
    known->second = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0') throw Error(ErrorCode::bad_input, "'" + value + "' is not a number", where);
  }
  return text.substr(0, colon);
}

}  // namespace

std::shared_ptr<TimeIntegrator> make_time_integrator(const std::string& name) {
  const std::string method = name.substr(0, name.find(':'));
  std::map<std::string, double> numbers;
  if (method == "newmark") {
    numbers = {{"beta", 0.25}, {"gamma", 0.5}};
    method_numbers(name, numbers);
    return std::make_shared<NewmarkIntegrator>(numbers["beta"], numbers["gamma"]);
  }
  if (method == "hht") {
    numbers = {{"alpha", -0.05}};
    method_numbers(name, numbers);
    return std::make_shared<HhtIntegrator>(numbers["alpha"]);
  }
  if (method == "generalised-alpha") {
    numbers = {{"radius", 0.9}};
    method_numbers(name, numbers);
    return std::make_shared<GeneralisedAlphaIntegrator>(numbers["radius"]);
  }
  if (method == "backward-euler" || method == "crank-nicolson" || method == "bdf2" || method == "static") {
    if (name != method)
      throw Error(ErrorCode::bad_input, "this method has no options", "time integration '" + name + "'");
    if (method == "static") return std::make_shared<IncrementalStatics>();
    if (method == "backward-euler") return std::make_shared<BackwardEulerIntegrator>();
    if (method == "crank-nicolson") return std::make_shared<CrankNicolsonIntegrator>();
    return std::make_shared<Bdf2Integrator>();
  }
  const std::vector<std::string> known{"newmark", "hht",   "generalised-alpha", "backward-euler", "crank-nicolson",
                                       "bdf2",    "static"};
  const std::string near = nearest_name(method, known);
  throw Error(
      ErrorCode::not_found,
      "there is no method of this name; " + (near.empty() ? "" : "did you mean '" + near + "'? ") +
          "There are newmark, hht and generalised-alpha for dynamics, backward-euler, crank-nicolson and bdf2 for "
          "transient heat, static for increments without inertia",
      "time integration '" + name + "'");
}

std::unique_ptr<TransientAnalysis> make_transient_analysis(const Domain& domain, std::shared_ptr<Backend> backend,
                                                           const TransientOptions& options) {
  // Statics chooses what both need: solver, storage, numbering, constraints.
  Analysis::Collaborators parts = make_static_analysis(domain, std::move(backend), options)->collaborators();
  const auto integrator = make_time_integrator(options.method);
  integrator->set_damping(options.damping);
  integrator->set_mass_kind(options.mass);
  parts.integrator = integrator;
  auto analysis = std::make_unique<TransientAnalysis>(domain, std::move(parts));
  analysis->set_whole_pressure_tangent(options.tangent != "symmetric");
  return analysis;
}

std::unique_ptr<TransientAnalysis> make_transient_analysis(const Domain& domain, const TransientOptions& options) {
  auto backend = Backend::open(options.backend);
  backend->choose(options.work);
  return make_transient_analysis(domain, std::move(backend), options);
}

}  // namespace voussoir
