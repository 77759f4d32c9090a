#include <voussoir/framework/io/vtk/detail/word_deflater.hpp>

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include <voussoir/framework/io/vtk/detail/huffman_code.hpp>

namespace voussoir::detail {
namespace {

constexpr std::size_t word_bytes = 8;
constexpr std::size_t window_words = 32768 / word_bytes;  // how far back deflate can refer
constexpr std::size_t most_repeated = 32;                 // words of one match: 256 bytes, of the 258 that are allowed
constexpr std::size_t end_of_block = 256;

std::uint64_t word_at(const std::byte* in, std::size_t word) {
  std::uint64_t value;
  std::memcpy(&value, in + word * word_bytes, word_bytes);
  return value;
}

/// A length or a distance as deflate writes it: a symbol and the low bits of the number.
struct Coded {
  std::uint16_t symbol;
  std::uint8_t extra_bits;
  std::uint16_t extra;
};

/// Of a distance in bytes (RFC 1951, 3.2.5): two symbols for each power of two.
Coded coded_distance(std::size_t distance) {
  const auto d = static_cast<unsigned>(distance - 1);
  if (d < 4) return {static_cast<std::uint16_t>(d), 0, 0};
  const int bits = std::bit_width(d) - 2;
  return {static_cast<std::uint16_t>(2 * bits + (d >> bits)), static_cast<std::uint8_t>(bits),
          static_cast<std::uint16_t>(d & ((1u << bits) - 1))};
}

/// Of a length of 3 to 257 bytes: four symbols for each power of two.
Coded coded_length(std::size_t length) {
  const auto d = static_cast<unsigned>(length - 3);
  if (d < 8) return {static_cast<std::uint16_t>(257 + d), 0, 0};
  const int bits = std::bit_width(d) - 3;
  return {static_cast<std::uint16_t>(257 + 4 * bits + (d >> bits)), static_cast<std::uint8_t>(bits),
          static_cast<std::uint16_t>(d & ((1u << bits) - 1))};
}

/// Bits one after the other, the lowest first.
class BitWriter {
 public:
  /// There must be room for eight bytes more than are written.
  explicit BitWriter(unsigned char* out) : out_(out) {}

  /// At most 57 bits between two calls of flush().
  void put(std::uint64_t bits, int count) {
    held_ |= bits << count_;
    count_ += count;
  }
  void put(const HuffmanBits& code) { put(code.bits, code.length); }
  void flush() {
    if constexpr (std::endian::native == std::endian::little)
      std::memcpy(out_, &held_, sizeof held_);
    else
      for (int i = 0; i < 8; ++i) out_[i] = static_cast<unsigned char>(held_ >> 8 * i);
    out_ += count_ / 8;
    held_ >>= count_ / 8 * 8;
    count_ %= 8;
  }
  /// The place behind the last byte, which is filled up with zeros.
  unsigned char* finish() {
    flush();
    return count_ > 0 ? out_ + 1 : out_;
  }

 private:
  unsigned char* out_;
  std::uint64_t held_ = 0;
  int count_ = 0;
};

/// Everything in front of the data of a block with codes of its own.
struct BlockHead {
  std::vector<HuffmanBits> literals, distances, lengths;
  std::vector<LengthSymbol> text;
  std::size_t length_count = 19;  // of the code of lengths

  BlockHead(std::span<const std::uint32_t> literal_count, std::span<const std::uint32_t> distance_count)
      : literals(huffman_code(literal_count, 15)), distances(huffman_code(distance_count, 15)) {
    std::vector<std::uint8_t> all;
    for (const HuffmanBits& code : literals) all.push_back(code.length);
    for (const HuffmanBits& code : distances) all.push_back(code.length);
    text = run_lengths(all);
    std::array<std::uint32_t, 19> counts{};
    for (const LengthSymbol& s : text) ++counts[s.symbol];
    lengths = huffman_code(counts, 7);
    while (lengths[order[length_count - 1]].length == 0) --length_count;  // at least two have a code
  }

  std::size_t bits() const {
    std::size_t sum = 3 + 5 + 5 + 4 + 3 * length_count;
    for (const LengthSymbol& s : text) sum += lengths[s.symbol].length + extra_bits_of_run(s.symbol);
    return sum;
  }

  void write(BitWriter& to) const {
    to.put(1, 1);  // the last block
    to.put(2, 2);  // with codes of its own
    to.put(literals.size() - 257, 5);
    to.put(distances.size() - 1, 5);
    to.put(length_count - 4, 4);
    to.flush();
    for (std::size_t i = 0; i < length_count; ++i) {
      to.put(lengths[order[i]].length, 3);
      to.flush();
    }
    for (const LengthSymbol& s : text) {
      to.put(lengths[s.symbol]);
      to.put(s.extra, extra_bits_of_run(s.symbol));
      to.flush();
    }
  }

  static constexpr std::array<std::uint8_t, 19> order = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                         11, 4,  12, 3, 13, 2, 14, 1, 15};
};

/// Data that no code makes smaller.
unsigned char* write_stored(const std::byte* in, std::size_t bytes, unsigned char* out) {
  do {
    const std::size_t piece = std::min<std::size_t>(bytes, 65535);
    *out++ = piece == bytes;  // the last one?
    for (const std::size_t number : {piece, ~piece}) {
      *out++ = static_cast<unsigned char>(number);
      *out++ = static_cast<unsigned char>(number >> 8);
    }
    out = std::copy_n(reinterpret_cast<const unsigned char*>(in), piece, out);
    in += piece, bytes -= piece;
  } while (bytes > 0);
  return out;
}

std::size_t stored_size(std::size_t bytes) { return bytes + 5 * std::max<std::size_t>(1, (bytes + 65534) / 65535); }

/// Codes of up to eight bytes; at most three fit between two flushes.
void put_bytes(const HuffmanBits* code, const std::byte* in, std::size_t count, BitWriter& to) {
  for (std::size_t i = 0; i < count; ++i) {
    to.put(code[std::to_integer<unsigned>(in[i])]);
    to.flush();
  }
}
void put_words(const HuffmanBits* code, const std::byte* in, std::size_t words, BitWriter& to) {
  for (std::size_t w = 0; w < words; ++w, in += word_bytes) {
    const auto put = [&](int i) { to.put(code[std::to_integer<unsigned>(in[i])]); };
    put(0), put(1), put(2), to.flush();
    put(3), put(4), put(5), to.flush();
    put(6), put(7), to.flush();
  }
}

}  // namespace

