#pragma once
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/backends/error.hpp>

namespace voussoir::detail {

/// A library that this thread is loading: its static objects register while dlopen() runs.
class Loading {
 public:
  /// `replaces`: names that are taken are registered again instead of refused.
  Loading(std::string path, bool replaces);
  ~Loading();
  Loading(const Loading&) = delete;
  Loading& operator=(const Loading&) = delete;

  /// The innermost one of this thread, or null.
  static Loading* current();

  const std::string& path() const { return path_; }
  bool replaces() const { return replaces_; }
  /// Notes a registration and how to take it back.
  void add(std::string what, std::function<void()> take_back);
  /// Notes a registration that was refused; the first one counts.
  void fail(const Error& error);

  const std::vector<std::string>& registered() const { return registered_; }
  const std::optional<Error>& error() const { return error_; }
  /// Takes all registrations back, the last one first.
  void take_back();

 private:
  std::string path_;
  bool replaces_;
  Loading* outer_;
  std::vector<std::string> registered_;
  std::vector<std::function<void()>> take_back_;
  std::optional<Error> error_;
};

inline constexpr const char* built_in_origin = "built in";

/// "this program", or the path of the library that this thread is loading.
std::string registration_origin();

/// Held while a library is loaded. Recursive, since a library may load another one while its static objects register.
/// One mutex for all libraries: dlopen() has a lock of its own, and two mutexes could be locked in either order.
std::recursive_mutex& loading_mutex();

/// Loads the library at `path`, whose static objects register, and returns what it has registered. Throws as
/// load_library() does; nothing of the library is registered then.
std::vector<std::string> load_registrations(const std::string& path, bool replaces);

}  // namespace voussoir::detail
