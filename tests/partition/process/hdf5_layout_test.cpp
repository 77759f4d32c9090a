// What other programs see in our HDF5 files, by HDF5's own functions; and HDF5 files that we did not write like this.
#include <gtest/gtest.h>
#ifdef VSR_TEST_HDF5
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <voussoir/backends/version.hpp>
#include <voussoir/partition/process/part_file.hpp>

#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"
#include "two_model_job.hpp"

namespace voussoir {
namespace {

using testing::expect_error;
using testing::two_model_job;

/// A file as a stranger opens it: without any of our code.
class Hdf5Reader {
 public:
  explicit Hdf5Reader(const std::filesystem::path& path, unsigned flags = H5F_ACC_RDONLY)
      : file_(H5Fopen(path.c_str(), flags, H5P_DEFAULT)) {
    EXPECT_GE(file_, 0);
  }
  ~Hdf5Reader() { H5Fclose(file_); }
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;
  operator hid_t() const { return file_; }

  template <class T>
  std::vector<T> numbers(const std::string& name, hid_t type, hsize_t columns = 0) const {
    const hid_t set = H5Dopen2(file_, name.c_str(), H5P_DEFAULT);
    EXPECT_GE(set, 0) << name;
    const hid_t space = H5Dget_space(set);
    EXPECT_EQ(H5Sget_simple_extent_ndims(space), columns ? 2 : 1) << name;
    std::array<hsize_t, 2> size{0, 1};
    H5Sget_simple_extent_dims(space, size.data(), nullptr);
    EXPECT_EQ(size[1], columns ? columns : 1) << name;
    std::vector<T> values(size[0] * size[1]);
    EXPECT_GE(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << name;
    H5Sclose(space);
    H5Dclose(set);
    return values;
  }
  std::vector<std::int64_t> integers(const std::string& name, hsize_t columns = 0) const {
    return numbers<std::int64_t>(name, H5T_NATIVE_INT64, columns);
  }
  std::vector<std::string> texts(const std::string& name) const {
    const hid_t set = H5Dopen2(file_, name.c_str(), H5P_DEFAULT), type = H5Dget_type(set), space = H5Dget_space(set);
    const std::size_t width = H5Tget_size(type);
    std::vector<char> all(width * static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    EXPECT_GE(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()), 0) << name;
    std::vector<std::string> list;
    for (std::size_t at = 0; at < all.size(); at += width)
      list.emplace_back(all.data() + at, strnlen(all.data() + at, width));
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(set);
    return list;
  }
  std::int64_t number_at(const std::string& object, const char* name) const {
    const hid_t attribute = H5Aopen_by_name(file_, object.c_str(), name, H5P_DEFAULT, H5P_DEFAULT);
    std::int64_t value = -1;
    EXPECT_GE(H5Aread(attribute, H5T_NATIVE_INT64, &value), 0) << name;
    H5Aclose(attribute);
    return value;
  }
  std::string text_at(const std::string& object, const char* name) const {
    const hid_t attribute = H5Aopen_by_name(file_, object.c_str(), name, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute);
    std::string text(H5Tget_size(type), '\0');
    EXPECT_GE(H5Aread(attribute, type, text.data()), 0) << name;
    H5Tclose(type);
    H5Aclose(attribute);
    return text.substr(0, text.find('\0'));
  }
  std::vector<std::string> names_in(const std::string& group) const {
    std::vector<std::string> names;
    const auto add = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
      static_cast<std::vector<std::string>*>(list)->emplace_back(name);
      return 0;
    };
    EXPECT_GE(H5Literate_by_name(file_, group.c_str(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names, H5P_DEFAULT),
              0);
    return names;
  }

 private:
  hid_t file_;
};

std::string group_of(int part) { return "parts/0000" + std::to_string(part); }

class Hdf5Layout : public ::testing::Test {
 protected:
  void write(int parts) { write_part_file(path_, JobDivision(job_, parts), true); }
  /// Writes the file and changes it as another program would.
  template <class Work>
  void change(const Work& work) {
    write(2);
    const Hdf5Reader file(path_, H5F_ACC_RDWR);
    work(file);
  }
  /// Changes how part 1 is stored: work(its group, its size).
  template <class Work>
  void store_otherwise(const Work& work) {
    const hsize_t size = encode(JobDivision(job_, 2).part(1)).size();
    change([&](hid_t file) {
      const hid_t group = H5Gopen2(file, "parts/00001", H5P_DEFAULT);
      EXPECT_GE(H5Lmove(group, "encoded", group, "kept", H5P_DEFAULT, H5P_DEFAULT), 0);
      work(group, size);
      H5Gclose(group);
    });
  }
  void expect_refusal(std::initializer_list<std::string> words) const {
    expect_error(ErrorCode::bad_input, words, [&] {
      const PartFile file(path_);
      for (int p = 0; p < file.parts(); ++p) file.read(p);
    });
    EXPECT_GE(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), 0);  // for our own calls that fail
  }

