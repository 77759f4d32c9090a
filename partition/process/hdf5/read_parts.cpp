#include <voussoir/backends/error.hpp>
#include <voussoir/partition/process/hdf5/detail/calls.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>
#include <vector>

namespace voussoir::detail {
namespace {

constexpr std::uint64_t largest_ratio = 1100;  // of deflate, which never exceeds 1032

[[noreturn]] void refuse_file(const std::filesystem::path& path, const std::string& why) {
  throw Error(ErrorCode::bad_input, why, place_of(path));
}

/// Ends HDF5 without the messages that it prints on stderr if it has not released all that it read of a damaged file.
void end_without_complaints() {
  const int complaints = ::dup(STDERR_FILENO), nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (complaints >= 0 && nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
  H5close();
  if (complaints >= 0 && nowhere >= 0) ::dup2(complaints, STDERR_FILENO);
  if (complaints >= 0) ::close(complaints);
  if (nowhere >= 0) ::close(nowhere);
}

[[noreturn]] void refuse_damage(const std::filesystem::path& path, const std::string& what, std::string reason) {
  [[maybe_unused]] static const int at_exit = std::atexit(end_without_complaints);  // before HDF5's own end
  if (reason.find("unable to lock file") != std::string::npos)  // only where HDF5_USE_FILE_LOCKING asks for locks
    throw Error(ErrorCode::io, "HDF5 cannot lock the file (" + reason + "); set HDF5_USE_FILE_LOCKING=FALSE",
                place_of(path));
  if (reason.find("already open") != std::string::npos)
    throw Error(ErrorCode::io,
                "another program has the file open for writing, or ended without closing it (" + reason +
                    "); close it there, or run 'h5clear -s' on the file",
                place_of(path));
  refuse_file(path, "the file is damaged or incomplete: " + what + " (" + reason + "); divide the job again");
}

Handle open_file(const std::filesystem::path& path) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // Some file systems have no locks, and files of parts are complete before they get their names.
  done(H5Pset_file_locking(access, false, true));
  done(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG));
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose};
}

[[noreturn]] void refuse_storage(const std::string& place) {
  throw Hdf5Refusal{place + " is not stored as Voussoir writes it"};
}

/// Refuses soft and external links, and those of other kinds: what they lead to may be in other files.
void require_hard_link(hid_t file, const std::string& place) {
  H5L_info_t link{};
  done(H5Lget_info(file, place.c_str(), &link, H5P_DEFAULT));
  if (link.type != H5L_TYPE_HARD) refuse_storage(place);
}

/// Refuses datasets whose bytes are in other files, or that need filters which not every HDF5 has.
void require_plain_storage(hid_t set, const std::string& place) {
  const Handle how(H5Dget_create_plist(set), H5Pclose);
  const H5D_layout_t layout = H5Pget_layout(how);
  bool plain =
      H5Pget_external_count(how) == 0 && (layout == H5D_COMPACT || layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED);
  std::vector<H5Z_filter_t> known{H5Z_FILTER_DEFLATE, H5Z_FILTER_SHUFFLE, H5Z_FILTER_FLETCHER32};
  const int filters = H5Pget_nfilters(how);
  for (int f = 0; plain && f < filters; ++f)  // each of them once: deflate on deflate has no bound
    plain = std::erase(known, H5Pget_filter2(how, static_cast<unsigned>(f), nullptr, nullptr, nullptr, 0, nullptr,
                                             nullptr)) == 1;
  if (!plain || filters < 0) refuse_storage(place);
}

/// The text of an attribute; empty if there is no such attribute.
std::string text_attribute(hid_t object, const char* name) {
  const htri_t there = H5Aexists(object, name);
  done(there < 0 ? -1 : 0);
  if (there == 0) return {};
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
  const std::size_t size = H5Tget_size(type);
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 || size > 256 ||
      H5Sget_simple_extent_npoints(space) != 1)
    return {};
  std::string text(size, '\0');
  done(H5Aread(attribute, type, text.data()));
  return text.substr(0, text.find('\0'));
}