void WordDeflater::find_repetitions(const std::byte* in, std::size_t words) {
  pieces_.clear();
  last_.fill(0);
  Piece piece{0, 0, 0};
  for (std::size_t w = 0; w < words;) {
    const std::uint64_t word = word_at(in, w);
    std::uint32_t& slot = last_[(word * 0x9E3779B97F4A7C15u) >> 51];
    const std::size_t before = slot;  // counted from 1
    slot = static_cast<std::uint32_t>(w + 1);
    const bool again = w > 0 && word == word_at(in, w - 1);
    const std::size_t distance = again ? 1 : w + 1 - before;
    if (!again && (before == 0 || distance > window_words || word != word_at(in, before - 1))) {
      ++piece.plain, ++w;
      continue;
    }
    std::size_t count = 1;
    while (w + count < words && word_at(in, w + count) == word_at(in, w + count - distance)) ++count;
    w += count;
    piece.repeated = static_cast<std::uint32_t>(count);
    piece.distance = static_cast<std::uint32_t>(distance);
    pieces_.push_back(piece);
    piece = {0, 0, 0};
  }
  pieces_.push_back(piece);
}

void WordDeflater::count_symbols(const std::byte* in, std::size_t bytes) {
  literal_count_.fill(0);
  distance_count_.fill(0);
  std::array<std::array<std::uint32_t, 256>, 4> counts{};  // several, as bytes that follow each other are often equal
  const std::byte* const end = in + bytes;
  for (const Piece& piece : pieces_) {
    for (std::size_t i = 0; i < piece.plain * word_bytes; i += 4)
      for (std::size_t k = 0; k < 4; ++k) ++counts[k][std::to_integer<unsigned>(in[i + k])];
    in += (std::size_t{piece.plain} + piece.repeated) * word_bytes;
    for (std::size_t left = piece.repeated; left > 0; left -= std::min(left, most_repeated)) {
      ++literal_count_[coded_length(std::min(left, most_repeated) * word_bytes).symbol];
      ++distance_count_[coded_distance(piece.distance * word_bytes).symbol];
    }
  }
  for (; in < end; ++in) ++counts[0][std::to_integer<unsigned>(*in)];
  for (std::size_t b = 0; b < 256; ++b) literal_count_[b] = counts[0][b] + counts[1][b] + counts[2][b] + counts[3][b];
  literal_count_[end_of_block] = 1;
}

void WordDeflater::pack(const std::byte* in, std::size_t bytes, std::vector<unsigned char>& out) {
  find_repetitions(in, bytes / word_bytes);
  count_symbols(in, bytes);
  const BlockHead head(literal_count_, distance_count_);
  std::size_t bits = head.bits();
  for (std::size_t s = 0; s < literals_and_lengths; ++s) {
    const std::size_t extra = s < 265 ? 0 : (s - 261) / 4;
    bits += literal_count_[s] * (head.literals[s].length + extra);
  }
  for (std::size_t s = 0; s < distances; ++s)
    bits += distance_count_[s] * (head.distances[s].length + (s < 4 ? 0 : s / 2 - 1));
  const bool store = (bits + 7) / 8 >= stored_size(bytes);

  out.resize(2 + (store ? stored_size(bytes) : (bits + 7) / 8) + 8 + 4);
  out[0] = 0x78;  // deflate with a window of 32 KiB (RFC 1950)
  out[1] = 0x01;  // a fast method
  unsigned char* end = out.data() + 2;
  if (store) {
    end = write_stored(in, bytes, end);
  } else {
    BitWriter to(end);
    head.write(to);
    const std::byte *at = in, *const behind = in + bytes;
    for (const Piece& piece : pieces_) {
      put_words(head.literals.data(), at, piece.plain, to);
      at += (std::size_t{piece.plain} + piece.repeated) * word_bytes;
      const Coded distance = coded_distance(piece.repeated > 0 ? piece.distance * word_bytes : 1);
      for (std::size_t left = piece.repeated; left > 0; left -= std::min(left, most_repeated)) {
        const Coded length = coded_length(std::min(left, most_repeated) * word_bytes);
        to.put(head.literals[length.symbol]);
        to.put(length.extra, length.extra_bits);
        to.flush();
        to.put(head.distances[distance.symbol]);
        to.put(distance.extra, distance.extra_bits);
        to.flush();
      }
    }
    put_bytes(head.literals.data(), at, static_cast<std::size_t>(behind - at), to);
    to.put(head.literals[end_of_block]);
    end = to.finish();
  }
  const auto check = static_cast<std::uint32_t>(
      adler32(adler32(0, nullptr, 0), reinterpret_cast<const Bytef*>(in), static_cast<uInt>(bytes)));
  for (int i = 3; i >= 0; --i) *end++ = static_cast<unsigned char>(check >> 8 * i);
  out.resize(static_cast<std::size_t>(end - out.data()));
}

}  // namespace voussoir::detail
