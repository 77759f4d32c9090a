#include <voussoir/backends/error.hpp>
#include <voussoir/solvers/direct/choice.hpp>

namespace voussoir {

const char* to_string(DirectMethod method) {
  switch (method) {
    case DirectMethod::automatic:
      return "auto";
    case DirectMethod::mumps:
      return "mumps";
    case DirectMethod::eigen:
      return "eigen";
    case DirectMethod::cholmod:
      return "cholmod";
    case DirectMethod::band:
      return "band";
    case DirectMethod::profile:
      return "profile";
  }
  return "unknown";
}

DirectMethod direct_method(const std::string& name) {
  std::string known;
  for (DirectMethod method : {DirectMethod::automatic, DirectMethod::mumps, DirectMethod::eigen, DirectMethod::cholmod,
                              DirectMethod::band, DirectMethod::profile}) {
    if (name == to_string(method)) return method;
    known += known.empty() ? "" : ", ";
    known += to_string(method);
  }
  throw Error(ErrorCode::not_found, "there is no direct method called '" + name + "'; there are " + known);
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
