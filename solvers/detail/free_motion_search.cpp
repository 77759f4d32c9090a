#include <voussoir/solvers/detail/free_motion_search.hpp>

#include <cmath>
#include <limits>

namespace voussoir::detail {
namespace {

/// A + shift · 1: the matrix with weak springs to ground on every unknown.
class Shifted final : public Operator {
 public:
  Shifted(Backend& backend, const Operator& matrix, double shift) : backend_(backend), matrix_(matrix), shift_(shift) {}
  const std::shared_ptr<const Layout>& layout() const override { return matrix_.layout(); }
  void apply(const Vector& x, Vector& y) const override {
    matrix_.apply(x, y);
    backend_.axpy(shift_, x, y);
  }
  double apply_dot(const Vector& x, Vector& y) const override {
    apply(x, y);
    return backend_.dot(x, y);
  }
  std::size_t bytes() const override { return matrix_.bytes(); }
  std::size_t bytes_moved() const override { return matrix_.bytes_moved(); }
  std::string describe() const override { return "shifted " + matrix_.describe(); }

 private:
  Backend& backend_;
  const Operator& matrix_;
  double shift_;
};

}  // namespace

FreeMotionSearch::FreeMotionSearch(const LinearSOE& soe)
    : soe_(soe), backend_(soe.model().backend()), image_(soe.model().make_vector()) {
  // A scale for the matrix: what it does to a rough vector.
  const AnalysisModel& model = soe.model();
  Vector rough = model.make_vector();
  std::vector<double> values(static_cast<std::size_t>(model.equation_count()), 0.0);
  for (std::int64_t e = 0; e < model.equation_count(); ++e)
    if (model.is_free(static_cast<std::int32_t>(e)))
      values[static_cast<std::size_t>(e)] = (e % 2 ? 1.0 : -1.0) * (1 + static_cast<double>(e * 7919 % 101) / 101);
  rough.from_host(values);
  soe.matrix().apply(rough, image_);
  const double size = backend_.norm(rough);
  scale_ = size > 0 ? backend_.norm(image_) / size : 0;
  const std::vector<double> sizes = soe.bodies().norms(backend_, rough), images = soe.bodies().norms(backend_, image_);
  for (std::size_t k = 0; k < sizes.size(); ++k) scales_.push_back(sizes[k] > 0 ? images[k] / sizes[k] : 0);
}

std::vector<double> FreeMotionSearch::rounding(std::span<const double> norms_of_x) const {
  const std::size_t columns = norms_of_x.size() / scales_.size();
  std::vector<double> result;
  for (std::size_t k = 0; k < norms_of_x.size(); ++k)
    result.push_back(std::numeric_limits<double>::epsilon() * scales_[k / columns] * norms_of_x[k]);
  return result;
}

bool FreeMotionSearch::is_absurd(std::span<const double> norms_of_x, std::span<const double> norms_of_b) const {
  const std::size_t columns = norms_of_x.size() / scales_.size();
  for (std::size_t k = 0; k < norms_of_x.size(); ++k)
    if (std::isfinite(norms_of_x[k]) && norms_of_b[k] < converged * scales_[k / columns] * norms_of_x[k]) return true;
  return false;
}

bool FreeMotionSearch::is_free(const Vector& x, double tolerance) {
  const double size = backend_.norm(x);
  if (!(size > 0) || !std::isfinite(size)) return false;
  soe_.matrix().apply(x, image_);
  return backend_.norm(image_) < tolerance * scale_ * size;
}

std::vector<double> FreeMotionSearch::find(const Operator* preconditioner, bool flexible, const Vector& b,
                                           const Vector& x, bool thorough) {
  if (is_free(x, failed)) return normalised(x);  // the iterate grew along it
  Vector r = soe_.model().make_vector(), y = soe_.model().make_vector();
  soe_.matrix().apply(x, r);
  backend_.axpby(1.0, b, -1.0, r);
  if (!std::isfinite(backend_.norm(r))) backend_.copy(b, r);
  if (is_free(r, failed)) return normalised(r);  // the residual is all that it cannot reduce
  if (!thorough) return {};
  // Inverse iteration: springs so weak that they hold nothing but what is free, which then moves far.
  const Shifted shifted(backend_, soe_.matrix(), 1e-13 * scale_);
  CgRequest request;
  request.relative_tolerance = 1e-6;
  request.max_iterations = 2000;
  request.keep_history = false;
  request.flexible = flexible;
  backend_.fill(y, 0.0);
  backend_.cg(shifted, preconditioner, r, y, request);
  return is_free(y, failed) ? normalised(y) : std::vector<double>();
}

std::vector<double> FreeMotionSearch::normalised(const Vector& x) const {
  std::vector<double> values = x.to_host();
  const double size = backend_.norm(x);
  for (double& v : values) v /= size;
  return values;
}

}  // namespace voussoir::detail
