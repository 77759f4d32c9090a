"""Reads VTU files, and lists of them (PVTU, by VTK alone), with other programs' readers and prints what they hold, one JSON object for each file.

usage: read_vtu.py vtk|meshio|probe FILE...
"""
import json
import sys


def with_vtk(path):
    from vtkmodules.vtkIOXML import vtkXMLPUnstructuredGridReader, vtkXMLUnstructuredGridReader

    reader = vtkXMLPUnstructuredGridReader() if path.endswith(".pvtu") else vtkXMLUnstructuredGridReader()
    reader.SetFileName(path)
    reader.Update()
    if reader.GetErrorCode():
        raise RuntimeError(f"vtk cannot read {path}")
    grid = reader.GetOutput()
    points = grid.GetPointData()
    arrays = {}
    for i in range(points.GetNumberOfArrays()):
        a = points.GetArray(i)
        arrays[a.GetName()] = {
            "components": a.GetNumberOfComponents(),
            "names": [a.GetComponentName(c) or "" for c in range(a.GetNumberOfComponents())],
            "last": [None if x != x else x for x in a.GetTuple(a.GetNumberOfTuples() - 1)],
        }
    volume = sum(cell_measure(grid.GetCell(c)) for c in range(grid.GetNumberOfCells()))
    return {
        "points": grid.GetNumberOfPoints(),
        "cells": grid.GetNumberOfCells(),
        "types": sorted({grid.GetCellType(c) for c in range(grid.GetNumberOfCells())}),
        "cell_points": [grid.GetCell(0).GetPointId(i) for i in range(grid.GetCell(0).GetNumberOfPoints())],
        "measure": volume,
        "arrays": arrays,
    }


def cell_measure(cell):
    """Length, area or volume of a straight cell, from its own split into simplices."""
    from vtkmodules.vtkCommonCore import vtkIdList, vtkPoints

    ids, points = vtkIdList(), vtkPoints()
    cell.Triangulate(0, ids, points)
    dimension = cell.GetCellDimension()
    total = 0.0
    for first in range(0, points.GetNumberOfPoints(), dimension + 1):
        p = [points.GetPoint(first + k) for k in range(dimension + 1)]
        e = [[p[k + 1][i] - p[0][i] for i in range(3)] for k in range(dimension)]
        if dimension == 1:
            total += sum(x * x for x in e[0]) ** 0.5
        elif dimension == 2:
            total += abs(e[0][0] * e[1][1] - e[0][1] * e[1][0]) / 2
        else:
            det = sum(
                e[0][i] * (e[1][(i + 1) % 3] * e[2][(i + 2) % 3] - e[1][(i + 2) % 3] * e[2][(i + 1) % 3])
                for i in range(3)
            )
            total += abs(det) / 6
    return total


def with_meshio(path):
    import meshio

    mesh = meshio.read(path)
    arrays = {}
    for name, a in mesh.point_data.items():
        row = a[-1]
        arrays[name] = {"components": 1 if a.ndim == 1 else a.shape[1],
                        "last": [float(x) for x in (row if a.ndim > 1 else [row])]}
    return {
        "points": len(mesh.points),
        "cells": sum(len(block.data) for block in mesh.cells),
        "types": sorted({block.type for block in mesh.cells}),
        "cell_points": [int(i) for i in mesh.cells[0].data[0]],
        "arrays": arrays,
    }


def main():
    reader, files = sys.argv[1], sys.argv[2:]
    if reader == "probe":
        for name, modules in {"vtk": "vtkmodules.vtkIOXML", "meshio": "meshio"}.items():
            try:
                __import__(modules)
                print(name)
            except ImportError:
                pass
        return
    for path in files:
        print(json.dumps(with_vtk(path) if reader == "vtk" else with_meshio(path)))


main()
