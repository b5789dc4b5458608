"""Reading a store's arrays beside zarr-python and tensorstore: one run, CPU seconds and ratios.

    cargo bench --bench rollouts_read --no-run          # builds the task runner
    python benches/peers/store_read_peers.py RUNNER [SCALE]

RUNNER is the executable that cargo names. The arrays are synthetic and written here by zarr-python,
so that no reader has a layout of its own: the derived view in shards and in small files, the
candidates' columns in shards, in large and in small chunks, depth frames. Every reading is a process
of its own, in rounds of all; the median counts. Needs numpy and zarr; without tensorstore it is
left out and said so. SCALE (1 unless told) multiplies the rows.
"""

import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 5
SCHEMA = "aria_nbv.rollout_zarr_q_invalidity"


def make(store, scale):
    """Groups of arrays; each is one case."""
    import numpy as np
    import zarr
    from zarr.codecs import BloscCodec, ZstdCodec

    draw = np.random.default_rng(11)
    root = zarr.open_group(store, mode="w", attributes={"schema_id": SCHEMA})
    zstd = ZstdCodec(level=0, checksum=True)

    def put(path, values, chunks, shards=None, codec=zstd):
        array = root.create_array(path, shape=values.shape, dtype=values.dtype, chunks=chunks, shards=shards, compressors=codec)
        array[...] = values

    states, width = 20_000 * scale, 60
    for group, sharded in (("view_shards", True), ("view_files", False)):
        for number in range(16):
            shape = (states,) if number < 9 else (states, width)
            kind = number % 3
            values = draw.random(shape, dtype="f4") if kind == 0 else np.arange(np.prod(shape)).reshape(shape) if kind == 1 else draw.random(shape) < 0.5
            chunks = (64,) + shape[1:]
            put(f"{group}/a{number:02}", values, chunks, (64 * 512,) + shape[1:] if sharded else None)
    rows = 500_000 * scale
    for group, chunk, shard in (("columns_shards", 16_384, 16_384 * 256), ("columns_64k", 65_536, None), ("columns_1k", 1_024, None)):
        for number in range(33 if chunk > 1_024 else 8):
            kind = number % 4
            values = draw.random(rows, dtype="f4") if kind < 2 else np.arange(rows) // 60 if kind == 2 else draw.random(rows) < 0.8
            put(f"{group}/a{number:02}", values, (chunk,), (shard,) if shard else None)
        if chunk > 1_024:
            put(f"{group}/pose", draw.random((rows, 12), dtype="f4"), (chunk, 12), (shard, 12) if shard else None)
    frames = 1_000 * scale
    place = np.linspace(1, 6, 240, dtype="f4")
    walls = (place[None, :, None] + place[None, None, :] + draw.random((frames, 1, 1), dtype="f4")) * (1 + 0.002 * draw.random((frames, 240, 240), dtype="f4"))
    for name, values in (("depth_m", walls.astype("f2")), ("valid_mask", walls < 11)):
        blosc = BloscCodec(cname="zstd", clevel=5, shuffle="bitshuffle", typesize=values.dtype.itemsize)
        put(f"depth/{name}", values, (16, 240, 240), codec=blosc)
    return ["view_shards", "view_files", "columns_shards", "columns_64k", "columns_1k", "depth"]


def peer(tool, store, group):
    """Reads a group's arrays and prints the CPU seconds."""
    paths = sorted(path.parent for path in (Path(store) / group).rglob("zarr.json") if path.parent.name != group)
    if tool == "zarr-python":
        import zarr

        start = time.process_time()
        for path in paths:
            zarr.open_array(path, mode="r")[...]
    else:
        import tensorstore as ts

        context = ts.Context({"cache_pool": {"total_bytes_limit": 0}})
        start = time.process_time()
        specs = [{"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{path}/"}} for path in paths]
        handles = [ts.open(spec, read=True, context=context) for spec in specs]
        for read in [handle.result().read() for handle in handles]:
            read.result()
    print(time.process_time() - start)


def seconds(command):
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0])


def main(runner, scale):
    tools = ["zarr-python"]
    if importlib.util.find_spec("tensorstore"):
        tools.append("tensorstore")
    else:
        print("tensorstore is not installed and left out")
    with tempfile.TemporaryDirectory() as store:
        groups = make(store, scale)
        for group in groups:
            taken = {tool: [] for tool in ["ours", *tools]}
            for _ in range(ROUNDS):
                taken["ours"].append(seconds([runner, "table", store, group]))
                for tool in tools:
                    taken[tool].append(seconds([sys.executable, __file__, "--peer", tool, store, group]))
            median = {tool: statistics.median(values) for tool, values in taken.items()}
            mine = max(median["ours"], 0.005)
            size = sum(
                json.loads(path.read_text())["shape"][0] for path in (Path(store) / group).rglob("zarr.json") if path.parent.name != group
            )
            ratios = ", ".join(f"{tool} {median[tool]:.2f} ({median[tool] / mine:.1f}x)" for tool in tools)
            print(f"{group}: {size} rows of arrays, ours {median['ours']:.2f} CPU s, {ratios}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        peer(*sys.argv[2:])
    else:
        main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
