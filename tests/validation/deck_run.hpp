#pragma once
// Runs the program on a deck, as a user does, and reads the tables that it writes.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace voussoir::validation {

/// Where the decks of this folder are.
std::filesystem::path deck_folder();

/// A table as the program writes it, comma-separated.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;  ///< NaN where a field is empty or a word

  std::size_t column(const std::string& name) const;
  /// The value of a node (element) in its first row; a test that names one that is not there fails.
  double at(double id, const std::string& column) const;
  /// The only row's value.
  double only(const std::string& column) const;
  double least(const std::string& column) const;
  double greatest(const std::string& column) const;
};

/// One run of `voussoir run`. A program that does not end with 0 makes the test fail, with its own words.
class DeckRun {
 public:
  /// `name` of a deck in deck_folder(), without ending, or the path of one elsewhere.
  explicit DeckRun(const std::string& name, const std::string& arguments = {});
  DeckRun(const DeckRun&) = delete;
  DeckRun& operator=(const DeckRun&) = delete;
  ~DeckRun();

  /// The table "U_TIP", "S_EALL", "RF_ROOT_total" …, of a step (from 1) where the deck has several.
  Table table(const std::string& name, int step = 0) const;
  /// A recovered value at a node, as the picture has it: at(65, "stress", 1) is σ_yy.
  double at(int node, const std::string& field, int component = 0) const;
  /// NAME.results.json.
  const nlohmann::json& results() const { return results_; }
  /// The part of it that is about a step, from 1.
  const nlohmann::json& step(int number = 1) const { return results_.at("steps").at(number - 1); }
  /// The text of NAME.dat.
  std::string dat() const;

 private:
  std::filesystem::path folder_;
  std::string name_;
  nlohmann::json results_;
};

/// Nodes of an element, from the text of a deck.
std::vector<int> nodes_of_element(const std::string& deck, int element);

}  // namespace voussoir::validation
