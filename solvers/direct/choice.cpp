#include <array>
#include <vector>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/spelling.hpp>
#include <voussoir/solvers/direct/choice.hpp>

namespace voussoir {

namespace {

struct NamedMethod {
  DirectMethod method;
  const char* name;
};

constexpr NamedMethod automatic_method{DirectMethod::automatic, "auto"};
constexpr std::array named_methods{
    NamedMethod{DirectMethod::mumps, "mumps"},     NamedMethod{DirectMethod::eigen, "eigen"},
    NamedMethod{DirectMethod::cholmod, "cholmod"}, NamedMethod{DirectMethod::band, "band"},
    NamedMethod{DirectMethod::profile, "profile"}, NamedMethod{DirectMethod::multifrontal, "multifrontal"}};

}  // namespace

const char* to_string(DirectMethod method) {
  for (const NamedMethod& m : named_methods)
    if (m.method == method) return m.name;
  return automatic_method.name;
}

std::span<const DirectMethod> direct_methods() {
  static constexpr auto list = [] {
    std::array<DirectMethod, named_methods.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = named_methods[i].method;
    return all;
  }();
  return list;
}

DirectMethod direct_method(const std::string& name) {
  if (name == automatic_method.name) return automatic_method.method;
  std::vector<std::string> known;
  for (const NamedMethod& m : named_methods) {
    if (name == m.name) return m.method;
    known.emplace_back(m.name);
  }
  const std::string near = nearest_name(name, known);
  std::string text = near.empty() ? "there are " : "did you mean '" + near + "'? There are ";
  text += automatic_method.name;
  for (const std::string& other : known) text += ", " + other;
  throw Error(ErrorCode::not_found, "there is no direct method called '" + name + "'; " + text);
}

std::string why_unavailable(DirectMethod method) {
  if (method == DirectMethod::mumps) {
#ifndef VOUSSOIR_HAVE_MUMPS
    return "this build has no MUMPS; install libmumps-seq-dev and configure with VOUSSOIR_MUMPS=ON";
#endif
  }
  if (method == DirectMethod::cholmod) {
#ifndef VOUSSOIR_HAVE_CHOLMOD
    return "this build has no CHOLMOD, because part of it is under the GPL; configure with VOUSSOIR_CHOLMOD=ON if that "
           "licence suits you";
#endif
  }
  return {};
}

DirectChoice choose_direct(std::int64_t n, std::int64_t entries, DirectMethod wanted) {
  const std::string size = std::to_string(n) + " equations, " + std::to_string(entries) + " entries";
  if (wanted != DirectMethod::automatic) {
    const std::string missing = why_unavailable(wanted);
    if (!missing.empty())
      throw Error(ErrorCode::unavailable, missing, std::string("direct solver ") + to_string(wanted));
    return {wanted, std::string(to_string(wanted)) + ": selected by name (" + size + ")"};
  }
  if (why_unavailable(DirectMethod::mumps).empty()) {
    return {DirectMethod::mumps,
            "mumps: it pivots for stability, detects free motions and is the fastest direct method in this build (" +
                size + ")"};
  }
  return {DirectMethod::eigen, "eigen: " + why_unavailable(DirectMethod::mumps) + " (" + size + ")"};
}

}  // namespace voussoir
