#include <voussoir/partition/decomposition_options.hpp>

#include <algorithm>
#include <charconv>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/element_costs.hpp>
#include <voussoir/partition/part_solver.hpp>
#include <voussoir/partition/partitioners.hpp>
#include <voussoir/solvers/direct/host_system.hpp>

namespace voussoir {
namespace {

int whole_number(const std::string& key, const std::string& value, int least, const std::string& where) {
  int number = 0;
  const char* const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number < least || number > 1000000)
    throw Error(ErrorCode::bad_input,
                key + "=" + value + " is not a whole number from " + std::to_string(least) + " to 1000000", where);
  return number;
}

double positive_number(const std::string& key, const std::string& value, const std::string& where) {
  double number = 0;
  const char* const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || !(number > 0) || !(number <= 1e6))
    throw Error(ErrorCode::bad_input, key + "=" + value + " is not a number above 0, up to 1e6", where);
  return number;
}

std::string one_of(const std::string& key, const std::string& value, std::initializer_list<const char*> names,
                   const std::string& where) {
  std::string list;
  for (const char* name : names) {
    if (value == name) return value;
    list += std::string(list.empty() ? "" : ", ") + name;
  }
  throw Error(ErrorCode::bad_input, key + "=" + value + " does not exist; choose one of " + list, where);
}

void set_option(DecompositionOptions& options, const std::string& key, const std::string& value,
                const std::string& where) {
  if (key == "parts") options.parts = whole_number(key, value, 1, where);
  if (key == "overlap") options.overlap = whole_number(key, value, 0, where);
  if (key == "cut") {
    make_partitioner(value);
    options.cut = value;
  }
  if (key == "solver") {
    make_part_solver(value);
    options.part_solver = value;
  }
  if (key == "interior") options.interiors = interiors_by_name(value, where);
  if (key == "schur") options.schur = one_of(key, value, {"implicit", "explicit", "auto"}, where);
  if (key == "weights") {
    one_of(key, value, {"stiffness", "multiplicity"}, where);
    options.weighting = value == "stiffness" ? Weighting::stiffness : Weighting::multiplicity;
  }
  if (key == "primal") options.primal = one_of(key, value, {"c", "ce", "cf", "cef", "ef", "e", "f"}, where);
  if (key == "coarse") options.coarse = one_of(key, value, {"rigid", "geneo"}, where);
  if (key == "threshold") options.threshold = positive_number(key, value, where);
  if (key == "with") options.interface_preconditioner = one_of(key, value, {"bddc", "nn", "jacobi", "none"}, where);
}

}  // namespace

DecompositionOptions DecompositionOptions::parse(const std::string& text, std::initializer_list<std::string_view> keys,
                                                 const std::string& where) {
  DecompositionOptions options;
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string item = text.substr(from, comma - from);
    from = comma + 1;
    const std::size_t equals = item.find('=');
    const std::string key = item.substr(0, equals);
    if (equals == std::string::npos || std::find(keys.begin(), keys.end(), key) == keys.end()) {
      std::string list;
      for (const std::string_view k : keys) list += (list.empty() ? "" : ", ") + std::string(k) + "=…";
      throw Error(ErrorCode::bad_input, "there is no option '" + item + "'; there are " + list, where);
    }
    set_option(options, key, item.substr(equals + 1), where);
  }
  return options;
}

Partition make_partition(const AnalysisModel& model, const DecompositionOptions& options) {
  int parts = options.parts;
  if (parts == 0) {
    const auto elements = static_cast<int>(std::min<std::int64_t>(model.domain().element_count(), 64));
    parts = std::min(elements, std::clamp(model.free_equation_count() / 2000, 2, 64));
  }
  return DomainPartitioner(model.domain())
      .cut_equations()
      .set_weights(element_costs(model.domain()))
      .partition(*make_partitioner(options.cut), std::max(1, parts));
}

namespace {

/// The stored or assembled matrix of a system, for which `take` is called with the unknown of each equation, or −1.
template <class Take>
auto taken_matrix(const LinearSOE& soe, const Decomposition& decomposition, const std::string& where, Take&& take) {
  std::vector<std::int32_t> place(static_cast<std::size_t>(soe.model().equation_count()));
  for (std::int32_t e = 0; e < soe.model().equation_count(); ++e)
    place[static_cast<std::size_t>(e)] = decomposition.unknown(e);
  if (const SparseMatrix* stored = soe.sparse_matrix()) return take(stored->to_host(), place);
  const auto made = soe.assembled();
  if (!made)
    throw Error(ErrorCode::bad_input, "the method needs a matrix that can be assembled; use the storage csr or bsr",
                where);
  return take(made->to_host(), place);
}

}  // namespace

SymmetricCsr assembled_matrix(const LinearSOE& soe, const Decomposition& decomposition, const std::string& where) {
  if (!soe.model().device_model().symmetric())
    throw Error(ErrorCode::bad_input,
                "the method is made for symmetric matrices, and that of this model is not symmetric; use gmres+ras2, "
                "gmres+asm2 or direct",
                where);
  return taken_matrix(soe, decomposition, where, [](const HostMatrix& matrix, std::span<const std::int32_t> place) {
    return upper_triangle(matrix, place);
  });
}

GeneralCsr assembled_rows(const LinearSOE& soe, const Decomposition& decomposition, const std::string& where) {
  return taken_matrix(soe, decomposition, where, [](const HostMatrix& matrix, std::span<const std::int32_t> place) {
    return whole_rows(matrix, place);
  });
}

}  // namespace voussoir
