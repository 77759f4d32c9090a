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
  using Points = std::vector<std::pair<double, double>>;  ///< (x, y) of the points of a curve

  /// One set of axes with its curves.
  class Panel {
   public:
    /// An empty panel; `label` is that of its vertical axis.
    explicit Panel(std::string label) : label_(std::move(label)) {}
    /// Adds a piece of a curve. Pieces of the same name share a colour and a legend entry and are not connected.
    Panel& curve(const std::string& name, Points points);
    /// Adds points that are drawn as dots and not connected, such as measurements beside a curve.
    Panel& dots(const std::string& name, Points points);

   private:
    friend class LinePlot;
    struct Piece {
      std::size_t curve;
      Points points;
      bool dots = false;
    };
    Panel& add(const std::string& name, Points points, bool dots);
    std::string label_;
    std::vector<std::string> curves_;
    std::vector<Piece> pieces_;
  };

  /// An empty plot; `axis` is the label of the common horizontal axis.
  LinePlot(std::string title, std::string axis) : title_(std::move(title)), axis_(std::move(axis)) {}
  /// Adds a panel below the others. The reference is valid until the next panel is added.
  Panel& panel(const std::string& label);
  /// Marks a position on the horizontal axis in all panels.
  LinePlot& mark(double x, const std::string& text);

  /// The contents of the SVG file. NaN values leave gaps in the curves.
  std::string svg() const;

 private:
  std::string title_, axis_;
  std::vector<Panel> panels_;
  std::vector<std::pair<double, std::string>> marks_;
};

}  // namespace voussoir
