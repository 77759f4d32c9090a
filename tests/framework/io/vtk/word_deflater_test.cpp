#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <tuple>

#include <voussoir/framework/io/vtk/detail/huffman_code.hpp>
#include <voussoir/framework/io/vtk/detail/word_deflater.hpp>

// What WordDeflater writes is judged by zlib, which has to read it.

namespace voussoir::detail {
namespace {

using Bytes = std::vector<unsigned char>;

template <class T>
Bytes bytes_of(const std::vector<T>& numbers) {
  Bytes bytes(numbers.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

Bytes packed(const Bytes& bytes) {
  WordDeflater deflater;
  Bytes out;
  deflater.pack(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), out);
  return out;
}

/// Packs and lets zlib unpack: the same bytes, and no byte behind them.
std::size_t size_after_round_trip(const Bytes& bytes) {
  const Bytes out = packed(bytes);
  Bytes back(bytes.size() + 1);
  z_stream stream{};
  EXPECT_EQ(inflateInit(&stream), Z_OK);
  stream.next_in = const_cast<Bytef*>(out.data());
  stream.avail_in = static_cast<uInt>(out.size());
  stream.next_out = back.data();
  stream.avail_out = static_cast<uInt>(back.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END) << (stream.msg ? stream.msg : "") << ", " << bytes.size();
  EXPECT_EQ(stream.avail_in, 0u);
  back.resize(stream.total_out);
  inflateEnd(&stream);
  EXPECT_TRUE(back == bytes) << bytes.size() << " bytes";
  return out.size();
}

std::size_t size_by_zlib(const Bytes& bytes) {
  uLongf size = compressBound(bytes.size());
  Bytes out(size);
  EXPECT_EQ(compress2(out.data(), &size, bytes.data(), bytes.size(), 1), Z_OK);
  return size;
}

TEST(WordDeflater, EveryLengthComesBack) {
  std::mt19937 random(1);
  for (std::size_t length = 0; length < 300; ++length) {
    Bytes noise(length);
    for (auto& b : noise) b = static_cast<unsigned char>(random());
    size_after_round_trip(noise);
    size_after_round_trip(Bytes(length, 0));
    Bytes few(length);
    for (auto& b : few) b = static_cast<unsigned char>(random() % 3);
    size_after_round_trip(few);
  }
}

TEST(WordDeflater, RunsOfEveryLengthAndDistanceComeBack) {
  std::mt19937_64 random(2);
  for (const std::size_t distance : {1, 2, 3, 5, 31, 32, 33, 500, 4095, 4096, 4097})
    for (const std::size_t run : {1, 2, 31, 32, 33, 64, 65, 1000}) {
      std::vector<std::uint64_t> words(distance + run);
      for (std::size_t i = 0; i < distance; ++i) words[i] = random();
      for (std::size_t i = distance; i < words.size(); ++i) words[i] = words[i - distance];
      size_after_round_trip(bytes_of(words));
    }
}

TEST(WordDeflater, NoiseIsStoredAndGrowsByItsHeadersOnly) {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> words(40000);
  for (auto& w : words) w = random();
  const Bytes bytes = bytes_of(words);
  EXPECT_LE(size_after_round_trip(bytes), bytes.size() + 5 * (bytes.size() / 65535 + 1) + 6);
}

TEST(WordDeflater, SkewedBytesNeedCodesOfLimitedLength) {
  // Counts that grow as Fibonacci's numbers make Huffman's tree as deep as it has symbols.
  Bytes bytes;
  std::size_t a = 1, b = 1;
  for (int symbol = 0; symbol < 24; ++symbol) {
    bytes.insert(bytes.end(), a, static_cast<unsigned char>(symbol));
    std::tie(a, b) = std::pair(b, a + b);
  }
  std::shuffle(bytes.begin(), bytes.end(), std::mt19937(4));
  size_after_round_trip(bytes);
}

TEST(WordDeflater, ResultsAreNoLargerThanByZlib) {
  // A smooth field on half of the nodes and NaN on the others, as the stress of one of two materials.
  std::vector<double> field;
  for (int n = 0; n < 30000; ++n)
    field.push_back(n / 3000 % 2 ? std::numeric_limits<double>::quiet_NaN() : 1e7 * std::sin(1e-3 * n));
  const Bytes bytes = bytes_of(field);
  EXPECT_LT(static_cast<double>(size_after_round_trip(bytes)), 1.05 * static_cast<double>(size_by_zlib(bytes)));
  const Bytes zeros = bytes_of(std::vector<double>(30000, 0.0));
  EXPECT_LT(size_after_round_trip(zeros), zeros.size() / 100);
}

TEST(WordDeflater, TheSameInputGivesTheSameBytesWhateverWasPackedBefore) {
  const Bytes first = bytes_of(std::vector<double>{1, 2, 3, 1, 2, 3, 3, 3, 3}), other(100000, 7);
  WordDeflater used;
  Bytes out;
  used.pack(reinterpret_cast<const std::byte*>(other.data()), other.size(), out);
  used.pack(reinterpret_cast<const std::byte*>(first.data()), first.size(), out);
  EXPECT_EQ(out, packed(first));
}

TEST(HuffmanCode, IsCompleteAndWithinItsLimit) {
  std::vector<std::uint32_t> fibonacci{1, 1};
  while (fibonacci.size() < 30) fibonacci.push_back(fibonacci.end()[-1] + fibonacci.end()[-2]);
  const std::vector<std::vector<std::uint32_t>> cases{
      {0, 0, 0}, {5, 0, 0}, {0, 0, 9}, {1, 1, 1}, {0, 3, 0, 4, 100, 0}, std::vector<std::uint32_t>(286, 1), fibonacci};
  for (const auto& counts : cases) {
    const auto code = huffman_code(counts, 15);
    double kraft = 0;  // 1 where every sequence of bits means something
    for (std::size_t s = 0; s < code.size(); ++s) {
      EXPECT_LE(code[s].length, 15);
      if (counts[s] > 0) {
        EXPECT_GT(code[s].length, 0);
      }
      if (code[s].length > 0) kraft += std::exp2(-code[s].length);
    }
    EXPECT_DOUBLE_EQ(kraft, 1);
  }
}

TEST(HuffmanCode, IsOptimalWhereNoLimitBinds) {
  // 45 13 12 16 9 5: the example of Cormen, Leiserson, Rivest and Stein, Introduction to Algorithms, chapter on greedy
  // algorithms, costs 224 bits.
  const std::vector<std::uint32_t> counts{45, 13, 12, 16, 9, 5};
  std::uint32_t bits = 0;
  const auto code = huffman_code(counts, 15);
  for (std::size_t s = 0; s < counts.size(); ++s) bits += counts[s] * code[s].length;
  EXPECT_EQ(bits, 224u);
}

}  // namespace
}  // namespace voussoir::detail
