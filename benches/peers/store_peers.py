"""Writing rollout stores beside zarr-python and tensorstore, one run, CPU seconds and ratios.

    cargo bench --bench rollouts_once --no-run          # builds the task runner
    python benches/peers/store_peers.py RUNNER [CANDIDATES] [DEPTH_STEPS]

RUNNER is the executable that cargo names. Ours takes typed records, checks them, takes them
apart, derives q_h and syncs to the disk; the peers only write the arrays that came of it, already
in memory, with the same chunks, shards and codecs and without syncing. So two ratios are printed:
to all that ours does, and to its threads that encode and write. What is written stays until the
end, because ext4 makes whoever creates files soon after a deletion pay for it; TMPDIR says where.
Needs numpy, zarr and tensorstore. The Python reference itself took 390 CPU s for 200 000 lean
candidates on a machine like the one this was written on; it is not run here.
"""

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REFERENCE = 390.0 / 200_000  # CPU seconds a candidate
ROUNDS = 3


def arrays(store):
    """The store's arrays: path and document."""
    found = []
    for document in sorted(Path(store).rglob("zarr.json")):
        node = json.loads(document.read_text())
        if node["node_type"] == "array" and 0 not in node["shape"]:
            found.append((document.parent.relative_to(store).as_posix(), node))
    return found


def peer(tool, store, out):
    """Writes the arrays of a store again, from memory, and prints the CPU seconds."""
    import numpy as np
    import zarr

    chosen = arrays(store)
    group = zarr.open_group(store, mode="r")
    data = [group[path][...] for path, _ in chosen]
    if tool == "zarr-python":
        for path, node in chosen:
            target = Path(out) / path
            target.mkdir(parents=True)
            (target / "zarr.json").write_text(json.dumps(node))
        handles = [zarr.open_array(Path(out) / path, mode="r+") for path, _ in chosen]
        start = time.process_time()
        for handle, values in zip(handles, data):
            handle[...] = values
    else:
        import tensorstore as ts

        context = ts.Context({"file_io_sync": False, "cache_pool": {"total_bytes_limit": 0}})
        left_out = ("attributes", "storage_transformers")
        start = time.process_time()
        handles = [
            ts.open(
                {
                    "driver": "zarr3",
                    "kvstore": {"driver": "file", "path": f"{out}/{path}/"},
                    "metadata": {key: value for key, value in node.items() if key not in left_out},
                },
                create=True,
                context=context,
            ).result()
            for path, node in chosen
        ]
        for write in [handle.write(np.ascontiguousarray(values)) for handle, values in zip(handles, data)]:
            write.result()
    print(time.process_time() - start)


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def main(runner, candidates, steps):
    with tempfile.TemporaryDirectory() as scratch:
        fresh = (f"{scratch}/{number}" for number in itertools.count())
        for part, count, raster in (("lean", candidates, []), ("depth", steps * 60, ["240", "240"])):
            ours, writing, peers = [], [], {"tensorstore": [], "zarr-python": []}
            exact = []
            for _ in range(ROUNDS):
                if raster:
                    exact.append(float(run([runner, "write", next(fresh), str(count), *raster, "c-blosc"])[0]))
                store = next(fresh)
                cpu, wall, peak, threads = map(float, run([runner, "write", store, str(count), *raster]))
                ours.append(cpu)
                writing.append(threads)
                for tool, seconds in peers.items():
                    seconds.append(float(run([sys.executable, __file__, "--peer", tool, store, next(fresh)])[0]))
            mine, threads = statistics.median(ours), statistics.median(writing)
            files = sum(len(names) for _, _, names in os.walk(store))
            print(f"{part}: {count} candidates, {mine:.2f} CPU s, of them {threads:.2f} encoding and writing")
            print(f"  {wall:.2f} s, peak {peak:.0f} MiB, {files} files")
            if exact:
                print(f"  c-blosc level 5 inside: {statistics.median(exact):.2f} CPU s")
            for tool, seconds in peers.items():
                theirs = statistics.median(seconds)
                print(f"  {tool}: {theirs:.2f} CPU s, ratio {theirs / mine:.1f}, to writing alone {theirs / threads:.1f}")
            if part == "lean":
                reference = REFERENCE * count
                print(f"  the reference, as measured elsewhere: {reference:.0f} CPU s, ratio {reference / mine:.0f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        peer(*sys.argv[2:])
    else:
        sizes = [int(size) for size in sys.argv[2:]]
        main(sys.argv[1], *(sizes + [200_000, 3_000][len(sizes):]))
