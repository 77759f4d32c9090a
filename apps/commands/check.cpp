#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <voussoir/apps/commands/check_text.hpp>
#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/load_option.hpp>
#include <voussoir/apps/commands/read_model.hpp>
#include <voussoir/apps/exit_code.hpp>
#include <voussoir/apps/terminal/monitor.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/framework/io/safe_text.hpp>

namespace voussoir::app {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  std::string dialect = "calculix";
  bool quiet = false, json = false, verbose = false;
};

/// A file that cannot even be read, as a document like the others.
std::string document_of(const std::string& file, const Error& error) {
  const nlohmann::ordered_json document{
      {"voussoir", version()},
      {"file", file},
      {"can_run", false},
      {"findings", {{{"severity", "error"}, {"kind", "reading"}, {"where", error.where()}, {"text", error.text()}}}}};
  return printable_json(document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n";
}

/// The same for a deck with cards that are not supported: one finding for each of them.
std::string document_of(const std::string& file, const UnsupportedDeck& deck) {
  auto findings = nlohmann::ordered_json::array();
  for (const UnsupportedDeck::Item& item : deck.items())
    findings.push_back({{"severity", "error"},
                        {"kind", "not supported"},
                        {"where", item.places.front()},
                        {"places", item.places},
                        {"text", item.text}});
  if (const auto& other = deck.consequence())
    findings.push_back(
        {{"severity", "error"}, {"kind", "reading"}, {"where", other->where()}, {"text", other->text()}});
  const nlohmann::ordered_json document{
      {"voussoir", version()}, {"file", file}, {"can_run", false}, {"findings", findings}};
  return printable_json(document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n";
}

/// All of it at the end, each with the lines where it stands.
std::string text_of_unsupported(const std::string& file, const UnsupportedDeck& deck) {
  std::string text = fmt::format("{}\n\n  not supported\n", bold(file));
  for (const UnsupportedDeck::Item& item : deck.items()) {
    std::string places = item.places.front();
    const std::string name = places.substr(0, places.rfind(':') + 1);
    for (std::size_t i = 1; i < item.places.size(); ++i)
      places += ", " + (item.places[i].starts_with(name) ? item.places[i].substr(name.size()) : item.places[i]);
    text += fmt::format("  {} {}: {}\n", red("error:"), places, item.text);
  }
  if (const auto& other = deck.consequence())
    text += fmt::format("\n  possibly a consequence\n  {} {}: {}\n", red("error:"), other->where(), other->text());
  return text + fmt::format("\n  {} not supported, at {}; the deck cannot be run\n",
                            counted(static_cast<std::int64_t>(deck.items().size()), "thing"),
                            counted(static_cast<std::int64_t>(deck.places()), "place"));
}

class Check {
 public:
  explicit Check(const CheckOptions& options) : options_(options), monitor_(!options.quiet) {}

  ExitCode all() {
    ExitCode worst = ExitCode::ok;
    for (const std::string& file : options_.files)
      if (monitor_.keep_going()) worst = worse(worst, one(file));
    if (!monitor_.keep_going()) worst = exit_code_of_signal(monitor_.signal());
    if (options_.json) documents_.print(options_.files.size());
    return worst;
  }

 private:
  ExitCode one(const std::string& file) {
    try {
      return look(file);
    } catch (const UnsupportedDeck& deck) {
      return unsupported(file, deck);
    } catch (const Error& error) {
      return failed(file, error);
    } catch (const std::bad_alloc&) {
      return failed(file, Error(ErrorCode::out_of_memory, "out of memory while reading the model", file));
    } catch (const std::exception& error) {
      return failed(file, Error(ErrorCode::internal, error.what(), file));
    }
  }

  ExitCode look(const std::string& file) {
    const Stopwatch since_start;
    const std::string name = std::filesystem::path(file).filename().string();
    const auto tell = [&](const std::string& stage, double fraction) {
      Activity activity;
      activity.file = name;
      activity.stage = stage;
      activity.fraction = fraction;
      return monitor_.tell(std::move(activity));
    };
    tell("reading", -1);
    Job job = read_model_or_mesh(file, dialect_of(options_.dialect),
                                 [&](double fraction) { return tell("reading", fraction); });
    const double read_seconds = since_start.seconds();
    const CheckReport report = check_job(job, [&](const std::string& stage) { return tell("checking " + stage, -1); });
    Monitor::Pause pause(monitor_);
    pause.forget_activity();
    if (options_.json)
      documents_.add(to_json(report));
    else if (!options_.quiet)
      print(text_of(report, read_seconds, options_.verbose));
    else
      for (const Finding& finding : report.findings)
        if (finding.severity == Finding::Severity::error)
          print_error(Error(ErrorCode::bad_input, finding.text, finding.where), file);
    return report.can_run() ? ExitCode::ok : ExitCode::input;
  }

  ExitCode unsupported(const std::string& file, const UnsupportedDeck& deck) {
    Monitor::Pause pause(monitor_);
    pause.forget_activity();
    if (options_.json)
      documents_.add(document_of(file, deck));
    else if (!options_.quiet)
      print(text_of_unsupported(file, deck));
    else
      print_error(deck, file);
    return exit_code(deck);
  }

  ExitCode failed(const std::string& file, const Error& error) {
    Monitor::Pause pause(monitor_);
    pause.forget_activity();
    documents_.add(document_of(file, error));
    if (error.code() == ErrorCode::cancelled && !monitor_.keep_going()) {
      show_error("voussoir: {}: stopped\n", file);
      return exit_code_of_signal(monitor_.signal());
    }
    print_error(error, file);
    return exit_code(error);
  }

  const CheckOptions& options_;
  Monitor monitor_;
  Documents documents_;
};

constexpr const char* check_examples =
    R"(Examples:
  voussoir check beam.inp                  sizes, quality, supports, memory; nothing is solved
  voussoir check beam.inp --verbose        with all sets
  voussoir check part.msh                  a mesh alone: sizes, groups, quality
  voussoir check *.inp --quiet && echo ok  for scripts: the exit code is 1 where a model cannot run
  voussoir check beam.inp --json           the same as a document

Errors keep a model from running, warnings make its answer doubtful, hints are worth a look.
Next: voussoir run beam.inp)";

}  // namespace

void add_check_command(CLI::App& program) {
  CLI::App* check =
      program.add_subcommand("check", "Check models without solving: sizes, mesh quality, supports, memory");
  auto options = std::make_shared<CheckOptions>();
  check->add_option("FILE", options->files, "Abaqus or CalculiX decks (.inp), job files (.json), Gmsh meshes (.msh)")
      ->type_name("FILE")
      ->required();
  add_load_option(*check);
  check->add_option("--dialect", options->dialect, "The program whose meaning deck names have where the two differ")
      ->check(CLI::IsMember({"calculix", "abaqus"}).description(""))
      ->type_name("calculix|abaqus")
      ->capture_default_str();
  CLI::Option* verbose = check->add_flag("-v,--verbose", options->verbose, "List all sets and surfaces");
  check->add_flag("-q,--quiet", options->quiet, "Show errors only")->excludes(verbose);
  check->add_flag("--json", options->json, "Print only a JSON document on standard output");
  check->footer(check_examples);
  check->callback([options] {
    const ExitCode code = Check(*options).all();
    if (code != ExitCode::ok) throw Exit{code};
  });
}

}  // namespace voussoir::app
