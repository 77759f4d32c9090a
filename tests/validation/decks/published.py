"""Decks of published cases: MacNeal and Harder, NAFEMS, Cook, Timoshenko, Lame, Kirsch, Popov."""

import math

from deck_tools import Deck, Grid, HEX, TET_EDGES, WEDGE_EDGES

# ---- The patch of MacNeal and Harder -------------------------------------------------------------------------------

INNER = [(.249, .342, .192), (.826, .288, .288), (.850, .649, .263), (.273, .750, .230),
         (.320, .186, .643), (.677, .305, .683), (.788, .693, .644), (.165, .745, .702)]
OUTER = [(0., 0., 0.), (1., 0., 0.), (1., 1., 0.), (0., 1., 0.), (0., 0., 1.), (1., 0., 1.), (1., 1., 1.), (0., 1., 1.)]
CORNERS = INNER + OUTER
HEX_FACES = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]


def patch_hexes():
    """The inner hexahedron, and one between each of its faces and the face of the cube."""
    return [tuple(range(8))] + [face + tuple(n + 8 for n in face) for face in HEX_FACES]


def patch_wedges():
    """Two per hexahedron, cut so that neighbours agree: three cells across z, four around the cube."""
    cells = []
    for i, h in enumerate(patch_hexes()):
        if i >= 3:
            h = (h[0], h[3], h[7], h[4], h[1], h[2], h[6], h[5])
        cells += [(h[0], h[1], h[2], h[4], h[5], h[6]), (h[0], h[2], h[3], h[4], h[6], h[7])]
    return cells


def patch_tets():
    """From the least node of each hexahedron to the faces it is not on, cut from their own least node."""
    cells = []
    for h in patch_hexes():
        top = min(h)
        for face in HEX_FACES:
            f = [h[n] for n in face]
            if top in f:
                continue
            turn = f.index(min(f))
            f = f[turn:] + f[:turn]
            cells += [(f[0], f[2], f[1], top), (f[0], f[3], f[2], top)]
    return cells


def patch_value(x, y, z):
    return (1e-3 * (2 * x + y + z) / 2, 1e-3 * (x + 2 * y + z) / 2, 1e-3 * (x + y + 2 * z) / 2)


def patches():
    shared = Deck().comment("Corners of the patch of MacNeal and Harder: an irregular hexahedron in a unit cube.")
    shared.nodes({n + 1: x for n, x in enumerate(INNER)}, "INNER")
    shared.nodes({n + 9: x for n, x in enumerate(OUTER)}, "OUTER")
    yield "patch_corners.inc", shared
    kinds = {"C3D8": (patch_hexes(), None), "C3D8I": (patch_hexes(), None), "C3D8R": (patch_hexes(), None),
             "C3D20": (patch_hexes(), HEX[1]), "C3D20R": (patch_hexes(), HEX[1]),
             "C3D4": (patch_tets(), None), "C3D10": (patch_tets(), TET_EDGES),
             "C3D6": (patch_wedges(), None), "C3D15": (patch_wedges(), WEDGE_EDGES)}
    for kind, (cells, edges) in kinds.items():
        deck = Deck(f"Patch test for solids (MacNeal and Harder 1985), {kind}",
                    "Linear displacements at the skin: normal stresses 2000, shears 400 everywhere.")
        deck.include("patch_corners.inc")
        position = {n + 1: x for n, x in enumerate(CORNERS)}
        middles, elements = {}, {}
        for e, cell in enumerate(cells):
            nodes = [n + 1 for n in cell]
            for a, b in edges or []:
                pair = tuple(sorted((nodes[a], nodes[b])))
                if pair not in middles:
                    middles[pair] = len(position) + 1
                    position[middles[pair]] = tuple((p + q) / 2 for p, q in zip(*(position[n] for n in pair)))
                nodes.append(middles[pair])
            elements[e + 1] = nodes
        if middles:
            deck.comment("Nodes in the middle of the edges").nodes({n: position[n] for n in middles.values()}, "MIDDLE")
        deck.elements(kind, elements, "CUBE")
        deck.card("*NSET, NSET=NALL", ("INNER", "OUTER") + (("MIDDLE",) if middles else ()))
        deck.elastic("PATCH", 1e6, .25).solid_section("PATCH", elset="CUBE")
        # Faces of the cube carry middles where both ends of the edge lie on one of its planes.
        skin = [n for n, x in position.items() if 0. in x or 1. in x]
        deck.card("*BOUNDARY", *((n, d + 1, d + 1, v) for n in skin for d, v in enumerate(patch_value(*position[n]))))
        deck.step().node_print("NALL", "U, RF").el_print("CUBE", "S, E, EVOL").end()
        yield f"patch_{kind.lower()}.inp", deck


