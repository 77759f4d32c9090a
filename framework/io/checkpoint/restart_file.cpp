#include <voussoir/framework/io/checkpoint/restart_file.hpp>

#include <fstream>
#include <system_error>
#include <utility>

#include <voussoir/backends/version.hpp>
#include <voussoir/framework/io/checkpoint/bytes.hpp>

namespace voussoir {
namespace {

namespace fs = std::filesystem;

constexpr const char* restart_mark = "VSRRST";
constexpr std::uint32_t restart_format = 2;

/// CalculiX's own restart files are records of Fortran, of which the first has the version of the program.
bool is_of_calculix(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  char head[11] = {};
  file.read(head, sizeof head);
  return file && std::string_view(head + 4, 7) == "Version";
}

}  // namespace

RestartFile RestartFile::read(const fs::path& path) {
  const std::string name = path.string();
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw Error(ErrorCode::io,
                "there is no restart file '" + name +
                    "': copy the .rout file that *RESTART, WRITE of the earlier job has written to this name",
                name);
  if (!fs::is_regular_file(path, ignored)) throw Error(ErrorCode::io, "'" + name + "' is not a file", name);
  if (is_of_calculix(path))
    throw Error(ErrorCode::bad_input,
                "'" + name +
                    "' was written by CalculiX, whose restart files cannot be read; run the deck that wrote it with "
                    "voussoir",
                name);
  std::string bytes;
  try {
    bytes = GrowingFile::read(path, restart_mark, restart_format);
  } catch (const Error& error) {
    throw Error(error.code(),
                "the restart file '" + name + "' cannot be used: " + error.text() + "; run the job that wrote it again",
                name);
  }
  ByteReader in(bytes, name);
  RestartFile found;
  found.version = in.text();
  found.deck.dialect = in.text();
  const auto files = in.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < files; ++i) {
    DeckFile file;
    file.name = in.text();
    file.steps = in.get<std::int32_t>();
    const auto text = std::make_shared<const std::string>(in.text());
    file.text = *text;
    file.owner = text;
    found.deck.files.push_back(std::move(file));
  }
  found.job = in.text();
  while (!in.at_end()) {
    RestartPoint point;
    point.step = in.get<std::int32_t>();
    point.job_steps = static_cast<std::size_t>(in.get<std::uint64_t>());
    point.bytes = in.text();
    found.points.push_back(std::move(point));
  }
  if (found.deck.files.empty() || found.points.empty()) in.fail("it has no state");
  return found;
}

RestartFileWriter::RestartFileWriter(const fs::path& path, const RestartDeck& deck, std::string job)
    : file_(path, restart_mark, restart_format), deck_(deck), job_(std::move(job)) {}

void RestartFileWriter::add(const RestartPoint& point, bool alone) {
  ByteWriter out;
  const bool begins = alone || !begun_;
  if (begins) {
    out.put(voussoir::version()).put(deck_.dialect).put(static_cast<std::uint64_t>(deck_.files.size()));
    for (const DeckFile& file : deck_.files)
      out.put(file.name).put(static_cast<std::int32_t>(file.steps)).put(file.text);
    out.put(job_);
  }
  out.put(static_cast<std::int32_t>(point.step)).put(static_cast<std::uint64_t>(point.job_steps)).put(point.bytes);
  if (begins)
    file_.write(out.bytes());
  else
    file_.append(out.bytes());
  begun_ = true;
}

}  // namespace voussoir
