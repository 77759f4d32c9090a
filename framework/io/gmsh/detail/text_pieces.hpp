#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <vector>

#include <voussoir/framework/io/gmsh/detail/source.hpp>

// The many like lines of large sections, read by several threads. Each thread reads a piece of the text just as one
// thread alone would. Where a piece cannot be read to its end, what follows is left to the caller, so that its errors
// name the same place as ever.

namespace voussoir::gmsh {

/// What was read from the start of a text.
template <class Rows>
struct TextPieces {
  std::vector<Rows> rows;  ///< of one piece after the other
  std::int64_t records = 0;
  std::size_t bytes = 0;
};

/// Reads up to `most` records from the start of a text that ends with a line: read(source, rows) takes one.
template <class Rows, class Read>
TextPieces<Rows> read_text_pieces(std::string_view text, std::int64_t most, const Read& read) {
  constexpr std::size_t piece_bytes = std::size_t{1} << 16;
  struct Piece {
    std::string_view text;
    std::int64_t records = 0;
    bool complete = true;
  };
  std::vector<Piece> pieces;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t newline = text.find('\n', std::min(begin + piece_bytes, text.size() - 1));
    const std::size_t end = newline == text.npos ? text.size() : newline + 1;
    pieces.push_back({text.substr(begin, end - begin)});
    begin = end;
  }
  /// Reads a piece, or as many of its records; returns where it stopped.
  const auto read_piece = [&](const Piece& piece, std::int64_t limit, Rows& rows, std::int64_t& records) {
    Cursor cursor(piece.text, {});
    TextSource source(cursor);
    for (records = 0; records < limit; ++records) {
      cursor.skip_white();
      if (cursor.at_end()) break;
      read(source, rows);
    }
    return cursor.position();
  };

  TextPieces<Rows> found;
  found.rows.resize(pieces.size());
  std::atomic<bool> out_of_memory{false};
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    try {
      read_piece(pieces[p], most, found.rows[p], pieces[p].records);
    } catch (const Error&) {  // what follows the records, or something wrong: no exception may leave a parallel region
      pieces[p].complete = false;
    } catch (const std::bad_alloc&) {
      out_of_memory = true;
    }
  }
  if (out_of_memory) throw std::bad_alloc();
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const std::int64_t wanted = std::min(pieces[p].records, most - found.records);
    if (pieces[p].complete && wanted == pieces[p].records) {
      found.records += wanted;
      found.bytes += pieces[p].text.size();
      continue;
    }
    // The last piece, once more: of a record that could not be read, rows may hold a part.
    found.rows.resize(p + 1);
    found.rows[p] = Rows();
    std::int64_t records = 0;
    found.bytes += read_piece(pieces[p], wanted, found.rows[p], records);
    found.records += records;
    break;
  }
  return found;
}

}  // namespace voussoir::gmsh
