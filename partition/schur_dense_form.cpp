// The dense form of SchurComplement: interiors and complements on the devices.
#include <algorithm>
#include <numeric>

#include <voussoir/backends/dense_block_services.hpp>
#include <voussoir/partition/part_threads.hpp>
#include <voussoir/partition/schur_complement.hpp>

namespace voussoir {

void SchurComplement::eliminate_dense(const std::string& part_solver) {
  const Decomposition& decomposition = matrices_.decomposition();
  condensed_ = backend_.service<CondensationServices>().condense(backend_, part_systems(matrices_, threads_));
  for (const int p : condensed_->doubtful()) {
    interior_[static_cast<std::size_t>(p)] = make_part_solver(part_solver);
    factorise(p);
  }
  std::vector<std::vector<std::int32_t>> equations;
  for (int p = 0; p < decomposition.parts(); ++p) {
    const auto places = decomposition.interface_places(p);
    equations.emplace_back(places.begin(), places.end());
  }
  blocks_ = sum_of_blocks(static_cast<std::int64_t>(unknowns()), equations);
  complements_.resize(static_cast<std::size_t>(decomposition.parts()));
  threads_ = 1;
}

std::unique_ptr<Operator> SchurComplement::sum_of_blocks(
    std::int64_t size, const std::vector<std::vector<std::int32_t>>& equations) const {
  auto layout = plain_layout(backend_, size, backend_.devices() > 1);
  if (condensed_->doubtful().empty()) return condensed_->make_block_sum(std::move(layout), equations);
  std::vector<DenseBlock> blocks;
  for (int p = 0; p < condensed_->parts(); ++p)
    blocks.push_back({equations[static_cast<std::size_t>(p)],
                      on_host(p) ? dense_schur_complement(matrices_, p) : condensed_->schur_complement(p)});
  return backend_.service<DenseBlockServices>().make_block_sum(backend_, std::move(layout), blocks);
}

std::vector<double> SchurComplement::multiplied(const Operator& blocks, std::span<const double> x) const {
  Vector in(blocks.layout()), out(blocks.layout());
  in.from_host(x);
  blocks.apply(in, out);
  return out.to_host();
}

void SchurComplement::multiply_part(int part, std::span<const double> x, std::span<double> y) const {
  if (!condensed_ || on_host(part)) return multiply_implicitly(part, x, y);
  // By rows of S_p on the host: the devices multiply all parts at the same time, or none.
  std::vector<double>& complement = complements_[static_cast<std::size_t>(part)];
  if (complement.empty()) complement = condensed_->schur_complement(part);
  const double* row = complement.data();
  for (std::size_t i = 0; i < y.size(); ++i, row += x.size()) y[i] = std::inner_product(x.begin(), x.end(), row, 0.0);
}

void SchurComplement::multiply_parts(std::vector<std::vector<double>>& vectors) const {
  if (!condensed_) {
    for_each_part(decomposition().parts(), threads_, [&](int p) {
      std::vector<double>& own = vectors[static_cast<std::size_t>(p)];
      const std::vector<double> x = own;
      multiply_implicitly(p, x, own);
    });
    return;
  }
  std::vector<double> all;
  for (const auto& own : vectors) all.insert(all.end(), own.begin(), own.end());
  if (all.empty()) return;
  if (!separate_) {
    std::vector<std::vector<std::int32_t>> equations;
    std::int32_t next = 0;
    for (int p = 0; p < decomposition().parts(); ++p) {
      auto& own = equations.emplace_back(decomposition().boundary(p).size());
      for (std::int32_t& e : own) e = next++;
    }
    separate_ = sum_of_blocks(static_cast<std::int64_t>(all.size()), equations);
  }
  const std::vector<double> product = multiplied(*separate_, all);
  auto from = product.begin();
  for (auto& own : vectors) {
    std::copy_n(from, own.size(), own.begin());
    from += static_cast<std::ptrdiff_t>(own.size());
  }
}

std::vector<double> SchurComplement::interior_loads(std::span<const double> f) const {
  std::vector<double> loads;
  for (int p = 0; p < decomposition().parts(); ++p) {
    const auto unknowns = decomposition().unknowns(p);
    for (const std::int32_t i : decomposition().interior(p))
      loads.push_back(f[static_cast<std::size_t>(unknowns[static_cast<std::size_t>(i)])]);
  }
  return loads;
}

void SchurComplement::expand_on_devices(std::span<const double> interface_values, std::span<const double> f,
                                        std::vector<double>& u) const {
  std::vector<double> interior = interior_loads(f), boundary;
  for (int p = 0; p < decomposition().parts(); ++p)
    for (const std::int32_t i : decomposition().interface_places(p))
      boundary.push_back(interface_values[static_cast<std::size_t>(i)]);
  condensed_->recover(interior, boundary);
  std::size_t next = 0;
  for (int p = 0; p < decomposition().parts(); ++p) {
    const auto unknowns = decomposition().unknowns(p);
    for (const std::int32_t i : decomposition().interior(p))
      u[static_cast<std::size_t>(unknowns[static_cast<std::size_t>(i)])] = interior[next++];
  }
}

}  // namespace voussoir
