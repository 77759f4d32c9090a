#pragma once
#include <mpi.h>

#include <voussoir/partition/process/engine.hpp>

namespace voussoir::petsc {

/// The processes of an MPI communicator.
class MpiProcesses : public Processes {
 public:
  explicit MpiProcesses(MPI_Comm communicator);

  int count() const override { return count_; }
  int own() const override { return own_; }
  void broadcast(std::string& bytes, int from) override;
  std::string distribute(const std::function<std::string(int)>& make) override;
  void collect(const std::string& bytes, const std::function<void(int, std::string)>& take) override;
  std::vector<std::string> exchange(std::span<const int> neighbours, std::span<const std::string> sent) override;
  using Processes::maximum;
  void sum(std::span<double> numbers) override;
  void maximum(std::span<std::int64_t> numbers) override;
  bool all_arrive(double seconds) noexcept override;
  [[noreturn]] void abort(int exit_code) noexcept override;

  ProcessPlacement placement() const;

 private:
  void send(const std::string& bytes, int to) const;
  std::string receive(int from) const;

  MPI_Comm communicator_;
  int count_ = 1, own_ = 0;
};

}  // namespace voussoir::petsc
