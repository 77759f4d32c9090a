"""The cantilever of 10n x n x n Hex8 by FEniCSx, for compare-dolfinx:  mpirun -n RANKS python3 dolfinx_cantilever.py N

E = 210e9, nu = 0.3, clamped at x = 0, traction (0, 0, -1e6) on x = 10; CG with PETSc's GAMG, rigid-body modes as the
near-null space, until the residual norm, not preconditioned, has fallen by 1e-8. Prints one JSON document.
"""

import json
import sys
import time

import dolfinx
import numpy
import ufl
from dolfinx import fem, la, mesh
from mpi4py import MPI
from petsc4py import PETSc

OPTIONS = {
    "ksp_type": "cg",
    "ksp_norm_type": "unpreconditioned",
    "ksp_rtol": 1e-8,
    "pc_type": "gamg",
    "pc_gamg_type": "agg",
    "pc_gamg_threshold": 0.01,
    "pc_gamg_coarse_eq_limit": 1000,
    "mg_levels_ksp_type": "chebyshev",
    "mg_levels_ksp_max_it": 2,
    "mg_levels_pc_type": "jacobi",
}


def peak_bytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def rigid_motions(space):
    """Three translations and three rotations, orthonormal, as PETSc vectors."""
    index_map, size = space.dofmap.index_map, space.dofmap.index_map_bs
    motions = [la.create_petsc_vector(index_map, size) for _ in range(6)]
    x = space.tabulate_dof_coordinates()[: index_map.size_local]
    for k, motion in enumerate(motions):
        values = numpy.zeros((index_map.size_local, 3))
        if k < 3:
            values[:, k] = 1
        else:
            i, j = (k + 1) % 3, (k + 2) % 3
            values[:, i], values[:, j] = -x[:, j], x[:, i]
        motion.array[:] = values.ravel()
    for k, motion in enumerate(motions):
        for _ in range(2):
            for other in motions[:k]:
                motion.axpy(-motion.dot(other), other)
        motion.normalize()
    return motions


def main():
    n = int(sys.argv[1])
    comm = MPI.COMM_WORLD
    clock = {}

    def timed(stage, work):
        comm.Barrier()
        start = time.perf_counter()
        result = work()
        comm.Barrier()
        clock[stage] = time.perf_counter() - start
        return result

    start_bytes = peak_bytes()
    body = timed(
        "mesh",
        lambda: mesh.create_box(comm, [[0.0, 0.0, 0.0], [10.0, 1.0, 1.0]], [10 * n, n, n], mesh.CellType.hexahedron),
    )
    space = timed("space", lambda: fem.VectorFunctionSpace(body, ("Lagrange", 1)))
    young, poisson = 210e9, 0.3
    mu, lam = young / 2 / (1 + poisson), young * poisson / (1 + poisson) / (1 - 2 * poisson)
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    strain = lambda w: ufl.sym(ufl.grad(w))
    stress = lambda w: 2 * mu * strain(w) + lam * ufl.tr(strain(w)) * ufl.Identity(3)
    dx = ufl.Measure("dx", domain=body, metadata={"quadrature_degree": 3})  # 2 x 2 x 2 points
    facets = mesh.locate_entities_boundary(body, 2, lambda x: numpy.isclose(x[0], 10.0))
    tags = mesh.meshtags(body, 2, numpy.sort(facets), numpy.ones(len(facets), dtype=numpy.int32))
    ds = ufl.Measure("ds", domain=body, subdomain_data=tags)
    load = fem.Constant(body, PETSc.ScalarType((0.0, 0.0, -1e6)))
    a = timed("compile", lambda: fem.form(ufl.inner(stress(u), ufl.grad(v)) * dx))
    b = fem.form(ufl.inner(load, v) * ds(1))
    clamp = fem.dirichletbc(
        numpy.zeros(3, dtype=PETSc.ScalarType),
        fem.locate_dofs_geometrical(space, lambda x: numpy.isclose(x[0], 0.0)),
        space,
    )

    def assemble():
        matrix = fem.petsc.assemble_matrix(a, bcs=[clamp])
        matrix.assemble()
        vector = fem.petsc.assemble_vector(b)
        fem.petsc.apply_lifting(vector, [a], bcs=[[clamp]])
        vector.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
        loads = vector.copy()
        fem.petsc.set_bc(vector, [clamp])
        return matrix, vector, loads

    matrix, vector, loads = timed("assemble", assemble)
    solver = PETSc.KSP().create(comm)

    def set_up():
        space_of_motions = PETSc.NullSpace().create(vectors=rigid_motions(space))
        matrix.setNearNullSpace(space_of_motions)
        options = PETSc.Options()
        for name, value in OPTIONS.items():
            options[name] = value
        solver.setOperators(matrix)
        solver.setFromOptions()
        solver.setUp()

    timed("set_up", set_up)
    solution = vector.duplicate()
    timed("solve", lambda: solver.solve(vector, solution))
    peaks = comm.gather(peak_bytes())
    starts = comm.gather(start_bytes)
    residual = vector.copy()
    matrix.mult(solution, residual)
    residual.aypx(-1, vector)
    result = {
        "version": dolfinx.__version__,
        "unknowns": space.dofmap.index_map.size_global * space.dofmap.index_map_bs,
        "elements": body.topology.index_map(3).size_global,
        "iterations": solver.getIterationNumber(),
        "residual": residual.norm() / vector.norm(),
        "tip": solution.dot(loads) / -1e6,  # the load-weighted mean displacement of the loaded end
        "seconds": clock,
        "peak_bytes": peaks,
        "start_bytes": starts,
    }
    if comm.rank == 0:
        print(json.dumps(result))


main()
