#include <voussoir/solvers/matrix_system.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>

#include <voussoir/framework/domain/host_element.hpp>
#include <voussoir/solvers/given_soe.hpp>

namespace voussoir {
namespace {

/// Says which unknowns a matrix couples; its own matrix is never assembled.
class MatrixPattern final : public HostElement {
 public:
  MatrixPattern(int nodes, std::vector<std::string> names, bool symmetric)
      : nodes_(nodes), names_(std::move(names)), symmetric_(symmetric) {}
  int nodes() const override { return nodes_; }
  std::vector<std::string> unknown_names() const override { return names_; }
  bool symmetric() const override { return symmetric_; }
  bool linear() const override { return true; }
  void tangent(const HostElementData&, std::span<double> matrix) const override {
    const std::size_t dofs = static_cast<std::size_t>(nodes_) * names_.size();
    for (std::size_t i = 0; i < dofs; ++i) matrix[i * dofs + i] = 1;
    if (!symmetric_) matrix[dofs - 1] = 0.5;
  }

 private:
  int nodes_;
  std::vector<std::string> names_;
  bool symmetric_;
};

/// The name of the element type for these unknowns, registered at its first use.
std::string pattern_type(int nodes, const std::vector<std::string>& names, bool symmetric) {
  std::string type = symmetric ? (nodes == 1 ? "matrix_row" : "matrix_link")
                               : (nodes == 1 ? "matrix_one_way_row" : "matrix_one_way_link");
  for (const std::string& name : names) type += "." + name;
  static std::mutex guard;
  static auto* const known = new std::map<std::string, std::shared_ptr<const MatrixPattern>>;
  const std::lock_guard lock(guard);
  auto& element = (*known)[type];
  if (!element) element = std::make_shared<MatrixPattern>(nodes, names, symmetric);
  register_host_element(type, "", element);
  return type;
}

/// Representatives of the sets of nodes that links have joined so far.
class JoinedNodes {
 public:
  explicit JoinedNodes(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  /// Whether they were in different sets.
  bool join(std::int32_t a, std::int32_t b) {
    a = root(a);
    b = root(b);
    if (a == b) return false;
    parent_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    return true;
  }

 private:
  std::int32_t root(std::int32_t a) {
    while (parent_[static_cast<std::size_t>(a)] != a) {
      auto& up = parent_[static_cast<std::size_t>(a)];
      up = parent_[static_cast<std::size_t>(up)];
      a = up;
    }
    return a;
  }
  std::vector<std::int32_t> parent_;
};

std::string row_label(std::int64_t row) { return "row " + std::to_string(row + 1); }

/// The entry (row, column), or null.
const double* entry(const HostMatrix& rows, std::size_t row, std::int32_t column) {
  const auto first = rows.column.begin() + rows.row_start[row], last = rows.column.begin() + rows.row_start[row + 1];
  const auto at = std::lower_bound(first, last, column);
  return at != last && *at == column ? &rows.value[static_cast<std::size_t>(at - rows.column.begin())] : nullptr;
}

void check_unknowns(const MatrixUnknowns& unknowns, std::size_t rows) {
  const std::size_t nodes = unknowns.coordinates.size() / 3, names = unknowns.names.size();
  const auto wrong = [](const std::string& text) { throw Error(ErrorCode::misuse, text, "MatrixUnknowns"); };
  if (unknowns.node.size() != rows || unknowns.component.size() != rows)
    wrong("a node and a component are needed for each of " + std::to_string(rows) + " rows");
  if (unknowns.coordinates.size() % 3 != 0) wrong("the number of coordinates is no multiple of 3");
  std::vector<char> used(nodes * names, 0), has_row(nodes, 0);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto node = static_cast<std::size_t>(unknowns.node[i]),
               name = static_cast<std::size_t>(unknowns.component[i]);
    if (unknowns.node[i] < 0 || node >= nodes || unknowns.component[i] < 0 || name >= names)
      wrong(row_label(static_cast<std::int64_t>(i)) + " has a node or a component that does not exist");
    if (used[node * names + name]++) wrong(row_label(static_cast<std::int64_t>(i)) + " has the unknown of another row");
    has_row[node] = 1;
  }
  if (std::find(has_row.begin(), has_row.end(), 0) != has_row.end()) wrong("a node has no row");
}

}  // namespace

MatrixUnknowns MatrixUnknowns::plain(std::int64_t rows) {
  MatrixUnknowns unknowns;
  unknowns.names = {"x"};
  unknowns.node.resize(static_cast<std::size_t>(rows));
  std::iota(unknowns.node.begin(), unknowns.node.end(), 0);
  unknowns.component.assign(static_cast<std::size_t>(rows), 0);
  unknowns.coordinates.assign(3 * static_cast<std::size_t>(rows), 0.0);
  return unknowns;
}

bool is_symmetric(const HostMatrix& rows) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows.block_rows()); ++i)
    for (auto k = rows.row_start[i]; k < rows.row_start[i + 1]; ++k) {
      const double value = rows.value[static_cast<std::size_t>(k)];
      const double* other =
          entry(rows, static_cast<std::size_t>(rows.column[static_cast<std::size_t>(k)]), static_cast<std::int32_t>(i));
      if ((other ? *other : 0.0) != value) return false;
    }
  return true;
}

