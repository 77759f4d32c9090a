#include <voussoir/jobs/result_files.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>

#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/io/csv_writer.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/pvd_writer.hpp>
#include <voussoir/framework/io/vtu_writer.hpp>
#include <voussoir/jobs/detail/print_tables.hpp>
#include <voussoir/jobs/detail/results_json.hpp>
#include <voussoir/jobs/detail/step_fields.hpp>
#include <voussoir/jobs/detail/step_frd.hpp>

namespace voussoir {
namespace {

namespace fs = std::filesystem;

/// A name of a set as part of a file's name.
std::string as_file_name(const std::string& name) {
  std::string result = name;
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 0x80 && !std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.')
      c = '_';
  return result.substr(0, 100);
}

/// What tells a file from another one that has the same name later.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;  // which a file system gives to the next file when this one is gone
  off_t size = 0;
  std::int64_t changed = 0;  // nanoseconds
  bool operator==(const FileIdentity&) const = default;
};

FileIdentity identity_of(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino, status.st_size,
          std::int64_t{1000000000} * status.st_ctim.tv_sec + status.st_ctim.tv_nsec};
}

CsvTable csv_of(const detail::PrintTable& table) {
  std::vector<std::string> columns{table.of_nodes ? "node" : "element"};
  if (!table.names.empty()) columns.push_back("name");
  if (table.has_points) columns.push_back("point");
  const bool placed = !table.positions.empty() && table.quantity != "COORD";
  if (placed) columns.insert(columns.end(), {"x", "y", "z"});
  columns.insert(columns.end(), table.columns.begin(), table.columns.end());
  CsvTable csv(columns);
  for (std::size_t row = 0; row < table.ids.size(); ++row) {
    csv.row().add(table.ids[row]);
    if (!table.names.empty()) csv.add(table.names[row]);
    if (table.has_points) csv.add(table.points[row]);
    for (std::size_t k = 0; placed && k < 3; ++k) csv.add(table.positions[3 * row + k]);
    for (std::size_t c = 0; c < table.width(); ++c) csv.add(table.at(row, c));
  }
  return csv;
}

CsvTable csv_of_totals(const detail::PrintTable& table) {
  std::vector<std::string> columns{"set"};
  columns.insert(columns.end(), table.total_columns.begin(), table.total_columns.end());
  CsvTable csv(columns);
  csv.row().add(table.set);
  for (std::size_t c = 0; c < table.width(); ++c) {
    double sum = 0;
    for (std::size_t row = 0; row < table.ids.size(); ++row)
      if (!std::isnan(table.at(row, c))) sum += table.at(row, c);
    csv.add(sum);
  }
  return csv;
}

}  // namespace

struct ResultFiles::State {
  const Job& job;
  OutputOptions options;
  std::string name;
  /// Of each table (step, request, quantity): its file without ending.
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::string> table_names;
  std::vector<StepSummary> summaries;
  std::vector<fs::path> written;
  std::unordered_set<std::string> known;  // the same, to be looked up
  std::vector<std::string> notes;
  std::vector<PvdEntry> series;
  std::map<std::size_t, NodalField> heat;  // temperatures of steps that heat later ones
  std::unique_ptr<OutputFile> dat;         // begun, while the job runs
  std::unique_ptr<FrdWriter> frd;          // likewise
  FileIdentity list;                       // the .pvd that this job wrote last
  std::size_t listed = 0;                  // how many pictures it lists
  bool lost = false;                       // another run writes results of the same name
  std::string json;
  double seconds = 0;

  State(const Job& j, OutputOptions o) : job(j), options(std::move(o)) {}

  fs::path path(const std::string& file) const { return options.folder / file; }
  std::string stem(std::size_t step) const {
    return job.steps.size() > 1 ? name + "_step" + std::to_string(step + 1) : name;
  }
  bool has_prints() const {
    return std::any_of(job.steps.begin(), job.steps.end(), [](const JobStep& s) { return !s.prints.empty(); });
  }

