#pragma once
#include <voussoir/elements/kernel/small_algebra.hpp>
#include <voussoir/elements/quadrature/quadrature.hpp>
#include <voussoir/elements/structural/beam.hpp>

namespace voussoir {

/// A curved Timoshenko beam of three nodes (both ends, then the middle) with six unknowns each, small displacements
/// ("beam3"). Its axis is the parabola through the nodes; section and material are those of "beam".
///
/// The axis is divided at the middle node. Each half is loaded only at its ends, so equilibrium gives the forces on
/// every section from those at its far end, B(s) q, and the motion of the far end relative to the near one is f q with
/// f = ∫ Bᵀ C B ds, where C has the compliances 1/EA, 1/GA_s, 1/GJ, 1/EI. The stiffness is f⁻¹ with the rigid motions
/// added: no field is assumed, so the element does not lock, nodal values are exact for nodal loads and this axis, and
/// a straight half is a "beam". (The force method; e.g. Pestel and Leckie, Matrix Methods in Elastomechanics, 1963.)
struct CurvedBeam {
  static constexpr const char* name = "beam3";   ///< name of the element type
  static constexpr const char* shape = "line3";  ///< name of the shape
  static constexpr int nodes = 3,                ///< nodes per element
      components = 6,                            ///< unknowns per node
      points = 4,                                ///< points with results: both ends of each half
      dofs = 18;                                 ///< degrees of freedom per element
  static constexpr bool linear = true,           ///< the residual is linear in the unknowns
      reads_temperature = false;                 ///< temperature acts only through parameters and thermal strain
  static constexpr const char* unknowns[] = {"ux", "uy", "uz", "rx", "ry", "rz"};  ///< displacements and rotations
  static constexpr int parameter_count = Beam::parameter_count;                    ///< number of parameters
  /// The parameters of Beam, in the order of Beam::Number.
  static constexpr const char* parameters[] = {
      "young",        "shear_modulus", "area",      "inertia_y",     "inertia_z",     "torsion",      "shear_area_y",
      "shear_area_z", "density",       "expansion", "orientation_x", "orientation_y", "orientation_z"};
  /// The results of Beam, at both ends of each half: node 1, the middle node from either side, node 2.
  static constexpr const char* recovered[] = {"N", "Vy", "Vz", "T", "My", "Mz", "energy", "volume"};
  /// The data of an element.
  template <class R>
  using Input = ElementInput<R, nodes, components, parameter_count>;

  /// Positive if the parameters are valid as those of Beam and the local axes exist along the whole axis.
  template <class R>
  VSR_FN static R valid(const Input<R>& e) {
    const Numbers<R> n = numbers(e);
    R good = R(1.0);
    for (int i = Beam::young; i <= Beam::torsion; ++i) good = min(good, positive(n.p[i]));
    for (int i = Beam::shear_area_y; i <= Beam::density; ++i) good = min(good, not_negative(n.p[i]));
    good = min(good, finite_number(n.p[Beam::expansion]));
    for (int i = 0; i < 5; ++i) {
      const Station<R> s = station(e, n, R(0.5 * i - 1.0));
      good = min(good, min(positive(s.stretch), select_less(R(1e-6), s.sine, R(1.0), R(-1.0))));
    }
    return good;
  }

  /// The stiffness in global axes: the upper triangle, by rows. Returns the smallest ds/dξ.
  template <class R>
  VSR_LARGE_FN static R tangent(const Input<R>& e, R* upper) {
    const Numbers<R> n = numbers(e);
    for (int i = 0; i < dofs * (dofs + 1) / 2; ++i) upper[i] = R(0.0);
    R least = R(1e300);
    for (int which = 0; which < 2; ++which) {
      const Half<R> half = make_half(e, n, which);
      least = min(least, half.least_stretch);
      R g[6][12], kg[6][12];
      relative_motion(half, g);
      for (int j = 0; j < 12; ++j) {
        R column[6];
        for (int i = 0; i < 6; ++i) column[i] = g[i][j];
        detail::solve<6>(half.flexibility, column);
        for (int i = 0; i < 6; ++i) kg[i][j] = column[i];
      }
      for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 12; ++j) {
          const int row = place(which, i), column = place(which, j);
          if (row > column) continue;
          R sum = R(0.0);
          for (int k = 0; k < 6; ++k) sum += g[k][i] * kg[k][j];
          upper[upper_index(dofs, row, column)] += sum;
        }
    }
    return least;
  }