void check_rows(const HostMatrix& rows, MatrixSystem::Symmetry symmetry) {
  if (rows.block_size != 1 || rows.row_start.empty() || rows.row_start.front() != 0 ||
      rows.row_start.back() != static_cast<std::int64_t>(rows.column.size()) || rows.value.size() != rows.column.size())
    throw Error(ErrorCode::bad_input,
                "the arrays of the matrix do not fit together: it needs block size 1, a start for "
                "each row, and a column and a value for each entry");
  const std::int64_t n = rows.block_rows();
  for (std::int64_t i = 0; i < n; ++i) {
    const auto first = rows.row_start[static_cast<std::size_t>(i)],
               last = rows.row_start[static_cast<std::size_t>(i) + 1];
    if (last < first || last > rows.row_start.back())
      throw Error(ErrorCode::bad_input, "the row ends before it begins", row_label(i));
    for (auto k = first; k < last; ++k) {
      const std::int32_t column = rows.column[static_cast<std::size_t>(k)];
      if (column < 0 || column >= n || (k > first && column <= rows.column[static_cast<std::size_t>(k) - 1]))
        throw Error(ErrorCode::bad_input, "its columns do not ascend, or the matrix does not have them", row_label(i));
      if (!std::isfinite(rows.value[static_cast<std::size_t>(k)]))
        throw Error(ErrorCode::not_finite, "an entry is not finite", row_label(i));
    }
  }
  if (symmetry == MatrixSystem::Symmetry::unsymmetric) return;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
    for (auto k = rows.row_start[i]; k < rows.row_start[i + 1]; ++k) {
      const auto j = static_cast<std::size_t>(rows.column[static_cast<std::size_t>(k)]);
      if (j == i) continue;
      const double value = rows.value[static_cast<std::size_t>(k)];
      const double *other = entry(rows, j, static_cast<std::int32_t>(i)),
                   *own = entry(rows, i, static_cast<std::int32_t>(i)),
                   *its = entry(rows, j, static_cast<std::int32_t>(j));
      const double size = std::sqrt(std::abs((own ? *own : 0.0) * (its ? *its : 0.0)));
      if (std::abs((other ? *other : 0.0) - value) > 1e-10 * std::max(size, std::abs(value)))
        throw Error(ErrorCode::bad_input,
                    "the matrix is not symmetric: it differs from its transpose in column " + std::to_string(j + 1),
                    row_label(static_cast<std::int64_t>(i)));
    }
}

void MatrixSystem::build_domain(const HostMatrix& rows, Symmetry symmetry, const MatrixUnknowns& unknowns,
                                bool every_link) {
  domain_ = std::make_unique<Domain>();
  domain_->add_nodes({}, unknowns.coordinates);
  const auto nodes = static_cast<std::int32_t>(unknowns.coordinates.size() / 3);
  ElementBlock& points = domain_->add_block("rows", pattern_type(1, unknowns.names, symmetry == Symmetry::symmetric));
  Id id = 0;
  for (Id node = 1; node <= nodes; ++node) points.add(++id, {node});
  // Links tell solvers which rows form a system of their own; several devices also need to know all neighbours.
  std::vector<std::pair<std::int32_t, std::int32_t>> links;
  JoinedNodes joined(static_cast<std::size_t>(nodes));
  for (std::size_t i = 0; i + 1 < rows.row_start.size(); ++i)
    for (auto k = rows.row_start[i]; k < rows.row_start[i + 1]; ++k) {
      const std::int32_t a = unknowns.node[i],
                         b = unknowns.node[static_cast<std::size_t>(rows.column[static_cast<std::size_t>(k)])];
      if (a == b) continue;
      if (joined.join(a, b) || every_link) links.emplace_back(std::min(a, b), std::max(a, b));
    }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  if (!links.empty()) {
    ElementBlock& block = domain_->add_block("links", pattern_type(2, unknowns.names, symmetry == Symmetry::symmetric));
    for (const auto& [a, b] : links) block.add(++id, {Id{a} + 1, Id{b} + 1});
  }
  std::vector<char> has(static_cast<std::size_t>(nodes) * unknowns.names.size(), 0);
  for (std::size_t i = 0; i < unknowns.node.size(); ++i)
    has[static_cast<std::size_t>(unknowns.node[i]) * unknowns.names.size() +
        static_cast<std::size_t>(unknowns.component[i])] = 1;
  for (std::size_t at = 0; at < has.size(); ++at)
    if (!has[at])
      domain_->prescribe_at(static_cast<Id>(at / unknowns.names.size()) + 1,
                            unknowns.names[at % unknowns.names.size()]);
}

