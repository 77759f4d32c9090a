"""Decks whose answers have a closed form; the test works the same formulas out on its own."""

import math

from deck_tools import Deck, Grid


def box(shape, order, cells, size, **first):
    return Grid(shape, order, cells, lambda x, y, z: (size[0] * x, size[1] * y, size[2] * z), **first)


def sides(deck, grid, *names):
    """Node sets called X0, X1, Y0 … after the planes that bound a box."""
    for name in names:
        deck.nset(name, grid.nodes_where("XYZ".index(name[0]), int(name[1])))
    return deck


# ---- Structures of lines -------------------------------------------------------------------------------------------


def frame():
    deck = Deck("Bent cantilever of B31: a column of 3, an arm of 2, a load of 1000 that pulls the arm down",
                "Bending, stretch and shear of beam theory are exact in one element per member.")
    deck.comment("N, m, Pa; section 0.06 along z, 0.1 in the plane of the frame")
    deck.card("*NODE, NSET=NALL", (1, 0., 0., 0.), (2, 0., 3., 0.), (3, 2., 3., 0.))
    deck.card("*ELEMENT, TYPE=B31, ELSET=COLUMN", (1, 1, 2)).card("*ELEMENT, TYPE=B31, ELSET=ARM", (2, 2, 3))
    deck.card("*ELSET, ELSET=FRAME", "COLUMN, ARM").nset("FOOT", [1]).nset("TIP", [3])
    deck.elastic("STEEL", 2.1e11, .3)
    deck.card("*BEAM SECTION, ELSET=FRAME, MATERIAL=STEEL, SECTION=RECT", (.06, .1), (0., 0., 1.))
    deck.card("*BOUNDARY", "FOOT, 1, 6").step().card("*CLOAD", "TIP, 2, -1000.")
    deck.node_print("NALL", "U").node_print("FOOT", "RF").end()
    yield "frame_b31.inp", deck


def springs():
    deck = Deck("Two masses that hang in a row from two springs, SPRINGA and MASS",
                "k = 1000 and 500, m = 20 and 10, g = 10: u_z = -0.3 and -0.5")
    deck.card("*NODE, NSET=NALL", (1, 0., 0., 0.), (2, 0., 0., -1.), (3, 0., 0., -3.))
    deck.card("*ELEMENT, TYPE=SPRINGA, ELSET=STIFF", (1, 1, 2)).card("*ELEMENT, TYPE=SPRINGA, ELSET=SOFT", (2, 2, 3))
    deck.card("*ELEMENT, TYPE=MASS, ELSET=HEAVY", (3, 2)).card("*ELEMENT, TYPE=MASS, ELSET=LIGHT", (4, 3))
    deck.card("*SPRING, ELSET=STIFF", "", "1000.").card("*SPRING, ELSET=SOFT", "", "500.")
    deck.card("*MASS, ELSET=HEAVY", "20.").card("*MASS, ELSET=LIGHT", "10.")
    deck.card("*BOUNDARY", "1, 1, 3", "2, 1, 2", "3, 1, 2")
    deck.step().card("*DLOAD", "HEAVY, GRAV, 10., 0., 0., -1.", "LIGHT, GRAV, 10., 0., 0., -1.")
    deck.node_print("NALL", "U, RF").end()
    yield "springs.inp", deck


def inclined_roller():
    c, s = math.cos(math.pi / 6), math.sin(math.pi / 6)
    deck = Deck("A bar whose end rolls on a slope of 30 degrees, T3D2 and *TRANSFORM",
                "E A / L = 5000, load 100 down: the end slides by -100 sin 30 / (5000 cos^2 30)")
    deck.card("*NODE, NSET=NALL", (1, 0., 0., 0.), (2, 2., 0., 0.)).card("*ELEMENT, TYPE=T3D2, ELSET=BAR", (1, 1, 2))
    deck.nset("ROLLER", [2])
    deck.elastic("BAR", 1e4, 0.).card("*SOLID SECTION, ELSET=BAR, MATERIAL=BAR", "1.")
    deck.comment("1: up the slope, 2: away from it").card("*TRANSFORM, NSET=ROLLER, TYPE=R", (c, s, 0., -s, c, 0.))
    deck.card("*BOUNDARY", "1, 1, 3", "ROLLER, 2, 3")
    deck.step().comment("100 down, in the directions of the slope").card("*CLOAD", (2, 1, -100 * s), (2, 2, -100 * c))
    deck.node_print("ROLLER", "U, RF", ", GLOBAL=NO").end()
    yield "inclined_roller.inp", deck