  /// The nodal forces in global axes, thermal strain included. Returns the smallest ds/dξ.
  template <class R>
  VSR_LARGE_FN static R residual(const Input<R>& e, R* r) {
    const Numbers<R> n = numbers(e);
    for (int i = 0; i < dofs; ++i) r[i] = R(0.0);
    R least = R(1e300);
    for (int which = 0; which < 2; ++which) {
      const Half<R> half = make_half(e, n, which);
      least = min(least, half.least_stretch);
      R g[6][12], force[6], energy;
      relative_motion(half, g);
      end_force(e, n, which, half, g, force, energy);
      for (int j = 0; j < 12; ++j) {
        R sum = R(0.0);
        for (int i = 0; i < 6; ++i) sum += g[i][j] * force[i];
        r[place(which, j)] += sum;
      }
    }
    return least;
  }

  /// The results named by `recovered` at the four points. Returns the smallest ds/dξ.
  template <class R>
  VSR_LARGE_FN static R recover(const Input<R>& e, R* out) {
    const Numbers<R> n = numbers(e);
    R least = R(1e300);
    for (int which = 0; which < 2; ++which) {
      const Half<R> half = make_half(e, n, which);
      least = min(least, half.least_stretch);
      R g[6][12], force[6], energy;
      relative_motion(half, g);
      end_force(e, n, which, half, g, force, energy);
      const R half_volume = R(0.5) * n.p[Beam::area] * half.length;
      for (int end = 0; end < 2; ++end) {
        const Station<R> s = station(e, n, R(which - 1.0 + end));
        R b[6][6];
        section_forces(s, half, b);
        R* here = out + 8 * (2 * which + end);
        for (int i = 0; i < 6; ++i) {
          here[i] = R(0.0);
          for (int j = 0; j < 6; ++j) here[i] += b[i][j] * force[j];
        }
        here[6] = R(0.5) * energy / half_volume;
        here[7] = half_volume;
      }
    }
    return least;
  }

  /// The consistent mass for quadratic displacements and rotations, with the rotary inertia of the section.
  template <class R>
  VSR_LARGE_FN static R mass(const Input<R>& e, R* upper) {
    constexpr auto rule = GaussLine<4>::make();
    const Numbers<R> n = numbers(e);
    for (int i = 0; i < dofs * (dofs + 1) / 2; ++i) upper[i] = R(0.0);
    R least = R(1e300);
    for (int q = 0; q < 4; ++q) {
      const Station<R> s = station(e, n, R(rule.xi[q][0]));
      least = min(least, s.stretch);
      const R weight = R(rule.weight[q]) * s.stretch * n.p[Beam::density];
      const R inertia[3] = {n.p[Beam::inertia_y] + n.p[Beam::inertia_z], n.p[Beam::inertia_y], n.p[Beam::inertia_z]};
      for (int a = 0; a < 3; ++a)
        for (int b = a; b < 3; ++b) {
          const R w = weight * s.n[a] * s.n[b];
          for (int i = 0; i < 3; ++i) {
            upper[upper_index(dofs, 6 * a + i, 6 * b + i)] += w * n.p[Beam::area];
            for (int j = a == b ? i : 0; j < 3; ++j) {
              R turned = R(0.0);
              for (int k = 0; k < 3; ++k) turned += s.axes(k, i) * inertia[k] * s.axes(k, j);
              upper[upper_index(dofs, 6 * a + 3 + i, 6 * b + 3 + j)] += w * turned;
            }
          }
        }
    }
    return least;
  }