MatrixSystem::MatrixSystem(std::shared_ptr<Backend> backend, const HostMatrix& rows, Symmetry symmetry)
    : MatrixSystem(std::move(backend), rows, symmetry, MatrixUnknowns::plain(rows.block_rows())) {}

MatrixSystem::MatrixSystem(std::shared_ptr<Backend> backend, const HostMatrix& rows, Symmetry symmetry,
                           const MatrixUnknowns& unknowns) {
  check_rows(rows, symmetry);
  if (rows.block_rows() == 0) throw Error(ErrorCode::bad_input, "the matrix has no rows");
  check_unknowns(unknowns, static_cast<std::size_t>(rows.block_rows()));
  build_domain(rows, symmetry, unknowns, backend->devices() > 1);
  model_ = std::make_unique<AnalysisModel>(*domain_, backend, EliminationHandler(), PlainNumberer());
  std::vector<std::int32_t> row_of(static_cast<std::size_t>(model_->equation_count()), -1);
  for (std::size_t i = 0; i < unknowns.node.size(); ++i) {
    const std::int32_t e =
        model_->equation(unknowns.node[i], unknowns.names[static_cast<std::size_t>(unknowns.component[i])]);
    equation_.push_back(e);
    row_of[static_cast<std::size_t>(e)] = static_cast<std::int32_t>(i);
  }
  HostMatrix host;
  host.row_start.push_back(0);
  std::vector<std::pair<std::int32_t, double>> sorted;
  for (std::size_t e = 0; e < row_of.size(); ++e) {
    sorted.clear();
    if (row_of[e] < 0) {
      sorted.emplace_back(static_cast<std::int32_t>(e), 1.0);
    } else {
      const auto row = static_cast<std::size_t>(row_of[e]);
      bool diagonal = false;
      for (auto k = rows.row_start[row]; k < rows.row_start[row + 1]; ++k) {
        sorted.emplace_back(equation_[static_cast<std::size_t>(rows.column[static_cast<std::size_t>(k)])],
                            rows.value[static_cast<std::size_t>(k)]);
        diagonal = diagonal || static_cast<std::size_t>(sorted.back().first) == e;
      }
      if (!diagonal) sorted.emplace_back(static_cast<std::int32_t>(e), 0.0);
      std::sort(sorted.begin(), sorted.end());
    }
    for (const auto& [column, value] : sorted) {
      host.column.push_back(column);
      host.value.push_back(value);
    }
    host.row_start.push_back(static_cast<std::int64_t>(host.column.size()));
  }
  soe_ =
      std::make_unique<GivenSOE>(backend->service<MatrixServices>().make_matrix(model_->device_model().layout(), host));
  soe_->set_model(*model_);
  soe_->take();
}

MatrixSystem::~MatrixSystem() = default;
LinearSOE& MatrixSystem::soe() { return *soe_; }

SolveReport MatrixSystem::solve(Solver& solver, std::span<const double> b, std::span<double> x, int columns) {
  const std::size_t n = equation_.size(), count = static_cast<std::size_t>(std::max(columns, 0));
  if (columns < 1 || b.size() != n * count || x.size() != n * count)
    throw Error(ErrorCode::misuse, "right-hand sides and solutions of " + std::to_string(columns) + " columns need " +
                                       std::to_string(n) + " numbers each per column");
  soe_->set_columns(columns);
  const auto all = static_cast<std::size_t>(model_->equation_count());
  std::vector<double> load(all * count, 0.0), start(all * count, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < count; ++c) {
      load[static_cast<std::size_t>(equation_[i]) * count + c] = b[c * n + i];
      start[static_cast<std::size_t>(equation_[i]) * count + c] = x[c * n + i];
    }
  soe_->b().from_host(load);
  soe_->x().from_host(start);
  SolveReport report = solver.solve(*soe_);
  soe_->x().to_host(start);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < count; ++c) x[c * n + i] = start[static_cast<std::size_t>(equation_[i]) * count + c];
  return report;
}

void MatrixSystem::apply(const Operator& m, std::span<const double> x, std::span<double> y) {
  const std::size_t n = equation_.size();
  if (x.size() != n || y.size() != n)
    throw Error(ErrorCode::misuse, "the vectors need " + std::to_string(n) + " numbers each");
  Vector in = model_->make_vector(), out = model_->make_vector();
  std::vector<double> all(static_cast<std::size_t>(model_->equation_count()), 0.0);
  for (std::size_t i = 0; i < n; ++i) all[static_cast<std::size_t>(equation_[i])] = x[i];
  in.from_host(all);
  m.apply(in, out);
  out.to_host(all);
  for (std::size_t i = 0; i < n; ++i) y[i] = all[static_cast<std::size_t>(equation_[i])];
}

}  // namespace voussoir
