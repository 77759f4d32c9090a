#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/program_run.hpp"

namespace voussoir::testing {

using Json = nlohmann::json;

/// Runs the program by mpirun.
inline Outcome on_processes(int count, const std::filesystem::path& folder, std::vector<std::string> arguments,
                            std::vector<std::string> environment = {}, const std::string& program = VSR_TEST_PROGRAM) {
  RunSettings settings;
  settings.program = VSR_TEST_MPIRUN;
  settings.folder = folder;
  settings.limit_seconds = 240;
  settings.environment = std::move(environment);
  settings.environment.push_back("OMP_NUM_THREADS=1");
  std::vector<std::string> words{"--oversubscribe", "-n", std::to_string(count)};
  if (geteuid() == 0) words.insert(words.begin(), "--allow-run-as-root");
  words.push_back(program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_program(words, settings);
}

/// How often a text has a part.
inline std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

inline Json results_of(const std::filesystem::path& file) { return Json::parse(read_text(file)); }

/// The steps of two documents have the same extremes and sums, to 1e-9 of the largest of each list.
inline void expect_same_steps(const Json& a, const Json& b) {
  ASSERT_EQ(a["steps"].size(), b["steps"].size());
  const std::function<void(const Json&, const Json&, const std::string&, double)> compare =
      [&](const Json& x, const Json& y, const std::string& where, double size) {
        if (x.is_number_float() && y.is_number()) {
          EXPECT_NEAR(x.get<double>(), y.get<double>(), 1e-9 * std::max(size, std::abs(x.get<double>()))) << where;
        } else if (x.is_array() || x.is_object()) {
          ASSERT_EQ(x.size(), y.size()) << where;
          double largest = size;
          for (const auto& item : x.items())
            if (item.value().is_number()) largest = std::max(largest, std::abs(item.value().get<double>()));
          for (const auto& item : x.items()) {
            ASSERT_TRUE(x.is_array() || y.contains(item.key())) << where << " " << item.key();
            const Json& other = x.is_array() ? y[std::stoul(item.key())] : y[item.key()];
            if (item.key() != "node" && item.key() != "element" && item.key() != "name")
              compare(item.value(), other, where + "/" + item.key(), largest);
          }
        } else {
          EXPECT_EQ(x, y) << where;
        }
      };
  for (std::size_t s = 0; s < a["steps"].size(); ++s)
    for (const auto& item : a["steps"][s].items())
      if (item.key() != "solver" && item.key() != "hints" && item.key() != "error" &&
          (item.key() != "error_estimate" || b["steps"][s].contains("error_estimate")))
        compare(item.value(), b["steps"][s][item.key()], "step " + std::to_string(s + 1) + "/" + item.key(), 0);
}

}  // namespace voussoir::testing