# ---- Thermal strain ------------------------------------------------------------------------------------------------


def thermal():
    grid = box("hex", 2, (2, 2, 2), (2., 1., .5))
    deck = Deck("A free block that is warmed from 20 to 120, C3D20R",
                "Expansion 1.2E-5: u = 1.2E-3 (x, y, z), no stress")
    sides(deck.grid("C3D20R", grid), grid, "X0", "Y0", "Z0")
    deck.elastic("STEEL", 2.1e11, .3).card("*EXPANSION, ZERO=20.", "1.2E-5").solid_section("STEEL")
    deck.card("*INITIAL CONDITIONS, TYPE=TEMPERATURE", "NALL, 20.")
    deck.card("*BOUNDARY", "X0, 1, 1", "Y0, 2, 2", "Z0, 3, 3")
    deck.step().card("*TEMPERATURE", "NALL, 120.").node_print("NALL", "U").el_print("EALL", "S").end()
    yield "free_expansion_c3d20r.inp", deck

    grid = box("hex", 1, (4, 1, 1), (4., 1., 1.))
    deck = Deck("A bar between walls that is warmed from 20 to 120, C3D8",
                "E falls with temperature: 1.8E11 at 120, so the stress is -1.8E11 * 1.2E-5 * 100 = -2.16E8")
    sides(deck.grid("C3D8", grid), grid, "X0", "X1", "Y0", "Z0")
    deck.card("*MATERIAL, NAME=STEEL").card("*ELASTIC", (2e11, .3, 70.), (1.6e11, .3, 170.))
    deck.card("*EXPANSION, ZERO=20.", "1.2E-5").solid_section("STEEL")
    deck.card("*INITIAL CONDITIONS, TYPE=TEMPERATURE", "NALL, 20.")
    deck.card("*BOUNDARY", "X0, 1, 1", "X1, 1, 1", "Y0, 2, 2", "Z0, 3, 3")
    deck.step().card("*TEMPERATURE", "NALL, 120.").node_print("X1", "RF", ", TOTALS=YES").el_print("EALL", "S").end()
    yield "clamped_bar_c3d8.inp", deck

    grid = box("hex", 2, (4, 1, 1), (2., .5, .5))
    deck = Deck("A bar that is heated at one end, then free to deform, C3D20",
                "T = 50 x is stress-free: u_x = a 50 (x^2 - y^2 - z^2) / 2, u_y = a 50 x y with a = 1.E-5")
    sides(deck.grid("C3D20", grid), grid, "X0", "X1", "Y0", "Z0").nset("ORIGIN", [grid.node_at(0., 0., 0.)])
    deck.nset("FAR", [grid.node_at(2., 0., 0.), grid.node_at(2., .5, .5)])
    deck.elastic("STEEL", 2.1e11, .3).card("*EXPANSION", "1.E-5").card("*CONDUCTIVITY", "50.").solid_section("STEEL")
    deck.card("*INITIAL CONDITIONS, TYPE=TEMPERATURE", "NALL, 0.")
    deck.step("*HEAT TRANSFER, STEADY STATE").card("*BOUNDARY", "X0, 11, 11, 0.", "X1, 11, 11, 100.")
    deck.node_print("NALL", "NT").el_print("EALL", "HFL").end()
    deck.step().card("*BOUNDARY, OP=NEW", "ORIGIN, 1, 1", "Y0, 2, 2", "Z0, 3, 3")
    deck.node_print("FAR", "U").el_print("EALL", "S").end()
    yield "heated_then_free_c3d20.inp", deck


# ---- Weight and rotation -------------------------------------------------------------------------------------------


