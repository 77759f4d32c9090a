#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/framework/analysis/process_group.hpp>
#include <voussoir/partition/process/engine.hpp>
#include <voussoir/partition/process/process_part.hpp>

namespace voussoir {

/// The processes of a run as the group that runs an analysis together, each on its part of a job. Processes whose
/// part has no elements run no analysis: they take part in what the others do until the analysis ends.
///
/// Every call begins with one message in which all processes say what they are about to do. Processes that do not do
/// the same, and errors of one of them, are therefore noticed, and no process waits for one that has failed.
class DividedGroup : public ProcessGroup {
 public:
  /// All arguments must outlive the object. Give it to the backend by Backend::provide().
  DividedGroup(const ProcessPart& part, Processes& processes);
  ~DividedGroup() override;

  /// Runs `work` on the processes that have elements of a domain; the others answer. An Error of one process, whatever
  /// it was doing, is thrown by all of them (SharedError). Systems of equations are solved by `solver`, which all
  /// processes have made.
  void run(std::size_t domain, ProcessSolver& solver, const std::function<void()>& work);
  /// Within run(): takes the model that assemble() and the solver are for. Collective among the processes that run it.
  void set_model(const AnalysisModel& model);
  /// The model of this process; null before set_model() and where its part has no elements.
  const AnalysisModel* model() const { return model_; }
  /// Free equations of the whole model; after set_model().
  std::int64_t free_equation_count() const { return free_equations_; }

  /// What all processes do, those without elements included, when process 0 calls request(); it may communicate.
  std::function<void(int code)> respond;
  /// On process 0, within run(): has all processes call respond(code). Codes are positive.
  void request(int code);
  /// On process 0: ends what the others do in respond_until_done().
  void done();
  /// On the other processes: responds until process 0 calls done().
  void respond_until_done();

  /// Solves the system of a solver's SOE: the sum of those of all processes.
  SolveReport solve(LinearSOE& soe, std::uint64_t& formed_version);

  bool is_active() const override { return active_; }
  bool any(bool condition) override;
  double sum(double number) override;
  double maximum(double number) override;
  void unite(std::vector<double>& numbers) override;
  void assemble(const AnalysisModel& model, std::span<double> shares) override;
  double norm(const AnalysisModel& model, const Vector& shares) override;
  double product_of_unknowns(const AnalysisModel& model, const Vector& x, const Vector& y) override;
  std::vector<std::int64_t> whole_numbers(const AnalysisModel& model) override;
  [[noreturn]] void share(const Error& error) override;
  void fence() override;

 private:
  enum class Action : std::int64_t;
  struct Agreed {
    Action action;
    std::int64_t detail, value;
  };
  struct Neighbour {
    int part = 0;
    std::vector<std::int32_t> equations;  // that both have, in the same order
  };
  Agreed meet(Action action, std::int64_t detail, std::int64_t value, const Error* failure = nullptr);
  void answer();
  void act(const Agreed& agreed);
  void end_together();
  void find_shared_equations();
  void count_free_equations();
  void set_system(const LinearSOE* soe);
  void call_engine(const std::function<void()>& work);
  std::vector<double> united(const std::vector<double>& numbers);

  const ProcessPart& part_;
  Processes& processes_;
  bool active_ = false;
  bool broken_ = false;  // the engine has failed, perhaps on this process alone: nobody can be met any more
  std::size_t domain_ = 0;
  ProcessSolver* solver_ = nullptr;
  const AnalysisModel* model_ = nullptr;
  std::uint64_t serial_ = 0;  // of the model
  std::vector<Neighbour> neighbours_;
  std::vector<char> owned_;  // per equation: whether no lower part has it
  std::int64_t free_equations_ = 0;
  std::optional<Error> last_error_;  // that was shared, on processes without elements
};

/// Solves systems of a group by its engine: the Solver of an Analysis that runs on several processes.
class GroupSolver : public Solver {
 public:
  explicit GroupSolver(DividedGroup& group) : group_(group) {}  ///< the group must outlive the object
  std::string name() const override { return "engine"; }
  SolveReport solve(LinearSOE& soe) override;
  /// Whether the last solve was a factorisation, in which MUMPS finds zero pivots.
  bool finds_mechanisms() const override { return direct_; }

 private:
  DividedGroup& group_;
  std::uint64_t formed_ = 0;  // version of the matrix that the engine has
  bool direct_ = false;
};

}  // namespace voussoir
