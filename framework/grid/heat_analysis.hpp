#pragma once
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/grid/grid_field.hpp>
#include <voussoir/framework/grid/grid_materials.hpp>
#include <voussoir/framework/grid/grid_source.hpp>

namespace voussoir {

namespace detail {
class LayeredMaterial;
class LineSweeps;
struct SideValues;
}  // namespace detail

/// How time steps are taken.
enum class HeatScheme {
  douglas,            ///< implicit, split by coordinates (Douglas and Gunn); 1, 2 and 3 dimensions, second order
  peaceman_rachford,  ///< implicit, split by coordinates; 2 dimensions, second order
  explicit_euler,     ///< explicit; the step is limited; first order in time
  long_vectors        ///< the explicit scheme as operations on long vectors; square plates with fixed borders only
};
/// "douglas", "peaceman-rachford", "explicit", "long-vectors".
const char* to_string(HeatScheme scheme);
/// The scheme of a name; an unknown one is an Error (bad_input) with the nearest.
HeatScheme heat_scheme(const std::string& name);
/// The names of all schemes.
std::vector<std::string> heat_scheme_names();

/// How a heat analysis on a grid steps through time.
struct GridHeatOptions {
  HeatScheme scheme = HeatScheme::douglas;  ///< the scheme
  double time_step = 0;                     ///< must be greater than zero
  double start_time = 0;                    ///< time of step 0
};

/// Heat in a grid, and where it came from since step 0.
struct HeatBalance {
  double content = 0;             ///< ∫ ρ c u dV now
  double initial_content = 0;     ///< the same at step 0
  double from_sources = 0;        ///< heat from sources
  double through_flux_sides = 0;  ///< heat that entered through sides with a given flux
  /// What is left: heat that entered through sides of prescribed temperature, and rounding. Without such sides,
  /// rounding alone.
  double remainder() const { return content - initial_content - from_sources - through_flux_sides; }
};

/// The part of a GridHeatAnalysis that changes, in the order of nodes: what a restart needs.
struct GridHeatState {
  std::int64_t step = 0;            ///< steps taken
  double initial_content = 0;       ///< see HeatBalance
  double from_sources = 0;          ///< see HeatBalance
  double through_flux_sides = 0;    ///< see HeatBalance
  std::vector<double> temperature;  ///< at the nodes
};

/// Transient heat conduction on a grid,
///
///   ρ c ∂u/∂t = Σ_a k_a ∂²u/∂x_a² + f ,
///
/// with conductivities along the axes, sources f per volume, and the sides of the grid. Second differences in space;
/// with several materials (GridMaterials), balances of the cells around nodes. docs/grids.md describes the schemes and
/// how sides that change with time enter them.
///
///   Grid plate({400, 400}, {1, 1});
///   plate.periodic('x').periodic('y');
///   GridHeatAnalysis heat(plate, material, {HeatScheme::peaceman_rachford, 1e-4}, Backend::open("auto"));
///   heat.temperature().fill([](const GridPosition& x) { return std::sin(2 * M_PI * x[0]); });
///   heat.run(100);
class GridHeatAnalysis {
 public:
  /// Temperatures are zero until they are set by temperature() or restore(). Throws Error (bad_input) for a material or
  /// a step that is not positive, a scheme that does not fit the grid, and an explicit step above explicit_limit().
  GridHeatAnalysis(Grid grid, HeatMaterial material, GridHeatOptions options, std::shared_ptr<Backend> backend);
  /// The same with materials that differ from node to node, which were made for this grid. The scheme long_vectors is
  /// for one material only.
  GridHeatAnalysis(Grid grid, GridMaterials materials, GridHeatOptions options, std::shared_ptr<Backend> backend);
  ~GridHeatAnalysis();
  GridHeatAnalysis(const GridHeatAnalysis&) = delete;
  GridHeatAnalysis& operator=(const GridHeatAnalysis&) = delete;

  const Grid& grid() const { return space_->grid(); }                       ///< the grid
  const HeatMaterial& material() const { return material_; }                ///< the material, where there is one
  bool has_several_materials() const { return layered_ != nullptr; }        ///< whether they differ from node to node
  const GridHeatOptions& options() const { return options_; }               ///< scheme and step
  const std::shared_ptr<const GridSpace>& space() const { return space_; }  ///< grid and backend
  /// Temperatures at the current time. They may be changed before the first step.
  GridField& temperature() { return temperature_; }
  const GridField& temperature() const { return temperature_; }  ///< temperatures at the current time
  /// Sources per volume. They may be added before the first step.
  GridSources& sources() { return sources_; }
  const GridSources& sources() const { return sources_; }  ///< sources per volume

  std::int64_t step_count() const { return step_; }  ///< steps taken
  double time() const { return time_of(step_); }     ///< start time + steps · time step
  /// Takes a step. May return before the work is done.
  void step();
  /// Takes steps, then waits and checks that all values are finite. `observer`, if given, is called after every step
  /// and returns false to stop; run() then returns false.
  bool run(std::int64_t steps, const std::function<bool()>& observer = {});
  /// Waits, and throws Error (not_finite) where a value is infinite or not a number.
  void check();

  /// Heat in the grid and its origin. Waits for the devices.
  HeatBalance balance();
  GridHeatState state();                     ///< what a restart needs
  void restore(const GridHeatState& state);  ///< goes on from a state; the steps that follow give the same bits

  /// The largest stable step of explicit schemes, 1 / (2 Σ_a k_a / (ρ c h_a²)).
  static double explicit_limit(const Grid& grid, const HeatMaterial& material);
  /// The same with several materials: 1 / max over the nodes of Σ_a (k_a− + k_a+) / (ρ c h_a²), with the conductivities
  /// of the faces below and above.
  static double explicit_limit(const Grid& grid, const GridMaterials& materials);

 private:
  double time_of(std::int64_t step) const {
    return options_.start_time + static_cast<double>(step) * options_.time_step;
  }
  void begin();
  void make_sides();
  std::array<detail::SideValues, 6> sides_at(double time) const;
  std::array<double, 3> rates() const;
  double heat_of_flux_sides(const std::array<detail::SideValues, 6>& values) const;
  double content();
  void add_source(double step, const Vector& rate, Vector& to);
  void step_douglas();
  void step_peaceman_rachford();
  void step_explicit();
  void step_long_vectors();
  void diffuse(const Vector& from, const std::array<double, 3>& rate, double from_field, double factor,
               const GridSides& sides, Vector& to);
  void next_sides();
  void count_heat(double flux_now, double flux_next);
  const Vector* source_rate();

  struct Sides;
  struct LongVectors;
  std::shared_ptr<const GridSpace> space_;
  HeatMaterial material_;
  GridHeatOptions options_;
  GridField temperature_, other_;
  GridSources sources_;
  std::unique_ptr<Sides> sides_;
  std::unique_ptr<detail::LayeredMaterial> layered_;  ///< null: one material
  std::unique_ptr<detail::LineSweeps> sweeps_;
  std::unique_ptr<LongVectors> long_vectors_;
  std::int64_t step_ = 0;
  bool begun_ = false;
  double initial_content_ = 0, from_sources_ = 0, through_flux_sides_ = 0;
};

}  // namespace voussoir
