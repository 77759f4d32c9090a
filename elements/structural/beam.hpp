#pragma once
#include <voussoir/elements/structural/axis.hpp>

namespace voussoir {

/// A straight prismatic Timoshenko beam of two nodes with six unknowns each, small displacements ("beam").
///
/// Local axes: x from node 1 to node 2; y the part of the orientation vector that is perpendicular to x; z = x × y.
/// Displacements and rotations follow from the exact solution of the beam without load along its length, in which
/// Φ = 12 E I / (G A_s L²) weighs shear against bending: no locking, and nodal values that are exact for nodal loads.
/// (Przemieniecki, Theory of Matrix Structural Analysis, 1968, §5.6; Friedman and Kosmatka, An improved two-node
/// Timoshenko beam finite element, 1993, for the mass.) A shear area of 0 means a beam that is rigid in shear.
///
/// Section: inertia_y = ∫ z² dA resists bending about y, inertia_z = ∫ y² dA bending about z; y and z are principal
/// axes through the centroid, which is also the centre of shear.
struct Beam {
  static constexpr const char* name = "beam";    ///< name of the element type
  static constexpr const char* shape = "line2";  ///< name of the shape
  static constexpr int nodes = 2,                ///< nodes per element
      components = 6,                            ///< unknowns per node
      points = 2,                                ///< points with results: the two ends
      dofs = 12;                                 ///< degrees of freedom per element
  static constexpr bool linear = true,           ///< the residual is linear in the unknowns
      reads_temperature = false;                 ///< temperature acts only through parameters and thermal strain
  static constexpr const char* unknowns[] = {"ux", "uy", "uz", "rx", "ry", "rz"};  ///< displacements and rotations
  /// Properties of material and section, and the orientation vector, in the order of Number.
  static constexpr const char* parameters[] = {
      "young",        "shear_modulus", "area",      "inertia_y",     "inertia_z",     "torsion",      "shear_area_y",
      "shear_area_z", "density",       "expansion", "orientation_x", "orientation_y", "orientation_z"};
  static constexpr int parameter_count = 13;  ///< number of parameters
  /// Internal forces and moments on the section with outward normal +x, in local axes, at node 1 and at node 2: axial
  /// force (tension positive), shear forces, torque, bending moments. Moments are vectors: Mz > 0 causes tension at y <
  /// 0, My > 0 at z > 0. Then the stored energy per volume and the volume of half the element.
  static constexpr const char* recovered[] = {"N", "Vy", "Vz", "T", "My", "Mz", "energy", "volume"};
  /// The data of an element.
  template <class R>
  using Input = ElementInput<R, nodes, components, parameter_count>;

  /// Indices of the parameters. The orientation has three components.
  enum Number {
    young,
    shear_modulus,
    area,
    inertia_y,
    inertia_z,
    torsion,
    shear_area_y,
    shear_area_z,
    density,
    expansion,
    orientation
  };

  /// The parameters and local axes of one beam.
  template <class R>
  struct Section {
    R p[parameter_count];  ///< parameters at the mean temperature
    R temperature_change;  ///< mean temperature minus mean initial temperature
    R length;              ///< distance of the nodes
    R sine;                ///< sine of the angle between orientation and axis; 0 if the local axes are undefined
    Mat3<R> axes;          ///< unit vectors along local x, y, z, by rows
    R phi_y,               ///< Φ for deflection along y
        phi_z;             ///< Φ for deflection along z
  };

  /// Evaluates the parameters and local axes of an element.

  template <class R>
  VSR_FN static Section<R> section(const Input<R>& e) {
    Section<R> s;
    const R temperature = mean_temperature(e), initial = mean_initial_temperature(e);
    parameters_between<Beam>(e, initial, temperature, s.p);
    s.temperature_change = temperature - initial;
    const Axis<R> axis = axis_between(e.x[0], e.x[1]);
    s.length = axis.length;
    const Vec3<R> given{{s.p[orientation], s.p[orientation + 1], s.p[orientation + 2]}};
    const R along = dot(axis.direction, given);
    Vec3<R> y;
    for (int i = 0; i < 3; ++i) y[i] = given[i] - along * axis.direction[i];
    const R height = sqrt(dot(y, y));
    s.sine = height / sqrt(dot(given, given));
    for (int i = 0; i < 3; ++i) y[i] /= height;
    const Vec3<R> z = cross(axis.direction, y);
    for (int i = 0; i < 3; ++i) {
      s.axes(0, i) = axis.direction[i];
      s.axes(1, i) = y[i];
      s.axes(2, i) = z[i];
    }
    const R twelve = R(12.0) * s.p[young] / (s.p[shear_modulus] * s.length * s.length);
    s.phi_y = select_less(R(0.0), s.p[shear_area_y], twelve * s.p[inertia_z] / s.p[shear_area_y], R(0.0));
    s.phi_z = select_less(R(0.0), s.p[shear_area_z], twelve * s.p[inertia_y] / s.p[shear_area_z], R(0.0));
    return s;
  }

