"""What the decks are made with: mapped grids of elements, loads spread over their sides, and the text of a deck.

Nodes of elements and numbers of faces follow Abaqus and CalculiX. Nothing but Python's standard library is needed.
"""

import math

GAUSS5 = [
    (0.0, 128 / 225),
    (math.sqrt(5 - 2 * math.sqrt(10 / 7)) / 3, (322 + 13 * math.sqrt(70)) / 900),
    (-math.sqrt(5 - 2 * math.sqrt(10 / 7)) / 3, (322 + 13 * math.sqrt(70)) / 900),
    (math.sqrt(5 + 2 * math.sqrt(10 / 7)) / 3, (322 - 13 * math.sqrt(70)) / 900),
    (-math.sqrt(5 + 2 * math.sqrt(10 / 7)) / 3, (322 - 13 * math.sqrt(70)) / 900),
]

# Corners of one cell, in half steps of the lattice, then the middles of edges as pairs of corners.
QUAD = ([(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0)], [(0, 1), (1, 2), (2, 3), (3, 0)])
HEX = (
    [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2)],
    [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)],
)
TRIANGLE_EDGES = [(0, 1), (1, 2), (2, 0)]
WEDGE_EDGES = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)]
TET_EDGES = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]


def cells_of(shape):
    """The elements that one cell of a grid is cut into: lists of corners, and the edges that carry a middle node."""
    if shape == "quad":
        return [QUAD[0]], QUAD[1]
    if shape == "hex":
        return [HEX[0]], HEX[1]
    corners = HEX[0]
    if shape == "triangle":
        return [[corners[i] for i in t] for t in ((0, 1, 2), (0, 2, 3))], TRIANGLE_EDGES
    if shape == "wedge":
        return [[corners[i] for i in w] for w in ((0, 1, 2, 4, 5, 6), (0, 2, 3, 4, 6, 7))], WEDGE_EDGES
    # Six tetrahedra around the diagonal from the first corner to the last: neighbouring cells agree on their faces.
    ways = ((1, 2, 6), (2, 3, 6), (3, 7, 6), (7, 4, 6), (4, 5, 6), (5, 1, 6))
    return [[corners[i] for i in (0, a, b, c)] for a, b, c in ways], TET_EDGES


