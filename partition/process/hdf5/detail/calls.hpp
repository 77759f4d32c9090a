#pragma once
#include <hdf5.h>

#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/partition/process/detail/part_container.hpp>

// What the sources of libvoussoir-hdf5.so share. Nothing else includes HDF5.

// HDF5's constants for opening files end the process if another release is loaded; Hdf5Session reports that instead.
#undef H5CHECK
#define H5CHECK

namespace voussoir::detail {

constexpr const char* hdf5_format_name = "voussoir parts";
constexpr std::int32_t hdf5_format_version = 1;

/// A call of HDF5 failed; whoever knows the file makes an Error of it.
struct Hdf5Refusal {
  std::string reason;
};

/// Throws Hdf5Refusal with HDF5's innermost reason if a call failed.
hid_t valid(hid_t id);
void done(herr_t status);  ///< as above

/// An object of HDF5, closed at the end.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(valid(id)), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }
  void close() { done(close_(std::exchange(id_, hid_t{-1}))); }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// One use of HDF5 at a time, since not every build of it has locks of its own; without messages on stderr, which
/// others in this process may have asked for; and without filters that HDF5 would load because a file names them.
/// Throws Error (unavailable) at `path` if another HDF5 is loaded.
class Hdf5Session {
 public:
  explicit Hdf5Session(const std::filesystem::path& path);
  ~Hdf5Session();
  Hdf5Session(const Hdf5Session&) = delete;
  Hdf5Session& operator=(const Hdf5Session&) = delete;

 private:
  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
  unsigned plugins_ = 0;
};

/// A driver by which HDF5 writes an OutputFile. HDF5 can neither write a file without a name nor recover from a full
/// disk: it could not close the file, and would complain at the end of the process. The driver keeps the first failure
/// for us and tells HDF5 that all went well.
class OutputDriver {
 public:
  /// Shared with HDF5, which may keep a file that it could not close until the end of the process.
  struct Destination {
    OutputFile* file;  // null: nothing is written any more
    std::exception_ptr failure;
  };

  explicit OutputDriver(OutputFile& file) : to_(std::make_shared<Destination>(Destination{&file, {}})) {}
  ~OutputDriver() { to_->file = nullptr; }
  OutputDriver(const OutputDriver&) = delete;
  OutputDriver& operator=(const OutputDriver&) = delete;
  void use(hid_t access);  ///< for files that are created with these properties, while this object lives
  void rethrow() const {   ///< the first failure of the OutputFile, if there was one
    if (to_->failure) std::rethrow_exception(to_->failure);
  }

 private:
  std::shared_ptr<Destination> to_;
};

/// "00007": the name of a part, with at least five digits, and the same number of them for all parts.
std::string part_name(int part, int parts);
/// "file 'wing.h5'", the place that errors name.
std::string place_of(const std::filesystem::path& path);

/// Throws Error (unavailable) at `path` where HDF5 cannot be used, as Hdf5Session does.
void check_hdf5(const std::filesystem::path& path);
void write_hdf5(const std::filesystem::path& path, const JobDivision& division, bool overwrite);
std::shared_ptr<const StoredParts> open_hdf5(const std::filesystem::path& path);

}  // namespace voussoir::detail
