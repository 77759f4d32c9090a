#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/cost_model/operation_cost.hpp>

// What was measured of a machine, and the file that keeps it.

namespace voussoir {

/// Names of the operations in a MachineProfile, and what a unit of each is.
namespace operations {
inline constexpr std::string_view fill = "fill";                 ///< x = a; unit: an entry
inline constexpr std::string_view copy = "copy";                 ///< y = x; an entry
inline constexpr std::string_view axpy = "axpy";                 ///< y = a x + y (saxpy); an entry
inline constexpr std::string_view add = "add";                   ///< z = x + y of long vectors; an entry
inline constexpr std::string_view saxpy = "saxpy";               ///< y = a x + b y of long vectors; an entry
inline constexpr std::string_view border = "border";             ///< border of a long vector restored; an entry of it
inline constexpr std::string_view staged_in = "staged in";       ///< copy to a long vector, reused buffers; a byte
inline constexpr std::string_view staged_out = "staged out";     ///< copy from a long vector, reused buffers; a byte
inline constexpr std::string_view new_array = "to device, new";  ///< copy to a newly allocated array; a byte
inline constexpr std::string_view dot = "dot";                   ///< x·y with its result on the host; an entry
inline constexpr std::string_view to_device = "to device";       ///< copy from host memory; a byte
inline constexpr std::string_view to_host = "to host";           ///< copy to host memory; a byte
inline constexpr std::string_view exchange = "exchange";         ///< halo exchange between devices; an entry
inline constexpr std::string_view stencil = "stencil";           ///< an iteration of a 7-point stencil; a cell
inline constexpr std::string_view slab_in = "slab in";           ///< copy of a slab from host memory; a byte
inline constexpr std::string_view slab_out = "slab out";         ///< copy of a finished slab to host memory; a byte
inline constexpr std::string_view diffusion = "grid diffusion";  ///< second differences on a plane grid; a node
inline constexpr std::string_view source = "grid source";        ///< a source of place and time, a bell; a node
inline constexpr std::string_view sweep = "sweep x";  ///< tridiagonal systems, contiguous, one matrix; an unknown
inline constexpr std::string_view sweep_across = "sweep y";  ///< the same with a stride, as lines along y; an unknown
inline constexpr std::string_view sweep_own = "sweep x, own matrices";         ///< each system its matrix; an unknown
inline constexpr std::string_view sweep_own_across = "sweep y, own matrices";  ///< the same with a stride; an unknown
inline constexpr std::string_view csr = "product csr";        ///< product with sparse rows; a stored number
inline constexpr std::string_view cg = "cg vectors";          ///< a CG iteration without its product; an equation
inline constexpr std::string_view amg_set_up = "amg set-up";  ///< set-up of multigrid; a number of the whole matrix
inline constexpr std::string_view amg_cycle = "amg cycle";    ///< one cycle of multigrid; a number of the whole matrix
inline constexpr std::string_view factor = "factorise";       ///< direct factorisation; an operation count (flops)
inline constexpr std::string_view factor_linear = "factorise, linear part";  ///< ordering and copies; a factor's number
/// Product with a stored half matrix in blocks of c × c; unit: a stored number.
std::string bsr(int components);
/// An operation on the elements of a type; unit: an element. `what` is "integrate", "assemble", "product element",
/// "product matrix-free" or "pattern".
std::string of_type(std::string_view what, std::string_view element_type);
/// An iteration of a 7-point stencil inside a slab, `tile` iterations per pass through device memory; unit: a cell.
std::string slab_tile(int tile);
/// A stage of an analysis ("number", "recover", …); unit: a node.
std::string stage(std::string_view name);
}  // namespace operations

/// An element type, as far as its cost depends on it.
struct ElementClass {
  std::string type;    ///< name in the ElementLibrary: "solid.hex8.full"
  int nodes = 0;       ///< nodes of an element
  int points = 0;      ///< integration points of an element
  int components = 0;  ///< unknowns per node
  /// Points × (nodes × components)²: the multiplications of K^e = Σ Bᵀ D B, by which unmeasured types are scaled.
  double work() const;
};

/// What was measured of one backend on one machine: a value, saved as JSON.
struct MachineProfile {
  static constexpr int format = 2;  ///< number of the file format; files with another one are not used

  std::string machine;                                      ///< machine_name() of the machine
  std::string backend;                                      ///< Backend::name()
  std::string device;                                       ///< Backend::describe()
  int devices = 1;                                          ///< logical devices
  int threads = 0;                                          ///< host threads of the backend; 0 if it does not say
  std::string date;                                         ///< "2026-11-17T13:00:00Z"
  std::string version;                                      ///< version() of the library that measured
  bool is_assumption = false;                               ///< true for default_profile(): nothing was measured
  bool overlaps_copies = false;                             ///< whether slabs are copied while others are computed
  std::vector<ElementClass> element_types;                  ///< types whose operations were measured
  std::map<std::string, OperationCost, std::less<>> costs;  ///< by the names of `operations`
  std::vector<std::string> notes;                           ///< operations that could not be measured, and why

  /// An operation; null if the profile does not have it.
  const OperationCost* find(std::string_view operation) const;
};

/// Model of processor and number of processors of this machine, "Neoverse-V1, 2 processors". Not the host name: the
/// nodes of a cluster share a home folder, and containers have a new name every day.
std::string machine_name();

/// The profile as a JSON document.
std::string to_json(const MachineProfile& profile);
/// The profile of a JSON document. A document that is truncated, has another format, or numbers that are negative or
/// not finite is an Error (bad_input) with `where` and the key that is wrong.
MachineProfile profile_from_json(std::string_view text, const std::string& where);

/// The user's folder of profiles: "profiles" in $VOUSSOIR_CACHE_DIR, else in $XDG_CACHE_HOME/voussoir, else in
/// ~/.cache/voussoir. Empty if there is no home folder.
std::filesystem::path profile_folder();
/// The file of a backend on this machine in that folder; $VOUSSOIR_PROFILE instead, where it is set. Empty if there is
/// no folder, and where VOUSSOIR_PROFILE is "none", which disables profiles.
std::filesystem::path profile_path(const std::string& backend_name);
/// Writes a profile to its file, or to `path`; creates the folder. Returns the path. Error (io) if that fails.
std::filesystem::path save_profile(const MachineProfile& profile, std::filesystem::path path = {});
/// Reads a profile. Error (io) if there is none, Error (bad_input) if it is damaged.
MachineProfile load_profile(const std::filesystem::path& path);

/// Why a profile does not describe a backend on this machine; empty if it does. Reasons are another machine, backend,
/// device, number of threads, and another version of the library.
std::string why_not_used(const MachineProfile& profile, const Backend& backend);

/// The profile of a backend on this machine, if there is a usable one.
struct ProfileSearch {
  std::optional<MachineProfile> profile;  ///< the profile
  std::string note;                       ///< its date, or why there is none and what to do
};
/// Looks for the user's profile of a backend. Never throws because of the file: a damaged one is a note.
ProfileSearch find_profile(const Backend& backend);

/// Built-in rates for a backend without a profile: assumptions from the machines of docs/benchmarks (a core of a server
/// with 20 GB/s, an H200), scaled by the number of threads. Good for orders of magnitude; MachineProfile::is_assumption
/// is true, and `auto` never decides by them.
MachineProfile default_profile(const Backend& backend);

}  // namespace voussoir