  Job job_ = two_model_job(2);
  std::filesystem::path path_ = testing::scratch_file("layout.h5");
};

TEST_F(Hdf5Layout, HeadDescribesTheJob) {
  write(4);
  const Hdf5Reader file(path_);
  EXPECT_EQ(file.text_at(".", "format"), "voussoir parts");
  EXPECT_EQ(file.number_at(".", "version"), 1);
  EXPECT_EQ(file.text_at(".", "program"), std::string("voussoir ") + version());
  EXPECT_EQ(file.number_at(".", "parts"), 4);
  EXPECT_EQ(file.text_at(".", "source"), "bar.inp");
  EXPECT_EQ(file.number_at(".", "nodes"), job_.domains[0]->node_count());
  EXPECT_EQ(file.names_in("parts"), (std::vector<std::string>{"00000", "00001", "00002", "00003"}));
  EXPECT_EQ(file.names_in("models"), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(file.texts("models/0/block_names"), (std::vector<std::string>{"box", "bars"}));
  EXPECT_EQ(file.texts("models/0/block_types"), (std::vector<std::string>{"solid.hex8", "truss"}));
  EXPECT_EQ(file.integers("models/0/block_sizes"), (std::vector<std::int64_t>{32, 8}));
  EXPECT_EQ(file.texts("models/0/unknowns"), (std::vector<std::string>{"ux", "uy", "uz"}));
  EXPECT_EQ(file.texts("models/1/unknowns"), std::vector<std::string>{"T"});
}

TEST_F(Hdf5Layout, NodesOfAllPartsAreThoseOfTheJob) {
  write(4);
  const Hdf5Reader file(path_);
  const Domain& domain = *job_.domains[0];
  std::set<Id> owned;
  std::set<std::int64_t> global;
  for (int p = 0; p < 4; ++p) {
    const std::string nodes = group_of(p) + "/nodes/";
    EXPECT_EQ(file.number_at(group_of(p), "part"), p);
    const auto numbers = file.integers(nodes + "numbers"), owners = file.integers(nodes + "owners"),
               globals = file.integers(nodes + "global");
    const auto x = file.numbers<double>(nodes + "coordinates", H5T_NATIVE_DOUBLE, 3);
    ASSERT_EQ(x.size(), 3 * numbers.size());
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      const auto position = domain.node(numbers[n]).position;
      EXPECT_TRUE(std::equal(position.begin(), position.end(), x.begin() + static_cast<std::ptrdiff_t>(3 * n)));
      if (owners[n] != p) continue;
      EXPECT_TRUE(owned.insert(numbers[n]).second) << "two parts own node " << numbers[n];
      EXPECT_TRUE(global.insert(globals[n]).second) << "two nodes have the global number " << globals[n];
    }
  }
  EXPECT_EQ(owned.size(), static_cast<std::size_t>(domain.node_count()));
  EXPECT_EQ(*global.begin(), 0);
  EXPECT_EQ(*global.rbegin(), domain.node_count() - 1);
}

TEST_F(Hdf5Layout, ElementsOfAllPartsAreThoseOfTheJob) {
  write(4);
  const Hdf5Reader file(path_);
  for (std::size_t d = 0; d < 2; ++d) {
    const Domain& domain = *job_.domains[d];
    const auto names = file.texts("models/" + std::to_string(d) + "/block_names");
    std::set<Id> seen;
    for (int p = 0; p < 4; ++p) {
      const std::string model = group_of(p) + "/elements/" + std::to_string(d);
      for (const std::string& type : file.names_in(model)) {
        const std::string place = model + "/" + type + "/";
        EXPECT_EQ(file.text_at(place, "type"), type);
        EXPECT_EQ(file.text_at(place, "shape"), type == "truss" ? "line2" : "hex8");
        const std::size_t width = type == "truss" ? 2 : 8;
        const auto numbers = file.integers(place + "numbers"), blocks = file.integers(place + "blocks"),
                   nodes = file.integers(place + "nodes", width);
        ASSERT_EQ(nodes.size(), width * numbers.size());
        ASSERT_EQ(blocks.size(), numbers.size());
        for (std::size_t e = 0; e < numbers.size(); ++e) {
          const Element element = domain.element(numbers[e]);
          EXPECT_EQ(element.block->name(), names[static_cast<std::size_t>(blocks[e])]);
          EXPECT_EQ(element.block->type_name(), type);
          EXPECT_TRUE(std::equal(element.nodes.begin(), element.nodes.end(),
                                 nodes.begin() + static_cast<std::ptrdiff_t>(width * e)));
          EXPECT_TRUE(seen.insert(numbers[e]).second) << "two parts have element " << numbers[e];
        }
      }
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(domain.element_count()));
  }
}

TEST_F(Hdf5Layout, SharedNodesAreTheSameOnBothSides) {
  write(4);
  const Hdf5Reader file(path_);
  std::array<std::set<std::int64_t>, 4> nodes;
  for (int p = 0; p < 4; ++p) {
    const auto numbers = file.integers(group_of(p) + "/nodes/numbers");
    nodes[static_cast<std::size_t>(p)] = {numbers.begin(), numbers.end()};
  }
  int pairs = 0;
  for (int p = 0; p < 4; ++p) {
    std::vector<std::string> neighbours;
    for (int q = 0; q < 4; ++q) {
      std::set<std::int64_t> common;
      for (const std::int64_t n : nodes[static_cast<std::size_t>(p)])
        if (q != p && nodes[static_cast<std::size_t>(q)].contains(n)) common.insert(n);
      if (common.empty()) continue;
      neighbours.push_back("0000" + std::to_string(q));
      const auto shared = file.integers(group_of(p) + "/shared/" + neighbours.back());
      EXPECT_EQ(shared, file.integers(group_of(q) + "/shared/0000" + std::to_string(p)));
      EXPECT_EQ((std::set<std::int64_t>{shared.begin(), shared.end()}), common);
      ++pairs;
    }
    EXPECT_EQ(file.names_in(group_of(p) + "/shared"), neighbours);
  }
  EXPECT_GE(pairs, 6);
}

TEST_F(Hdf5Layout, EncodedPartsAreThoseOfEncode) {
  write(2);
  const Hdf5Reader file(path_);
  const JobDivision division(job_, 2);
  for (int p = 0; p < 2; ++p) {
    const auto bytes = file.numbers<char>(group_of(p) + "/encoded", H5T_NATIVE_UCHAR);
    EXPECT_TRUE(std::string(bytes.begin(), bytes.end()) == encode(division.part(p)));
  }
}

TEST_F(Hdf5Layout, OtherFilesAreRefused) {
  H5Fclose(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  expect_refusal({"layout.h5", "this HDF5 file is not a file of parts", "voussoir partition"});
  EXPECT_FALSE(PartFile::is_one(path_));

  change([](hid_t file) {
    const hid_t attribute = H5Aopen(file, "version", H5P_DEFAULT);
    const std::int64_t version = 7;
    H5Awrite(attribute, H5T_NATIVE_INT64, &version);
    H5Aclose(attribute);
  });
  expect_refusal({"layout.h5", "format 7", "reads format 1", "divide the job again"});
  change([](hid_t file) {
    H5Lmove(file, "parts/00000", file, "parts/x", H5P_DEFAULT, H5P_DEFAULT);
    H5Lmove(file, "parts/00001", file, "parts/00000", H5P_DEFAULT, H5P_DEFAULT);
    H5Lmove(file, "parts/x", file, "parts/00001", H5P_DEFAULT, H5P_DEFAULT);
  });
  expect_refusal({"layout.h5", "a part is not in its place"});
  change([](hid_t file) { H5Ldelete(file, "parts/00001", H5P_DEFAULT); });
  expect_refusal({"layout.h5", "1 instead of 2 parts"});
  change([](hid_t file) { H5Lmove(file, "parts/00001", file, "parts/7", H5P_DEFAULT, H5P_DEFAULT); });
  expect_refusal({"layout.h5", "part 1 cannot be read"});
  change([](hid_t file) { H5Adelete(file, "parts"); });
  expect_refusal({"layout.h5", "damaged"});
  change([](hid_t file) {
    H5Ldelete(file, "parts/00001/encoded", H5P_DEFAULT);
    H5Lcreate_hard(file, "parts/00001/nodes/coordinates", file, "parts/00001/encoded", H5P_DEFAULT, H5P_DEFAULT);
  });
  expect_refusal({"layout.h5", "no list of bytes"});
}

// Bytes of other files, which may be pipes that never end, and filters that HDF5 would load.
TEST_F(Hdf5Layout, OtherWaysToStoreAPartAreRefused) {
  const auto refused = [&] {
    expect_refusal({"layout.h5", "part 1 cannot be read", "not stored as Voussoir writes it"});
  };
  store_otherwise([](hid_t group, hsize_t) { H5Lcreate_soft("kept", group, "encoded", H5P_DEFAULT, H5P_DEFAULT); });
  refused();
  store_otherwise([](hid_t group, hsize_t) {
    H5Lcreate_external("other.h5", "/parts/00001/encoded", group, "encoded", H5P_DEFAULT, H5P_DEFAULT);
  });
  refused();
  const auto create = [](hid_t group, hsize_t size, auto choose) {
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &size, nullptr);
    EXPECT_GE(choose(how, space), 0);
    const hid_t set = H5Dcreate2(group, "encoded", H5T_STD_U8LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    EXPECT_GE(set, 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(how);
  };
  store_otherwise([&](hid_t group, hsize_t size) {
    create(group, size, [&](hid_t how, hid_t) { return H5Pset_external(how, "other.bin", 0, size); });
  });
  refused();
  store_otherwise([&](hid_t group, hsize_t size) {
    create(group, size, [](hid_t how, hid_t space) { return H5Pset_virtual(how, space, "other.h5", "/set", space); });
  });
  refused();
  for (const bool twice : {false, true}) {
    store_otherwise([&](hid_t group, hsize_t size) {
      create(group, size, [&](hid_t how, hid_t) {
        H5Pset_chunk(how, 1, &size);
        H5Pset_deflate(how, 1);
        return twice ? H5Pset_deflate(how, 1) : H5Pset_filter(how, 32000, H5Z_FLAG_OPTIONAL, 0, nullptr);
      });
    });
    refused();
  }
  change([](hid_t file) {
    H5Lmove(file, "parts", file, "kept", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("other.h5", "/parts", file, "parts", H5P_DEFAULT, H5P_DEFAULT);
  });
  expect_refusal({"layout.h5", "parts is not stored as Voussoir writes it"});
}

// What other programs may have made of the file without harm.
TEST_F(Hdf5Layout, OtherBuiltInFiltersAreRead) {
  const std::string bytes = encode(JobDivision(job_, 2).part(1));
  store_otherwise([&](hid_t group, hsize_t size) {
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &size, nullptr);
    const hsize_t chunk = 4096;
    H5Pset_chunk(how, 1, &chunk);
    H5Pset_shuffle(how);
    H5Pset_deflate(how, 9);
    H5Pset_fletcher32(how);
    const hid_t set = H5Dcreate2(group, "encoded", H5T_STD_U8LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    EXPECT_GE(H5Dwrite(set, H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(how);
  });
  EXPECT_TRUE(encode(PartFile(path_).read(1)) == bytes);
}

// As after a program has ended without closing the file that it could write.
TEST_F(Hdf5Layout, FilesThatAreOpenElsewhereAreNotDamaged) {
  write(2);
  const std::filesystem::path open = testing::scratch_file("open.h5");
  {
    const Hdf5Reader file(path_, H5F_ACC_RDWR);
    EXPECT_GE(H5Fflush(file, H5F_SCOPE_GLOBAL), 0);
    std::filesystem::copy_file(path_, open, std::filesystem::copy_options::overwrite_existing);
  }
  expect_error(ErrorCode::io, {"open.h5", "another program has the file open", "h5clear -s"}, [&] { PartFile{open}; });
  EXPECT_EQ(PartFile(path_).parts(), 2);
}

// A program's own way to report failures of HDF5 stays as it was.
TEST_F(Hdf5Layout, ReportsOfTheProgramAreKept) {
  const auto report = [](hid_t, void* count) -> herr_t {
    ++*static_cast<int*>(count);
    return 0;
  };
  int count = 0;
  H5Eset_auto2(H5E_DEFAULT, report, &count);
  write(2);
  EXPECT_EQ(PartFile(path_).read(1).part, 1);
  expect_error(ErrorCode::misuse, {"part 2"}, [&] { PartFile(path_).read(2); });
  EXPECT_EQ(count, 0);
  EXPECT_LT(H5Fopen("/none/such.h5", H5F_ACC_RDONLY, H5P_DEFAULT), 0);
  EXPECT_EQ(count, 1);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

}  // namespace
}  // namespace voussoir
#else
TEST(Hdf5Layout, IsReadByHdf5) { GTEST_SKIP() << "built without HDF5: install libhdf5-dev"; }
#endif
