#pragma once
#include <algorithm>
#include <barrier>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <voussoir/partition/process/processes.hpp>

namespace voussoir::testing {

/// What the threads of a ThreadProcesses share.
struct ThreadTable {
  explicit ThreadTable(int count) : barrier(count), bytes(count), integers(count), numbers(count), messages(count) {}
  std::barrier<> barrier;
  std::vector<std::string> bytes;
  std::vector<std::vector<std::int64_t>> integers;
  std::vector<std::vector<double>> numbers;
  std::vector<std::vector<std::pair<int, std::string>>> messages;  // of each sender: to whom, and what
};

/// Threads that stand for processes.
class ThreadProcesses : public Processes {
 public:
  ThreadProcesses(ThreadTable& table, int own) : table_(table), own_(own) {}
  int count() const override { return static_cast<int>(table_.bytes.size()); }
  int own() const override { return own_; }
  void broadcast(std::string& bytes, int from) override {
    if (own_ == from) table_.bytes[0] = bytes;
    wait();
    bytes = table_.bytes[0];
    wait();
  }
  std::string distribute(const std::function<std::string(int)>& make) override {
    for (int p = 0; own_ == 0 && p < count(); ++p) table_.bytes[static_cast<std::size_t>(p)] = make(p);
    wait();
    std::string mine = table_.bytes[static_cast<std::size_t>(own_)];
    wait();
    return mine;
  }
  void collect(const std::string& bytes, const std::function<void(int, std::string)>& take) override {
    table_.bytes[static_cast<std::size_t>(own_)] = bytes;
    wait();
    for (int p = 0; own_ == 0 && p < count(); ++p) take(p, table_.bytes[static_cast<std::size_t>(p)]);
    wait();
  }
  std::vector<std::string> exchange(std::span<const int> neighbours, std::span<const std::string> sent) override {
    auto& mine = table_.messages[static_cast<std::size_t>(own_)];
    mine.clear();
    for (std::size_t i = 0; i < sent.size(); ++i) mine.emplace_back(neighbours[i], sent[i]);
    wait();
    std::vector<std::string> received;
    for (const int other : neighbours)
      for (const auto& [to, text] : table_.messages[static_cast<std::size_t>(other)])
        if (to == own_) received.push_back(text);
    wait();
    return received;
  }
  void sum(std::span<double> values) override {
    table_.numbers[static_cast<std::size_t>(own_)].assign(values.begin(), values.end());
    wait();
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = 0;
      for (const auto& other : table_.numbers) values[i] += other[i];
    }
    wait();
  }
  using Processes::maximum;
  void maximum(std::span<std::int64_t> values) override {
    table_.integers[static_cast<std::size_t>(own_)].assign(values.begin(), values.end());
    wait();
    for (const auto& other : table_.integers)
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::max(values[i], other[i]);
    wait();
  }
  [[noreturn]] void abort(int) noexcept override { std::terminate(); }

 private:
  void wait() { table_.barrier.arrive_and_wait(); }
  ThreadTable& table_;
  int own_;
};

/// Runs `work` on threads that stand for so many processes.
inline void on_threads(int count, const std::function<void(Processes&)>& work) {
  ThreadTable table(count);
  std::vector<std::thread> threads;
  for (int p = 0; p < count; ++p)
    threads.emplace_back([&, p] {
      ThreadProcesses processes(table, p);
      work(processes);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace voussoir::testing