std::int64_t number_attribute(hid_t object, const char* name) {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Handle space(H5Aget_space(attribute), H5Sclose);
  if (H5Sget_simple_extent_npoints(space) != 1) throw Hdf5Refusal{std::string(name) + " is not one number"};
  std::int64_t value = 0;
  done(H5Aread(attribute, H5T_STD_I64LE, &value));
  return value;
}

/// Calls `use` with the dataset of an encoded part and its size.
template <class Use>
auto with_encoded(const std::filesystem::path& path, int part, int parts, Use use) {
  const Hdf5Session session(path);
  try {
    const Handle file = open_file(path);
    const std::string group = "parts/" + part_name(part, parts), place = group + "/encoded";
    for (const std::string& each : {std::string("parts"), group, place}) require_hard_link(file, each);
    const Handle set(H5Dopen2(file, place.c_str(), H5P_DEFAULT), H5Dclose);
    require_plain_storage(set, place);
    const Handle space(H5Dget_space(set), H5Sclose);
    hsize_t size = 0;
    std::error_code ignored;
    const std::uint64_t length = std::filesystem::file_size(path, ignored);
    if (H5Sget_simple_extent_ndims(space) != 1 || H5Sget_simple_extent_dims(space, &size, nullptr) != 1 ||
        size / largest_ratio > length)
      throw Hdf5Refusal{place + " is no list of bytes"};
    return use(set, static_cast<std::uint64_t>(size));
  } catch (const Hdf5Refusal& refusal) {
    refuse_damage(path, "part " + std::to_string(part) + " cannot be read", refusal.reason);
  }
}

class Hdf5Parts final : public StoredParts {
 public:
  explicit Hdf5Parts(std::filesystem::path path);
  int parts() const override { return parts_; }
  std::uint64_t bytes(int part) const override {
    return with_encoded(path_, part, parts_, [](hid_t, std::uint64_t size) { return size; });
  }
  std::string read(int part) const override {
    return with_encoded(path_, part, parts_, [](hid_t set, std::uint64_t size) {
      std::string all(static_cast<std::size_t>(size), '\0');
      if (size > 0) done(H5Dread(set, H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()));
      return all;
    });
  }

 private:
  std::filesystem::path path_;
  int parts_ = 0;
};

Hdf5Parts::Hdf5Parts(std::filesystem::path path) : path_(std::move(path)) {
  const Hdf5Session session(path_);
  try {
    const Handle file = open_file(path_);
    if (text_attribute(file, "format") != hdf5_format_name)
      refuse_file(path_, "this HDF5 file is not a file of parts (it has no attribute 'format' with the text '" +
                             std::string(hdf5_format_name) +
                             "'); write one with 'voussoir partition FILE --parts N --output MODEL.h5'");
    if (const std::int64_t found = number_attribute(file, "version"); found != hdf5_format_version)
      refuse_file(path_, "the file has format " + std::to_string(found) + ", but this program reads format " +
                             std::to_string(hdf5_format_version) + "; divide the job again");
    const std::int64_t count = number_attribute(file, "parts");
    require_hard_link(file, "parts");
    const Handle group(H5Gopen2(file, "parts", H5P_DEFAULT), H5Gclose);
    H5G_info_t info{};
    done(H5Gget_info(group, &info));
    if (count < 1 || count > 1000000000 || info.nlinks != static_cast<hsize_t>(count))
      throw Hdf5Refusal{std::to_string(info.nlinks) + " instead of " + std::to_string(count) + " parts"};
    parts_ = static_cast<int>(count);
  } catch (const Hdf5Refusal& refusal) {
    refuse_damage(path_, "it cannot be opened", refusal.reason);
  }
}

}  // namespace

std::shared_ptr<const StoredParts> open_hdf5(const std::filesystem::path& path) {
  return std::make_shared<Hdf5Parts>(path);
}

}  // namespace voussoir::detail
