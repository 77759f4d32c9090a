#include <voussoir/backends/detail/stencil_iteration.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <voussoir/backends/detail/readable_bytes.hpp>
#include <voussoir/backends/error.hpp>

namespace voussoir::detail {

StencilProblem normal_problem(const StencilProblem& problem) {
  check_problem(problem);
  StencilProblem normal = problem;
  for (int a = 0; a < 3; ++a)
    if (normal.nodes[a] == 1 && normal.sides[a][0] == GridSide::neumann && normal.sides[a][1] == GridSide::neumann)
      normal.sides[a] = {GridSide::periodic, GridSide::periodic};
  return normal;
}

PlaneRange plane_range(std::int64_t nz, int device, int devices) {
  return {nz * device / devices, nz * (device + 1) / devices};
}

void check_long_vectors(std::int64_t n, double alpha, std::size_t values) {
  if (n < 1 || n > 1'000'000)
    throw Error(ErrorCode::bad_input,
                "long vectors: a grid of " + std::to_string(n) + " nodes per side; from 1 to 1000000 are possible");
  if (!std::isfinite(alpha))
    throw Error(ErrorCode::bad_input, "long vectors: alpha = time step * diffusivity / spacing² is not finite");
  if (values != static_cast<std::size_t>((n + 2) * (n + 2)))
    throw Error(ErrorCode::bad_input, "long vectors: " + std::to_string(values) + " values for a grid of " +
                                          std::to_string(n) + " nodes per side and its border, which has " +
                                          std::to_string((n + 2) * (n + 2)));
}

namespace {

/// Launches of at most `tile` iterations in a pass of `height`.
std::int64_t launches(int height, int tile) { return (height + tile - 1) / tile; }

void check_weights(std::span<const double> weights) {
  for (std::size_t k = 0; k < weights.size(); ++k)
    if (!std::isfinite(weights[k]))
      throw Error(ErrorCode::bad_input,
                  "iterate: damping factor " + std::to_string(k) + " is " + std::to_string(weights[k]));
}

void check_stencil_options(const StencilOptions& options, int most_tile) {
  const auto refuse = [](const std::string& text) { throw Error(ErrorCode::bad_input, "stencil options: " + text); };
  if (options.height < 0) refuse("the height is " + std::to_string(options.height) + "; give 1 or more, or 0");
  if (options.tile < 0) refuse("the tile is " + std::to_string(options.tile) + "; give 1 or more, or 0");
  if (options.tile > most_tile)
    refuse("the tile is " + std::to_string(options.tile) + "; this backend has at most " + std::to_string(most_tile) +
           " iterations per pass through device memory");
  if (options.slab < 0) refuse("the slab has " + std::to_string(options.slab) + " layers; give 1 or more, or 0");
}

void check_sizes(const StencilProblem& problem, std::size_t u, std::size_t f) {
  const auto expected = static_cast<std::size_t>(problem.size());
  if (u != expected)
    throw Error(ErrorCode::bad_input,
                "stencil: u has " + std::to_string(u) + " values, and the grid " + std::to_string(expected) + " nodes");
  if (f != 0 && f != expected)
    throw Error(ErrorCode::bad_input, "stencil: f has " + std::to_string(f) + " values, and the grid " +
                                          std::to_string(expected) + " nodes; an empty f is no source");
}

/// Sums norms of planes: pairwise, in the order of the planes alone.
StencilNorms sum_planes(std::vector<StencilNorms> planes) {
  for (std::size_t n = planes.size(); n > 1; n = (n + 1) / 2)
    for (std::size_t i = 0; i < (n + 1) / 2; ++i) {
      const StencilNorms a = planes[2 * i];
      if (2 * i + 1 == n) {
        planes[i] = a;
        continue;
      }
      const StencilNorms b = planes[2 * i + 1];
      planes[i] = {std::isnan(a.max) || a.max > b.max ? a.max : b.max, a.l2 + b.l2};
    }
  return {planes[0].max, std::sqrt(planes[0].l2)};
}

/// What grids in memory and streamed ones have in common. A plane is nx × ny numbers.
template <class Real>
class SlabIteration : public StencilIteration<Real> {
 public:
  SlabIteration(std::unique_ptr<StencilMachine<Real>> machine, const StencilProblem& problem,
                const StencilOptions& options, int tile, bool source)
      : problem_(problem), normal_(normal_problem(problem)), source_(source), machine_(std::move(machine)) {
    check_stencil_options(options, machine_->most_tile());
    tile_ = options.tile > 0 ? options.tile : std::min(tile, machine_->most_tile());
    plane_ = normal_.nodes[0] * normal_.nodes[1];
    nz_ = normal_.nodes[2];
    around_ = normal_.sides[2][0] == GridSide::periodic;
    devices_ = static_cast<int>(std::min<std::int64_t>(machine_->devices(), nz_));
    report_.tile = tile_;
  }
  const StencilProblem& problem() const override { return problem_; }
  StencilReport report() const override { return report_; }