  /// Every file that the job may write. Gives the tables their names.
  std::vector<std::string> plan() {
    std::vector<std::string> files;
    std::set<std::string> taken;
    for (std::size_t i = 0; i < job.steps.size(); ++i) {
      const JobStep& step = job.steps[i];
      if (options.vtu) files.push_back(stem(i) + ".vtu");
      if (!options.tables) continue;
      for (std::size_t r = 0; r < step.prints.size(); ++r)
        for (std::size_t q = 0; q < step.prints[r].quantities.size(); ++q) {
          const PrintRequest& request = step.prints[r];
          const bool nodes = request.at == PrintRequest::At::nodes;
          const std::string set = request.set.empty() ? (nodes ? "NALL" : "EALL") : request.set;
          const std::string base = stem(i) + "_" + as_file_name(request.quantities[q]) + "_" + as_file_name(set) +
                                   (request.local && turns(step, request, request.quantities[q]) ? "_local" : "");
          std::string unique = base;
          for (int k = 2; !taken.insert(unique).second; ++k) unique = base + "_" + std::to_string(k);
          table_names[{i, r, q}] = unique;
          files.push_back(unique + ".csv");
          if (request.totals != PrintRequest::Totals::no) files.push_back(unique + "_total.csv");
        }
    }
    if (options.vtu && !job.steps.empty()) files.push_back(name + ".pvd");
    if (options.frd && !job.steps.empty()) files.push_back(name + ".frd");
    if (options.tables && has_prints()) files.push_back(name + ".dat");
    if (options.json) files.push_back(name + ".results.json");
    return files;
  }

  /// Whether a table in local axes is another one than that in global axes: some node or element of it has axes of its
  /// own, and the quantity has a direction.
  bool turns(const JobStep& step, const PrintRequest& request, const std::string& quantity) const {
    const Domain& domain = *job.domains[step.domain];
    if (request.at == PrintRequest::At::nodes) {
      const auto& system_of = job.node_axes.system_of;
      const auto has_axes = [&](std::int32_t n) {
        return static_cast<std::size_t>(n) < system_of.size() && system_of[static_cast<std::size_t>(n)] >= 0;
      };
      if (quantity != "U" && quantity != "RF") return false;
      if (request.set.empty()) return std::any_of(system_of.begin(), system_of.end(), [](auto s) { return s >= 0; });
      const auto nodes = domain.node_set(request.set);
      return std::any_of(nodes.begin(), nodes.end(), has_axes);
    }
    if (quantity != "S" && quantity != "E" && quantity != "HFL") return false;
    const auto is_oriented = [&](std::size_t block) {
      const Orientation& orientation = domain.block(block).orientation();
      return orientation.varies() || orientation.at({0, 0, 0}) != Orientation().at({0, 0, 0});
    };
    std::vector<char> oriented(domain.block_count());
    for (std::size_t b = 0; b < oriented.size(); ++b) oriented[b] = is_oriented(b);
    if (request.set.empty()) return std::any_of(oriented.begin(), oriented.end(), [](char is) { return is != 0; });
    const auto elements = domain.element_set(request.set);
    return std::any_of(elements.begin(), elements.end(), [&](const ElementRef& e) { return oriented[e.block] != 0; });
  }

  /// Names that no file may have are told before the work, not after.
  void check_lengths(const std::vector<std::string>& files) const {
    const long told = ::pathconf(options.folder.empty() ? "." : options.folder.c_str(), _PC_NAME_MAX);
    const std::size_t most = told > 0 ? static_cast<std::size_t>(told) : NAME_MAX;
    for (const std::string& file : files)
      if (file.size() > most)
        throw Error(ErrorCode::io,
                    "the name of a result would have " + std::to_string(file.size()) +
                        " letters, and a file's may have " + std::to_string(most) +
                        "; give the job or its sets shorter names",
                    "file '" + file + "'");
  }

  void check_free(const std::vector<std::string>& files) const {
    std::vector<std::string> there;
    for (const std::string& file : files) {
      std::error_code ignored;
      if (fs::is_directory(path(file), ignored))
        throw Error(ErrorCode::io,
                    "a folder has the name that a result needs; move it away, or write elsewhere (--output)",
                    "folder '" + path(file).string() + "'");
      const fs::file_status status = fs::symlink_status(path(file), ignored);
      if (!fs::exists(status)) continue;
      const bool leads_nowhere = fs::is_symlink(status) && !fs::exists(path(file), ignored);
      there.push_back(file + (leads_nowhere ? " (a link that leads nowhere)" : ""));
    }
    if (options.overwrite || there.empty()) return;
    std::string text = "results of this name are there already: " + there[0];
    if (there.size() > 1) text += ", " + there[1];
    if (there.size() > 2) text += " and " + std::to_string(there.size() - 2) + " more";
    throw Error(ErrorCode::io, text + "; replace them with --force, or write to another folder with --output",
                "folder '" + (options.folder.empty() ? fs::path(".") : options.folder).string() + "'");
  }

