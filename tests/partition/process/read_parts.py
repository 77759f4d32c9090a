"""Reads a file of parts in HDF5 with h5py and prints what it holds as a JSON object.

usage: read_parts.py FILE
"""
import json
import sys

import h5py
import numpy as np

# A hexahedron as six tetrahedra around the diagonal from its first to its seventh node. Opposite faces are split alike, so
# that neighbours in a structured mesh agree about their common face.
TETS = ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6))

with h5py.File(sys.argv[1], "r") as file:
    elements, nodes, volume = {}, set(), 0.0
    for part in file["parts"].values():
        numbers = part["nodes/numbers"][:]
        position = dict(zip(numbers, part["nodes/coordinates"][:]))
        nodes.update(numbers[part["nodes/owners"][:] == part.attrs["part"]].tolist())
        for model in part["elements"].values():
            for name, of_type in model.items():
                elements[name] = elements.get(name, 0) + len(of_type["numbers"])
        for hexahedron in part["elements/0"].get("solid.hex8", {"nodes": []})["nodes"]:
            x = [position[n] for n in hexahedron]
            volume += sum(np.dot(np.cross(x[b] - x[a], x[c] - x[a]), x[d] - x[a]) / 6 for a, b, c, d in TETS)
    print(json.dumps({
        "format": file.attrs["format"].decode() if isinstance(file.attrs["format"], bytes) else file.attrs["format"],
        "parts": int(file.attrs["parts"]),
        "nodes": len(nodes),
        "elements": elements,
        "block_names": [[name.decode() for name in model["block_names"]] for model in file["models"].values()],
        "volume": volume,
    }))