# ---- NAFEMS LE1 and LE10: the ellipses -----------------------------------------------------------------------------


def ellipse(s, t, z=0.):
    angle = math.pi / 2 * t
    return ((2 + 1.25 * s) * math.cos(angle), (1 + 1.75 * s) * math.sin(angle), 0.6 * z)


def le1(kind, shape, order, around, across, load, digits=12):
    grid = Grid(shape, order, (across, around), lambda s, t, z: ellipse(s, t)[:2], 1)
    name = f"le1_{kind.lower()}_{around}x{across}"
    deck = Deck(f"NAFEMS LE1, elliptic membrane, {kind} {around} x {across}",
                "Plane stress, outward pressure 10 MPa on BC. Published: SYY at D = 92.7 MPa.")
    deck.comment("N, m, Pa. A(0,1) B(0,2.75) C(3.25,0) D(2,0)")
    deck.grid(kind, grid, digits)
    deck.nset("AB", grid.nodes_where(1, 1)).nset("CD", grid.nodes_where(1, 0)).nset("D", [grid.node_at(2., 0.)])
    first = next(iter(grid.elements.values()))
    deck.nset("CORNER", sorted(first))
    deck.elset("CORNER", [1])
    if shape == "quad":
        deck.elset("RIM", grid.cells_where(0, 1))
    else:  # of the two triangles of a cell, the first has its second side on the rim
        deck.elset("RIM", [2 * e - 1 for e in grid.cells_where(0, 1)])
    deck.elastic("STEEL", 210e9, .3).solid_section("STEEL", .1)
    if load == "surface":
        deck.card("*SURFACE, NAME=BC, TYPE=ELEMENT", "RIM, S2")
    if load == "amplitude":
        deck.card("*AMPLITUDE, NAME=RAMP", (0., 0., .5, .25, 1., 2.))
    deck.card("*BOUNDARY", "AB, 1, 1", "CD, 2, 2")
    deck.step()
    if load == "surface":
        deck.comment("A negative pressure pulls.").card("*DSLOAD", "BC, P, -10.E6")
    elif load == "amplitude":
        deck.comment("The amplitude is 2 at the end of the step.").card("*DLOAD, AMPLITUDE=RAMP", "RIM, P2, -5.E6")
    else:
        deck.card("*DLOAD", "RIM, P2, -10.E6")
    deck.node_print("CORNER", "U").el_print("CORNER", "S").end()
    return name + ".inp", deck


def le1_decks():
    yield le1("CPS8", "quad", 2, 6, 4, "element")
    yield le1("CPS8", "quad", 2, 12, 8, "surface")
    yield le1("CPS8", "quad", 2, 24, 16, "amplitude", 10)
    yield le1("CPS8R", "quad", 2, 12, 8, "element")
    yield le1("CPS6", "triangle", 2, 24, 16, "element", 9)
    yield le1("CPS4", "quad", 1, 96, 64, "element", 9)


