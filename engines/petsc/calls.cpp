#include <voussoir/engines/petsc/calls.hpp>

#include <optional>
#include <utility>

namespace voussoir::petsc {
namespace {

/// What PETSc said of the error that is on its way, where it began.
std::string& petsc_words() {
  static std::string words;
  return words;
}

/// An error of ours that is on its way through PETSc.
std::optional<Error>& kept_error() {
  static std::optional<Error> error;
  return error;
}

std::string name_of_call(const char* what) {
  const std::string text = what;
  return text.substr(0, text.find('('));
}

}  // namespace

PetscErrorCode keep_petsc_error(MPI_Comm, int, const char* function, const char*, PetscErrorCode code,
                                PetscErrorType kind, const char* message, void*) {
  // The first call is the place of the error, later ones are those that called it.
  if (kind == PETSC_ERROR_INITIAL)
    petsc_words() = std::string(function ? function : "") + ": " + (message ? message : "");
  return code;
}

void keep_error(const Error& error) { kept_error() = error; }

void check_petsc(PetscErrorCode code, const char* what) {
  if (code == 0) return;
  std::string words;
  std::swap(words, petsc_words());
  if (const std::optional<Error> ours = std::exchange(kept_error(), std::nullopt)) throw Error(*ours);
  if (words.empty()) {
    const char* text = nullptr;
    PetscErrorMessage(code, &text, nullptr);
    words = text ? text : "no reason given";
  }
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  const std::string call = name_of_call(what);
  if (code == PETSC_ERR_MEM)
    throw Error(ErrorCode::out_of_memory, "PETSc is out of memory in " + call + " (" + words +
                                              "); use more machines, or fewer processes on each");
  throw Error(ErrorCode::unavailable, "PETSc failed in " + call + " (error " + std::to_string(static_cast<int>(code)) +
                                          ", " + words +
                                          "); check the options of --petsc, or try another method of the engine");
}

}  // namespace voussoir::petsc
