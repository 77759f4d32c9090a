#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <voussoir/framework/io/deck/detail/deck.hpp>

// The many like lines of large *NODE and *ELEMENT cards, read by several threads. Only plain lines are read here: whole
// numbers, decimal numbers and commas. The first line that is anything else (a comment, an empty one, a number as
// Fortran writes it, an error) ends the reading, and the parser goes on with it, so that it alone knows the grammar and
// its errors name the same line as ever.

namespace voussoir::deck {

/// What was read from the start of a text.
struct PlainRows {
  std::size_t bytes = 0, lines = 0;
};

/// Texts shorter than this are not worth the threads.
inline constexpr std::size_t worth_threads = std::size_t{1} << 18;

/// Reads lines "number, x, y, z" and appends them to the table.
PlainRows read_plain_nodes(std::string_view text, NodeTable& nodes);

/// Reads elements, each with its number and all its nodes on `lines_each` lines, and appends them to the card, `shift`
/// added to their numbers and `node_shift` to those of their nodes. The text begins behind line `line` of the card's
/// file.
PlainRows read_plain_elements(std::string_view text, std::size_t lines_each, std::int32_t line, Id shift, Id node_shift,
                              ElementCard& elements);

}  // namespace voussoir::deck