def le10_decks():
    for around, across, through in ((6, 4, 2), (12, 8, 4)):
        grid = Grid("hex", 2, (across, around, through), ellipse)
        outer = grid.nodes_where(0, 1)
        deck = Deck(f"NAFEMS LE10, thick plate, C3D20 {around} x {across} x {through}",
                    "1 MPa down on the top face. Published: SYY at D(2,0,0.6) = -5.38 MPa.")
        deck.comment("N, m, Pa").grid("C3D20", grid, 10)
        deck.nset("Y0", grid.nodes_where(1, 0)).nset("X0", grid.nodes_where(1, 1)).nset("OUTER", outer)
        deck.nset("MIDHEIGHT", [n for n in outer if abs(grid.position[n][2] - .3) < 1e-9])
        deck.nset("D", [grid.node_at(2., 0., .6)])
        deck.elset("TOP", grid.cells_where(2, 1))
        deck.card("*SURFACE, NAME=TOPFACE", "TOP, S2")
        deck.elastic("STEEL", 210e9, .3).solid_section("STEEL")
        deck.card("*BOUNDARY", "Y0, 2, 2", "X0, 1, 1", "OUTER, 1, 2", "MIDHEIGHT, 3, 3").step()
        if through == 2:
            deck.card("*DLOAD", "TOP, P2, 1.E6")
        else:
            deck.card("*DSLOAD", "TOPFACE, P, 1.E6")
        deck.node_print("D", "U").node_print("OUTER", "RF", ", TOTALS=ONLY").el_print("TOP", "S").end()
        yield f"le10_c3d20_{around}x{across}x{through}.inp", deck


# ---- Cook, Timoshenko ----------------------------------------------------------------------------------------------


def cook(x, y, z=0.):
    return (48 * x, 44 * x + y * (44 - 28 * x), z)


def cook_decks():
    for kind, n in (("CPS4", 2), ("CPS4", 8), ("CPS4", 16), ("CPS4I", 8), ("CPS4I", 16), ("CPS8", 4), ("CPS8", 16)):
        grid = Grid("quad", 2 if kind == "CPS8" else 1, (n, n), lambda x, y, z: cook(x, y)[:2])
        deck = Deck(f"Cook's membrane, {kind} {n} x {n}",
                    "Plane stress, unit shear spread over the right side. Published: u_y(48,52) = 23.96.")
        deck.grid(kind, grid).nset("CLAMP", grid.nodes_where(0, 0)).nset("MIDEDGE", [grid.node_at(48., 52.)])
        deck.elastic("COOK", 1., 1 / 3).solid_section("COOK", 1.)
        deck.step(title="Shear 1/16 per length of the right side")
        deck.card("*BOUNDARY", "CLAMP, 1, 2")
        shear = grid.side_forces(0, 1, lambda x, y: (0., 1 / 16))
        deck.card("*CLOAD", *((m, 2, f[1]) for m, f in shear.items()))
        deck.node_print("MIDEDGE", "U").node_print("CLAMP", "RF", ", TOTALS=ONLY").end()
        yield f"cook_{kind.lower()}_{n}x{n}.inp", deck
    # A slab one element thick, free to become thinner: C3D8 means 2 x 2 x 2 points to CalculiX, B-bar to Abaqus.
    grid = Grid("hex", 1, (8, 8, 1), cook)
    deck = Deck("Cook's membrane as a slab of solids, C3D8 8 x 8 x 1",
                "B-bar (Abaqus's C3D8) must come nearer to 23.96 than the plain element (CalculiX's C3D8).")
    deck.grid("C3D8", grid).nset("CLAMP", grid.nodes_where(0, 0)).nset("BACK", grid.nodes_where(2, 0))
    deck.nset("MIDEDGE", [grid.node_at(48., 52., 0.), grid.node_at(48., 52., 1.)])
    deck.elastic("COOK", 1., 1 / 3).solid_section("COOK")
    deck.card("*BOUNDARY", "CLAMP, 1, 2", "BACK, 3, 3").step()
    deck.card("*CLOAD", *((m, 2, w) for m, w in grid.end_weights(0, 1).items()))
    deck.node_print("MIDEDGE", "U").end()
    yield "cook_c3d8_8x8.inp", deck


