#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

// SHA-256 (FIPS 180-4), and HMAC with it (RFC 2104): who does not have the secret cannot make the code of a message.

namespace voussoir::cuda {

class Sha256 {
 public:
  using Digest = std::array<std::uint8_t, 32>;

  Sha256& add(std::string_view text) {
    for (const char c : text) {
      block_[length_++ % 64] = static_cast<std::uint8_t>(c);
      if (length_ % 64 == 0) take_block();
    }
    return *this;
  }

  Digest digest() {
    const std::uint64_t bits = 8 * length_;
    add(std::string_view("\x80", 1));
    while (length_ % 64 != 56) add(std::string_view("\0", 1));
    for (int shift = 56; shift >= 0; shift -= 8) {
      const char byte = static_cast<char>(bits >> shift);
      add(std::string_view(&byte, 1));
    }
    Digest result{};
    for (std::size_t i = 0; i < 32; ++i) result[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
    return result;
  }

 private:
  static constexpr std::uint32_t turned(std::uint32_t x, int by) { return x >> by | x << (32 - by); }

  void take_block() {
    // The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    static constexpr std::uint32_t k[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
    std::uint32_t w[64];
    for (std::size_t t = 0; t < 16; ++t)
      w[t] = std::uint32_t{block_[4 * t]} << 24 | std::uint32_t{block_[4 * t + 1]} << 16 |
             std::uint32_t{block_[4 * t + 2]} << 8 | block_[4 * t + 3];
    for (std::size_t t = 16; t < 64; ++t) {
      const std::uint32_t a = w[t - 15], b = w[t - 2];
      w[t] = w[t - 16] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + w[t - 7] + (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t t = 0; t < 64; ++t) {
      const std::uint32_t first =
          h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + k[t] + w[t];
      const std::uint32_t second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    const std::array<std::uint32_t, 8> more{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state_[i] += more[i];
  }

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> block_{};
  std::uint64_t length_ = 0;
};

inline std::string hexadecimal(const Sha256::Digest& digest) {
  static constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) text += {digits[byte >> 4], digits[byte & 15]};
  return text;
}

/// The HMAC-SHA-256 of a message, in hexadecimal digits.
inline std::string message_code(std::string_view secret, std::string_view message) {
  std::string key(secret);
  const auto text_of = [](const Sha256::Digest& d) { return std::string(reinterpret_cast<const char*>(d.data()), 32); };
  if (key.size() > 64) key = text_of(Sha256().add(key).digest());
  key.resize(64, '\0');
  std::string inner = key, outer = key;
  for (char& c : inner) c ^= 0x36;
  for (char& c : outer) c ^= 0x5c;
  return hexadecimal(Sha256().add(outer).add(text_of(Sha256().add(inner).add(message).digest())).digest());
}

}  // namespace voussoir::cuda
