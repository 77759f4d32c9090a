#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/grid/heat_analysis.hpp>

namespace voussoir {

/// Temperatures at the beginning of a heat job.
struct HeatInitial {
  /// Kinds of initial fields.
  enum class Kind {
    constant,  ///< `value` everywhere
    box,       ///< `value` inside a box, its surface included, `outside` elsewhere
    sine,      ///< outside + value · Π sin(2π waves_a (x_a − origin_a) / length_a) over axes with waves
    file       ///< numbers of a binary file: doubles in the order of nodes
  };
  Kind kind = Kind::constant;            ///< which one
  double value = 0,                      ///< see Kind
      outside = 0;                       ///< see Kind
  GridPosition lower{0, 0, 0},           ///< corner of the box
      upper{0, 0, 0};                    ///< opposite corner of the box
  std::array<double, 3> waves{0, 0, 0};  ///< periods over the length along each axis
  std::filesystem::path file;            ///< path of the file
  std::string where;                     ///< place in the job file, for messages

  /// Writes the values to a field. A file that cannot be read or has another size is an Error with `where`.
  void fill(GridField& field) const;
};

/// A point whose temperature is recorded.
struct HeatPoint {
  std::string name;       ///< unique in the job
  GridPosition at;        ///< as given
  std::int64_t node = 0;  ///< the nearest node
};

/// A box of another material in a heat job.
struct HeatRegion {
  GridPosition lower{0, 0, 0},  ///< corner of the box
      upper{0, 0, 0};           ///< opposite corner of the box
  HeatMaterial material;        ///< at its nodes
};

/// How a stationary problem is solved.
struct HeatStationary {
  double tolerance = 1e-8;               ///< largest residual, relative to that of the initial field
  std::int64_t max_iterations = 100000;  ///< most Jacobi iterations
  bool chebyshev = true;                 ///< damping factors of Chebyshev's polynomials instead of 1
};

/// A heat job on a grid as a job file describes it: docs/grids.md.
struct HeatJob {
  std::string name;                   ///< stem of result files: the file's name without ".json"
  std::string title;                  ///< may be empty
  Grid grid{3, 1.0};                  ///< nodes, lengths and sides
  HeatMaterial material;              ///< the material, but for `regions`
  std::vector<HeatRegion> regions;    ///< boxes of other materials; where they overlap, the last one applies
  std::vector<GridTerm> sources;      ///< per volume
  HeatInitial initial;                ///< temperatures at the beginning
  bool stationary = false;            ///< solve for the steady state instead of stepping through time
  HeatStationary stationary_options;  ///< of a stationary job
  GridHeatOptions options;            ///< scheme and step of a transient job
  std::int64_t steps = 0;             ///< number of steps of a transient job
  std::string backend = "auto";       ///< where it runs, unless the caller says otherwise
  std::int64_t every = 0;             ///< steps between results; 0: at the beginning and the end only
  bool vti = true;                    ///< write fields for ParaView
  bool picture = true;                ///< draw the field at the end
  std::vector<HeatPoint> points;      ///< recorded after every step
  /// The materials of all nodes.
  GridMaterials materials() const;
  std::string fingerprint;  ///< what decides the numbers: grid, sides, material, sources, scheme, step
};

/// Whether a file is a heat job: a JSON document with "grid" and without "mesh". False for any other file; its reader
/// reports what is wrong.
bool is_heat_job(const std::filesystem::path& path);

/// Reads a heat job. A syntax error is an Error with file, line and column; any other error has file, line and JSON
/// pointer ("plate.json:7, /sides/x-"). An unknown key is rejected, with the nearest known one.
HeatJob read_heat_job(const std::filesystem::path& path);
/// As above, for text in memory. `name` stands for the file name in messages; files are searched for in `folder`.
HeatJob read_heat_text(std::string_view text, const std::string& name, const std::filesystem::path& folder);

}  // namespace voussoir