def timoshenko_decks():
    p, length, depth, young, nu = 1000., 48., 12., 3e7, .3
    inertia = depth ** 3 / 12
    f = p / (6 * young * inertia)

    def exact(x, y):
        return (f * y * ((6 * length - 3 * x) * x + (2 + nu) * (y * y - depth ** 2 / 4)),
                -f * (3 * nu * y * y * (length - x) + (4 + 5 * nu) * depth ** 2 * x / 4 + (3 * length - x) * x * x))

    for kind, nx, ny in (("CPS8", 8, 4), ("CPS4", 32, 8)):
        grid = Grid("quad", 2 if kind == "CPS8" else 1, (nx, ny),
                    lambda x, y, z: (length * x, depth * (y - .5)))
        deck = Deck(f"Timoshenko's cantilever, {kind} {nx} x {ny}",
                    "Exact displacements at the root, exact shear at the end. Exact: u_y(48,0) = -8.9E-3.")
        deck.grid(kind, grid).nset("ROOT", grid.nodes_where(0, 0)).nset("TIP", [grid.node_at(length, 0.)])
        deck.elastic("BEAM", young, nu).solid_section("BEAM", 1.)
        deck.comment("u_x and u_y of the solution at x = 0, node by node")
        deck.card("*BOUNDARY", *((m, d + 1, d + 1, exact(*grid.position[m])[d])
                                 for m in grid.nodes_where(0, 0) for d in (0, 1)))
        deck.step().comment("A parabola of shear over the end, P = 1000 in all")
        shear = grid.side_forces(0, 1, lambda x, y: (0., -p / (2 * inertia) * (depth ** 2 / 4 - y * y)))
        deck.card("*CLOAD", *((m, 2, t[1]) for m, t in shear.items()))
        deck.node_print("TIP", "U").node_print("ROOT", "RF", ", TOTALS=YES").end()
        yield f"timoshenko_{kind.lower()}_{nx}x{ny}.inp", deck


# ---- Lame, Kirsch --------------------------------------------------------------------------------------------------


def lame_place(s, t, z=0.):
    r, angle = 3 + 6 * s, math.pi / 2 * t
    return (r * math.cos(angle), r * math.sin(angle))


def lame_radial(nu):
    return (1 + nu) * 3 / 1000 * (9 * (1 - 2 * nu) + 81) / 72


def lame_decks():
    shared = Grid("quad", 1, (16, 16), lame_place)
    include = Deck().comment("A quarter of a thick cylinder, bore 3, outer radius 9, 16 x 16 cells", "Nodes and sets")
    include.nodes(shared.position).nset("LOWER", shared.nodes_where(1, 0)).nset("UPPER", shared.nodes_where(1, 1))
    include.nset("BORE", shared.nodes_where(0, 0)).elset("INSIDE", shared.cells_where(0, 0))
    yield "lame_16x16.inc", include
    kinds = (("CPE8", 8, .3), ("CPE8", 8, .49), ("CPE8R", 8, .4999), ("CPE4I", 16, .4999), ("CPE4", 16, .4999))
    for kind, n, nu in kinds:
        grid = Grid("quad", 2, (n, n), lame_place) if "8" in kind else shared
        deck = Deck(f"Lame's cylinder in plane strain, {kind} {n} x {n}, nu = {nu:g}",
                    f"Bore 3, outer radius 9, E = 1000, pressure 1. Closed form: u_r(3) = {lame_radial(nu):.8g}.")
        if grid is shared:
            deck.include("lame_16x16.inc")
            deck.elements(kind, grid.elements)
        else:
            deck.grid(kind, grid).nset("LOWER", grid.nodes_where(1, 0)).nset("UPPER", grid.nodes_where(1, 1))
            deck.nset("BORE", grid.nodes_where(0, 0)).elset("INSIDE", grid.cells_where(0, 0))
        deck.card("*NSET, NSET=CUTS", "LOWER, UPPER")
        deck.elastic("RUBBER", 1000., nu).solid_section("RUBBER", 1.)
        deck.comment("Radial, tangential and axial directions at the cuts and at the bore")
        deck.card("*TRANSFORM, NSET=CUTS, TYPE=C", "0., 0., 0., 0., 0., 1.")
        deck.card("*TRANSFORM, NSET=BORE, TYPE=C", "0., 0., 0., 0., 0., 1.")
        deck.card("*BOUNDARY", "CUTS, 2, 2").step().card("*DLOAD", "INSIDE, P4, 1.")
        deck.node_print("BORE", "U", ", GLOBAL=NO").node_print("CUTS", "RF", ", GLOBAL=NO").end()
        yield f"lame_{kind.lower()}_nu{str(nu)[2:]}.inp", deck
    grid = Grid("quad", 2, (8, 1), lambda s, t, z: (3 + 6 * s, t))
    deck = Deck("Lame's cylinder as a ring of unit height, CAX8, nu = 0.3",
                "Bore 3, outer radius 9, E = 1000, pressure 1, held between planes: u_r(3) = 4.5825E-3.")
    deck.grid("CAX8", grid).nset("BORE", grid.nodes_where(0, 0)).nset("BOTTOM", grid.nodes_where(1, 0))
    deck.nset("TOP", grid.nodes_where(1, 1)).elset("INSIDE", grid.cells_where(0, 0))
    deck.elastic("STEEL", 1000., .3).solid_section("STEEL")
    deck.card("*BOUNDARY", "BOTTOM, 2, 2", "TOP, 2, 2").step().card("*DLOAD", "INSIDE, P4, 1.")
    deck.node_print("BORE", "U").node_print("TOP", "RF", ", TOTALS=YES").el_print("INSIDE", "S").end()
    yield "lame_cax8.inp", deck