 protected:
  PlaneRange range(int device) const { return plane_range(nz_, device, devices_); }
  /// A range of planes without those beyond sides.
  PlaneRange clipped(std::int64_t begin, std::int64_t end) const {
    return around_ ? PlaneRange{begin, end} : PlaneRange{std::max<std::int64_t>(begin, 0), std::min(end, nz_)};
  }
  std::int64_t wrapped(std::int64_t z) const { return ((z % nz_) + nz_) % nz_; }
  int make_planes(int device, std::int64_t planes) {
    report_.device_bytes += static_cast<std::size_t>(planes * plane_) * sizeof(Real);
    return machine_->make_buffer(device, planes * plane_);
  }

  StencilProblem problem_, normal_;
  bool source_ = false;
  std::unique_ptr<StencilMachine<Real>> machine_;
  int tile_ = 1, devices_ = 1;
  std::int64_t plane_ = 0, nz_ = 0;
  bool around_ = false;  ///< whether z is periodic
  StencilReport report_;
};

// ---- in memory ------------------------------------------------------------------------------------------------------

/// Each device has a range of planes and, where there are several devices, halos of `height` planes on both sides.
template <class Real>
class MemoryIteration final : public SlabIteration<Real> {
  using Base = SlabIteration<Real>;
  using Base::around_, Base::devices_, Base::machine_, Base::normal_, Base::nz_, Base::plane_, Base::report_,
      Base::source_, Base::tile_;

 public:
  MemoryIteration(std::unique_ptr<StencilMachine<Real>> machine, const StencilProblem& problem, std::span<const Real> u,
                  std::span<const Real> f, const StencilOptions& options, int tile)
      : Base(std::move(machine), problem, options, tile, !f.empty()) {
    check_sizes(normal_, u.size(), f.size());
    height_ = options.height > 0 ? options.height : static_cast<int>(std::min<std::int64_t>(tile_, nz_));
    if (devices_ > 1 && height_ > nz_)
      throw Error(ErrorCode::bad_input, "stencil options: halos of height " + std::to_string(height_) +
                                            " are thicker than the grid of " + std::to_string(nz_) +
                                            " layers; give a smaller height");
    report_.height = height_;
    const std::int64_t halo = devices_ > 1 ? height_ : 0;
    parts_.resize(static_cast<std::size_t>(devices_));
    for (int d = 0; d < devices_; ++d) {
      Part& part = parts_[static_cast<std::size_t>(d)];
      const PlaneRange own = this->range(d);
      part.planes = own.end - own.begin + 2 * halo;
      // A single device finds the planes beyond periodic sides by going around its ring.
      part.first = devices_ > 1 ? own.begin - halo : -nz_ * (1 + (tile_ + nz_ - 1) / nz_);
      for (int& buffer : part.u) buffer = this->make_planes(d, part.planes);
      if (source_) part.f = this->make_planes(d, part.planes);
    }
    write(u);
    if (source_) {
      for (int d = 0; d < devices_; ++d) {
        Part& part = parts_[static_cast<std::size_t>(d)];
        const PlaneRange there = this->clipped(this->range(d).begin - halo, this->range(d).end + halo);
        for (std::int64_t z = there.begin; z < there.end; ++z)
          machine_->bring(d, part.f, now(d).slot(z) * plane_, f.data() + this->wrapped(z) * plane_, plane_);
        machine_->order(d, StencilLane::compute, StencilLane::in);
      }
      machine_->wait();
    }
  }

