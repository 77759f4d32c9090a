#include <voussoir/backends/cuda/matrix/symmetric_mirror.hpp>

#include <voussoir/backends/cuda/primitives/scan.hpp>

// The blocks that half a matrix leaves out, by the rows that they belong to.

namespace voussoir::cuda {

namespace {

/// How many blocks each row leaves out, by places; a thread per place.
__global__ void count_left_out(SlicedView rows, std::int32_t* length) {
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for_mirrored(rows, p, [&](std::int32_t, std::int32_t column) { atomicAdd(&length[rows.place[column]], 1); });
}

/// The most of each slice, a warp per slice.
__global__ void measure_slices(std::int32_t slices, const std::int32_t* length, std::uint32_t* width) {
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (p / slice_rows >= slices) return;  // whole warps
  std::int32_t most = length[p];
  for (int step = 16; step > 0; step /= 2) {
    const std::int32_t other = __shfl_xor_sync(0xffffffffu, most, step);
    most = other > most ? other : most;
  }
  if (p % slice_rows == 0) width[p / slice_rows] = static_cast<std::uint32_t>(most);
}

struct MirrorLists {
  const std::uint32_t* slice_first;
  std::int32_t* column;
  std::uint32_t* stored;
  __device__ std::int64_t at(std::int32_t place, std::int32_t k) const {
    return (static_cast<std::int64_t>(slice_first[place / slice_rows]) + k) * slice_rows + place % slice_rows;
  }
};

/// In any order: they are sorted next.
__global__ void list_left_out(SlicedView rows, std::int32_t* cursor, MirrorLists out) {
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for_mirrored(rows, p, [&](std::int32_t k, std::int32_t column) {
    const std::int32_t place = rows.place[column];
    const std::int64_t at = out.at(place, atomicAdd(&cursor[place], 1));
    out.column[at] = rows.row[p];
    out.stored[at] = (rows.slice_first[p / slice_rows] + static_cast<std::uint32_t>(k)) * slice_rows +
                     static_cast<std::uint32_t>(p % slice_rows);
  });
}

/// By columns, of which a row has each once; a thread per place.
__global__ void sort_left_out(std::int32_t slices, const std::int32_t* length, MirrorLists lists) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i / slice_rows >= slices) return;
  const auto p = static_cast<std::int32_t>(i);
  for (std::int32_t next = 1; next < length[p]; ++next) {
    const std::int32_t column = lists.column[lists.at(p, next)];
    const std::uint32_t stored = lists.stored[lists.at(p, next)];
    std::int32_t k = next;
    for (; k > 0 && lists.column[lists.at(p, k - 1)] > column; --k) {
      lists.column[lists.at(p, k)] = lists.column[lists.at(p, k - 1)];
      lists.stored[lists.at(p, k)] = lists.stored[lists.at(p, k - 1)];
    }
    lists.column[lists.at(p, k)] = column;
    lists.stored[lists.at(p, k)] = stored;
  }
}

}  // namespace

MirroredBlocks make_mirrored(const SlicedRows& half, const std::shared_ptr<DeviceMemory>& memory) {
  const cudaStream_t stream = stream_of(memory);
  const std::size_t places = static_cast<std::size_t>(half.slices) * slice_rows;
  const Grid grid = grid_for(static_cast<std::int64_t>(places));
  MirroredBlocks mirrored;
  mirrored.length = Array<std::int32_t>(memory, places);
  mirrored.slice_first = Array<std::uint32_t>(memory, static_cast<std::size_t>(half.slices) + 1);
  std::int32_t* length = mirrored.length.write_device();
  std::uint32_t* first = mirrored.slice_first.write_device();
  fill_bytes_async(length, 0, mirrored.length.bytes(), stream);
  launch(count_left_out, grid, stream, half.view(), length);
  launch(measure_slices, grid, stream, half.slices, length, first);
  exclusive_sums(first, half.slices, memory);

  const std::size_t room = static_cast<std::size_t>(fetch(memory, first + half.slices)) * slice_rows;
  mirrored.column = Array<std::int32_t>(memory, room);
  mirrored.stored = Array<std::uint32_t>(memory, room);
  const MirrorLists lists{first, mirrored.column.write_device(), mirrored.stored.write_device()};
  // Behind the end of a row stands the first block of all: it is read and not used.
  fill_bytes_async(lists.column, 0, mirrored.column.bytes(), stream);
  fill_bytes_async(lists.stored, 0, mirrored.stored.bytes(), stream);
  Array<std::int32_t> cursor(memory, places);
  std::int32_t* cursors = cursor.write_device();
  fill_bytes_async(cursors, 0, cursor.bytes(), stream);
  launch(list_left_out, grid, stream, half.view(), cursors, lists);
  launch(sort_left_out, grid, stream, half.slices, length, lists);
  return mirrored;
}

}  // namespace voussoir::cuda