def kirsch_traction(x, y):
    """On a circle around a hole of radius 1 in an infinite plate under unit pull along x."""
    r, t = math.hypot(x, y), math.atan2(y, x)
    q = 1 / r ** 2
    sxx = 1 - q * (1.5 * math.cos(2 * t) + math.cos(4 * t)) + 1.5 * q * q * math.cos(4 * t)
    syy = -q * (.5 * math.cos(2 * t) - math.cos(4 * t)) - 1.5 * q * q * math.cos(4 * t)
    sxy = -q * (.5 * math.sin(2 * t) + math.sin(4 * t)) + 1.5 * q * q * math.sin(4 * t)
    return (sxx * math.cos(t) + sxy * math.sin(t), sxy * math.cos(t) + syy * math.sin(t))


def kirsch_decks():
    n = 24

    def place(s, t, z):  # cells grow with the radius
        return (5 ** s * math.cos(math.pi / 2 * t), 5 ** s * math.sin(math.pi / 2 * t))

    grid = Grid("quad", 2, (n, n), place)
    deck = Deck("Kirsch: plate with a hole of radius 1 under unit pull, CPS8 24 x 24",
                "Exact tractions on a circle of radius 5. Exact: SXX(0,1) = 3, SYY(1,0) = -1.")
    deck.grid("CPS8", grid, 10).nset("LOWER", grid.nodes_where(1, 0)).nset("UPPER", grid.nodes_where(1, 1))
    deck.nset("TOP_OF_HOLE", [grid.node_at(0., 1.)]).nset("SIDE_OF_HOLE", [grid.node_at(1., 0.)])
    deck.elastic("PLATE", 1000., .3).solid_section("PLATE", 2.)
    deck.card("*BOUNDARY", "LOWER, 2, 2", "UPPER, 1, 1").step()
    force = grid.side_forces(0, 1, kirsch_traction, 2.)
    deck.card("*CLOAD", *((m, d + 1, f[d]) for m, f in force.items() for d in (0, 1)))
    deck.node_print("TOP_OF_HOLE", "U").node_print("SIDE_OF_HOLE", "U").end()
    yield "kirsch_cps8_24x24.inp", deck


# ---- Curved beam, truss, heat --------------------------------------------------------------------------------------


def curved_place(s, t, z):
    r, angle = 4.12 + .2 * s, math.pi / 2 * t
    return (r * math.cos(angle), r * math.sin(angle), .1 * z)