  void write(std::span<const Real> u) override {
    check_sizes(normal_, u.size(), 0);
    for (int d = 0; d < devices_; ++d) {
      const PlaneRange own = this->range(d);
      const StencilPlanes to = now(d);
      machine_->order(d, StencilLane::in, StencilLane::compute);
      machine_->bring(d, to.buffer, to.slot(own.begin) * plane_, u.data() + own.begin * plane_,
                      (own.end - own.begin) * plane_);
      machine_->order(d, StencilLane::compute, StencilLane::in);
    }
    machine_->wait();
  }

  void read(std::span<Real> u) override {
    check_sizes(normal_, u.size(), 0);
    for (int d = 0; d < devices_; ++d) {
      const PlaneRange own = this->range(d);
      const StencilPlanes from = now(d);
      machine_->order(d, StencilLane::out, StencilLane::compute);
      machine_->fetch(d, from.buffer, from.slot(own.begin) * plane_, u.data() + own.begin * plane_,
                      (own.end - own.begin) * plane_);
    }
    machine_->wait();
  }

  void iterate(std::span<const double> weights) override {
    check_weights(weights);
    for (std::size_t done = 0; done < weights.size();) {
      const std::size_t count = std::min(weights.size() - done, static_cast<std::size_t>(height_));
      if (devices_ > 1) exchange(static_cast<std::int64_t>(count));
      group(weights.subspan(done, count));
      done += count;
      ++report_.passes;
    }
    report_.iterations += static_cast<std::int64_t>(weights.size());
  }

  StencilNorms residual() override {
    if (devices_ > 1) exchange(1);
    std::vector<StencilNorms> planes(static_cast<std::size_t>(nz_));
    for (int d = 0; d < devices_; ++d) {
      const PlaneRange own = this->range(d);
      StencilPass pass = pass_of(d, own.begin, own.end);
      machine_->residual(d, pass,
                         std::span(planes).subspan(static_cast<std::size_t>(own.begin),
                                                   static_cast<std::size_t>(own.end - own.begin)));
    }
    return sum_planes(std::move(planes));
  }

 private:
  struct Part {
    int u[2] = {-1, -1};
    int f = -1;
    std::int64_t first = 0, planes = 0;
  };

  StencilPlanes now(int d) const {
    const Part& part = parts_[static_cast<std::size_t>(d)];
    return {part.u[turn_], part.first, part.planes};
  }
  StencilPass pass_of(int d, std::int64_t begin, std::int64_t end) const {
    const Part& part = parts_[static_cast<std::size_t>(d)];
    StencilPass pass;
    pass.problem = &normal_;
    pass.in = now(d);
    pass.out = {part.u[1 - turn_], part.first, part.planes};
    pass.f = {part.f, part.first, part.planes};
    pass.begin = begin;
    pass.end = end;
    return pass;
  }

  /// Iterations between two exchanges of halos: planes in the halos are computed on both sides, fewer each time.
  void group(std::span<const double> weights) {
    for (std::size_t done = 0; done < weights.size();) {
      const std::size_t count = std::min(weights.size() - done, static_cast<std::size_t>(tile_));
      done += count;
      const auto beyond = devices_ > 1 ? static_cast<std::int64_t>(weights.size() - done) : 0;
      for (int d = 0; d < devices_; ++d) {
        const PlaneRange own = this->range(d), out = this->clipped(own.begin - beyond, own.end + beyond);
        StencilPass pass = devices_ > 1 ? pass_of(d, out.begin, out.end) : pass_of(d, own.begin, own.end);
        pass.weights = weights.subspan(done - count, count);
        machine_->advance(d, pass);
        report_.updates += static_cast<std::int64_t>(count) * (pass.end - pass.begin) * plane_;
      }
      turn_ = 1 - turn_;
    }
  }