  /// The fixed-end forces and moments of a body load at both ends of each half.
  template <class R, class Load>
  VSR_LARGE_FN static R body_load(const Input<R>& e, const Load& load, R* f) {
    constexpr auto rule = GaussLine<4>::make();
    const Numbers<R> n = numbers(e);
    const R line_mass = n.p[Beam::density] * n.p[Beam::area];
    for (int i = 0; i < dofs; ++i) f[i] = R(0.0);
    R least = R(1e300);
    for (int which = 0; which < 2; ++which) {
      const Half<R> half = make_half(e, n, which);
      least = min(least, half.least_stretch);
      // The resultant of the load beyond ξ, about the axis there.
      const auto beyond = [&](R xi, const Vec3<R>& at, R* total) {
        for (int i = 0; i < 6; ++i) total[i] = R(0.0);
        const R reach = R(0.5) * (R(double(which)) - xi);
        for (int q = 0; q < 4; ++q) {
          const Station<R> s = station(e, n, xi + reach * R(1.0 + rule.xi[q][0]));
          const R weight = R(rule.weight[q]) * reach * s.stretch * line_mass;
          const Vec3<R> pull = force_per_mass(load, s.x);
          const Vec3<R> arm{{s.x[0] - at[0], s.x[1] - at[1], s.x[2] - at[2]}};
          const Vec3<R> moment = cross(arm, pull);
          for (int i = 0; i < 3; ++i) {
            total[i] += weight * pull[i];
            total[3 + i] += weight * moment[i];
          }
        }
      };
      R moved[6];  // of the far end, in the axes of the half
      for (int i = 0; i < 6; ++i) moved[i] = R(0.0);
      for (int q = 0; q < stations; ++q) {
        const Station<R> s = station(e, n, R(at_station(which, q)));
        R b[6][6], total[6];
        section_forces(s, half, b);
        beyond(R(at_station(which, q)), s.x, total);
        const R weight = R(station_weight(q)) * s.stretch;
        for (int m = 0; m < 6; ++m) {
          R strain = R(0.0);
          for (int k = 0; k < 3; ++k) strain += s.axes(m % 3, k) * total[3 * (m / 3) + k];
          strain *= weight * n.compliance[m];
          for (int i = 0; i < 6; ++i) moved[i] += b[m][i] * strain;
        }
      }
      detail::solve<6>(half.flexibility, moved);
      R far[6], total[6];
      for (int block = 0; block < 2; ++block)
        for (int i = 0; i < 3; ++i) {
          R sum = R(0.0);
          for (int k = 0; k < 3; ++k) sum += half.axes(k, i) * moved[3 * block + k];
          far[3 * block + i] = sum;
        }
      beyond(R(which - 1.0), e.x[near_node(which)], total);
      const Vec3<R> turned = cross(half.chord, Vec3<R>{{far[0], far[1], far[2]}});
      for (int i = 0; i < 3; ++i) {
        f[6 * near_node(which) + i] += total[i] - far[i];
        f[6 * near_node(which) + 3 + i] += total[3 + i] - far[3 + i] - turned[i];
        f[6 * far_node(which) + i] += far[i];
        f[6 * far_node(which) + 3 + i] += far[3 + i];
      }
    }
    return least;
  }

 private:
  static constexpr int stations = 5;

  template <class R>
  struct Numbers {
    R p[parameter_count];
    R compliance[6];  ///< of N, Vy, Vz, T, My, Mz
    R thermal_strain;
  };

  /// A cross-section: position, local axes as rows, derivative of the arc length with respect to ξ.
  template <class R>
  struct Station {
    R n[3];  ///< shape functions
    Vec3<R> x;
    Mat3<R> axes;
    R stretch, sine;
  };

  /// One half: from node 1 to the middle (0), or from there to node 2 (1). Forces at its far end and motions of it are
  /// in the axes of its middle section, in which a straight half has no mixed flexibilities.
  template <class R>
  struct Half {
    Mat3<R> axes;
    Vec3<R> chord, far;  ///< from end to end; position of the far end
    R length, least_stretch;
    R flexibility[21];  ///< factorised
  };

