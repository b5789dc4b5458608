"""The trace's speed beside that of Python's tools, from one run: CPU seconds and ratios.

    python3 benches/peers/trace_peers.py [ROWS]      (1,000,000 unless told)

Every task runs in a process of its own, three times; the median of the CPU times counts, which
other work on the machine hardly moves. Peers that are not installed are named and left out.
"""

import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile

IDENTITY = ("run_id", "seed", "policy_id", "task", "algorithm_id")
POOL = 20_000
ROUNDS = 3


def generate(path, rows):
    """Four runs with changing regimes, three components, some nulls and refused actions."""
    draw = random.Random(11)
    with open(path, "w", encoding="utf-8") as out:
        for run in range(4):
            for step in range(rows // 4):
                phase = step * 40 // max(1, rows // 4)
                parts = {"balance": draw.random(), "effort": round(-draw.random() / 50, 4), "centre": round(draw.random(), 2)}
                row = {
                    "run_id": f"bench-{run}", "seed": run, "algorithm_id": "steady", "step": step,
                    "regime_id": f"wind-{(phase * 7 + run) % 12}" if phase % 9 else None, "regime_origin": None,
                    "observed_at": None, "action": {"index": draw.randrange(2)}, "reward": sum(parts.values()),
                    "reward_components": parts, "reward_detail": {}, "invalid_action": draw.random() < 0.02,
                    "effective_rank": round(draw.random() * 64, 6) if step % 16 == 0 else None,
                    "ticket_snapshot": {}, "verifier_snapshot": {},
                }
                out.write(json.dumps(row) + "\n")


def read_with(loads, path):
    """Mean reward of each stretch of one label of one run."""
    segments = {}
    with open(path, "rb") as lines:
        for line in lines:
            row = loads(line)
            of_run = segments.setdefault(tuple(row.get(key) for key in IDENTITY), [])
            if not of_run or of_run[-1][0] != row["regime_id"]:
                of_run.append([row["regime_id"], 0.0, 0])
            of_run[-1][1] += row["reward"]
            of_run[-1][2] += 1
    return sum(total / count for run in segments.values() for _, total, count in run)


def read_polars(path):
    import polars as pl

    rows = pl.scan_ndjson(path, schema={"run_id": pl.String, "regime_id": pl.String, "reward": pl.Float64}).collect()
    segment = pl.col("regime_id").fill_null("").rle_id().over("run_id")
    return rows.with_columns(s=segment).group_by("run_id", "s").agg(pl.col("reward").mean())["reward"].sum()


def read_duckdb(path):
    import duckdb

    return duckdb.execute(
        "with r as (select run_id, step, regime_id, reward, regime_id is distinct from lag(regime_id) over w as new "
        "from read_json(?, format='newline_delimited', columns={run_id:'VARCHAR', step:'BIGINT', regime_id:'VARCHAR', reward:'DOUBLE'}) "
        "window w as (partition by run_id order by step)), "
        "s as (select *, sum(new::int) over (partition by run_id order by step) as part from r) "
        "select sum(m) from (select avg(reward) m from s group by run_id, part)", [path]).fetchone()[0]


def write_with(dumps, pool, out, times):
    with open(pool, "rb") as lines:
        rows = [json.loads(line) for line in lines]
    for _ in range(times):
        with open(out, "wb") as file:
            for row in rows:
                file.write(dumps(row))


def task(name, *arguments):
    """One task in this process."""
    if name == "read json":
        print(read_with(json.loads, *arguments))
    elif name == "read orjson":
        import orjson
        print(read_with(orjson.loads, *arguments))
    elif name == "read polars":
        print(read_polars(*arguments))
    elif name == "read duckdb":
        print(read_duckdb(*arguments))
    elif name == "write json":
        write_with(lambda row: (json.dumps(row) + "\n").encode(), arguments[0], arguments[1], int(arguments[2]))
    elif name == "write orjson":
        import orjson
        write_with(lambda row: orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE), arguments[0], arguments[1], int(arguments[2]))


class Cost:
    """What a task took: CPU seconds (median of the rounds) and peak memory in MiB."""

    def __init__(self, seconds, memory):
        self.seconds, self.memory = seconds, memory

    def __sub__(self, other):
        return Cost(self.seconds - other.seconds, self.memory)


def cost(command, environment=None):
    seconds, memory = [], 0
    for _ in range(ROUNDS):
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            raise SystemExit(f"failed: {' '.join(command)}")
        seconds.append(usage.ru_utime + usage.ru_stime)
        memory = max(memory, usage.ru_maxrss / 1024)
    return Cost(sorted(seconds)[len(seconds) // 2], memory)


def native():
    """The path of the bench that does one task a run."""
    built = subprocess.run(
        ["cargo", "bench", "--bench", "trace_once", "--no-run", "--message-format=json"],
        stdout=subprocess.PIPE, check=True, text=True,
    ).stdout
    messages = [json.loads(line) for line in built.splitlines() if line.startswith("{")]
    return next(m["executable"] for m in messages if m.get("target", {}).get("name") == "trace_once" and m.get("executable"))


def table(title, rows, costs):
    """Prints the costs; the first one is what the others are compared with."""
    print(f"\n{title}, {rows:,} rows\n{'':<26}{'CPU s':>8}{'M rows/s':>10}{'MiB':>7}{'skyfall is':>13}")
    ours = next(iter(costs.values())).seconds
    for name, cost in costs.items():
        ratio = f"{cost.seconds / ours:>12.1f}x"
        print(f"{name:<26}{cost.seconds:>8.2f}{rows / cost.seconds / 1e6:>10.2f}{cost.memory:>7.0f}{ratio}")


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    bench = native()
    missing = [peer for peer in ("orjson", "polars", "duckdb") if importlib.util.find_spec(peer) is None]
    for peer in missing:
        print(f"{peer} is not installed: left out")
    with tempfile.TemporaryDirectory() as directory:
        trace, pool, out = (os.path.join(directory, name) for name in ("trace.jsonl", "pool.jsonl", "out.jsonl"))
        generate(trace, rows)
        with open(trace, "rb") as lines, open(pool, "wb") as first:
            first.writelines(line for _, line in zip(range(POOL), lines))
        me = [sys.executable, __file__, "--task"]
        one = {"RAYON_NUM_THREADS": "1"}
        reading = {"skyfall, 1 thread": cost([bench, "segments", trace], one)}
        reading["skyfall, all threads"] = cost([bench, "segments", trace])
        reading["skyfall, all columns kept"] = cost([bench, "columns", trace], one)
        for peer in ("json", "orjson", "polars", "duckdb"):
            if peer not in missing:
                reading[peer] = cost([*me, f"read {peer}", trace])
        table("Reading, grouping, segment means", rows, reading)
        # Starting up and loading the rows to write are not the task: the difference of two counts is.
        few, many = 1, 1 + max(1, rows // POOL)
        written = (many - few) * POOL

        def writing(command):
            return cost([*command, pool, out, str(many)]) - cost([*command, pool, out, str(few)])

        def scripting(how):
            return cost([bench, how, out, str(many * POOL)]) - cost([bench, how, out, str(few * POOL)])

        times = {"skyfall, Rust": writing([bench, "write"])}
        for peer in ("json", "orjson"):
            if peer not in missing:
                times[peer] = writing([*me, f"write {peer}"])
        table("Writing", written, times)
        lua = {"skyfall, Lua scalars": scripting("push"), "skyfall, Lua tables": scripting("tables"), "json": times["json"]}
        table("Writing from a script", written, lua)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--task"]:
        task(*sys.argv[2:])
    else:
        main()