  /// Halos of `depth` planes, run by run from the devices that own them.
  void exchange(std::int64_t depth) {
    for (int d = 0; d < devices_; ++d) {
      const PlaneRange own = this->range(d);
      const PlaneRange below = this->clipped(own.begin - depth, own.begin);
      const PlaneRange above = this->clipped(own.end, own.end + depth);
      for (const PlaneRange& halo : {below, above})
        for (std::int64_t z = halo.begin; z < halo.end;) z += bring_run(d, z, halo.end);
    }
  }
  std::int64_t bring_run(int d, std::int64_t z, std::int64_t end) {
    const std::int64_t source = this->wrapped(z);
    int owner = 0;
    while (source >= this->range(owner).end) ++owner;
    const std::int64_t count = std::min(end - z, this->range(owner).end - source);
    const StencilPlanes to = now(d), from = now(owner);
    machine_->copy(d, to.buffer, to.slot(z) * plane_, owner, from.buffer, from.slot(source) * plane_, count * plane_);
    if (owner != d) report_.bytes_between += count * plane_ * static_cast<std::int64_t>(sizeof(Real));
    return count;
  }

  int height_ = 1;
  int turn_ = 0;
  std::vector<Part> parts_;
};

// ---- streamed -------------------------------------------------------------------------------------------------------

/// Numbers of planes that a device holds for slabs that return `layers` planes after `height` iterations.
struct SlabPlanes {
  std::int64_t ring, work, works, out;
  SlabPlanes(std::int64_t layers, int height, int tile)
      : ring(2 * layers + 2 * std::int64_t{height}),
        work(layers + 2 * std::max<std::int64_t>(0, height - tile)),
        works(std::min<std::int64_t>(2, launches(height, tile) - 1)),
        out(2 * layers) {}
  std::int64_t all(bool source) const { return ring * (source ? 2 : 1) + works * work + out; }
};

/// The grid lies in host memory. Every device has a range of planes; it works on them slab by slab, from below. A ring
/// has the planes of the slab, with overlaps, and those that the next slab needs in addition, which arrive meanwhile.
/// The planes beyond the range of a device are saved before a pass, since others change them.
template <class Real>
class StreamedIteration final : public SlabIteration<Real> {
  using Base = SlabIteration<Real>;
  using Base::around_, Base::devices_, Base::machine_, Base::normal_, Base::nz_, Base::plane_, Base::report_,
      Base::source_, Base::tile_;

 public:
  StreamedIteration(std::unique_ptr<StencilMachine<Real>> machine, const StencilProblem& problem, std::span<Real> u,
                    std::span<const Real> f, const StencilOptions& options, int tile)
      : Base(std::move(machine), problem, options, tile, !f.empty()), u_(u), f_(f) {
    check_sizes(normal_, u.size(), f.size());
    choose(options);
    const SlabPlanes planes(layers_, height_, tile_);
    parts_.resize(static_cast<std::size_t>(devices_));
    for (int d = 0; d < devices_; ++d) {
      Part& part = parts_[static_cast<std::size_t>(d)];
      part.ring = this->make_planes(d, planes.ring);
      if (source_) part.f = this->make_planes(d, planes.ring);
      for (std::int64_t w = 0; w < planes.works; ++w) part.work[w] = this->make_planes(d, planes.work);
      part.out = this->make_planes(d, planes.out);
      const PlaneRange own = this->range(d);
      if (around_ || own.begin > 0) part.below = machine_->host_buffer(height_ * plane_);
      if (around_ || own.end < nz_) part.above = machine_->host_buffer(height_ * plane_);
    }
    report_.pinned = machine_->pin(u.data(), static_cast<std::int64_t>(u.size()));
    if (source_) report_.pinned &= machine_->pin(f.data(), static_cast<std::int64_t>(f.size()));
  }
  ~StreamedIteration() override {
    try {
      machine_->wait();       // after an error, copies may still be under way
    } catch (const Error&) {  // reported by the call that started the work
    }
  }
  StreamedIteration(const StreamedIteration&) = delete;
  StreamedIteration& operator=(const StreamedIteration&) = delete;

  void iterate(std::span<const double> weights) override {
    check_weights(weights);
    for (std::size_t done = 0; done < weights.size();) {
      const std::size_t count = std::min(weights.size() - done, static_cast<std::size_t>(height_));
      pass(weights.subspan(done, count));
      done += count;
      ++report_.passes;
    }
    report_.iterations += static_cast<std::int64_t>(weights.size());
  }