  /// Positive if length, moduli, area, inertias and torsion constant are positive, shear areas and density are not
  /// negative, and the orientation is not parallel to the axis.
  template <class R>
  VSR_FN static R valid(const Input<R>& e) {
    const Section<R> s = section(e);
    R good = positive(s.length);
    for (int i = young; i <= torsion; ++i) good = min(good, positive(s.p[i]));
    for (int i = shear_area_y; i <= density; ++i) good = min(good, not_negative(s.p[i]));
    good = min(good, finite_number(s.p[expansion]));
    // Below a ten-thousandth of a degree the direction of y would be rounding.
    return min(good, select_less(R(1e-6), s.sine, R(1.0), R(-1.0)));
  }

  /// The stiffness in global axes: the upper triangle, by rows. Returns the length.
  template <class R>
  VSR_LARGE_FN static R tangent(const Input<R>& e, R* upper) {
    const Section<R> s = section(e);
    R local[dofs][dofs];
    local_stiffness(s, local);
    to_global(s.axes, local, upper);
    return s.length;
  }

  /// The nodal forces in global axes, thermal strain included. Returns the length.
  template <class R>
  VSR_LARGE_FN static R residual(const Input<R>& e, R* r) {
    const Section<R> s = section(e);
    R force[dofs];
    end_forces(e, s, force);
    for (int block = 0; block < 4; ++block)
      for (int i = 0; i < 3; ++i) {
        R sum = R(0.0);
        for (int k = 0; k < 3; ++k) sum += s.axes(k, i) * force[3 * block + k];
        r[3 * block + i] = sum;
      }
    return s.length;
  }

  /// The results named by `recovered` at node 1, then at node 2. Returns the length.
  template <class R>
  VSR_LARGE_FN static R recover(const Input<R>& e, R* out) {
    const Section<R> s = section(e);
    R force[dofs];
    end_forces(e, s, force);
    // Half of end forces times end displacements, minus free thermal elongation, divided equally between the ends.
    R energy = R(0.0);
    for (int block = 0; block < 4; ++block)
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) energy += R(0.5) * force[3 * block + i] * s.axes(i, k) * e.u[3 * block + k];
    energy -= R(0.5) * force[6] * s.p[expansion] * s.temperature_change * s.length;
    const R half_volume = R(0.5) * s.p[area] * s.length;
    for (int i = 0; i < 6; ++i) {
      out[i] = -force[i];
      out[8 + i] = force[6 + i];
    }
    for (int end = 0; end < 2; ++end) {
      out[8 * end + 6] = R(0.5) * energy / half_volume;
      out[8 * end + 7] = half_volume;
    }
    return s.length;
  }

  /// The consistent mass, with the rotary inertia of the section.
  template <class R>
  VSR_LARGE_FN static R mass(const Input<R>& e, R* upper) {
    const Section<R> s = section(e);
    R local[dofs][dofs];
    for (int i = 0; i < dofs; ++i)
      for (int j = 0; j < dofs; ++j) local[i][j] = R(0.0);
    const R line_mass = s.p[density] * s.p[area];
    linear_pair(local, 0, line_mass * s.length / R(6.0));
    linear_pair(local, 3, s.p[density] * (s.p[inertia_y] + s.p[inertia_z]) * s.length / R(6.0));
    bending_mass(local, 1, 5, R(1.0), s.phi_y, s.length, line_mass, s.p[density] * s.p[inertia_z]);
    bending_mass(local, 2, 4, R(-1.0), s.phi_z, s.length, line_mass, s.p[density] * s.p[inertia_y]);
    to_global(s.axes, local, upper);
    return s.length;
  }

