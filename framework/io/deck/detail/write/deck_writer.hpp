#pragma once
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/io/deck/deck_writer.hpp>
#include <voussoir/framework/io/detail/text_sink.hpp>

// The deck writer. The model (model.cpp) is written before the steps (steps.cpp), which refer to its sets by the names
// that are kept here.

namespace voussoir::deck {

/// The names of one kind of object as the deck spells them; no two objects have the same.
class NameList {
 public:
  /// `kind` is for messages: "node sets".
  explicit NameList(std::string kind) : kind_(std::move(kind)) {}
  /// The spelling of a name that the user gave; an Error if another name has the same spelling.
  const std::string& add(const std::string& name);
  /// The spelling of a name that was added before.
  const std::string& spelling(const std::string& name) const { return spelling_.at(name); }
  bool has(const std::string& name) const { return spelling_.contains(name); }
  /// A new name that is not in use: `wish`, with a number appended if necessary.
  std::string make(std::string wish);

 private:
  std::string kind_;
  std::map<std::string, std::string> spelling_;
  std::map<std::string, std::string> owner_;
};

class Writer {
 public:
  Writer(const Domain& domain, const DeckWriteOptions& options, OutputFile& file)
      : domain_(domain), options_(options), out_(file) {}
  void write(const std::vector<Step>& steps);

 private:
  // model.cpp
  void find_names();
  void write_nodes();
  void write_elements();
  void write_sets();
  void write_surfaces();
  void write_materials();
  void write_material(const Material& material);
  void write_property(const Material& material, const std::string& card, const std::vector<std::string>& parameters);
  void write_sections();
  void write_section(std::size_t block);
  void require_written(std::size_t block, const std::string& of_section) const;
  std::string write_orientation(std::size_t block);
  void write_equations();
  void write_initial_temperature(bool needed);
  std::string all_elements();

  // steps.cpp
  struct Support {
    std::string target;  // a set or a node
    int first, last;
    double value;
  };
  void find_supports();
  void write_supports(double factor, bool zero);
  void write_step(const Step& step, bool first);
  void write_nodal_loads(const Step& step, bool first);
  void write_distributed_loads(const Step& step, bool first);
  void write_temperatures(const Step& step, bool first);
  /// Lines of pressures, heat flows or films on faces: a label letter and the values after it.
  std::vector<std::string> face_lines(const Step& step, const std::string& kind, const char* letter) const;
  std::vector<std::string> body_lines(const Step& step);
  void write_cards(const std::string& card, const std::vector<std::string>& lines, bool first);

  int dof(const std::string& unknown) const;
  /// The name of a node set that has exactly these nodes, or of a new one.
  std::string set_of(const std::vector<std::int32_t>& nodes, const std::string& wish);
  static std::string number(double value);
  std::string block_label(std::size_t block) const;
  template <class T>
  void write_list(std::span<const T> ids) {
    for (std::size_t i = 0; i < ids.size(); ++i)  // CalculiX takes 16 entries on a line
      out_ << ids[i] << (i + 1 == ids.size() ? "\n" : i % 16 == 15 ? ",\n" : ", ");
  }

  const Domain& domain_;
  const DeckWriteOptions& options_;
  detail::TextSink out_;
  bool heat_ = false;
  int dimension_ = 3;
  std::vector<std::string> element_name_;  // of each block: "C3D8"
  std::vector<std::string> block_set_;     // of each block
  NameList node_sets_{"node sets"}, element_sets_{"element sets and blocks"}, surfaces_{"surfaces"},
      materials_{"materials"}, orientations_{"orientations"};
  std::map<const Material*, std::set<std::string>> written_;     // parameters that are on a card
  std::map<std::string, std::map<int, std::string>> face_sets_;  // surface → face → element set
  std::string all_elements_;
  std::vector<Support> supports_;
  std::set<std::string> cards_used_;  // load cards of steps so far
};

}  // namespace voussoir::deck