def body_forces():
    for kind, shape, order in (("C3D10", "tet", 2), ("C3D15", "wedge", 2), ("C3D8", "hex", 1), ("C3D6", "wedge", 1)):
        grid = box(shape, order, (1, 1, 4), (1., 1., 8.))
        deck = Deck(f"A column under its own weight, {kind}, nu = 0",
                    "rho = 2400, g = 9.81, E = 3.E10, height 8: the top sinks by rho g H^2 / (2 E)")
        sides(deck.grid(kind, grid), grid, "Z0", "Z1")
        deck.elastic("CONCRETE", 3e10, 0., 2400.).solid_section("CONCRETE")
        deck.card("*BOUNDARY", "Z0, 1, 3").step().card("*DLOAD", "EALL, GRAV, 9.81, 0., 0., -1.")
        deck.node_print("Z1", "U").node_print("Z0", "RF", ", TOTALS=ONLY").end()
        yield f"column_{kind.lower()}.inp", deck

    grid = box("hex", 2, (4, 1, 1), (2., .2, .2))
    deck = Deck("A bar that spins about an axis through its end, C3D20, nu = 0",
                "rho = 7800, omega = 100 (omega^2 = 1.E4), E = 2.E11, L = 2: u(L) = rho omega^2 L^3 / (3 E)")
    sides(deck.grid("C3D20", grid), grid, "X0", "Y0", "Z0").nset("TIP", [grid.node_at(2., 0., 0.)])
    deck.elastic("STEEL", 2e11, 0., 7800.).solid_section("STEEL")
    deck.card("*BOUNDARY", "X0, 1, 1", "Y0, 2, 2", "Z0, 3, 3")
    deck.step().card("*DLOAD", "EALL, CENTRIF, 1.E4, 0., 0., 0., 0., 0., 1.")
    deck.node_print("TIP", "U").node_print("X0", "RF", ", TOTALS=ONLY").end()
    yield "spinning_bar_c3d20.inp", deck

    def ring(s, t, z):
        r, angle = 1 + s, math.pi / 2 * t
        return (r * math.cos(angle), r * math.sin(angle))

    grid = Grid("quad", 2, (6, 8), ring)
    deck = Deck("A disc with a hole that spins, radii 1 and 2, CPS8",
                "Plane stress: hoop stress at the bore (3 + nu) / 4 rho omega^2 (b^2 + (1 - nu) / (3 + nu) a^2)")
    deck.grid("CPS8", grid).nset("LOWER", grid.nodes_where(1, 0)).nset("UPPER", grid.nodes_where(1, 1))
    deck.nset("BORE", grid.nodes_where(0, 0))
    deck.elastic("STEEL", 2e11, .3, 7800.).solid_section("STEEL", .05)
    deck.card("*NSET, NSET=TURNED", "LOWER, UPPER, BORE").comment("Radial and tangential directions")
    deck.card("*TRANSFORM, NSET=TURNED, TYPE=C", "0., 0., 0., 0., 0., 1.")
    deck.card("*BOUNDARY", "LOWER, 2, 2", "UPPER, 2, 2")
    deck.step().card("*DLOAD", "EALL, CENTRIF, 1.E4, 0., 0., 0., 0., 0., 1.")
    deck.node_print("BORE", "U", ", GLOBAL=NO").end()
    yield "spinning_disc_cps8.inp", deck


# ---- Orthotropic materials -----------------------------------------------------------------------------------------


