#include <voussoir/engines/petsc/mpi_processes.hpp>

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <voussoir/engines/petsc/calls.hpp>

namespace voussoir::petsc {
namespace {

constexpr int message_tag = 71;
/// MPI counts bytes by int: longer messages travel in pieces.
constexpr std::size_t longest_piece = std::size_t{1} << 30;

template <class Piece>
void in_pieces(std::size_t size, const Piece& piece) {
  for (std::size_t at = 0; at < size; at += longest_piece)
    piece(at, static_cast<int>(std::min(longest_piece, size - at)));
}

}  // namespace

MpiProcesses::MpiProcesses(MPI_Comm communicator) : communicator_(communicator) {
  VSR_MPI(MPI_Comm_size(communicator_, &count_));
  VSR_MPI(MPI_Comm_rank(communicator_, &own_));
}

void MpiProcesses::send(const std::string& bytes, int to) const {
  const std::int64_t size = static_cast<std::int64_t>(bytes.size());
  VSR_MPI(MPI_Send(&size, 1, MPI_INT64_T, to, message_tag, communicator_));
  in_pieces(bytes.size(), [&](std::size_t at, int length) {
    VSR_MPI(MPI_Send(bytes.data() + at, length, MPI_BYTE, to, message_tag, communicator_));
  });
}

std::string MpiProcesses::receive(int from) const {
  std::int64_t size = 0;
  VSR_MPI(MPI_Recv(&size, 1, MPI_INT64_T, from, message_tag, communicator_, MPI_STATUS_IGNORE));
  std::string bytes(static_cast<std::size_t>(size), '\0');
  in_pieces(bytes.size(), [&](std::size_t at, int length) {
    VSR_MPI(MPI_Recv(bytes.data() + at, length, MPI_BYTE, from, message_tag, communicator_, MPI_STATUS_IGNORE));
  });
  return bytes;
}

void MpiProcesses::broadcast(std::string& bytes, int from) {
  std::int64_t size = static_cast<std::int64_t>(bytes.size());
  VSR_MPI(MPI_Bcast(&size, 1, MPI_INT64_T, from, communicator_));
  if (own_ != from) bytes.assign(static_cast<std::size_t>(size), '\0');
  in_pieces(bytes.size(), [&](std::size_t at, int length) {
    VSR_MPI(MPI_Bcast(bytes.data() + at, length, MPI_BYTE, from, communicator_));
  });
}

std::string MpiProcesses::distribute(const std::function<std::string(int)>& make) {
  if (own_ != 0) return receive(0);
  std::string own = make(0);
  for (int p = 1; p < count_; ++p) send(make(p), p);
  return own;
}

void MpiProcesses::collect(const std::string& bytes, const std::function<void(int, std::string)>& take) {
  if (own_ != 0) {
    // Waits for its turn, so that process 0 holds one message at a time.
    char ready = 0;
    VSR_MPI(MPI_Recv(&ready, 1, MPI_BYTE, 0, message_tag, communicator_, MPI_STATUS_IGNORE));
    send(bytes, 0);
    return;
  }
  take(0, bytes);
  for (int p = 1; p < count_; ++p) {
    const char ready = 1;
    VSR_MPI(MPI_Send(&ready, 1, MPI_BYTE, p, message_tag, communicator_));
    take(p, receive(p));
  }
}

std::vector<std::string> MpiProcesses::exchange(std::span<const int> neighbours, std::span<const std::string> sent) {
  if (neighbours.size() != sent.size()) throw Error(ErrorCode::misuse, "there must be one message for each neighbour");
  const std::size_t n = neighbours.size();
  std::vector<std::int64_t> size_out(n), size_in(n, 0);
  std::vector<MPI_Request> requests;
  const auto next = [&] { return &requests.emplace_back(MPI_REQUEST_NULL); };
  requests.reserve(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    size_out[i] = static_cast<std::int64_t>(sent[i].size());
    VSR_MPI(MPI_Irecv(&size_in[i], 1, MPI_INT64_T, neighbours[i], message_tag, communicator_, next()));
    VSR_MPI(MPI_Isend(&size_out[i], 1, MPI_INT64_T, neighbours[i], message_tag, communicator_, next()));
  }
  VSR_MPI(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
  std::size_t pieces = 0;
  for (std::size_t i = 0; i < n; ++i)
    pieces += sent[i].size() / longest_piece + static_cast<std::size_t>(size_in[i]) / longest_piece + 2;
  requests.clear();
  requests.reserve(pieces);
  std::vector<std::string> received(n);
  for (std::size_t i = 0; i < n; ++i) {
    received[i].assign(static_cast<std::size_t>(size_in[i]), '\0');
    in_pieces(received[i].size(), [&](std::size_t at, int length) {
      VSR_MPI(MPI_Irecv(received[i].data() + at, length, MPI_BYTE, neighbours[i], message_tag, communicator_, next()));
    });
    in_pieces(sent[i].size(), [&](std::size_t at, int length) {
      VSR_MPI(MPI_Isend(sent[i].data() + at, length, MPI_BYTE, neighbours[i], message_tag, communicator_, next()));
    });
  }
  VSR_MPI(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
  return received;
}

void MpiProcesses::sum(std::span<double> numbers) {
  // MPI_Allreduce may add in any order, so everybody adds for himself.
  const int n = static_cast<int>(numbers.size());
  std::vector<double> all(numbers.size() * static_cast<std::size_t>(count_));
  VSR_MPI(MPI_Allgather(numbers.data(), n, MPI_DOUBLE, all.data(), n, MPI_DOUBLE, communicator_));
  std::fill(numbers.begin(), numbers.end(), 0.0);
  for (int p = 0; p < count_; ++p)
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] += all[static_cast<std::size_t>(p) * numbers.size() + i];
}

void MpiProcesses::maximum(std::span<std::int64_t> numbers) {
  VSR_MPI(MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, MPI_MAX,
                        communicator_));
}

bool MpiProcesses::all_arrive(double seconds) noexcept {
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(communicator_, &request) != MPI_SUCCESS) return false;
  const double end = MPI_Wtime() + seconds;
  for (int done = 0;;) {
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done) return true;
    if (MPI_Wtime() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void MpiProcesses::abort(int exit_code) noexcept {
  MPI_Abort(communicator_, exit_code);
  std::_Exit(exit_code);
}

ProcessPlacement MpiProcesses::placement() const {
  ProcessPlacement place;
  char host[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  VSR_MPI(MPI_Get_processor_name(host, &length));
  place.machine.assign(host, static_cast<std::size_t>(length));
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (sched_getaffinity(0, sizeof mine, &mine) == 0) place.processors = CPU_COUNT(&mine);
  MPI_Comm machine;
  VSR_MPI(MPI_Comm_split_type(communicator_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
  VSR_MPI(MPI_Comm_size(machine, &place.neighbours));
  VSR_MPI(MPI_Comm_rank(machine, &place.position));
  std::vector<cpu_set_t> all(static_cast<std::size_t>(place.neighbours));
  VSR_MPI(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, machine));
  VSR_MPI(MPI_Comm_free(&machine));
  place.sharers = static_cast<int>(
      std::count_if(all.begin(), all.end(), [&](const cpu_set_t& other) { return CPU_EQUAL(&other, &mine); }));
  return place;
}

}  // namespace voussoir::petsc
