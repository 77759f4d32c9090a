#pragma once
#include <string>
#include <utility>
#include <vector>

namespace voussoir {

/// A plot of curves over a common axis, as an SVG file that browsers and word processors open: one panel below the
/// other, each with its own scale.
///
///   LinePlot plot("Path A", "distance [mm]");
///   plot.panel("stress [MPa]").curve("mises", {{0, 12.5}, {1, 14.0}});
///   const std::string file = plot.svg();
class LinePlot {
 public:
  using Points = std::vector<std::pair<double, double>>;

  /// One set of axes with its curves.
  class Panel {
   public:
    explicit Panel(std::string label) : label_(std::move(label)) {}
    /// Adds a piece of a curve; pieces of one name have one colour and one entry in the legend, and gaps between them.
    Panel& curve(const std::string& name, Points points);

   private:
    friend class LinePlot;
    struct Piece {
      std::size_t curve;
      Points points;
    };
    std::string label_;
    std::vector<std::string> curves_;
    std::vector<Piece> pieces_;
  };

  LinePlot(std::string title, std::string axis) : title_(std::move(title)), axis_(std::move(axis)) {}
  /// A new panel; the reference is valid until the next one is added.
  Panel& panel(const std::string& label);
  /// Marks a place on the axis in all panels.
  LinePlot& mark(double x, const std::string& text);

  /// The file. Values that are not numbers leave a gap.
  std::string svg() const;

 private:
  std::string title_, axis_;
  std::vector<Panel> panels_;
  std::vector<std::pair<double, std::string>> marks_;
};

}  // namespace voussoir