class Grid:
    """Cells in a regular lattice, put in place by a map from the unit cube. `order` is 1 or 2."""

    def __init__(self, shape, order, cells, place, first_node=1, first_element=1):
        self.order, self.cells = order, tuple(cells) + (1,) * (3 - len(cells))
        self.flat = shape in ("quad", "triangle")
        parts, edges = cells_of(shape)
        elements, used = [], set()
        nx, ny, nz = self.cells
        for k in range(nz):
            for j in range(ny):
                for i in range(nx):
                    for corners in parts:
                        at = [(2 * i + a, 2 * j + b, 2 * k + c) for a, b, c in corners]
                        if order == 2:
                            at += [tuple((p + q) // 2 for p, q in zip(at[a], at[b])) for a, b in edges]
                        elements.append(at)
                        used.update(at)
        lattice = sorted(used, key=lambda p: (p[2], p[1], p[0]))
        self.id = {p: first_node + n for n, p in enumerate(lattice)}
        size = (2.0 * nx, 2.0 * ny, 2.0 * nz)
        self.position = {self.id[p]: place(*(c / s for c, s in zip(p, size))) for p in lattice}
        self.elements = {first_element + e: [self.id[p] for p in at] for e, at in enumerate(elements)}

    def nodes_where(self, axis, end):
        """Nodes of a side of the grid: axis 0, 1, 2 and end 0 or 1, in rising order."""
        value = 2 * self.cells[axis] * end
        return [n for p, n in self.id.items() if p[axis] == value]

    def cells_where(self, axis, end):
        """Elements beside that side, where a cell is one element."""
        nx, ny, nz = self.cells
        first = min(self.elements)
        want = self.cells[axis] - 1 if end else 0
        return [
            first + i + nx * (j + ny * k)
            for k in range(nz) for j in range(ny) for i in range(nx)
            if (i, j, k)[axis] == want
        ]

    def node_at(self, *place):
        """The node at a place."""
        best = min(self.position, key=lambda n: math.dist(self.position[n][: len(place)], place))
        assert math.dist(self.position[best][: len(place)], place) < 1e-9, place
        return best

    def side_forces(self, axis, end, traction, thickness=1.0):
        """Nodal forces of a traction t(x, y) on a side of a plane grid: exact for polynomials of degree nine."""
        force = {}
        along = 1 - axis
        fixed = 2 * self.cells[axis] * end
        step = 2
        for cell in range(self.cells[along]):
            ticks = (step * cell, step * cell + 2) + ((step * cell + 1,) if self.order == 2 else ())
            nodes = [self.id[(fixed, t, 0) if axis == 0 else (t, fixed, 0)] for t in ticks]
            for xi, weight in GAUSS5:
                if self.order == 1:
                    n, g = ((1 - xi) / 2, (1 + xi) / 2), (-0.5, 0.5)
                else:
                    n = (xi * (xi - 1) / 2, xi * (xi + 1) / 2, 1 - xi * xi)
                    g = (xi - 0.5, xi + 0.5, -2 * xi)
                x = [sum(a * self.position[m][d] for a, m in zip(n, nodes)) for d in (0, 1)]
                tangent = [sum(a * self.position[m][d] for a, m in zip(g, nodes)) for d in (0, 1)]
                t = traction(*x)
                area = thickness * weight * math.hypot(*tangent)
                for a, m in zip(n, nodes):
                    f = force.setdefault(m, [0.0, 0.0])
                    f[0] += a * t[0] * area
                    f[1] += a * t[1] * area
        return dict(sorted(force.items()))

    def end_weights(self, axis, end):
        """Shares of the nodes in a load that is spread evenly over a side of equal rectangles of a solid grid."""
        across = [d for d in (0, 1, 2) if d != axis]
        a, b = (self.cells[d] for d in across)
        weight = {}

        def add(u, v, share):
            p = [0, 0, 0]
            p[axis], p[across[0]], p[across[1]] = 2 * self.cells[axis] * end, u, v
            node = self.id[tuple(p)]
            weight[node] = weight.get(node, 0.0) + share / (a * b)

        for i in range(a):
            for j in range(b):
                for du, dv in ((0, 0), (2, 0), (2, 2), (0, 2)):
                    add(2 * i + du, 2 * j + dv, 0.25 if self.order == 1 else -1 / 12)
                if self.order == 2:
                    for du, dv in ((1, 0), (2, 1), (1, 2), (0, 1)):
                        add(2 * i + du, 2 * j + dv, 1 / 3)
        return dict(sorted(weight.items()))


def number(value, digits=12):
    if isinstance(value, (int, str)):
        return str(value)
    if abs(value) < 1e-14:
        value = 0.0
    text = f"{value:.{digits}g}"
    return text if "." in text or "e" in text else text + "."


class Deck:
    """The text of a deck, card by card."""

    def __init__(self, *heading):
        self.lines = ["*HEADING", *heading] if heading else []

    def comment(self, *lines):
        self.lines += ["** " + line for line in lines]
        return self

    def card(self, keyword, *rows, digits=12):
        """A card and its rows of numbers and names. Rows too long for a line are continued."""
        self.lines.append(keyword)
        for row in rows:
            words = [number(w, digits) for w in (row if isinstance(row, (tuple, list)) else (row,))]
            for start in range(0, len(words), 16):
                more = "," if start + 16 < len(words) else ""
                self.lines.append(", ".join(words[start : start + 16]) + more)
        return self

    def include(self, name):
        return self.card("*INCLUDE, INPUT=" + name)

    def nodes(self, position, name="NALL", digits=12):
        return self.card("*NODE, NSET=" + name, *((n, *x) for n, x in position.items()), digits=digits)

    def elements(self, kind, elements, name="EALL"):
        return self.card(f"*ELEMENT, TYPE={kind}, ELSET={name}", *((e, *nodes) for e, nodes in elements.items()))

    def grid(self, kind, grid, digits=12):
        return self.nodes(grid.position, digits=digits).elements(kind, grid.elements)

    def members(self, keyword, ids):
        """A set: a range where it is one, a list otherwise."""
        ids = list(ids)
        steps = {b - a for a, b in zip(ids, ids[1:])}
        if len(ids) > 3 and len(steps) == 1:
            return self.card(keyword + ", GENERATE", (ids[0], ids[-1], steps.pop()))
        return self.card(keyword, *(tuple(ids[i : i + 12]) for i in range(0, len(ids), 12)))

    def nset(self, name, ids):
        return self.members("*NSET, NSET=" + name, ids)

    def elset(self, name, ids):
        return self.members("*ELSET, ELSET=" + name, ids)

    def elastic(self, name, young, poisson, density=None):
        self.card("*MATERIAL, NAME=" + name).card("*ELASTIC", (float(young), float(poisson)))
        return self.card("*DENSITY", (float(density),)) if density is not None else self

    def solid_section(self, material, thickness=None, elset="EALL", orientation=None):
        turned = f", ORIENTATION={orientation}" if orientation else ""
        rows = [] if thickness is None else [(float(thickness),)]
        return self.card(f"*SOLID SECTION, ELSET={elset}, MATERIAL={material}{turned}", *rows)

    def step(self, procedure="*STATIC", title=None):
        self.lines.append("*STEP")
        if title:
            self.lines.append(title)
        self.lines.append(procedure)
        return self

    def node_print(self, nset, quantities, options=""):
        return self.card(f"*NODE PRINT, NSET={nset}{options}", quantities)

    def el_print(self, elset, quantities, options=""):
        return self.card(f"*EL PRINT, ELSET={elset}{options}", quantities)

    def end(self):
        self.lines.append("*END STEP")
        return self

    def text(self):
        return "\n".join(self.lines) + "\n"
