#include <voussoir/partition/process/hdf5/detail/calls.hpp>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <algorithm>
#include <new>

namespace voussoir::detail {
namespace {

/// What HDF5 keeps, by its bytes, in properties of files that it has yet to open.
struct Shared {
  const std::shared_ptr<OutputDriver::Destination>* to;
};

struct DrivenFile : H5FD_t {
  std::shared_ptr<OutputDriver::Destination> to;
  haddr_t allocated, written;  // ends
};

DrivenFile& driven(H5FD_t* file) { return static_cast<DrivenFile&>(*file); }

template <class Work>
void keep_failure(DrivenFile& file, Work work) {
  if (file.to->failure || !file.to->file) return;
  try {
    work();
  } catch (...) {
    file.to->failure = std::current_exception();
  }
}

H5FD_t* open_driven(const char*, unsigned, hid_t access, haddr_t) {
  const auto* const info = static_cast<const Shared*>(H5Pget_driver_info(access));
  auto* const file = info ? new (std::nothrow) DrivenFile() : nullptr;
  if (file) file->to = *info->to;
  return file;
}

herr_t close_driven(H5FD_t* file) {
  delete &driven(file);
  return 0;
}

herr_t query_driven(const H5FD_t*, unsigned long* flags) {
  if (flags)
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA |
             H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

herr_t read_driven(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, void* data) {
  DrivenFile& file = driven(base);
  auto* const bytes = static_cast<unsigned char*>(data);
  const std::size_t there = at < file.written ? std::min<haddr_t>(size, file.written - at) : 0;
  std::fill(bytes + there, bytes + size, static_cast<unsigned char>(0));
  keep_failure(file, [&] { file.to->file->read_back(at, bytes, there); });
  return file.to->failure || !file.to->file ? -1 : 0;
}

herr_t write_driven(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, const void* data) {
  DrivenFile& file = driven(base);
  keep_failure(file, [&] {
    file.to->file->patch(at, {static_cast<const char*>(data), size});
    file.written = std::max<haddr_t>(file.written, at + size);
  });
  return 0;
}

/// A file that is shorter than HDF5's space in it would count as truncated.
herr_t truncate_driven(H5FD_t* base, hid_t, hbool_t) {
  DrivenFile& file = driven(base);
  if (file.written < file.allocated) {
    const char zero = 0;
    write_driven(base, H5FD_MEM_DEFAULT, 0, file.allocated - 1, 1, &zero);
  }
  return 0;
}

hid_t output_driver() {
  static const H5FD_class_t driver = [] {
    H5FD_class_t all{};
#if H5_VERSION_GE(1, 13, 0)
    all.version = H5FD_CLASS_VERSION;
    all.value = static_cast<H5FD_class_value_t>(510);  // of those from 256 to 511, which are not registered
#endif
    all.name = "voussoir_output";
    all.maxaddr = HADDR_MAX / 4;
    all.fc_degree = H5F_CLOSE_STRONG;
    all.fapl_size = sizeof(Shared);
    all.open = open_driven;
    all.close = close_driven;
    all.query = query_driven;
    all.get_eoa = [](const H5FD_t* file, H5FD_mem_t) { return static_cast<const DrivenFile*>(file)->allocated; };
    all.set_eoa = [](H5FD_t* file, H5FD_mem_t, haddr_t end) -> herr_t {
      driven(file).allocated = end;
      return 0;
    };
    all.get_eof = [](const H5FD_t* file, H5FD_mem_t) { return static_cast<const DrivenFile*>(file)->written; };
    all.read = read_driven;
    all.write = write_driven;
    all.truncate = truncate_driven;
    const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(map), std::end(map), all.fl_map);
    return all;
  }();
  static hid_t id = -1;
  if (H5Iget_type(id) != H5I_VFL) id = H5FDregister(&driver);  // the first time, and after somebody's H5close()
  return valid(id);
}

}  // namespace

void OutputDriver::use(hid_t access) {
  const Shared info{&to_};
  done(H5Pset_driver(access, output_driver(), &info));
}

}  // namespace voussoir::detail
