#include <voussoir/apps/terminal/printing.hpp>

#include <cctype>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <voussoir/apps/terminal/terminal.hpp>

namespace voussoir::app {

namespace {

void write(std::FILE* stream, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

}  // namespace

std::string with_places_of_docs(const std::string& text) {
  namespace fs = std::filesystem;
  static const std::string folder_name = "docs/";
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = 0; (at = text.find(folder_name, at)) != std::string::npos; at += folder_name.size()) {
    const auto is_of_path = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("_-./", c);
    };
    if (at > 0 && is_of_path(text[at - 1])) continue;  // of some other path
    std::size_t end = at + folder_name.size();
    while (end < text.size() && is_of_path(text[end])) ++end;
    while (text[end - 1] == '.') --end;  // ends a sentence
    const std::string page = text.substr(at + folder_name.size(), end - at - folder_name.size());
    std::error_code error;
    const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const fs::path& folder : {here / VOUSSOIR_DOCS_FROM_PROGRAM, here / "include/voussoir/docs"}) {
      const fs::path place = fs::canonical(folder / page, error);
      if (error || !fs::is_regular_file(place, error)) continue;
      result += text.substr(done, at - done) + place.string();
      done = end;
      break;
    }
  }
  return result + text.substr(done);
}

void print(const std::string& text) { write(stdout, printable(with_places_of_docs(text))); }
void print_to_error(const std::string& text) { write(stderr, printable(with_places_of_docs(text))); }

void print_error(const Error& error, const std::string& file) {
  // The place in the file says which file it is.
  const bool named = error.where().find(std::filesystem::path(file).filename().string()) != std::string::npos;
  show_error("voussoir: {} {}{}\n", red("error:", Stream::error), named ? "" : file + ": ", error.what());
}

void Documents::print(std::size_t files) const {
  if (files == 1) {
    if (!documents_.empty()) write(stdout, documents_.front());
    return;
  }
  write(stdout, "[\n");
  for (std::size_t i = 0; i < documents_.size(); ++i) write(stdout, (i ? ",\n" : "") + documents_[i]);
  write(stdout, "]\n");
}

}  // namespace voussoir::app
