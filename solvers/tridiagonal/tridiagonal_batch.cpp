#include <voussoir/solvers/tridiagonal/tridiagonal_batch.hpp>

#include <algorithm>
#include <string>

namespace voussoir {

namespace {

void require_count(std::size_t found, std::int64_t wanted, const char* what) {
  if (static_cast<std::int64_t>(found) != wanted)
    throw Error(ErrorCode::bad_input, std::string("tridiagonal batch: ") + what + " has " + std::to_string(found) +
                                          " numbers where " + std::to_string(wanted) + " are needed");
}

}  // namespace

template <class T>
TridiagonalBatch<T>::TridiagonalBatch(std::shared_ptr<Backend> backend, std::int64_t length, std::int64_t systems,
                                      const TridiagonalOptions& options)
    : backend_(std::move(backend)), length_(length), options_(options) {
  if (!backend_) throw Error(ErrorCode::misuse, "tridiagonal batch: there is no backend");
  if (length < 1 || systems < 1)
    throw Error(ErrorCode::bad_input, "tridiagonal batch: " + std::to_string(systems) + " systems of length " +
                                          std::to_string(length) + "; both must be at least 1");
  const int count = backend_->devices();
  for (int d = 0; d <= count; ++d) first_.push_back(systems / count * d + std::min<std::int64_t>(d, systems % count));
  for (int d = 0; d < count; ++d) faults_.push_back(backend_->service<SweepServices>().make_faults(d));
}

template <class T>
SweepShape TridiagonalBatch<T>::shape(int device) const {
  return options_.layout == BatchLayout::contiguous ? SweepShape::contiguous(length_, systems(device))
                                                    : SweepShape::interleaved(length_, systems(device));
}

template <class T>
SweepOptions TridiagonalBatch<T>::sweep_options(int device) const {
  return {.periodic = options_.periodic,
          .method = options_.method,
          .largest_loss = options_.largest_loss,
          .device = device,
          .faults = faults_[at(device)].get()};
}

template <class T>
void TridiagonalBatch<T>::set_shared_matrix(std::span<const T> lower, std::span<const T> diagonal,
                                            std::span<const T> upper) {
  require_count(lower.size(), length_, "lower");
  require_count(diagonal.size(), length_, "diagonal");
  require_count(upper.size(), length_, "upper");
  std::vector<std::unique_ptr<SweepPlan>> plans;
  for (int d = 0; d < devices(); ++d) {
    const auto& memory = backend_->memory(d);
    const Array<T> l(memory, lower), c(memory, diagonal), u(memory, upper);
    plans.push_back(backend_->service<SweepServices>().prepare({l, c, u}, length_, sweep_options(d)));
  }
  plans_ = std::move(plans);
  lower_.clear();
  diagonal_.clear();
  upper_.clear();
}

template <class T>
void TridiagonalBatch<T>::set_matrices(std::span<const T> lower, std::span<const T> diagonal,
                                       std::span<const T> upper) {
  require_count(lower.size(), length_ * systems(), "lower");
  require_count(diagonal.size(), length_ * systems(), "diagonal");
  require_count(upper.size(), length_ * systems(), "upper");
  set_matrices(distribute(lower), distribute(diagonal), distribute(upper));
}

template <class T>
void TridiagonalBatch<T>::set_matrices(std::vector<Array<T>> lower, std::vector<Array<T>> diagonal,
                                       std::vector<Array<T>> upper) {
  require_values(lower, "lower");
  require_values(diagonal, "diagonal");
  require_values(upper, "upper");
  lower_ = std::move(lower);
  diagonal_ = std::move(diagonal);
  upper_ = std::move(upper);
  plans_.clear();
}

template <class T>
std::vector<Array<T>> TridiagonalBatch<T>::make_values() const {
  std::vector<Array<T>> values;
  for (int d = 0; d < devices(); ++d)
    values.push_back(backend_->make_array<T>(d, static_cast<std::size_t>(length_ * systems(d))));
  return values;
}

template <class T>
std::vector<Array<T>> TridiagonalBatch<T>::distribute(std::span<const T> values) const {
  require_count(values.size(), length_ * systems(), "the batch");
  std::vector<Array<T>> result = make_values();
  for (int d = 0; d < devices(); ++d) {
    const std::int64_t own = systems(d), first = first_system(d);
    if (own == 0) continue;
    T* to = result[at(d)].write_host().data();
    if (options_.layout == BatchLayout::contiguous)
      std::copy_n(values.data() + first * length_, own * length_, to);
    else
      for (std::int64_t i = 0; i < length_; ++i) std::copy_n(values.data() + i * systems() + first, own, to + i * own);
  }
  return result;
}

template <class T>
std::vector<T> TridiagonalBatch<T>::collect(const std::vector<Array<T>>& values) const {
  require_values(values, "the batch");
  std::vector<T> result(static_cast<std::size_t>(length_ * systems()));
  for (int d = 0; d < devices(); ++d) {
    const std::int64_t own = systems(d), first = first_system(d);
    if (own == 0) continue;
    const T* from = values[at(d)].read_host().data();
    if (options_.layout == BatchLayout::contiguous)
      std::copy_n(from, own * length_, result.data() + first * length_);
    else
      for (std::int64_t i = 0; i < length_; ++i)
        std::copy_n(from + i * own, own, result.data() + i * systems() + first);
  }
  return result;
}

template <class T>
void TridiagonalBatch<T>::require_values(const std::vector<Array<T>>& values, const char* what) const {
  if (static_cast<int>(values.size()) != devices())
    throw Error(ErrorCode::misuse, std::string("tridiagonal batch: ") + what + " has " + std::to_string(values.size()) +
                                       " arrays; there are " + std::to_string(devices()) + " devices");
  for (int d = 0; d < devices(); ++d) require_count(values[at(d)].size(), length_ * systems(d), what);
}

template <class T>
void TridiagonalBatch<T>::solve(const std::vector<Array<T>>& f, std::vector<Array<T>>& y) {
  require_values(f, "f");
  require_values(y, "y");
  if (plans_.empty() && lower_.empty())
    throw Error(ErrorCode::misuse, "tridiagonal batch: no matrix has been set; call set_shared_matrix or set_matrices");
  SweepServices& sweeps = backend_->service<SweepServices>();
  for (int d = 0; d < devices(); ++d) {
    if (!plans_.empty())
      sweeps.solve(*plans_[at(d)], shape(d), f[at(d)], y[at(d)], faults_[at(d)].get());
    else
      sweeps.solve(shape(d), {lower_[at(d)], diagonal_[at(d)], upper_[at(d)]}, f[at(d)], y[at(d)], sweep_options(d));
  }
  std::vector<SweepOutcome> outcomes;  // all of them are taken, so that no fault is left for the next solve
  for (auto& faults : faults_) outcomes.push_back(faults->take());
  for (int d = 0; d < devices(); ++d) outcomes[at(d)].require(first_system(d));
}

template <class T>
std::vector<T> TridiagonalBatch<T>::solve(std::span<const T> f) {
  std::vector<Array<T>> values = distribute(f);
  solve(values);
  return collect(values);
}

template class TridiagonalBatch<double>;
template class TridiagonalBatch<float>;

}  // namespace voussoir
