#include <voussoir/backends/abi.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/partition/process/hdf5/detail/calls.hpp>

#include <algorithm>

namespace voussoir::detail {
namespace {

/// The innermost reason for the last failure.
std::string last_reason() {
  std::string text;
  const auto first = [](unsigned n, const H5E_error2_t* entry, void* result) -> herr_t {
    if (n == 0 && entry->desc) *static_cast<std::string*>(result) = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first, &text);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.empty() ? "HDF5 gives no reason" : text;
}

std::string wrong_version(unsigned major, unsigned minor) {
  const std::string loaded = "HDF5 " + std::to_string(major) + "." + std::to_string(minor);
  return "Voussoir was built with HDF5 " + std::to_string(H5_VERS_MAJOR) + "." + std::to_string(H5_VERS_MINOR) +
         ", but this process has loaded " + loaded + ", as PETSc may do; build Voussoir with " + loaded +
         ", or use a .vpart file";
}

std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

hid_t valid(hid_t id) {
  if (id < 0) throw Hdf5Refusal{last_reason()};
  return id;
}

void done(herr_t status) {
  if (status < 0) throw Hdf5Refusal{last_reason()};
}

Hdf5Session::Hdf5Session(const std::filesystem::path& path) : lock_(one_at_a_time()) {
  unsigned major = 0, minor = 0, release = 0;
  const bool starts = H5open() >= 0 && H5get_libversion(&major, &minor, &release) >= 0;
  if (!starts || major != H5_VERS_MAJOR || minor != H5_VERS_MINOR)
    throw Error(ErrorCode::unavailable, starts ? wrong_version(major, minor) : "HDF5 does not start; use a .vpart file",
                place_of(path));
  H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLget_loading_state(&plugins_);
  H5PLset_loading_state(0);
}

Hdf5Session::~Hdf5Session() {
  H5PLset_loading_state(plugins_);
  H5Eset_auto2(H5E_DEFAULT, print_, data_);
}

void check_hdf5(const std::filesystem::path& path) { const Hdf5Session session(path); }

std::string part_name(int part, int parts) {
  const std::string number = std::to_string(part);
  const std::size_t digits = std::max<std::size_t>(5, std::to_string(parts - 1).size());
  return std::string(digits - number.size(), '0') + number;
}

std::string place_of(const std::filesystem::path& path) { return "file '" + path.string() + "'"; }

}  // namespace voussoir::detail

extern "C" __attribute__((visibility("default"))) const voussoir::detail::Hdf5Container* voussoir_hdf5_container() {
  static const voussoir::detail::Hdf5Container container{voussoir::abi_number, voussoir::detail::shared_class_sizes(),
                                                         voussoir::detail::check_hdf5, voussoir::detail::write_hdf5,
                                                         voussoir::detail::open_hdf5};
  return &container;
}