  /// The lumped mass: half the mass at each node. For rotations: half the rotary inertia of the section, plus m L²/78
  /// for bending, the HRZ value of the cubic beam; the diagonal of the resulting tensor in global axes.
  template <class R>
  VSR_LARGE_FN static R lumped_mass(const Input<R>& e, R* upper) {
    const Section<R> s = section(e);
    for (int i = 0; i < dofs * (dofs + 1) / 2; ++i) upper[i] = R(0.0);
    const R m = s.p[density] * s.p[area] * s.length;
    const R half_line = R(0.5) * s.p[density] * s.length;
    const R swing = m * s.length * s.length / R(78.0);
    const R local[3] = {half_line * (s.p[inertia_y] + s.p[inertia_z]), half_line * s.p[inertia_y] + swing,
                        half_line * s.p[inertia_z] + swing};
    for (int node = 0; node < 2; ++node)
      for (int i = 0; i < 3; ++i) {
        const int u = 6 * node + i, t = u + 3;
        upper[upper_index(dofs, u, u)] = R(0.5) * m;
        R inertia = R(0.0);
        for (int k = 0; k < 3; ++k) inertia += s.axes(k, i) * s.axes(k, i) * local[k];
        upper[upper_index(dofs, t, t)] = inertia;
      }
    return s.length;
  }

  /// The equivalent nodal forces and moments of a body load that varies linearly along the beam.
  template <class R, class Load>
  VSR_LARGE_FN static R body_load(const Input<R>& e, const Load& load, R* f) {
    const Section<R> s = section(e);
    const R line_mass = s.p[density] * s.p[area];
    const Vec3<R> pull[2] = {force_per_mass(load, e.x[0]), force_per_mass(load, e.x[1])};
    R q[2][3];  // force per length in local axes at both ends, linear between
    for (int node = 0; node < 2; ++node)
      for (int i = 0; i < 3; ++i) {
        q[node][i] = R(0.0);
        for (int k = 0; k < 3; ++k) q[node][i] += line_mass * s.axes(i, k) * pull[node][k];
      }
    R local[dofs];
    for (int i = 0; i < dofs; ++i) local[i] = R(0.0);
    local[0] = s.length / R(6.0) * (R(2.0) * q[0][0] + q[1][0]);
    local[6] = s.length / R(6.0) * (q[0][0] + R(2.0) * q[1][0]);
    bending_load(local, 1, 5, R(1.0), s.phi_y, s.length, q[0][1], q[1][1]);
    bending_load(local, 2, 4, R(-1.0), s.phi_z, s.length, q[0][2], q[1][2]);
    for (int block = 0; block < 4; ++block)
      for (int i = 0; i < 3; ++i) {
        R sum = R(0.0);
        for (int k = 0; k < 3; ++k) sum += s.axes(k, i) * local[3 * block + k];
        f[3 * block + i] = sum;
      }
    return s.length;
  }

 private:
  /// c · (2, 1; 1, 2) between the same unknown of both nodes.
  template <class R>
  VSR_FN static void linear_pair(R (&local)[dofs][dofs], int i, R c) {
    local[i][i] = local[i + 6][i + 6] = c + c;
    local[i][i + 6] = local[i + 6][i] = c;
  }