def orthotropic():
    grid = box("hex", 1, (4, 2, 2), (4., 1., 1.))
    deck = Deck("A bar of orthotropic material whose fibres run at 30 degrees, C3D8",
                "Pull of 10 along x: strains of the turned compliance, uniform everywhere")
    deck.grid("C3D8", grid)
    for name, place in (("A", (0., 0., 0.)), ("B", (4., 0., 0.)), ("C", (0., 1., 0.)), ("FAR", (4., 1., 1.))):
        deck.nset(name, [grid.node_at(*place)])
    deck.elset("LEFT", grid.cells_where(0, 0)).elset("RIGHT", grid.cells_where(0, 1))
    deck.card("*SURFACE, NAME=ENDS", "LEFT, S6", "RIGHT, S4")
    deck.card("*ORIENTATION, NAME=FIBRES, SYSTEM=RECTANGULAR", "1., 0., 0., 0., 1., 0.", "3, 30.")
    deck.card("*MATERIAL, NAME=PLY")
    deck.comment("E1 E2 E3 nu12 nu13 nu23 G12 G13 / G23")
    deck.card("*ELASTIC, TYPE=ENGINEERING CONSTANTS", "4000., 1000., 800., .3, .25, .2, 500., 400.", "300.")
    deck.solid_section("PLY", orientation="FIBRES")
    deck.comment("Held at three points, so that nothing but the pull strains the bar")
    deck.card("*BOUNDARY", "A, 1, 3", "B, 2, 3", "C, 3, 3")
    deck.step().card("*DSLOAD", "ENDS, P, -10.").node_print("FAR", "U").el_print("EALL", "S, E", ", GLOBAL=YES").end()
    yield "fibres_c3d8.inp", deck

    def ring(s, t, z):
        r, angle = 1 + s, math.pi / 2 * t
        return (r * math.cos(angle), r * math.sin(angle), .1 * z)

    grid = Grid("hex", 2, (6, 24, 1), ring)
    deck = Deck("A ring with stiff hoops under inner pressure, radii 1 and 2, C3D20",
                "E_r = 1000, E_t = 4000 (*ELASTIC, TYPE=ORTHO); Lekhnitskii's solution with k = 2")
    deck.grid("C3D20", grid, 10).nset("LOWER", grid.nodes_where(1, 0)).nset("UPPER", grid.nodes_where(1, 1))
    deck.nset("BACK", grid.nodes_where(2, 0)).nset("BORE", grid.nodes_where(0, 0))
    deck.elset("INSIDE", grid.cells_where(0, 0))
    deck.card("*ORIENTATION, NAME=HOOPS, SYSTEM=CYLINDRICAL", "0., 0., 0., 0., 0., 1.")
    e1, e2, nu12 = 1000., 4000., .1  # nu21 = nu12 e2 / e1 = 0.4
    scale = 1 / (1 - nu12 * nu12 * e2 / e1)
    deck.card("*MATERIAL, NAME=WOUND").comment("D1111 D1122 D2222 D1133 D2233 D3333 D1212 D1313 / D2323")
    deck.card("*ELASTIC, TYPE=ORTHO", (e1 * scale, nu12 * e2 * scale, e2 * scale, 0., 0., 500., 400., 300.), (300.,))
    deck.solid_section("WOUND", orientation="HOOPS")
    deck.card("*NSET, NSET=TURNED", "LOWER, UPPER, BORE").comment("Radial and tangential directions")
    deck.card("*TRANSFORM, NSET=TURNED, TYPE=C", "0., 0., 0., 0., 0., 1.")
    deck.card("*BOUNDARY", "LOWER, 2, 2", "UPPER, 2, 2", "BACK, 3, 3").step().card("*DLOAD", "INSIDE, P6, 1.")
    deck.node_print("BORE", "U", ", GLOBAL=NO").el_print("INSIDE", "S", ", GLOBAL=NO").end()
    yield "hoops_c3d20.inp", deck


# ---- Heat ----------------------------------------------------------------------------------------------------------


def heat():
    grid = box("hex", 1, (5, 1, 1), (2., .5, .5))
    deck = Deck("A rod with flux into one end and a film at the other, then heated inside, DC3D8",
                "Step 1: T = 20 + q / h + q (L - x) / k. Step 2: T = s x (L - x) / (2 k) between cold ends.")
    sides(deck.grid("DC3D8", grid), grid, "X0", "X1")
    deck.elset("LEFT", grid.cells_where(0, 0)).elset("RIGHT", grid.cells_where(0, 1))
    deck.card("*MATERIAL, NAME=ROD").card("*CONDUCTIVITY", "4.").solid_section("ROD")
    deck.step("*HEAT TRANSFER, STEADY STATE").card("*DFLUX", "LEFT, S6, 60.").card("*FILM", "RIGHT, F4, 20., 15.")
    deck.node_print("NALL", "NT").el_print("EALL", "HFL").end()
    deck.step("*HEAT TRANSFER, STEADY STATE").comment("Everything of the step before is taken away.")
    deck.card("*DFLUX, OP=NEW", "EALL, BF, 30.").card("*FILM, OP=NEW")
    deck.card("*BOUNDARY", "X0, 11, 11, 0.", "X1, 11, 11, 0.").node_print("X0", "RFL", ", TOTALS=YES")
    deck.node_print("NALL", "NT").end()
    yield "rod_dc3d8.inp", deck

    grid = Grid("quad", 2, (8, 1), lambda s, t, z: (1 + 2 * s, .5 * t))
    deck = Deck("The wall of a pipe, DCAX8", "100 inside (r = 1), 20 outside (r = 3): T = 100 - 80 ln r / ln 3")
    deck.grid("DCAX8", grid).nset("INSIDE", grid.nodes_where(0, 0)).nset("OUTSIDE", grid.nodes_where(0, 1))
    deck.card("*MATERIAL, NAME=WALL").card("*CONDUCTIVITY", "3.").solid_section("WALL")
    deck.card("*BOUNDARY", "INSIDE, 11, 11, 100.", "OUTSIDE, 11, 11, 20.")
    deck.step("*HEAT TRANSFER, STEADY STATE").node_print("NALL", "NT").node_print("INSIDE", "RFL").end()
    yield "pipe_wall_dcax8.inp", deck


# ---- Constraints and steps -----------------------------------------------------------------------------------------