def curved_beam_decks():
    for kind, along, across, through in (("C3D20", 24, 2, 2), ("C3D20", 6, 1, 1), ("C3D8", 6, 1, 1)):
        grid = Grid("hex", 2 if kind == "C3D20" else 1, (across, along, through), curved_place)
        deck = Deck(f"Curved beam (MacNeal and Harder 1985), {kind} {along} x {across} x {through}",
                    "Unit load at the tip. Beam theory: radial 0.08734, out of plane 0.5022.")
        tip = max(grid.position) + 1
        deck.grid(kind, grid)
        deck.comment("A node that stands for the tip: the mean of the end, each node with its share of an even load")
        deck.card("*NODE, NSET=TIP", (tip, 0., 4.22, .05))
        deck.nset("ROOT", grid.nodes_where(1, 0)).nset("END", grid.nodes_where(1, 1))
        weights = grid.end_weights(1, 1)
        for d in (1, 2, 3):
            words = [w for m, share in weights.items() for w in (m, d, -share)]
            words = [tip, d, 1.] + words
            deck.card("*EQUATION", (len(words) // 3,), *(tuple(words[i : i + 12]) for i in range(0, len(words), 12)))
        deck.elastic("BEAM", 1e7, .25).solid_section("BEAM")
        deck.card("*BOUNDARY", "ROOT, 1, 3")
        deck.step().comment("Radial").card("*CLOAD", "TIP, 2, 1.")
        deck.node_print("TIP", "U").node_print("ROOT", "RF", ", TOTALS=ONLY").end()
        deck.step().comment("Out of plane, instead of the load before").card("*CLOAD, OP=NEW", "TIP, 3, 1.").end()
        yield f"curved_beam_{kind.lower()}_{along}x{across}x{through}.inp", deck


def popov_truss():
    x = 200 * math.tan(math.pi / 6)
    f1 = 200 / (2 * math.cos(math.pi / 6) ** 3 + 1)
    deck = Deck("Three bars (Popov), T3D2: A = 10, E = 3000, L = 200, 30 degrees, P = 200",
                f"F1 = {f1:.7g}, F2 = {f1 * .75:.7g}, v = {-f1 / 150:.7g}")
    deck.card("*NODE, NSET=NALL", (1, 0., 0., 0.), (2, 0., 200., 0.), (3, -x, 200., 0.), (4, x, 200., 0.))
    deck.card("*ELEMENT, TYPE=T3D2, ELSET=BARS", (1, 1, 2), (2, 1, 3), (3, 1, 4))
    deck.nset("TOP", [2, 3, 4]).nset("JOINT", [1])
    deck.elastic("BAR", 3000., .3).card("*SOLID SECTION, ELSET=BARS, MATERIAL=BAR", (10.,))
    deck.card("*BOUNDARY", "TOP, 1, 3", "JOINT, 3, 3").step().card("*CLOAD", "JOINT, 2, -200.")
    deck.node_print("NALL", "U").node_print("TOP", "RF").el_print("BARS", "S").end()
    yield "popov_t3d2.inp", deck


def t4_decks():
    grid = Grid("quad", 2, (12, 20), lambda x, y, z: (.6 * x, y))
    deck = Deck("NAFEMS T4, plate with convection, DC2D8 12 x 20",
                "Bottom at 100, left insulated, h = 750 to 0 on right and top. Published: T(0.6,0.2) = 18.3.")
    deck.grid("DC2D8", grid).nset("BOTTOM", grid.nodes_where(1, 0)).nset("E", [grid.node_at(.6, .2)])
    deck.elset("RIGHT", grid.cells_where(0, 1)).elset("TOP", grid.cells_where(1, 1))
    deck.card("*MATERIAL, NAME=PLATE").card("*CONDUCTIVITY", "52.").solid_section("PLATE", 1.)
    deck.card("*BOUNDARY", "BOTTOM, 11, 11, 100.")
    deck.step("*HEAT TRANSFER, STEADY STATE").card("*FILM", "RIGHT, F2, 0., 750.", "TOP, F3, 0., 750.")
    deck.node_print("E", "NT").node_print("BOTTOM", "RFL", ", TOTALS=YES").end()
    yield "t4_dc2d8_12x20.inp", deck


def decks():
    for make in (patches, le1_decks, le10_decks, cook_decks, timoshenko_decks, lame_decks, kirsch_decks,
                 curved_beam_decks, popov_truss, t4_decks):
        yield from make()
