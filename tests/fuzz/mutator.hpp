#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

/// Makes damaged files out of sound ones: what disks, editors, other programs and ill will do to them. The same seed
/// gives the same files on every machine.
class Mutator {
 public:
  /// `seeds` are sound files, whose lines and tokens are also mixed.
  Mutator(std::vector<std::string> seeds, std::uint64_t seed);

  std::string next();

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random_() % n); }
  void mutate(std::string& text);
  void change_bytes(std::string& text);
  void change_number(std::string& text);
  void change_lines(std::string& text);
  void change_tokens(std::string& text);
  void splice(std::string& text);

  std::vector<std::string> seeds_;
  std::vector<std::string> tokens_;  // of all seeds
  std::vector<std::string> lines_;
  std::mt19937_64 random_;
};
