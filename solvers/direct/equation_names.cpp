#include <voussoir/solvers/direct/equation_names.hpp>

#include <cctype>

namespace voussoir {

std::string rename_equations(const std::string& text, const std::function<std::string(std::int64_t)>& name) {
  const std::string word = "equation ";
  std::string result;
  std::size_t at = 0;
  for (std::size_t found; (found = text.find(word, at)) != std::string::npos;) {
    std::size_t end = found + word.size();
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
    result += text.substr(at, found - at);
    const std::string digits = text.substr(found + word.size(), end - found - word.size());
    result += digits.empty() ? word : name(std::stoll(digits));
    at = end;
  }
  return result + text.substr(at);
}

}  // namespace voussoir
