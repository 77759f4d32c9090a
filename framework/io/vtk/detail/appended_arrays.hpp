#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/vtk/vtu_writer.hpp>

// The arrays of a VTU file: entries in the head of the file, and blocks of numbers behind it.

namespace voussoir::detail {

/// The blocks of an array as they stand in a file.
struct PackedArray {
  std::vector<std::vector<unsigned char>> blocks;
  bool complete = false;
};

/// The packed arrays of a mesh, by name, and what they were packed with.
struct PackedMesh {
  const Domain* domain = nullptr;
  bool compressed = true;
  int level = 0;
  std::map<std::string, PackedArray> arrays;

  /// Forgets what was packed in another way.
  void expect(const VtuOptions& options) {
    if (compressed != options.compress || level != options.level)
      for (auto& [name, array] : arrays) array = {};
    compressed = options.compress;
    level = options.level;
  }
};

template <class T>
const char* vtk_type_name() {
  if constexpr (std::is_same_v<T, double>) return "Float64";
  if constexpr (std::is_same_v<T, std::int32_t>) return "Int32";
  if constexpr (std::is_same_v<T, std::int64_t>) return "Int64";
  if constexpr (std::is_same_v<T, std::uint8_t>) return "UInt8";
}

/// Writes the head of a file first, with room for the offsets of its arrays, and then the arrays. All threads generate
/// and compress blocks, those of all arrays in one sequence, while one of them writes the finished ones in order: no
/// array is in memory as a whole.
class AppendedArrays {
 public:
  /// Numbers of `count` entries from `first` on, as bytes.
  using GenerateBytes = std::function<void(std::int64_t first, std::int64_t count, std::byte* out)>;
  template <class T, class Generate>
  static GenerateBytes as_bytes(Generate generate) {
    return [generate = std::move(generate)](std::int64_t first, std::int64_t count, std::byte* out) {
      generate(first, count, reinterpret_cast<T*>(out));
    };
  }

  /// `mesh`, if given, keeps the blocks of the arrays that are announced as part of the mesh.
  AppendedArrays(OutputFile& file, const VtuOptions& options, const std::map<std::string, std::string>& units,
                 PackedMesh* mesh)
      : file_(file), options_(options), units_(units), mesh_(mesh) {}

  /// `generate(first, count, out)` produces the numbers of `count` entries (points or cells) from `first` on.
  template <class T, class Generate>
  void announce(const std::string& name, int components, std::int64_t entries,
                const std::vector<std::string>& component_names, Generate generate) {
    add<T>(name, components, entries, component_names, std::move(generate), nullptr);
  }
  /// The same for an array that all files of the mesh have.
  template <class T, class Generate>
  void announce_mesh(const std::string& name, int components, std::int64_t entries, Generate generate) {
    add<T>(name, components, entries, {}, std::move(generate), mesh_ ? &mesh_->arrays[name] : nullptr);
  }

  void write_all();

 private:
  struct Pending {
    std::uint64_t offset_place;  // in the head of the file
    std::int64_t entries;
    std::size_t entry_bytes;
    GenerateBytes generate;
    PackedArray* kept;  // null: the array is of this file only
  };
  class Pipeline;

  template <class T, class Generate>
  void add(const std::string& name, int components, std::int64_t entries,
           const std::vector<std::string>& component_names, Generate generate, PackedArray* kept) {
    const std::uint64_t place = write_head(name, vtk_type_name<T>(), components, component_names);
    pending_.push_back(
        {place, entries, sizeof(T) * static_cast<std::size_t>(components), as_bytes<T>(std::move(generate)), kept});
  }
  /// Returns the place of the offset, which is known later.
  std::uint64_t write_head(const std::string& name, const char* type, int components,
                           const std::vector<std::string>& component_names);

  OutputFile& file_;
  const VtuOptions& options_;
  const std::map<std::string, std::string>& units_;
  PackedMesh* mesh_;
  std::vector<Pending> pending_;
};

/// Compresses the arrays of a mesh before there is a file.
class MeshPacker {
 public:
  MeshPacker(const VtuOptions& options, PackedMesh& mesh) : options_(options), mesh_(mesh) {}

  /// As in AppendedArrays.
  template <class T, class Generate>
  void announce_mesh(const std::string& name, int components, std::int64_t entries, Generate generate) {
    arrays_.push_back({name, entries, sizeof(T) * static_cast<std::size_t>(components),
                       AppendedArrays::as_bytes<T>(std::move(generate))});
  }

  void pack();

 private:
  struct Array {
    std::string name;
    std::int64_t entries;
    std::size_t entry_bytes;
    AppendedArrays::GenerateBytes generate;
  };

  const VtuOptions& options_;
  PackedMesh& mesh_;
  std::vector<Array> arrays_;
};

}  // namespace voussoir::detail
