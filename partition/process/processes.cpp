#include <voussoir/partition/process/processes.hpp>

#include <cstring>
#include <limits>
#include <new>
#include <optional>

namespace voussoir {
namespace {

/// An error as text: its code, the length of where(), where() and text().
std::string packed(const Error& error) {
  const std::int64_t head[2] = {static_cast<std::int64_t>(error.code()),
                                static_cast<std::int64_t>(error.where().size())};
  std::string bytes(reinterpret_cast<const char*>(head), sizeof head);
  return bytes + error.where() + error.text();
}

Error unpacked_error(const std::string& bytes) {
  std::int64_t head[2];
  std::memcpy(head, bytes.data(), sizeof head);
  const std::string where = bytes.substr(sizeof head, static_cast<std::size_t>(head[1]));
  return {static_cast<ErrorCode>(head[0]), bytes.substr(sizeof head + static_cast<std::size_t>(head[1])), where};
}

/// Runs `work` and returns its error.
std::optional<Error> error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::out_of_memory, "out of memory; use more machines, or fewer processes on each");
  } catch (const std::exception& error) {
    return Error(ErrorCode::internal, error.what());
  }
  return std::nullopt;
}

}  // namespace

std::int64_t Processes::maximum(std::int64_t number) {
  maximum(std::span(&number, 1));
  return number;
}

void agree(Processes& processes, const std::function<void()>& work) {
  const std::optional<Error> error = error_of(work);
  // The largest of −p over the processes p that failed is the lowest of them.
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  const std::int64_t lowest = processes.maximum(error ? -static_cast<std::int64_t>(processes.own()) : none);
  if (lowest == none) return;
  const int process = static_cast<int>(-lowest);
  std::string bytes;
  if (process == processes.own()) bytes = packed(*error);
  processes.broadcast(bytes, process);
  const Error shared = unpacked_error(bytes);
  if (process == 0) throw SharedError(shared, process);
  const std::string text = "process " + std::to_string(process) + " of " + std::to_string(processes.count()) + ": ";
  throw SharedError(Error(shared.code(), text + shared.text(), shared.where()), process);
}

void require_same_file(Processes& processes, std::uint64_t checksum, const std::string& path) {
  const auto own = static_cast<std::int64_t>(checksum >> 1);
  const std::int64_t largest = processes.maximum(own);
  agree(processes, [&] {
    if (own != largest)
      throw Error(ErrorCode::bad_input,
                  "processes see different files of this name; copy the same file to all machines, or put it into a "
                  "folder that all of them share",
                  "file '" + path + "'");
  });
}

}  // namespace voussoir