  void make_folder() const {
    const fs::path folder = options.folder.empty() ? fs::path(".") : options.folder;
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
      throw Error(ErrorCode::io, "the folder cannot be made: " + error.message() + "; name another one with --output",
                  "folder '" + folder.string() + "'");
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
      throw Error(ErrorCode::io,
                  "nothing can be written there: " + std::generic_category().message(errno) +
                      "; name another folder with --output",
                  "folder '" + folder.string() + "'");
  }

  void done(const fs::path& file) {
    if (known.insert(file.native()).second) written.push_back(file);
  }

  void write_picture(std::size_t step, StepResult& result, const std::vector<double>& temperatures) {
    const Domain& domain = *job.domains[job.steps[step].domain];
    detail::StepFields fields = detail::make_step_fields(job, job.steps[step], result, !options.vtu);
    join_ranges(summaries.back().ranges, fields.ranges);
    NodalField acting{"temperature", {"T"}, temperatures};
    if (!temperatures.empty())
      join_ranges(summaries.back().ranges, ranges_of(domain, acting, reported_nodes(job, domain)));
    name_nodes(summaries.back().ranges, job.instances);
    if (!options.vtu) return;
    if (fields.too_many_materials)
      note("the model has so many materials that pictures show the mean stress of each element, not that of the nodes");
    VtuWriter writer(domain);
    writer.add(result.unknowns).add(result.reactions);
    if (!temperatures.empty()) writer.add(acting);
    for (const NodalField& field : fields.nodal) writer.add(field);
    for (auto& [name_of_cells, values] : fields.cells) writer.add_cells(name_of_cells, std::move(values));
    const std::string file = stem(step) + ".vtu";
    VtuOptions how;
    how.overwrite = options.overwrite;
    writer.write(path(file), how);
    done(path(file));
    // ParaView takes pictures of one time for parts of one picture, so that times must rise.
    double time = job.steps[step].total_time;
    if (!std::isfinite(time)) time = static_cast<double>(step + 1);
    if (!series.empty() && !(time > series.back().time)) time = series.back().time + 1;
    series.push_back({time, file});
    // Written by every step, the list of thousands of steps would take far longer than what it lists.
    if (series.size() <= 100 || series.size() >= listed + listed / 10) write_list();
  }

  /// Replaces the list of pictures that was written before, but not one that somebody else put there.
  void write_list() {
    if (series.size() == listed) return;
    const fs::path pvd = path(name + ".pvd");
    const bool ours = listed > 0 && identity_of(pvd) == list;
    write_pvd(pvd, series, options.overwrite || ours);
    list = identity_of(pvd);
    listed = series.size();
    done(pvd);
  }

  void write_tables(std::size_t step, const StepResult& result, const std::vector<double>& temperatures) {
    if (!options.tables) return;
    std::vector<std::string> told;
    const auto tables = detail::print_tables(job, job.steps[step], result, temperatures, told);
    for (const std::string& text : told) note(text);
    for (const auto& table : tables) {
      if (!dat) dat = std::make_unique<OutputFile>(path(name + ".dat"), options.overwrite);
      dat->write(detail::calculix_text(table, job.steps[step].total_time));
      const std::string& base = table_names.at({step, table.request, table.item});
      if (table.wants_rows) {
        csv_of(table).write(path(base + ".csv"), options.overwrite);
        done(path(base + ".csv"));
      }
      if (table.wants_totals) {
        csv_of_totals(table).write(path(base + "_total.csv"), options.overwrite);
        done(path(base + "_total.csv"));
      }
    }
  }

  void write_frd(std::size_t step, const StepResult& result, const std::vector<double>& temperatures) {
    if (!options.frd) return;
    if (!frd) frd = std::make_unique<FrdWriter>(path(name + ".frd"), options.overwrite, detail::frd_meshes(job));
    detail::write_frd_step(*frd, job, step, result, temperatures);
  }

