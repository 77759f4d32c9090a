#pragma once
#include <span>
#include <string>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/vector.hpp>

namespace voussoir::detail {

/// True where two layouts spread the same equations in the same way, as far as sizes tell.
inline bool same_shape(const Layout& a, const Layout& b) {
  if (&a == &b) return true;
  if (a.devices() != b.devices()) return false;
  for (int d = 0; d < a.devices(); ++d)
    if (a.first(d) != b.first(d) || a.owned(d) != b.owned(d) || a.ghosts(d) != b.ghosts(d)) return false;
  return true;
}

[[noreturn]] inline void refuse_foreign(const char* what) {
  throw Error(ErrorCode::misuse, std::string(what) +
                                     ": the vector is in the memory of another backend; create it from "
                                     "the model it is used with, or copy its values through the host");
}

/// Throws where a vector does not lie in the memory of a backend.
inline void require_own(const Backend& backend, const Vector& x, const char* what) {
  if (!x.layout()) throw Error(ErrorCode::misuse, std::string(what) + ": the vector has no layout");
  bool own = x.layout()->devices() == backend.devices();
  for (int d = 0; own && d < backend.devices(); ++d) own = x.layout()->memory(d) == backend.memory(d);
  if (!own) refuse_foreign(what);
}

inline void require_layout(const Layout& layout, const Vector& x, const char* what) {
  if (x.layout() && same_shape(layout, *x.layout())) {
    for (int d = 0; d < layout.devices(); ++d)
      if (layout.memory(d) != x.layout()->memory(d)) refuse_foreign(what);
    return;
  }
  throw Error(ErrorCode::misuse, std::string(what) + ": a vector of " + std::to_string(x.size()) +
                                     " entries where one of " + std::to_string(layout.size()) +
                                     ", with the same distribution over the devices, is needed");
}

inline void require_alike(const Vector& x, const Vector& y, const char* what) {
  if (!x.layout()) throw Error(ErrorCode::misuse, std::string(what) + ": the vector has no layout");
  require_layout(*x.layout(), y, what);
  if (x.columns() != y.columns())
    throw Error(ErrorCode::misuse, std::string(what) + ": vectors with " + std::to_string(x.columns()) + " and " +
                                       std::to_string(y.columns()) + " columns do not match");
}

inline void require_one_column(const Layout& layout, const Vector& x, const char* what) {
  require_layout(layout, x, what);
  if (x.columns() != 1) throw Error(ErrorCode::misuse, std::string(what) + ": works on one vector at a time");
}

/// Throws where a state does not belong to a model.
inline void require_state(const DeviceModel& model, const ElementState& state, const char* what) {
  if (state.unknowns) require_one_column(*model.layout(), *state.unknowns, what);
  const auto devices = static_cast<std::size_t>(model.devices());
  bool fits = !state.temperature || state.temperature->parts.size() == devices;
  for (std::size_t d = 0; fits && state.temperature && d < devices; ++d)
    fits = state.temperature->parts[d].size() == static_cast<std::size_t>(model.part(static_cast<int>(d)).local_nodes);
  if (!fits) throw Error(ErrorCode::misuse, std::string(what) + ": the temperatures are those of another model");
  fits = !state.history || state.history->parts.size() == devices;
  for (std::size_t d = 0; fits && state.history && d < devices; ++d)
    fits = state.history->parts[d].size() == static_cast<std::size_t>(model.batch_count());
  if (!fits) throw Error(ErrorCode::misuse, std::string(what) + ": the history is that of another model");
}

/// Throws where a model has changed since something was derived from it.
inline void require_current(const DeviceModel& model, const ModelRevision& made_for, const char* what) {
  if (!(model.revision() == made_for))
    throw Error(ErrorCode::misuse,
                std::string(what) + ": the model has changed since this operator was made; make a new one");
}

inline void require_batch(int batch, int batches, const char* what) {
  if (batch < 0 || batch >= batches)
    throw Error(ErrorCode::misuse, std::string(what) + ": there is no batch " + std::to_string(batch) + " among " +
                                       std::to_string(batches));
}

/// Throws where factors were given but not one per batch.
inline void require_factors(std::span<const double> factors, int batches, const char* what) {
  if (!factors.empty() && factors.size() != static_cast<std::size_t>(batches))
    throw Error(ErrorCode::misuse, std::string(what) + ": " + std::to_string(factors.size()) + " factors for " +
                                       std::to_string(batches) + " batches of elements");
}

inline void require_factors(const MatrixTerms& terms, int batches, const char* what) {
  require_factors(terms.batch_factors, batches, what);
  require_factors(terms.mass_factors, batches, what);
}

/// Throws where there is not one number for each column of x.
inline void require_per_column(std::size_t numbers, const Vector& x, const char* what) {
  if (numbers != static_cast<std::size_t>(x.columns()))
    throw Error(ErrorCode::misuse, std::string(what) + ": " + std::to_string(numbers) + " numbers for " +
                                       std::to_string(x.columns()) + " columns");
}

/// Throws where columns that are to be copied are not there.
inline void require_columns(const Vector& x, int from, int count, const char* what) {
  if (from < 0 || count < 0 || from > x.columns() - count)
    throw Error(ErrorCode::misuse, std::string(what) + ": " + std::to_string(count) + " columns from column " +
                                       std::to_string(from) + " on, where there are " + std::to_string(x.columns()));
}

inline std::size_t owned_entries(const Vector& x, int device) {
  return static_cast<std::size_t>(x.layout()->owned(device)) * static_cast<std::size_t>(x.columns());
}

}  // namespace voussoir::detail
