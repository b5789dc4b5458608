"""Reads what we wrote and writes it again, byte for byte; writes what we are to read.

usage: check_npy.py OURS_DIR THEIRS_DIR
"""

import io
import pathlib
import sys

import numpy as np

ours, theirs = map(pathlib.Path, sys.argv[1:])

for path in sorted(ours.glob("*.npy")):
    array = np.load(path)
    again = io.BytesIO()
    np.save(again, array)
    assert again.getvalue() == path.read_bytes(), path
    print("same", path.stem, array.dtype, array.shape, array.sum())
for path in sorted(ours.glob("*.npz")):
    with np.load(path) as archive:
        print("archive", path.stem, *(f"{key}:{archive[key].dtype}:{archive[key].sum()}" for key in archive.files))

theirs.mkdir()
grid = np.arange(24).reshape(2, 3, 4)
for code in ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]:
    for order in "<>":
        name = {"<": "little", ">": "big"}[order]
        np.save(theirs / f"{name}-{code.replace('?', 'b1')}.npy", grid.astype(np.dtype(code).newbyteorder(order)))
np.save(theirs / "fortran.npy", np.asfortranarray(grid.astype("f4")))
np.save(theirs / "scalar.npy", np.float64(2.5))
np.save(theirs / "empty.npy", np.zeros((0, 3), "f4"))
np.save(theirs / "huge.npy", np.array([1, 2**63], "u8"))
np.save(theirs / "objects.npy", np.array([None, {}], dtype=object), allow_pickle=True)
np.save(theirs / "complex.npy", np.array([1j]))
np.save(theirs / "text.npy", np.array(["x"]))
np.save(theirs / "times.npy", np.array(["2026-01-01"], "M8[D]"))
np.save(theirs / "structure.npy", np.zeros(2, [("a", "f4"), ("b", "i8")]))
with open(theirs / "version-2.npy", "wb") as file:
    np.lib.format.write_array(file, grid.astype("f4"), version=(2, 0))
np.savez(theirs / "stored.npz", a=grid.astype("f4"), b=np.array([True, False]), **{"über": np.arange(3)})
np.savez_compressed(theirs / "deflated.npz", a=grid.astype("f4"), b=np.array([True, False]))
