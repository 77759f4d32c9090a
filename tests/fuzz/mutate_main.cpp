// fuzz_READER COUNT SEED FOLDER…
//
// Reads every file of the folders (but for the large ones) as it is, then COUNT damaged ones. Ends with 1 at the first
// input that the reader answers with anything but a result or an Error; that input is then in fuzz_failure.bin. An
// input that takes more than ten seconds ends the program, and so does whatever a sanitizer finds.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/mutator.hpp"
#include "fuzz/target.hpp"

namespace {

// For the signal handlers: what is being read.
const char* current_data = nullptr;
std::size_t current_size = 0;

void keep_input() {
  if (FILE* file = std::fopen("fuzz_failure.bin", "wb")) {
    std::fwrite(current_data, 1, current_size, file);
    std::fclose(file);
  }
}

extern "C" void on_hang(int) {
  keep_input();
  const char words[] = "an input took more than 10 s; it is in fuzz_failure.bin\n";
  if (write(2, words, sizeof words - 1) < 0) _exit(3);
  _exit(2);
}

// Called by the sanitizers before they end the program.
extern "C" void on_death() { keep_input(); }

/// Returns false where the reader broke its promise.
bool feed(const std::string& input) {
  current_data = input.data();
  current_size = input.size();
  alarm(10);
  try {
    read_input(input);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "an exception that is not an Error: %s\n", e.what());
    keep_input();
    return false;
  }
  alarm(0);
  return true;
}

}  // namespace

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*)());

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s COUNT SEED FOLDER...\n", argv[0]);
    return 2;
  }
  const long count = std::atol(argv[1]);
  const auto seed = static_cast<std::uint64_t>(std::atoll(argv[2]));
  std::vector<std::filesystem::path> files;
  for (int i = 3; i < argc; ++i)
    for (const auto& entry : std::filesystem::directory_iterator(argv[i]))
      if (entry.is_regular_file() && entry.file_size() <= 8192) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> seeds;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "no seeds in %s\n", argv[3]);
    return 2;
  }
  std::signal(SIGALRM, on_hang);
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(on_death);

  const auto begin = std::chrono::steady_clock::now();
  for (const std::string& input : seeds)
    if (!feed(input)) return 1;
  Mutator mutator(seeds, seed);
  for (long i = 0; i < count; ++i)
    if (!feed(mutator.next())) {
      std::fprintf(stderr, "input %ld of seed %lld\n", i, static_cast<long long>(seed));
      return 1;
    }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%zu seeds and %ld damaged files read in %.1f s: no crash, no hang, no exception but Errors\n",
              seeds.size(), count, seconds);
  return 0;
}
