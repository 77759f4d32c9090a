#include <voussoir/engines/petsc/interface_sum.hpp>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include <voussoir/engines/petsc/calls.hpp>

namespace voussoir::petsc {
namespace {

constexpr int sum_tag = 4712;

using Lists = std::vector<std::vector<std::int64_t>>;

/// Sends a list to each process, and returns those that this process receives. Collective.
Lists swap_lists(MPI_Comm communicator, const Lists& sent) {
  std::vector<int> counts_out, first_out, counts_in(sent.size()), first_in(sent.size(), 0);
  std::vector<std::int64_t> out;
  for (const auto& list : sent) {
    first_out.push_back(static_cast<int>(out.size()));
    counts_out.push_back(static_cast<int>(list.size()));
    out.insert(out.end(), list.begin(), list.end());
  }
  VSR_MPI(MPI_Alltoall(counts_out.data(), 1, MPI_INT, counts_in.data(), 1, MPI_INT, communicator));
  std::partial_sum(counts_in.begin(), counts_in.end() - 1, first_in.begin() + 1);
  std::vector<std::int64_t> in(static_cast<std::size_t>(first_in.back() + counts_in.back()));
  VSR_MPI(MPI_Alltoallv(out.data(), counts_out.data(), first_out.data(), MPI_INT64_T, in.data(), counts_in.data(),
                        first_in.data(), MPI_INT64_T, communicator));
  Lists received;
  for (std::size_t p = 0; p < sent.size(); ++p)
    received.emplace_back(in.begin() + first_in[p], in.begin() + first_in[p] + counts_in[p]);
  return received;
}

/// For each local equation, the process that represents it. A process that stores the row of an equation and has the
/// equation represents it itself. If it only stores the row, the lowest process that has the equation represents it;
/// each process asks for equations whose rows it does not store.
std::vector<int> find_representatives(MPI_Comm communicator, const SystemShare& share) {
  int count = 0, own = 0;
  VSR_MPI(MPI_Comm_size(communicator, &count));
  VSR_MPI(MPI_Comm_rank(communicator, &own));
  const std::int64_t end = share.first + share.owned;
  std::vector<std::int64_t> ends(static_cast<std::size_t>(count));
  VSR_MPI(MPI_Allgather(&end, 1, MPI_INT64_T, ends.data(), 1, MPI_INT64_T, communicator));
  std::vector<int> representative(share.number.size(), own);
  std::vector<int> of_row(static_cast<std::size_t>(share.owned), -1);
  Lists asked(static_cast<std::size_t>(count)), places(asked);
  for (std::size_t e = 0; e < share.number.size(); ++e) {
    const std::int64_t number = share.number[e];
    if (number >= share.first && number < end) {
      of_row[static_cast<std::size_t>(number - share.first)] = own;
      continue;
    }
    const auto keeper = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), number) - ends.begin());
    asked[keeper].push_back(number);
    places[keeper].push_back(static_cast<std::int64_t>(e));
  }
  Lists answers = swap_lists(communicator, asked);
  for (int p = 0; p < count; ++p)
    for (std::int64_t& number : answers[static_cast<std::size_t>(p)]) {
      int& known = of_row[static_cast<std::size_t>(number - share.first)];
      if (known < 0) known = p;
      number = known;
    }
  answers = swap_lists(communicator, answers);
  for (std::size_t p = 0; p < answers.size(); ++p)
    for (std::size_t i = 0; i < answers[p].size(); ++i)
      representative[static_cast<std::size_t>(places[p][i])] = static_cast<int>(answers[p][i]);
  return representative;
}

}  // namespace

InterfaceSum::InterfaceSum(MPI_Comm communicator, const SystemShare& share) : communicator_(communicator) {
  int count = 0, own = 0;
  VSR_MPI(MPI_Comm_size(communicator, &count));
  VSR_MPI(MPI_Comm_rank(communicator, &own));
  const std::vector<int> representative = find_representatives(communicator, share);
  std::vector<std::int32_t> of_row(static_cast<std::size_t>(share.owned), -1);  // represented equations, by their rows
  std::unordered_map<std::int64_t, std::int32_t> of_number;                     // those whose rows are stored elsewhere
  const auto is_row = [&](std::int64_t number) { return number >= share.first && number < share.first + share.owned; };
  Lists numbers(static_cast<std::size_t>(count));
  std::vector<std::vector<std::int32_t>> sent(numbers.size()), received(numbers.size());  // local numbers
  for (std::size_t e = 0; e < representative.size(); ++e) {
    represents_.push_back(representative[e] == own ? 1 : 0);
    if (represents_.back()) {
      const std::int64_t number = share.number[e];
      if (is_row(number))
        of_row[static_cast<std::size_t>(number - share.first)] = static_cast<std::int32_t>(e);
      else
        of_number.emplace(number, static_cast<std::int32_t>(e));
      continue;
    }
    numbers[static_cast<std::size_t>(representative[e])].push_back(share.number[e]);
    sent[static_cast<std::size_t>(representative[e])].push_back(static_cast<std::int32_t>(e));
  }
  numbers = swap_lists(communicator, numbers);
  for (std::size_t p = 0; p < numbers.size(); ++p)
    for (const std::int64_t number : numbers[p])
      received[p].push_back(is_row(number) ? of_row[static_cast<std::size_t>(number - share.first)]
                                           : of_number.at(number));

  std::vector<std::int32_t> place(share.number.size(), -1);
  for (const auto* lists : {&sent, &received})
    for (const auto& list : *lists)
      for (const std::int32_t e : list) place[static_cast<std::size_t>(e)] = 0;
  for (std::size_t e = 0; e < place.size(); ++e)
    if (place[e] == 0) {
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
  keep(sent, representatives_);
  keep(received, sharers_);
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
  const auto parts = swap(representatives_, sharers_);
  for (std::size_t i = 0; i < sharers_.size(); ++i)
    for (std::size_t k = 0; k < parts[i].size(); ++k)
      values[static_cast<std::size_t>(sharers_[i].places[k])] += parts[i][k];
  const auto sums = swap(sharers_, representatives_);
  for (std::size_t i = 0; i < representatives_.size(); ++i)
    for (std::size_t k = 0; k < sums[i].size(); ++k)
      values[static_cast<std::size_t>(representatives_[i].places[k])] = sums[i][k];
}

void InterfaceSum::add_in(std::span<double> local) const {
  std::vector<double> values;
  for (const std::int32_t e : equations_) values.push_back(local[static_cast<std::size_t>(e)]);
  add(values);
  for (std::size_t k = 0; k < equations_.size(); ++k) local[static_cast<std::size_t>(equations_[k])] = values[k];
}

}  // namespace voussoir::petsc