  StencilNorms residual() override {
    std::vector<StencilNorms> planes(static_cast<std::size_t>(nz_));
    const StencilReport before = report_;
    const double none = 1;
    save_overlaps(1);
    stream(std::span(&none, 1), [&](int d, const Slab& slab) {
      StencilPass pass = first_pass(d, slab);
      machine_->residual(d, pass,
                         std::span(planes).subspan(static_cast<std::size_t>(slab.begin),
                                                   static_cast<std::size_t>(slab.end - slab.begin)));
    });
    machine_->wait();
    report_ = before;
    return sum_planes(std::move(planes));
  }

  void read(std::span<Real> u) override {
    check_sizes(normal_, u.size(), 0);
    if (u.data() != u_.data()) std::copy(u_.begin(), u_.end(), u.begin());
  }
  void write(std::span<const Real> u) override {
    check_sizes(normal_, u.size(), 0);
    if (u.data() != u_.data()) std::copy(u.begin(), u.end(), u_.begin());
  }

 private:
  struct Part {
    int ring = -1, f = -1, work[2] = {-1, -1}, out = -1;
    std::shared_ptr<Real> below, above;  ///< planes of others, as they are before a pass
    std::int64_t brought = 0;            ///< planes up to this one are in the ring
  };
  struct Slab {
    std::int64_t number, begin, end;  ///< planes that it returns
  };

  void choose(const StencilOptions& options) {
    std::size_t budget = options.device_bytes;
    if (budget == 0) {
      budget = machine_->free_bytes(0) / 4 * 3;
      for (int d = 1; d < devices_; ++d) budget = std::min(budget, machine_->free_bytes(d) / 4 * 3);
    }
    const auto bytes = [&](std::int64_t layers, int height) {
      return static_cast<std::size_t>(SlabPlanes(layers, height, tile_).all(source_) * plane_) * sizeof(Real);
    };
    std::int64_t most = 0;  // planes of the largest range
    for (int d = 0; d < devices_; ++d) most = std::max(most, this->range(d).end - this->range(d).begin);
    height_ = options.height;
    if (height_ == 0) {  // as high as leaves slabs of four heights, which repeat a quarter of the work
      height_ = 1;
      while (height_ < std::min<std::int64_t>(64, nz_) &&
             bytes(std::min<std::int64_t>(most, 4 * (height_ + 1)), height_ + 1) <= budget)
        ++height_;
    }
    if (height_ > nz_)
      throw Error(ErrorCode::bad_input, "stencil options: the height " + std::to_string(height_) +
                                            " exceeds the grid of " + std::to_string(nz_) +
                                            " layers; give a smaller one, or 0");
    if (options.slab > 0) {
      layers_ = options.slab - 2 * std::int64_t{height_};
      if (layers_ < 1)
        throw Error(ErrorCode::bad_input, "stencil options: a slab of " + std::to_string(options.slab) +
                                              " layers returns none after " + std::to_string(height_) +
                                              " iterations; it needs at least " + std::to_string(2 * height_ + 1));
      layers_ = std::min(layers_, most);
    } else {
      // Large slabs repeat less work. Where copies hide behind work, only those of the first slab in and of the last
      // one out do not, and small slabs are better as long as copies take longer than the work.
      const std::int64_t wanted =
          machine_->overlaps_copies() ? std::min(most, std::max<std::int64_t>(8, 2 * std::int64_t{height_})) : most;
      layers_ = 1;
      for (std::int64_t step = wanted; step > 0; step /= 2)
        while (layers_ + step <= wanted && bytes(layers_ + step, height_) <= budget) layers_ += step;
    }
    if (bytes(layers_, height_) > budget)
      throw Error(ErrorCode::bad_input, "stencil options: slabs of " + std::to_string(layers_ + 2 * height_) +
                                            " layers and height " + std::to_string(height_) + " take " +
                                            readable_bytes(bytes(layers_, height_)) +
                                            " on a device, and the budget is " + readable_bytes(budget) +
                                            "; allow more, or give a smaller height or slab");
    report_.height = height_;
    report_.slab = layers_ + 2 * height_;
  }