  VSR_FN static constexpr int near_node(int which) { return which == 0 ? 0 : 2; }
  VSR_FN static constexpr int far_node(int which) { return which == 0 ? 2 : 1; }
  /// Index in the element of unknown i of a half (six of its near end, six of its far end).
  VSR_FN static constexpr int place(int which, int i) {
    return 6 * (i < 6 ? near_node(which) : far_node(which)) + i % 6;
  }
  VSR_FN static double at_station(int which, int q) {
    constexpr auto rule = GaussLine<stations>::make();
    return which - 0.5 + 0.5 * rule.xi[q][0];
  }
  VSR_FN static double station_weight(int q) {
    constexpr auto rule = GaussLine<stations>::make();
    return 0.5 * rule.weight[q];
  }

  template <class R>
  VSR_FN static Numbers<R> numbers(const Input<R>& e) {
    Numbers<R> n;
    const auto mean = [](const R* t) { return R(1.0 / 6.0) * (t[0] + t[1]) + R(2.0 / 3.0) * t[2]; };
    const R temperature = mean(e.temperature), initial = mean(e.initial_temperature);
    parameters_between<CurvedBeam>(e, initial, temperature, n.p);
    n.thermal_strain = n.p[Beam::expansion] * (temperature - initial);
    const R stiffness[6] = {n.p[Beam::young] * n.p[Beam::area],
                            n.p[Beam::shear_modulus] * n.p[Beam::shear_area_y],
                            n.p[Beam::shear_modulus] * n.p[Beam::shear_area_z],
                            n.p[Beam::shear_modulus] * n.p[Beam::torsion],
                            n.p[Beam::young] * n.p[Beam::inertia_y],
                            n.p[Beam::young] * n.p[Beam::inertia_z]};
    // A shear area of 0 means a beam that is rigid in shear.
    for (int i = 0; i < 6; ++i) n.compliance[i] = select_less(R(0.0), stiffness[i], R(1.0) / stiffness[i], R(0.0));
    return n;
  }

  template <class R>
  VSR_FN static Station<R> station(const Input<R>& e, const Numbers<R>& n, R xi) {
    Station<R> s;
    s.n[0] = R(0.5) * xi * (xi - R(1.0));
    s.n[1] = R(0.5) * xi * (xi + R(1.0));
    s.n[2] = R(1.0) - xi * xi;
    const R d[3] = {xi - R(0.5), xi + R(0.5), R(-2.0) * xi};
    Vec3<R> along;
    for (int i = 0; i < 3; ++i) {
      s.x[i] = s.n[0] * e.x[0][i] + s.n[1] * e.x[1][i] + s.n[2] * e.x[2][i];
      along[i] = d[0] * e.x[0][i] + d[1] * e.x[1][i] + d[2] * e.x[2][i];
    }
    s.stretch = sqrt(dot(along, along));
    for (int i = 0; i < 3; ++i) along[i] /= s.stretch;
    const Vec3<R> given{{n.p[Beam::orientation], n.p[Beam::orientation + 1], n.p[Beam::orientation + 2]}};
    const R part = dot(along, given);
    Vec3<R> y;
    for (int i = 0; i < 3; ++i) y[i] = given[i] - part * along[i];
    const R height = sqrt(dot(y, y));
    s.sine = height / sqrt(dot(given, given));
    for (int i = 0; i < 3; ++i) y[i] /= height;
    const Vec3<R> z = cross(along, y);
    for (int i = 0; i < 3; ++i) {
      s.axes(0, i) = along[i];
      s.axes(1, i) = y[i];
      s.axes(2, i) = z[i];
    }
    return s;
  }
  /// b: forces and moments on a section, in its axes, from force and moment at the far end, in the axes of the half.
  template <class R>
  VSR_FN static void section_forces(const Station<R>& s, const Half<R>& half, R (&b)[6][6]) {
    const Mat3<R> turn = s.axes * transpose(half.axes);
    Vec3<R> arm;  // from the section to the far end, in the axes of the half
    for (int i = 0; i < 3; ++i) {
      arm[i] = R(0.0);
      for (int k = 0; k < 3; ++k) arm[i] += half.axes(i, k) * (half.far[k] - s.x[k]);
    }
    for (int i = 0; i < 3; ++i) {
      const Vec3<R> row{{turn(i, 0), turn(i, 1), turn(i, 2)}};
      const Vec3<R> lever = cross(row, arm);  // row · (arm × F) = (row × arm) · F
      for (int k = 0; k < 3; ++k) {
        b[i][k] = row[k];
        b[i][3 + k] = R(0.0);
        b[3 + i][k] = lever[k];
        b[3 + i][3 + k] = row[k];
      }
    }
  }

