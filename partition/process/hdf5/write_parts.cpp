#include <voussoir/backends/error.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/partition/process/hdf5/detail/calls.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <type_traits>
#include <vector>

// The layout is described in docs/distributed_parts.md.

namespace voussoir::detail {
namespace {

constexpr unsigned deflate_level = 1;                // higher levels take several times as long for a few per cent
constexpr std::size_t chunk_bytes = 1 << 20;         // of a compressed dataset
constexpr std::size_t smallest_compressed = 1 << 9;  // bytes; below, the tables of chunks outweigh the gain

template <class T>
hid_t type_of() {
  if constexpr (std::is_same_v<T, double>) return H5T_IEEE_F64LE;
  if constexpr (std::is_same_v<T, std::int64_t>) return H5T_STD_I64LE;
  if constexpr (std::is_same_v<T, std::int32_t>) return H5T_STD_I32LE;
  if constexpr (std::is_same_v<T, char>) return H5T_STD_U8LE;
}

/// Properties of new objects, without times: the same job gives the same bytes.
hid_t without_times(hid_t kind) {
  const hid_t list = valid(H5Pcreate(kind));
  H5Pset_obj_track_times(list, false);
  return list;
}

Handle new_group(hid_t parent, const std::string& name) {
  const Handle how(without_times(H5P_GROUP_CREATE), H5Pclose);
  return {H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, how, H5P_DEFAULT), H5Gclose};
}

/// A list of entries of `each` bytes, or a table of them with this number of columns.
void put_entries(hid_t group, const std::string& name, hid_t type, std::size_t each, const void* data, hsize_t rows,
                 hsize_t columns = 0) {
  const std::array<hsize_t, 2> size{rows, columns};
  const int rank = columns ? 2 : 1;
  const std::size_t row_bytes = each * std::max<std::size_t>(1, columns);
  const Handle space(H5Screate_simple(rank, size.data(), nullptr), H5Sclose);
  const Handle how(without_times(H5P_DATASET_CREATE), H5Pclose);
  if (rows * row_bytes >= smallest_compressed && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) {
    const std::array<hsize_t, 2> chunk{std::clamp<hsize_t>(chunk_bytes / row_bytes, 1, rows), columns};
    done(H5Pset_chunk(how, rank, chunk.data()));
    if (each > 1) done(H5Pset_shuffle(how));
    done(H5Pset_deflate(how, deflate_level));
  }
  Handle set(H5Dcreate2(group, name.c_str(), type, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose);
  if (rows > 0) done(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
  set.close();
}

template <class List>
void put_list(hid_t group, const std::string& name, const List& list, hsize_t columns = 0) {
  using T = std::remove_cv_t<std::remove_reference_t<decltype(list[0])>>;
  put_entries(group, name, type_of<T>(), sizeof(T), list.data(), columns ? list.size() / columns : list.size(),
              columns);
}

/// The type of texts with up to this number of bytes.
Handle text_type(std::size_t bytes) {
  const hid_t type = valid(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, std::max<std::size_t>(1, bytes));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return {type, H5Tclose};
}

void put_texts(hid_t group, const std::string& name, const std::vector<std::string>& list) {
  std::size_t width = 1;
  for (const std::string& text : list) width = std::max(width, text.size());
  std::string all;
  for (const std::string& text : list) all += text + std::string(width - text.size(), '\0');
  put_entries(group, name, text_type(width), width, all.data(), list.size());
}

void put_attribute(hid_t object, const char* name, hid_t type, const void* value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  done(H5Awrite(attribute, type, value));
}

void put_number(hid_t object, const char* name, std::int64_t value) {
  put_attribute(object, name, H5T_STD_I64LE, &value);
}

void put_text(hid_t object, const char* name, const std::string& text) {
  put_attribute(object, name, text_type(text.size()), text.c_str());
}

/// What all parts have in common.
void put_job(hid_t file, const ProcessPart& part) {
  put_text(file, "source", part.job.source);
  put_number(file, "nodes", part.whole_nodes);
  const Handle models = new_group(file, "models");
  for (std::size_t d = 0; d < part.domains.size(); ++d) {
    const Handle model = new_group(models, std::to_string(d));
    std::vector<std::string> names, types;
    for (std::size_t b = 0; b < part.job.domains[d]->block_count(); ++b) {
      names.push_back(std::as_const(*part.job.domains[d]).block(b).name());
      types.push_back(std::as_const(*part.job.domains[d]).block(b).type_name());
    }
    put_texts(model, "block_names", names);
    put_texts(model, "block_types", types);
    put_list(model, "block_sizes", part.domains[d].block_sizes);
    put_texts(model, "unknowns", part.domains[d].unknown_names);
  }
}

void put_nodes(hid_t group, const ProcessPart& part) {
  const Domain& domain = *part.job.domains.front();
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(part.node_count()));
  for (std::size_t n = 0; n < numbers.size(); ++n) numbers[n] = domain.node_id(static_cast<std::int32_t>(n));
  const Handle nodes = new_group(group, "nodes");
  put_list(nodes, "numbers", numbers);
  put_list(nodes, "coordinates", domain.coordinates(), 3);
  put_list(nodes, "owners", part.owner);
  put_list(nodes, "global", part.global_node);
  const Handle shared = new_group(group, "shared");
  for (const SharedNodes& with : part.shared) {
    numbers.clear();
    for (const std::int32_t n : with.nodes) numbers.push_back(domain.node_id(n));
    put_list(shared, part_name(with.part, part.parts), numbers);
  }
}

/// The elements of a model, a group for each type; in the user's numbers.
void put_elements(hid_t group, const Domain& domain) {
  struct OfType {
    std::string shape;
    int width = 0;
    std::vector<std::int64_t> numbers, nodes;
    std::vector<std::int32_t> blocks;
  };
  std::map<std::string, OfType> types;
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    if (block.size() == 0) continue;
    OfType& type = types[block.type_name()];
    type.shape = block.type().shape();
    type.width = block.nodes_per_element();
    for (std::int32_t e = 0; e < block.size(); ++e) type.numbers.push_back(block.id(e));
    for (const std::int32_t n : block.connectivity()) type.nodes.push_back(domain.node_id(n));
    type.blocks.resize(type.numbers.size(), static_cast<std::int32_t>(b));
  }
  for (const auto& [name, type] : types) {
    std::string link = name;
    std::replace(link.begin(), link.end(), '/', '_');  // which would be a group in a group
    const Handle elements = new_group(group, link);
    put_text(elements, "type", name);
    put_text(elements, "shape", type.shape);
    put_list(elements, "numbers", type.numbers);
    put_list(elements, "nodes", type.nodes, static_cast<hsize_t>(type.width));
    put_list(elements, "blocks", type.blocks);
  }
}

void put_part(hid_t parts, const ProcessPart& part) {
  const Handle group = new_group(parts, part_name(part.part, part.parts));
  put_number(group, "part", part.part);
  put_nodes(group, part);
  const Handle elements = new_group(group, "elements");
  for (std::size_t d = 0; d < part.job.domains.size(); ++d) {
    const Handle model = new_group(elements, std::to_string(d));
    put_elements(model, *part.job.domains[d]);
  }
  put_list(group, "encoded", encode(part));
}

Handle create_file(OutputDriver& driver) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  driver.use(access);
  // HDF5's tables have checksums in this version of its format, not in older ones. HDF5 1.10 and later can read it.
  done(H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110));
  const Handle how(without_times(H5P_FILE_CREATE), H5Pclose);
  return {H5Fcreate("parts", H5F_ACC_TRUNC, how, access), H5Fclose};
}

}  // namespace

void write_hdf5(const std::filesystem::path& path, const JobDivision& division, bool overwrite) {
  OutputFile output(path, overwrite);
  OutputDriver driver(output);
  const Hdf5Session session(path);
  try {
    Handle file = create_file(driver);
    put_text(file, "format", hdf5_format_name);
    put_number(file, "version", hdf5_format_version);
    put_text(file, "program", std::string("voussoir ") + version());
    put_number(file, "parts", division.parts());
    {
      const Handle parts = new_group(file, "parts");
      for (int p = 0; p < division.parts(); ++p) {
        const ProcessPart part = division.part(p);
        if (p == 0) put_job(file, part);
        put_part(parts, part);
        driver.rethrow();  // a full disk ends the work
      }
    }
    file.close();
  } catch (const Hdf5Refusal& refusal) {
    driver.rethrow();
    throw Error(ErrorCode::io, "HDF5 cannot write the file: " + refusal.reason, place_of(path));
  }
  driver.rethrow();
  output.commit();
}

}  // namespace voussoir::detail
