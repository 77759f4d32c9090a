#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <voussoir/backends/error.hpp>

// Processes that solve one job together, each with a part of the model. An engine (engine.hpp) implements the messages
// between them, usually by MPI. Nothing here depends on how messages travel.

namespace voussoir {

/// The processes of a run and the messages between them. Every function except count(), own(), all_arrive() and
/// abort() is collective: all processes must call it, in the same order. A failure of communication is an Error
/// (device).
class Processes {
 public:
  virtual ~Processes() = default;
  virtual int count() const = 0;                ///< number of processes
  virtual int own() const = 0;                  ///< number of this process, from 0
  bool is_first() const { return own() == 0; }  ///< whether this process reads the model and writes the results

  /// Sends the bytes of process `from` to all others, where `bytes` is replaced.
  virtual void broadcast(std::string& bytes, int from = 0) = 0;
  /// Process 0 calls make(p) for each process p in turn and sends the result to it, so that it holds one message at a
  /// time. Returns the message for this process. `make` is not called on other processes and may be empty there. It
  /// must not throw.
  virtual std::string distribute(const std::function<std::string(int process)>& make) = 0;
  /// Process 0 receives the bytes of each process p in turn and calls take(p, bytes), its own included. `take` is not
  /// called on other processes and may be empty there. It must not throw.
  virtual void collect(const std::string& bytes, const std::function<void(int process, std::string bytes)>& take) = 0;
  /// Sends sent[i] to neighbours[i] and returns what each of them has sent to this process, in the same order. If p is
  /// a neighbour of q, q must be one of p.
  virtual std::vector<std::string> exchange(std::span<const int> neighbours, std::span<const std::string> sent) = 0;
  /// Replaces the numbers by their sums over all processes, added in the order of the processes: the same bits on all
  /// of them and in every run.
  virtual void sum(std::span<double> numbers) = 0;
  /// Replaces the numbers by their largest values over all processes.
  virtual void maximum(std::span<std::int64_t> numbers) = 0;

  /// Whether all processes call this within the given number of seconds. Not collective: it tells a process that has
  /// failed whether the others have failed, too. Only abort() may be called afterwards.
  virtual bool all_arrive(double /*seconds*/) noexcept { return count() == 1; }
  /// Ends all processes at once with this exit code: for a process that has failed while others wait for it.
  [[noreturn]] virtual void abort(int exit_code) noexcept = 0;

  std::int64_t maximum(std::int64_t number);                            ///< of one number
  bool any(bool condition) { return maximum(condition ? 1 : 0) != 0; }  ///< whether it holds on some process
};

/// An Error that all processes throw together, so that none waits for another.
class SharedError : public Error {
 public:
  SharedError(const Error& error, int process) : Error(error), process_(process) {}  ///< of the process that failed
  int process() const noexcept { return process_; }                                  ///< that failed

 private:
  int process_;
};

/// Runs `work`, which must not communicate, on every process. If it throws on one or several of them, all processes
/// throw the error of the lowest of these as a SharedError. Its text names the process unless it is process 0.
void agree(Processes& processes, const std::function<void()>& work);
/// Throws Error (bad_input) on all processes if a file of this name has another checksum on one of them. Collective.
void require_same_file(Processes& processes, std::uint64_t checksum, const std::string& path);

}  // namespace voussoir