  template <class R>
  VSR_LARGE_FN static Half<R> make_half(const Input<R>& e, const Numbers<R>& n, int which) {
    Half<R> half;
    half.axes = station(e, n, R(which - 0.5)).axes;
    for (int i = 0; i < 3; ++i) {
      half.far[i] = e.x[far_node(which)][i];
      half.chord[i] = half.far[i] - e.x[near_node(which)][i];
    }
    half.length = R(0.0);
    half.least_stretch = R(1e300);
    for (int i = 0; i < 21; ++i) half.flexibility[i] = R(0.0);
    for (int q = 0; q < stations; ++q) {
      const Station<R> s = station(e, n, R(at_station(which, q)));
      half.least_stretch = min(half.least_stretch, s.stretch);
      const R weight = R(station_weight(q)) * s.stretch;
      half.length += weight;
      R b[6][6];
      section_forces(s, half, b);
      for (int m = 0; m < 6; ++m) {
        const R c = weight * n.compliance[m];
        for (int i = 0; i < 6; ++i)
          for (int j = i; j < 6; ++j) half.flexibility[upper_index(6, i, j)] += c * b[m][i] * b[m][j];
      }
    }
    detail::factorise<6>(half.flexibility);
    return half;
  }

  /// Motion of the far end relative to the rigid motion of the near one, in the axes of the half.
  template <class R>
  VSR_FN static void relative_motion(const Half<R>& half, R (&g)[6][12]) {
    for (int i = 0; i < 3; ++i) {
      const Vec3<R> row{{half.axes(i, 0), half.axes(i, 1), half.axes(i, 2)}};
      const Vec3<R> turned = cross(half.chord, row);  // row · (θ × chord) = θ · (chord × row)
      for (int k = 0; k < 3; ++k) {
        g[i][k] = -row[k];
        g[i][3 + k] = -turned[k];
        g[i][6 + k] = row[k];
        g[i][9 + k] = R(0.0);
        g[3 + i][k] = R(0.0);
        g[3 + i][3 + k] = -row[k];
        g[3 + i][6 + k] = R(0.0);
        g[3 + i][9 + k] = row[k];
      }
    }
  }

  /// Force and moment that the far node puts on a half, in its axes, and the energy that it stores.
  template <class R>
  VSR_FN static void end_force(const Input<R>& e, const Numbers<R>& n, int which, const Half<R>& half,
                               const R (&g)[6][12], R (&force)[6], R& energy) {
    R motion[6];
    for (int i = 0; i < 6; ++i) {
      motion[i] = R(0.0);
      for (int j = 0; j < 12; ++j) motion[i] += g[i][j] * e.u[place(which, j)];
    }
    // Free expansion elongates every chord in proportion.
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) motion[i] -= n.thermal_strain * half.axes(i, k) * half.chord[k];
    for (int i = 0; i < 6; ++i) force[i] = motion[i];
    detail::solve<6>(half.flexibility, force);
    energy = R(0.0);
    for (int i = 0; i < 6; ++i) energy += R(0.5) * force[i] * motion[i];
  }
};

}  // namespace voussoir