def rigid_end():
    grid = box("hex", 2, (5, 1, 1), (10., 1., .5))
    deck = Deck("A bar whose end is a rigid body that a moment turns, C3D20, nu = 0",
                "E = 1.E6, I = 0.5 * 1 / 12, M = 100, L = 10: rotation M L / (E I), deflection M L^2 / (2 E I)")
    sides(deck.grid("C3D20", grid), grid, "X0", "X1")
    deck.card("*NODE", (1000, 10., .5, .25), (1001, 10., .5, .25)).nset("REFERENCE", [1000]).nset("ROTATION", [1001])
    deck.elastic("BAR", 1e6, 0.).solid_section("BAR")
    deck.card("*RIGID BODY, NSET=X1, REF NODE=1000, ROT NODE=1001").card("*BOUNDARY", "X0, 1, 3")
    deck.step().card("*CLOAD", "1001, 3, 100.").node_print("REFERENCE", "U").node_print("ROTATION", "U")
    deck.node_print("X0", "RF").end()
    yield "rigid_end_c3d20.inp", deck


def ties():
    whole = box("hex", 1, (8, 2, 2), (4., 1., 1.))
    left = Grid("hex", 1, (4, 2, 2), lambda x, y, z: (2 * x, y, z))
    right = Grid("hex", 1, (4, 2, 2), lambda x, y, z: (2 + 2 * x, y, z), first_node=1001, first_element=1001)
    for name, words in (("one", "in one piece"), ("two", "of two blocks, tied")):
        deck = Deck(f"A cantilever of C3D8I {words}", "Both ways must bend alike.")
        if name == "one":
            deck.grid("C3D8I", whole).nset("ROOT", whole.nodes_where(0, 0)).nset("TIP", whole.nodes_where(0, 1))
            weights = whole.end_weights(0, 1)
        else:
            deck.comment("Lower part").nodes(left.position, "NLEFT").elements("C3D8I", left.elements, "ELEFT")
            deck.comment("Upper part").nodes(right.position, "NRIGHT").elements("C3D8I", right.elements, "ERIGHT")
            deck.card("*ELSET, ELSET=EALL", "ELEFT, ERIGHT")
            deck.nset("ROOT", left.nodes_where(0, 0)).nset("TIP", right.nodes_where(0, 1))
            deck.elset("LEFT_END", left.cells_where(0, 1)).elset("RIGHT_START", right.cells_where(0, 0))
            deck.card("*SURFACE, NAME=MASTER", "LEFT_END, S4").card("*SURFACE, NAME=SLAVE", "RIGHT_START, S6")
            deck.card("*TIE, NAME=GLUE, POSITION TOLERANCE=1.E-6", "SLAVE, MASTER")
            weights = right.end_weights(0, 1)
        deck.elastic("ALU", 7e4, .3, 2.7e-6).solid_section("ALU").card("*BOUNDARY", "ROOT, 1, 3").step()
        deck.card("*CLOAD", *((n, d, w * f) for n, w in weights.items() for d, f in ((1, 5.), (3, -2.))))
        deck.card("*DLOAD", "EALL, GRAV, 1.E5, 0., -1., 0.")
        deck.node_print("TIP", "U").node_print("ROOT", "RF", ", TOTALS=ONLY").end()
        yield f"tied_{name}.inp", deck


def steps():
    grid = box("hex", 1, (4, 1, 1), (4., 1., 1.))
    deck = Deck("A bar that is pulled, held where it is, then pulled further, C3D8",
                "E = 1000, L = 4, A = 1: u = 0.04 under 10; kept when the load goes; 0.08 needs 20")
    sides(deck.grid("C3D8", grid), grid, "X0", "X1")
    deck.elastic("BAR", 1000., 0.).solid_section("BAR").card("*BOUNDARY", "X0, 1, 3")
    deck.step().comment("Pull").card("*CLOAD", "X1, 1, 2.5")
    deck.node_print("X1", "U").node_print("X0", "RF", ", TOTALS=YES").node_print("X1", "RF", ", TOTALS=YES")
    deck.el_print("EALL", "S").end()
    deck.step().comment("Hold the end where it is and let go of the load")
    deck.card("*BOUNDARY, FIXED", "X1, 1, 1").card("*CLOAD, OP=NEW").end()
    deck.step().comment("Move it on").card("*BOUNDARY", "X1, 1, 1, .08").end()
    yield "hold_c3d8.inp", deck


def decks():
    for make in (frame, springs, inclined_roller, thermal, body_forces, orthotropic, heat, rigid_end, ties, steps):
        yield from make()
