#include <voussoir/partition/process/divided_group.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <voussoir/partition/process/process_analysis.hpp>

namespace voussoir {

/// What all processes do next.
enum class DividedGroup::Action : std::int64_t {
  nothing = 0,  // of a process that does what the others do
  any,
  sum,
  maximum,
  unite,
  assemble,
  model,
  system,
  solve,
  request,
  fence,
  end
};

namespace {

constexpr std::int64_t no_number = std::numeric_limits<std::int64_t>::min();

/// Integers in the order of the numbers; NaN is the largest.
std::int64_t ordered_bits(double number) {
  if (std::isnan(number)) return std::numeric_limits<std::int64_t>::max();
  const auto bits = std::bit_cast<std::int64_t>(number);
  return bits >= 0 ? bits : bits ^ std::numeric_limits<std::int64_t>::max();
}

double number_of_bits(std::int64_t bits) {
  if (bits == std::numeric_limits<std::int64_t>::max()) return std::numeric_limits<double>::quiet_NaN();
  return std::bit_cast<double>(bits >= 0 ? bits : bits ^ std::numeric_limits<std::int64_t>::max());
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
std::vector<T> values_of(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace

DividedGroup::DividedGroup(const ProcessPart& part, Processes& processes) : part_(part), processes_(processes) {}

DividedGroup::~DividedGroup() = default;

/// All processes meet here before they do anything together. Errors of one of them are thrown by all.
DividedGroup::Agreed DividedGroup::meet(Action action, std::int64_t detail, std::int64_t value, const Error* failure) {
  const bool follows = action == Action::nothing;
  const auto own = static_cast<std::int64_t>(action);
  std::array<std::int64_t, 6> numbers{failure ? 1 : 0,
                                      follows ? no_number : own,
                                      follows ? no_number : -own,
                                      follows ? no_number : detail,
                                      follows ? no_number : -detail,
                                      value};
  processes_.maximum(numbers);
  if (numbers[0] != 0)
    agree(processes_, [&] {
      if (failure) throw Error(*failure);
    });
  if (numbers[1] == no_number || numbers[1] != -numbers[2] || numbers[3] != -numbers[4])
    throw SharedError(Error(ErrorCode::internal, "processes do not take the same steps (" + std::to_string(numbers[1]) +
                                                     ", " + std::to_string(-numbers[2]) + ")"),
                      0);
  return {static_cast<Action>(numbers[1]), numbers[3], numbers[5]};
}

bool DividedGroup::any(bool condition) { return meet(Action::any, 0, condition ? 1 : 0).value != 0; }

double DividedGroup::sum(double number) {
  meet(Action::sum, 0, 0);
  processes_.sum(std::span(&number, 1));
  return number;
}

double DividedGroup::maximum(double number) {
  return number_of_bits(meet(Action::maximum, 0, ordered_bits(number)).value);
}

std::vector<double> DividedGroup::united(const std::vector<double>& numbers) {
  std::vector<double> all;
  processes_.collect(bytes_of(numbers), [&](int, const std::string& bytes) {
    for (const double number : values_of<double>(bytes)) all.push_back(number);
  });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::string bytes = bytes_of(all);
  processes_.broadcast(bytes);
  return values_of<double>(bytes);
}

void DividedGroup::unite(std::vector<double>& numbers) {
  meet(Action::unite, 0, 0);
  numbers = united(numbers);
}

void DividedGroup::fence() { meet(Action::fence, 0, 0); }

void DividedGroup::share(const Error& error) {
  if (const auto* shared = dynamic_cast<const SharedError*>(&error)) throw SharedError(*shared);
  if (broken_) throw Error(error);
  meet(Action::nothing, 0, 0, &error);
  throw Error(ErrorCode::internal, "an error was not shared");
}

void DividedGroup::set_model(const AnalysisModel& model) {
  meet(Action::model, 0, 0);
  model_ = &model;
  serial_ = model.serial();
  find_shared_equations();
  count_free_equations();
}

void DividedGroup::count_free_equations() {
  free_equations_ = voussoir::count_free_equations(processes_, part_, domain_, model_);
}

/// Unknowns of shared nodes that this part and each neighbour have. Both list them in the same order.
void DividedGroup::find_shared_equations() {
  const std::vector<std::string>& names = part_.domains[domain_].unknown_names;
  std::vector<int> list;
  std::vector<std::vector<std::int32_t>> equations;
  std::vector<std::string> masks;
  for (const SharedNodes& shared : part_.shared) {
    list.push_back(shared.part);
    std::string& mask = masks.emplace_back();
    auto& own = equations.emplace_back();
    for (const std::int32_t node : shared.nodes)
      for (const std::string& name : names) {
        const bool known = model_ && std::find(model_->unknown_names().begin(), model_->unknown_names().end(), name) !=
                                         model_->unknown_names().end();
        own.push_back(known ? model_->equation(node, name) : -1);
        mask += own.back() >= 0 ? '1' : '0';
      }
  }
  const std::vector<std::string> others = processes_.exchange(list, masks);
  neighbours_.clear();
  owned_.assign(model_ ? static_cast<std::size_t>(model_->equation_count()) : 0, 1);
  for (std::size_t k = 0; k < list.size(); ++k) {
    if (others[k].size() != masks[k].size())
      throw Error(ErrorCode::internal, "parts " + std::to_string(part_.part) + " and " + std::to_string(list[k]) +
                                           " do not agree on the nodes that they share");
    Neighbour& neighbour = neighbours_.emplace_back();
    neighbour.part = list[k];
    for (std::size_t i = 0; i < masks[k].size(); ++i)
      if (masks[k][i] == '1' && others[k][i] == '1') neighbour.equations.push_back(equations[k][i]);
    if (neighbour.part < part_.part)
      for (const std::int32_t e : neighbour.equations) owned_[static_cast<std::size_t>(e)] = 0;
    // A process without elements of this domain may share nodes of another one: it does not take part in exchanges.
    if (neighbour.equations.empty()) neighbours_.pop_back();
  }
}

void DividedGroup::assemble(const AnalysisModel& model, std::span<double> shares) {
  if (model.serial() != serial_ || shares.size() != owned_.size())
    throw Error(ErrorCode::misuse, "the model is not the one that the group was given");
  meet(Action::assemble, 0, 0);
  std::vector<int> list;
  std::vector<std::string> sent;
  for (const Neighbour& neighbour : neighbours_) {
    list.push_back(neighbour.part);
    std::vector<double> values;
    values.reserve(neighbour.equations.size());
    for (const std::int32_t e : neighbour.equations) values.push_back(shares[static_cast<std::size_t>(e)]);
    sent.push_back(bytes_of(values));
  }
  const std::vector<std::string> received = processes_.exchange(list, sent);
  // In the order of the parts, so that all of them get the same bits.
  const std::vector<double> own(shares.begin(), shares.end());
  for (const Neighbour& neighbour : neighbours_)
    for (const std::int32_t e : neighbour.equations) shares[static_cast<std::size_t>(e)] = 0;
  std::vector<char> has_own(shares.size(), 0);
  const auto add_own = [&] {
    for (const Neighbour& neighbour : neighbours_)
      for (const std::int32_t equation : neighbour.equations) {
        const auto e = static_cast<std::size_t>(equation);
        if (!std::exchange(has_own[e], char{1})) shares[e] += own[e];
      }
  };
  bool added = false;
  for (std::size_t k = 0; k < neighbours_.size(); ++k) {
    if (!added && neighbours_[k].part > part_.part) {
      add_own();
      added = true;
    }
    const std::vector<double> values = values_of<double>(received[k]);
    if (values.size() != neighbours_[k].equations.size())
      throw Error(ErrorCode::internal, "a message between processes is incomplete");
    for (std::size_t i = 0; i < values.size(); ++i)
      shares[static_cast<std::size_t>(neighbours_[k].equations[i])] += values[i];
  }
  if (!added) add_own();
}

double DividedGroup::norm(const AnalysisModel& model, const Vector& shares) {
  std::vector<double> values(owned_.size(), 0.0);
  if (shares.layout()) values = shares.to_host();
  assemble(model, values);
  double squares = 0;
  for (std::size_t e = 0; e < values.size(); ++e)
    if (owned_[e]) squares += values[e] * values[e];
  return std::sqrt(sum(squares));
}

double DividedGroup::product_of_unknowns(const AnalysisModel& model, const Vector& x, const Vector& y) {
  if (model.serial() != serial_) throw Error(ErrorCode::misuse, "the model is not the one that the group was given");
  const std::vector<double> a = x.to_host(), b = y.to_host();
  double product = 0;
  for (std::size_t e = 0; e < a.size(); ++e)
    if (owned_[e]) product += a[e] * b[e];
  return sum(product);
}

std::vector<std::int64_t> DividedGroup::whole_numbers(const AnalysisModel& model) {
  const std::vector<std::string>& names = part_.domains[domain_].unknown_names;
  std::vector<std::size_t> whole_component;
  for (const std::string& name : model.unknown_names())
    whole_component.push_back(static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(model.equation_count()));
  for (std::int32_t e = 0; e < model.equation_count(); ++e) {
    const auto place = model.place(e);
    numbers[static_cast<std::size_t>(e)] =
        part_.whole[static_cast<std::size_t>(place.node)] * static_cast<std::int64_t>(names.size()) +
        static_cast<std::int64_t>(whole_component[static_cast<std::size_t>(place.component)]);
  }
  return numbers;
}

void DividedGroup::set_system(const LinearSOE* soe) {
  SystemShare system = number_share(processes_, part_, domain_, model_);
  agree(processes_, [&] {
    if (!soe) return;
    if (!soe->sparse_matrix()) throw Error(ErrorCode::misuse, "engines need an SOE with a stored matrix");
    system.matrix = soe->sparse_matrix()->to_host();
  });
  call_engine([&] { solver_->set_system(std::move(system)); });
}

/// Other processes may still be inside the engine where this one has failed there.
void DividedGroup::call_engine(const std::function<void()>& work) {
  try {
    work();
  } catch (const SharedError&) {
    throw;
  } catch (...) {
    broken_ = true;
    throw;
  }
}

SolveReport DividedGroup::solve(LinearSOE& soe, std::uint64_t& formed_version) {
  if (any(soe.version() != formed_version)) {
    meet(Action::system, 0, 0);
    set_system(&soe);
    formed_version = soe.version();
  }
  const std::vector<double> b = soe.b().to_host();
  std::vector<double> x = soe.x().to_host();
  meet(Action::solve, 0, 0);
  SolveReport report;
  call_engine([&] { report = solver_->solve(b, x); });
  soe.x().from_host(x);
  return report;
}

void DividedGroup::request(int code) {
  meet(Action::request, code, 0);
  respond(code);
}

void DividedGroup::done() { meet(Action::request, 0, 0); }

void DividedGroup::respond_until_done() {
  for (;;) {
    const Agreed agreed = meet(Action::nothing, 0, no_number);
    if (agreed.action != Action::request)
      throw SharedError(Error(ErrorCode::internal, "process 0 does not take the same steps as the others"), 0);
    if (agreed.detail == 0) return;
    respond(static_cast<int>(agreed.detail));
  }
}

/// What a process without elements has to do for the others.
void DividedGroup::act(const Agreed& agreed) {
  double zero = 0;
  switch (agreed.action) {
    case Action::sum:
      processes_.sum(std::span(&zero, 1));
      break;
    case Action::unite:
      united({});
      break;
    case Action::assemble:
      processes_.exchange({}, {});
      break;
    case Action::model:
      find_shared_equations();
      count_free_equations();
      break;
    case Action::system:
      set_system(nullptr);
      break;
    case Action::solve:
      call_engine([&] { solver_->solve({}, {}); });
      break;
    case Action::request:
      if (agreed.detail != 0) respond(static_cast<int>(agreed.detail));
      break;
    default:  // nothing beyond the meeting
      break;
  }
}

void DividedGroup::answer() {
  for (;;) {
    try {
      const Agreed agreed = meet(Action::nothing, 0, no_number);
      if (agreed.action == Action::end) {
        if (agreed.detail == 0) return;
        break;
      }
      act(agreed);
    } catch (const SharedError& error) {
      last_error_ = error;  // the others decide whether they go on
    }
  }
  throw SharedError(last_error_ ? *last_error_ : Error(ErrorCode::internal, "the analysis failed"), 0);
}

void DividedGroup::run(std::size_t domain, ProcessSolver& solver, const std::function<void()>& work) {
  domain_ = domain;
  solver_ = &solver;
  model_ = nullptr;
  serial_ = 0;
  last_error_.reset();
  broken_ = false;
  if (!part_.has_elements(domain)) return answer();
  std::optional<SharedError> failure;
  active_ = true;
  const auto attempt = [&](const std::function<void()>& task) {
    try {
      try {
        task();
      } catch (const Error& error) {
        share(error);
      } catch (const std::bad_alloc&) {
        share(Error(ErrorCode::out_of_memory, "out of memory; use more machines, or fewer processes on each"));
      } catch (const std::exception& error) {
        share(Error(ErrorCode::internal, error.what()));
      }
    } catch (const SharedError& error) {
      failure.emplace(error);
    } catch (...) {
      active_ = false;
      throw;  // the engine or the messages have failed: the caller ends all processes
    }
  };
  attempt(work);
  // A process that has come to the end may still learn that another one has not.
  if (!failure) attempt([&] { meet(Action::end, 0, 0); });
  if (failure) meet(Action::end, 1, 0);
  active_ = false;
  if (failure) throw SharedError(*failure);
}

SolveReport GroupSolver::solve(LinearSOE& soe) {
  const SolveReport report = group_.solve(soe, formed_);
  direct_ = report.iterations == 0;
  return report;
}

}  // namespace voussoir