  void save_overlaps(std::int64_t depth) {
    for (int d = 0; d < devices_; ++d) {
      const Part& part = parts_[static_cast<std::size_t>(d)];
      const PlaneRange own = this->range(d);
      const auto save = [&](const std::shared_ptr<Real>& to, std::int64_t begin, std::int64_t end, std::int64_t first) {
        const PlaneRange there = this->clipped(begin, end);
        for (std::int64_t z = there.begin; z < there.end; ++z)
          std::copy_n(u_.data() + this->wrapped(z) * plane_, plane_, to.get() + (z - first) * plane_);
      };
      if (part.below) save(part.below, own.begin - depth, own.begin, own.begin - height_);
      if (part.above) save(part.above, own.end, own.end + depth, own.end);
    }
  }

  /// Brings the planes up to `end` to the ring.
  void bring(int d, std::int64_t end) {
    Part& part = parts_[static_cast<std::size_t>(d)];
    const PlaneRange own = this->range(d);
    const StencilPlanes ring = ring_of(d, part.ring);
    while (part.brought < end) {
      // A run is contiguous in the ring and in each array of the host.
      const std::int64_t z = part.brought, slot = ring.slot(z);
      std::int64_t count = std::min(end - z, ring.count - slot);
      const Real* from;
      if (z < own.begin) {
        from = part.below.get() + (z - (own.begin - height_)) * plane_;
        count = std::min(count, own.begin - z);
      } else if (z < own.end) {
        from = u_.data() + z * plane_;
        count = std::min(count, own.end - z);
      } else {
        from = part.above.get() + (z - own.end) * plane_;
      }
      if (source_) count = std::min(count, nz_ - this->wrapped(z));
      machine_->bring(d, part.ring, slot * plane_, from, count * plane_);
      if (source_) machine_->bring(d, part.f, slot * plane_, f_.data() + this->wrapped(z) * plane_, count * plane_);
      report_.bytes_in += count * plane_ * static_cast<std::int64_t>(sizeof(Real)) * (source_ ? 2 : 1);
      part.brought += count;
    }
  }

  StencilPlanes ring_of(int d, int buffer) const {
    return {buffer, this->range(d).begin - height_, 2 * (layers_ + height_)};
  }
  /// Reads the ring; where its results go and its weights are not set yet.
  StencilPass first_pass(int d, const Slab& slab) const {
    const Part& part = parts_[static_cast<std::size_t>(d)];
    StencilPass pass;
    pass.problem = &normal_;
    pass.in = ring_of(d, part.ring);
    pass.f = ring_of(d, part.f);
    pass.begin = slab.begin;
    pass.end = slab.end;
    return pass;
  }

  /// Calls work(device, slab) for all slabs, the devices in turn, while the planes of the next slab arrive.
  template <class Work>
  void stream(std::span<const double> weights, Work&& work) {
    const auto height = static_cast<std::int64_t>(weights.size());
    const auto slab_of = [&](int d, std::int64_t number) {
      const PlaneRange own = this->range(d);
      const std::int64_t begin = std::min(own.end, own.begin + number * layers_);
      return Slab{number, begin, std::min(own.end, begin + layers_)};
    };
    const auto needed = [&](const Slab& slab) { return this->clipped(0, slab.end + height).end; };
    for (int d = 0; d < devices_; ++d) {
      parts_[static_cast<std::size_t>(d)].brought = this->clipped(this->range(d).begin - height, nz_).begin;
      bring(d, needed(slab_of(d, 0)));
    }
    bool more = true;
    for (std::int64_t number = 0; more; ++number) {
      more = false;
      for (int d = 0; d < devices_; ++d) {
        const Slab slab = slab_of(d, number), next = slab_of(d, number + 1);
        if (slab.begin == slab.end) continue;
        machine_->order(d, StencilLane::compute, StencilLane::in);
        if (next.begin < next.end) {
          more = true;
          machine_->order(d, StencilLane::in, StencilLane::compute);  // the slab before is done: its planes may go
          bring(d, needed(next));
        }
        work(d, slab);
        ++report_.slabs;
      }
    }
  }

  void pass(std::span<const double> weights) {
    save_overlaps(static_cast<std::int64_t>(weights.size()));
    stream(weights, [&](int d, const Slab& slab) { climb(d, slab, weights); });
    machine_->wait();
  }