  void note(const std::string& text) {
    if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(text);
  }

  /// Files that hold all steps get their names.
  void close_files() {
    if (!lost) write_list();
    if (const auto file = std::move(frd)) {
      file->commit();
      done(path(name + ".frd"));
    }
    if (const auto file = std::move(dat)) {
      file->commit();
      done(path(name + ".dat"));
    }
  }

  /// Runs `write`. Where another run took a name meanwhile, that run's files are kept and this one writes no more.
  template <class Write>
  void write_or_lose(Write write) {
    try {
      write();
    } catch (const NameTaken& error) {
      lost = true;
      dat.reset();
      frd.reset();
      throw Error(ErrorCode::io,
                  "another run wrote this file while this one was solving: its results were kept, and nothing more is "
                  "written; name another folder with --output",
                  error.where());
    }
  }

  void write_json(const JobResult* result, const Error* error, const RunRecord& record) {
    detail::JsonContents contents;
    contents.job = &job;
    contents.record = &record;
    contents.result = result;
    contents.error = error;
    contents.steps = &summaries;
    std::vector<fs::path> files = written;
    if (options.json && !lost) files.push_back(path(name + ".results.json"));
    contents.files = &files;
    contents.notes = &notes;
    contents.write_seconds = seconds;
    json = detail::results_json(contents);
    if (!options.json || lost) return;
    OutputFile file(path(name + ".results.json"), options.overwrite);
    file.write(json);
    file.commit();
    done(path(name + ".results.json"));
  }
};

ResultFiles::ResultFiles(const Job& job, OutputOptions options)
    : state_(std::make_unique<State>(job, std::move(options))) {
  State& s = *state_;
  s.name = s.options.name.empty() ? job.name : s.options.name;
  if (s.name.empty() || s.name == "." || s.name == ".." || s.name.find('/') != std::string::npos ||
      s.name.find('\0') != std::string::npos)
    throw Error(ErrorCode::bad_input, "results cannot be called so; give a name without '/'", "name '" + s.name + "'");
  const std::vector<std::string> files = s.plan();
  if (files.empty()) return;
  s.check_lengths(files);
  s.check_free(files);
  s.make_folder();
}

ResultFiles::~ResultFiles() = default;

void ResultFiles::write_step(std::size_t step, StepResult result) {
  State& s = *state_;
  const Stopwatch watch;
  const JobStep& asked = s.job.steps.at(step);
  for (std::size_t later = step + 1; later < s.job.steps.size(); ++later)
    if (s.job.steps[later].heated_by == step) s.heat[step] = result.unknowns;
  const bool heated = asked.heated_by && s.heat.contains(*asked.heated_by);
  const std::vector<double> temperatures =
      asked.procedure == Procedure::statics
          ? detail::acting_temperatures(s.job, asked, heated ? &s.heat.at(*asked.heated_by) : nullptr)
          : std::vector<double>{};
  s.summaries.push_back(summarize(s.job, step, result));
  s.write_or_lose([&] {
    s.write_picture(step, result, temperatures);
    s.write_frd(step, result, temperatures);
    s.write_tables(step, result, temperatures);
  });
  s.seconds += watch.seconds();
}

void ResultFiles::finish(const JobResult& result, const RunRecord& record) {
  const Stopwatch watch;
  state_->write_or_lose([&] {
    state_->close_files();
    state_->seconds += watch.seconds();
    state_->write_json(&result, nullptr, record);
  });
}

void ResultFiles::give_up(const Error& error, const RunRecord& record) noexcept {
  try {
    state_->close_files();
  } catch (const std::exception&) {
    // A full disk may be why the job stopped; what is written is told by written().
  }
  try {
    state_->write_json(nullptr, &error, record);
  } catch (const std::exception&) {
  }
}

const std::vector<StepSummary>& ResultFiles::summaries() const { return state_->summaries; }
const std::vector<fs::path>& ResultFiles::written() const { return state_->written; }
const std::vector<std::string>& ResultFiles::notes() const { return state_->notes; }
double ResultFiles::seconds() const { return state_->seconds; }
const std::string& ResultFiles::json() const { return state_->json; }

}  // namespace voussoir
