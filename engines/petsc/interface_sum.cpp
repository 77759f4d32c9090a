#include <voussoir/engines/petsc/interface_sum.hpp>

#include <algorithm>
#include <numeric>
#include <string>

#include <voussoir/engines/petsc/calls.hpp>

namespace voussoir::petsc {
namespace {

constexpr int sum_tag = 4712;

std::vector<int> positions_of(const std::vector<int>& counts) {
  std::vector<int> first(counts.size(), 0);
  std::partial_sum(counts.begin(), counts.end() - 1, first.begin() + 1);
  return first;
}

}  // namespace

InterfaceSum::InterfaceSum(MPI_Comm communicator, const SystemShare& share) : communicator_(communicator) {
  int count = 0;
  VSR_MPI(MPI_Comm_size(communicator, &count));
  std::int64_t end = share.first + share.owned;
  std::vector<std::int64_t> ends(static_cast<std::size_t>(count));
  VSR_MPI(MPI_Allgather(&end, 1, MPI_INT64_T, ends.data(), 1, MPI_INT64_T, communicator));

  // Each process asks the owners for the sums of the equations whose rows are stored elsewhere.
  std::vector<std::vector<std::int32_t>> asked(static_cast<std::size_t>(count));  // local numbers
  std::vector<std::int32_t> stored_here(static_cast<std::size_t>(share.owned), -1);
  for (std::size_t e = 0; e < share.number.size(); ++e) {
    const std::int64_t number = share.number[e];
    if (number >= share.first && number < end)
      stored_here[static_cast<std::size_t>(number - share.first)] = static_cast<std::int32_t>(e);
    else
      asked[static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), number) - ends.begin())].push_back(
          static_cast<std::int32_t>(e));
  }
  std::vector<int> asking(static_cast<std::size_t>(count)), answering(asking);
  std::vector<std::int64_t> numbers_out;
  for (std::size_t p = 0; p < asked.size(); ++p) {
    asking[p] = static_cast<int>(asked[p].size());
    for (const std::int32_t e : asked[p]) numbers_out.push_back(share.number[static_cast<std::size_t>(e)]);
  }
  VSR_MPI(MPI_Alltoall(asking.data(), 1, MPI_INT, answering.data(), 1, MPI_INT, communicator));
  const std::vector<int> first_out = positions_of(asking), first_in = positions_of(answering);
  std::vector<std::int64_t> numbers_in(static_cast<std::size_t>(first_in.back() + answering.back()));
  VSR_MPI(MPI_Alltoallv(numbers_out.data(), asking.data(), first_out.data(), MPI_INT64_T, numbers_in.data(),
                        answering.data(), first_in.data(), MPI_INT64_T, communicator));

  std::vector<std::uint8_t> shared(share.number.size(), 0);
  std::vector<std::vector<std::int32_t>> answered(static_cast<std::size_t>(count));
  std::int64_t missing = 0;
  for (std::size_t p = 0; p < answered.size(); ++p)
    for (int i = 0; i < answering[p]; ++i) {
      const std::int64_t number = numbers_in[static_cast<std::size_t>(first_in[p] + i)];
      const std::int32_t e = stored_here[static_cast<std::size_t>(number - share.first)];
      if (e < 0) {
        ++missing;
        continue;
      }
      answered[p].push_back(e);
      shared[static_cast<std::size_t>(e)] = 1;
    }
  VSR_MPI(MPI_Allreduce(MPI_IN_PLACE, &missing, 1, MPI_INT64_T, MPI_SUM, communicator));
  if (missing > 0)
    throw Error(ErrorCode::internal, std::to_string(missing) +
                                         " equations are shared with a process that stores their rows, but does not "
                                         "have them");
  for (const auto& list : asked)
    for (const std::int32_t e : list) shared[static_cast<std::size_t>(e)] = 1;

  std::vector<std::int32_t> place(share.number.size(), -1);
  for (std::size_t e = 0; e < shared.size(); ++e)
    if (shared[e]) {
      place[e] = static_cast<std::int32_t>(equations_.size());
      equations_.push_back(static_cast<std::int32_t>(e));
    }
  const auto keep = [&](const std::vector<std::vector<std::int32_t>>& lists, std::vector<Neighbour>& neighbours) {
    for (int p = 0; p < count; ++p) {
      const auto& list = lists[static_cast<std::size_t>(p)];
      if (list.empty()) continue;
      Neighbour& other = neighbours.emplace_back();
      other.process = p;
      for (const std::int32_t e : list) other.places.push_back(place[static_cast<std::size_t>(e)]);
    }
  };
  keep(asked, owners_);
  keep(answered, sharers_);
}

void InterfaceSum::add(std::span<double> values) const {
  std::vector<MPI_Request> requests;
  // Sends the numbers of some neighbours and receives those of others.
  const auto swap = [&](const std::vector<Neighbour>& to, const std::vector<Neighbour>& from) {
    std::vector<std::vector<double>> sent, received;
    requests.clear();
    for (const Neighbour& other : from) {
      auto& message = received.emplace_back(other.places.size());
      VSR_MPI(MPI_Irecv(message.data(), static_cast<int>(message.size()), MPI_DOUBLE, other.process, sum_tag,
                        communicator_, &requests.emplace_back(MPI_REQUEST_NULL)));
    }
    for (const Neighbour& other : to) {
      auto& message = sent.emplace_back();
      for (const std::int32_t place : other.places) message.push_back(values[static_cast<std::size_t>(place)]);
      VSR_MPI(MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_DOUBLE, other.process, sum_tag,
                        communicator_, &requests.emplace_back(MPI_REQUEST_NULL)));
    }
    VSR_MPI(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    return received;
  };
  const auto parts = swap(owners_, sharers_);
  for (std::size_t i = 0; i < sharers_.size(); ++i)
    for (std::size_t k = 0; k < parts[i].size(); ++k)
      values[static_cast<std::size_t>(sharers_[i].places[k])] += parts[i][k];
  const auto sums = swap(sharers_, owners_);
  for (std::size_t i = 0; i < owners_.size(); ++i)
    for (std::size_t k = 0; k < sums[i].size(); ++k)
      values[static_cast<std::size_t>(owners_[i].places[k])] = sums[i][k];
}

void InterfaceSum::add_in(std::span<double> local) const {
  std::vector<double> values;
  for (const std::int32_t e : equations_) values.push_back(local[static_cast<std::size_t>(e)]);
  add(values);
  for (std::size_t k = 0; k < equations_.size(); ++k) local[static_cast<std::size_t>(equations_[k])] = values[k];
}

}  // namespace voussoir::petsc
