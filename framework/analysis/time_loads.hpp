#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/response/support_motion.hpp>

namespace voussoir {

/// What acts on a structure over time: load cases with amplitudes, accelerations of the base, motions of supports.
/// Times are those of the analysis.
///
///   TimeLoads loads;
///   loads.add_load_case("wind", Amplitude({{0, 0}, {0.5, 1}}));
///   loads.add_base_acceleration("x", quake, 9.81);
///   loads.move_supports(domain, "pier 2", "uy", SupportMotion::by_acceleration(settling));
///
/// A base acceleration moves all supports together. Unknowns are then relative to the base: the equations have the
/// inertial forces −M r a(t), with the rigid motion r of the direction, and supports stay where they are prescribed. A
/// motion of supports is absolute: it gives prescribed unknowns their displacement, velocity and acceleration.
class TimeLoads {
 public:
  /// Adds a load case of the domain, times an amplitude, times a factor. The same load case may be added several times.
  void add_load_case(std::string name, Amplitude amplitude = {}, double factor = 1);
  /// The same with any function of time as its factor. Throws Error (misuse) if it is empty.
  void add_load_case(std::string name, std::function<double(double time)> course);
  /// Adds an acceleration of the base. `direction` is "x", "y", "z" or, for a rotation about an axis through the
  /// origin, "rx", "ry", "rz".
  void add_base_acceleration(std::string direction, const Accelerogram& acceleration, double factor = 1);
  /// The same with a function of time that need not end at zero.
  void add_base_acceleration(std::string direction, Amplitude acceleration, double factor = 1);

  /// An unknown of a node.
  struct Place {
    std::int32_t node;                              ///< by index
    std::string unknown;                            ///< its name
    bool operator==(const Place&) const = default;  ///< the same unknown of the same node
  };
  /// The motion of all supports that no other call names, and of the constants of equations and of supports along
  /// directions: what is prescribed times the motion. Without, they are at rest with what is prescribed.
  void move_supports(SupportMotion motion) { rest_ = std::move(motion); }
  /// The motion of some prescribed unknowns: their prescribed values times the motion. A later call replaces an earlier
  /// one for the same unknown.
  void move_supports(std::vector<Place> places, SupportMotion motion);
  /// The same for one unknown of all nodes of a set. Throws Error (not_found) for a set that does not exist.
  void move_supports(const Domain& domain, const std::string& node_set, const std::string& unknown,
                     SupportMotion motion);

  /// Says that steps end at all kinks(), as automatic ones do.
  void set_steps_meet_kinks(bool meet) { steps_meet_kinks_ = meet; }
  bool steps_meet_kinks() const { return steps_meet_kinks_; }  ///< whether they do

  /// A load case with its course.
  struct Case {
    std::string name;                                ///< of the load case
    Amplitude amplitude;                             ///< over time
    double factor = 1;                               ///< of the amplitude
    std::function<double(double time)> course = {};  ///< in place of both, where it is given
  };
  /// An acceleration of the base.
  struct Base {
    std::string direction;   ///< "x" … "rz"
    Amplitude acceleration;  ///< over time
    double factor = 1;       ///< of the acceleration
  };
  /// Supports that move alike.
  struct Moved {
    std::vector<Place> places;  ///< prescribed unknowns
    SupportMotion motion;       ///< of all of them
  };
  const std::vector<Case>& cases() const { return cases_; }      ///< in the order of adding
  const std::vector<Base>& base() const { return base_; }        ///< in the order of adding
  const std::vector<Moved>& moved() const { return moved_; }     ///< in the order of adding
  const SupportMotion& other_supports() const { return rest_; }  ///< of supports that moved() does not name
  /// Times at which something that acts is not smooth, ascending, each once: points of amplitudes and accelerograms.
  std::vector<double> kinks() const;

 private:
  std::vector<Case> cases_;
  std::vector<Base> base_;
  std::vector<Moved> moved_;
  SupportMotion rest_;
  bool steps_meet_kinks_ = false;
};

}  // namespace voussoir