  /// Bending in one plane: deflection at unknown v of a node, rotation at unknown t. `sign` is −1 in the plane x–z,
  /// where a positive rotation about y goes with a negative slope.
  template <class R>
  VSR_LARGE_FN static void bending_stiffness(R (&local)[dofs][dofs], int v, int t, double sign, R phi, R length,
                                             R flexural) {
    const int at[4] = {v, t, v + 6, t + 6};
    const R c = flexural / ((R(1.0) + phi) * length * length * length);
    const R l = R(sign) * length, near = (R(4.0) + phi) * length * length, far = (R(2.0) - phi) * length * length;
    const R k[4][4] = {{R(12.0), R(6.0) * l, R(-12.0), R(6.0) * l},
                       {R(6.0) * l, near, R(-6.0) * l, far},
                       {R(-12.0), R(-6.0) * l, R(12.0), R(-6.0) * l},
                       {R(6.0) * l, far, R(-6.0) * l, near}};
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) local[at[i]][at[j]] = c * k[i][j];
  }

  template <class R>
  VSR_LARGE_FN static void local_stiffness(const Section<R>& s, R (&local)[dofs][dofs]) {
    for (int i = 0; i < dofs; ++i)
      for (int j = 0; j < dofs; ++j) local[i][j] = R(0.0);
    const R stretch = s.p[young] * s.p[area] / s.length;
    const R twist = s.p[shear_modulus] * s.p[torsion] / s.length;
    local[0][0] = local[6][6] = stretch;
    local[0][6] = local[6][0] = -stretch;
    local[3][3] = local[9][9] = twist;
    local[3][9] = local[9][3] = -twist;
    bending_stiffness(local, 1, 5, 1.0, s.phi_y, s.length, s.p[young] * s.p[inertia_z]);
    bending_stiffness(local, 2, 4, -1.0, s.phi_z, s.length, s.p[young] * s.p[inertia_y]);
  }

  /// Forces that the nodes put on the element, in local axes, thermal strain included.
  template <class R>
  VSR_LARGE_FN static void end_forces(const Input<R>& e, const Section<R>& s, R* force) {
    R u[dofs];
    for (int block = 0; block < 4; ++block)
      for (int i = 0; i < 3; ++i) {
        R sum = R(0.0);
        for (int k = 0; k < 3; ++k) sum += s.axes(i, k) * e.u[3 * block + k];
        u[3 * block + i] = sum;
      }
    R local[dofs][dofs];
    local_stiffness(s, local);
    for (int i = 0; i < dofs; ++i) {
      force[i] = R(0.0);
      for (int j = 0; j < dofs; ++j) force[i] += local[i][j] * u[j];
    }
    const R thermal = s.p[young] * s.p[area] * s.p[expansion] * s.temperature_change;
    force[0] += thermal;
    force[6] -= thermal;
  }

  /// Upper triangle of a local 12 × 12 matrix turned into global axes, 3 × 3 block by block.
  template <class R>
  VSR_LARGE_FN static void to_global(const Mat3<R>& axes, const R (&local)[dofs][dofs], R* upper) {
    for (int a = 0; a < 4; ++a)
      for (int b = a; b < 4; ++b) {
        Mat3<R> k;
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) k(i, j) = local[3 * a + i][3 * b + j];
        const Mat3<R> turned = transpose(axes) * (k * axes);
        for (int i = 0; i < 3; ++i)
          for (int j = a == b ? i : 0; j < 3; ++j) upper[upper_index(dofs, 3 * a + i, 3 * b + j)] = turned(i, j);
      }
  }

  /// Deflection (n) and rotation (g) over ξ = x/L of the four unit motions of bending in one plane, as coefficients of
  /// 1, ξ, ξ², ξ³.
  template <class R>
  VSR_LARGE_FN static void bending_modes(R phi, R length, R sign, R (&n)[4][4], R (&g)[4][4]) {
    const R c = R(1.0) / (R(1.0) + phi), l = sign * length, half = R(0.5) * phi, zero = R(0.0);
    const R deflection[4][4] = {{R(1.0) + phi, -phi, R(-3.0), R(2.0)},
                                {zero, l * (R(1.0) + half), -l * (R(2.0) + half), l},
                                {zero, phi, R(3.0), R(-2.0)},
                                {zero, -l * half, -l * (R(1.0) - half), l}};
    // Rotations about the axis itself, so a unit rotation is 1 in either plane.
    const R six = sign * R(6.0) / length;
    const R rotation[4][4] = {{zero, -six, six, zero},
                              {R(1.0) + phi, -(R(4.0) + phi), R(3.0), zero},
                              {zero, six, -six, zero},
                              {zero, -(R(2.0) - phi), R(3.0), zero}};
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 4; ++k) {
        n[i][k] = c * deflection[i][k];
        g[i][k] = c * rotation[i][k];
      }
  }

  template <class R>
  VSR_LARGE_FN static void bending_mass(R (&local)[dofs][dofs], int v, int t, R sign, R phi, R length, R line_mass,
                                        R line_inertia) {
    R n[4][4], g[4][4];
    bending_modes(phi, length, sign, n, g);
    const int at[4] = {v, t, v + 6, t + 6};
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        R sum = R(0.0);
        for (int k = 0; k < 4; ++k)
          for (int m = 0; m < 4; ++m)  // ∫ ξᵏ ξᵐ dξ = 1/(k+m+1)
            sum += R(1.0 / (k + m + 1)) * (line_mass * n[i][k] * n[j][m] + line_inertia * g[i][k] * g[j][m]);
        local[at[i]][at[j]] = length * sum;
      }
  }

  template <class R>
  VSR_LARGE_FN static void bending_load(R* local, int v, int t, R sign, R phi, R length, R first, R second) {
    R n[4][4], g[4][4];
    bending_modes(phi, length, sign, n, g);
    const int at[4] = {v, t, v + 6, t + 6};
    for (int i = 0; i < 4; ++i) {
      R sum = R(0.0);
      for (int k = 0; k < 4; ++k) sum += n[i][k] * (first * R(1.0 / (k + 1)) + (second - first) * R(1.0 / (k + 2)));
      local[at[i]] = length * sum;
    }
  }
};

}  // namespace voussoir