  /// All iterations of a slab, and its way back to the host.
  void climb(int d, const Slab& slab, std::span<const double> weights) {
    const Part& part = parts_[static_cast<std::size_t>(d)];
    const std::int64_t out_first = slab.begin, at = (slab.number % 2) * layers_;
    StencilPass pass = first_pass(d, slab);
    int turn = 0;
    for (std::size_t done = 0; done < weights.size(); turn = 1 - turn) {
      const std::size_t count = std::min(weights.size() - done, static_cast<std::size_t>(tile_));
      pass.weights = weights.subspan(done, count);
      done += count;
      const auto beyond = static_cast<std::int64_t>(weights.size() - done);
      const PlaneRange out = this->clipped(slab.begin - beyond, slab.end + beyond);
      pass.begin = out.begin;
      pass.end = out.end;
      if (beyond > 0)
        pass.out = {part.work[turn], slab.begin - std::max<std::int64_t>(0, height_ - tile_),
                    layers_ + 2 * std::max<std::int64_t>(0, height_ - tile_)};
      else  // the half of the buffer whose turn it is
        pass.out = {part.out, out_first - at, 2 * layers_};
      machine_->advance(d, pass);
      report_.updates += static_cast<std::int64_t>(count) * (pass.end - pass.begin) * plane_;
      pass.in = pass.out;
    }
    // The next slab but one writes to the same half: what was asked of `out` so far is the slab before, and earlier.
    machine_->order(d, StencilLane::compute, StencilLane::out);
    machine_->order(d, StencilLane::out, StencilLane::compute);
    machine_->fetch(d, part.out, at * plane_, u_.data() + slab.begin * plane_, (slab.end - slab.begin) * plane_);
    report_.bytes_out += (slab.end - slab.begin) * plane_ * static_cast<std::int64_t>(sizeof(Real));
  }

  std::span<Real> u_;
  std::span<const Real> f_;
  int height_ = 1;
  std::int64_t layers_ = 1;  ///< planes that a slab returns
  std::vector<Part> parts_;
};

}  // namespace

std::size_t slab_bytes(const StencilProblem& problem, std::int64_t slab, int height, int tile, bool source,
                       int real_bytes) {
  const std::int64_t layers = slab - 2 * std::int64_t{height};
  if (height < 1 || layers < 1 || (real_bytes != 4 && real_bytes != 8))
    throw Error(ErrorCode::bad_input, "slab_bytes: slabs of " + std::to_string(slab) + " layers and height " +
                                          std::to_string(height) + " with numbers of " + std::to_string(real_bytes) +
                                          " bytes; a slab has more than two heights, and numbers have 4 or 8 bytes");
  return static_cast<std::size_t>(SlabPlanes(layers, height, tile).all(source) * problem.nodes[0] * problem.nodes[1] *
                                  real_bytes);
}

template <class Real>
std::unique_ptr<StencilIteration<Real>> make_memory_iteration(std::unique_ptr<StencilMachine<Real>> machine,
                                                              const StencilProblem& problem, std::span<const Real> u,
                                                              std::span<const Real> f, const StencilOptions& options,
                                                              int tile) {
  return std::make_unique<MemoryIteration<Real>>(std::move(machine), problem, u, f, options, tile);
}
template <class Real>
std::unique_ptr<StencilIteration<Real>> make_streamed_iteration(std::unique_ptr<StencilMachine<Real>> machine,
                                                                const StencilProblem& problem, std::span<Real> u,
                                                                std::span<const Real> f, const StencilOptions& options,
                                                                int tile) {
  return std::make_unique<StreamedIteration<Real>>(std::move(machine), problem, u, f, options, tile);
}

#define VSR_INSTANTIATE(Real)                                                                                     \
  template std::unique_ptr<StencilIteration<Real>> make_memory_iteration(                                         \
      std::unique_ptr<StencilMachine<Real>>, const StencilProblem&, std::span<const Real>, std::span<const Real>, \
      const StencilOptions&, int);                                                                                \
  template std::unique_ptr<StencilIteration<Real>> make_streamed_iteration(                                       \
      std::unique_ptr<StencilMachine<Real>>, const StencilProblem&, std::span<Real>, std::span<const Real>,       \
      const StencilOptions&, int);
VSR_INSTANTIATE(double)
VSR_INSTANTIATE(float)
#undef VSR_INSTANTIATE

}  // namespace voussoir::detail
