#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <voussoir/backends/service.hpp>
#include <voussoir/framework/model/analysis_model.hpp>

namespace voussoir {

/// The processes that run one analysis together, each on a part of the model and with a backend of its own. Every
/// process runs the same analysis on its part. Forces are *shares*: at nodes that several parts have, each process has
/// what its own elements and loads contribute. Unknowns are equal on all processes that have them. The work of a share
/// is therefore the sum over all processes, and all decisions are made from such sums, so that all processes make the
/// same ones.
///
/// Backend::provide() gives it to the backend of a process; an analysis finds it by ProcessGroup::of(). All functions
/// are collective. A process on which something fails between two calls calls share(); the call in which the others
/// wait then throws the same Error.
class ProcessGroup : public Service {
 public:
  static constexpr std::string_view service_name = "process group";  ///< see BackendService

  /// The group that runs analyses of a model now; null where a process is alone with its model.
  static ProcessGroup* of(const AnalysisModel& model);

  virtual bool is_active() const = 0;     ///< whether analyses run together now
  virtual bool any(bool condition) = 0;   ///< whether it holds on some process
  virtual double sum(double number) = 0;  ///< over all processes, in their order: the same bits on all of them
  /// The largest number; NaN where one is.
  virtual double maximum(double number) = 0;
  /// Replaces ascending numbers by those of all processes, ascending, each of them once.
  virtual void unite(std::vector<double>& numbers) = 0;
  /// Replaces shares of all equations of a model by their sums over the processes that have the equation.
  virtual void assemble(const AnalysisModel& model, std::span<double> shares) = 0;
  /// The Euclidean norm of forces, of which `shares` are those of this process, over all equations of all processes.
  virtual double norm(const AnalysisModel& model, const Vector& shares) = 0;

  /// The product of two vectors of unknowns, in which each equation of the whole model counts once.
  virtual double product_of_unknowns(const AnalysisModel& model, const Vector& x, const Vector& y) = 0;
  /// Per equation of this process: a number of the equation that all processes share. It is that of the same model in
  /// one process if all nodes have the same unknowns.
  virtual std::vector<std::int64_t> whole_numbers(const AnalysisModel& model) = 0;

  /// Tells the other processes of an Error of this one; all of them throw the Error of the lowest process that has one.
  /// An Error that all processes have thrown already is thrown again.
  [[noreturn]] virtual void share(const Error& error) = 0;
  /// Throws what another process has shared since the last call.
  virtual void fence() = 0;
};

namespace detail {

/// force · motion over all processes, where forces are shares; x·y without a group. A force without a layout is zero.
double work_of(const AnalysisModel& model, const Vector& force, const Vector& motion);
/// The norm of forces over all processes; 0 without a layout.
double force_norm(const AnalysisModel& model, const Vector& force);
/// The product of two forces, both of which are shares.
double force_product(const AnalysisModel& model, const Vector& a, const Vector& b);
/// The product of vectors of unknowns, in which each equation counts once.
double product_of_unknowns(const AnalysisModel& model, const Vector& x, const Vector& y);
/// Replaces shares of forces by their sums over the processes; nothing without a group.
void assemble_forces(const AnalysisModel& model, Vector& forces);
/// The sum over all processes; the number itself without a group.
double sum_of_all(const AnalysisModel& model, double number);
/// Whether a condition holds on some process.
bool on_any(const AnalysisModel& model, bool condition);
/// Whether the parts of all processes are linear.
bool all_linear(const AnalysisModel& model);
/// Runs `work`. What it throws on one process, all of them throw; `work` may be collective.
void together(const AnalysisModel& model, const std::function<void()>& work);

}  // namespace detail

}  // namespace voussoir
