#include <voussoir/framework/analysis/detail/saved_numbers.hpp>

#include <cstdio>
#include <cstdlib>

#include <voussoir/backends/error.hpp>

namespace voussoir::detail {

void refuse_state(const std::string& why) {
  throw Error(ErrorCode::bad_input, "the saved state cannot be restored: " + why +
                                        "; continue with the program, the model and the settings that saved it, or "
                                        "start over without it");
}

void refuse_damaged_state(const std::string& why) {
  throw Error(ErrorCode::bad_input,
              "the saved state cannot be restored: it is damaged: " + why + "; start over without it");
}

std::string named_numbers(const std::string& mark, const std::vector<double>& numbers) {
  std::string text = mark;
  for (const double x : numbers) {
    char buffer[40];
    std::snprintf(buffer, sizeof(buffer), "%a ", x);
    text += buffer;
  }
  return text;
}

std::vector<double> numbers_of_name(const std::string& name, const std::string& mark, const std::string& analysis) {
  if (!name.starts_with(mark))
    refuse_state("it is not the state of " + analysis + ", or another version of this program saved it");
  std::vector<double> numbers;
  const char* at = name.c_str() + mark.size();
  for (char* end = nullptr;; at = end) {
    const double x = std::strtod(at, &end);
    if (end == at) return numbers;
    numbers.push_back(x);
  }
}

}  // namespace voussoir::detail
