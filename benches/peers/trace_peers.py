"""The trace's speed beside that of Python's tools, from one run: CPU seconds, ratios, memory.

    python3 benches/peers/trace_peers.py [ROWS]      (1,000,000 unless told)

Every task runs in a process of its own, in rounds of all tasks; the median of the CPU times counts,
which other work on the machine moves least. The limit is what no reader can go below: reading the
file and finding its lines, no more. What two cores gain is told in wall time, the least of the
rounds, and means something only while both are free: the load is printed beside it. Peers that are
not installed are named and left out; those that are also read the trace as Parquet, as a check.
"""

import copy
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import time

IDENTITY = ("run_id", "seed", "policy_id", "task", "algorithm_id")
POOL = 20_000
ROUNDS = 5


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
    """What a task took: CPU seconds (median of the rounds), wall seconds (least), peak memory in MiB."""

    def __init__(self, rounds):
        cpu, wall, memory = zip(*rounds)
        self.seconds, self.wall, self.memory = sorted(cpu)[len(cpu) // 2], min(wall), max(memory)

    def __sub__(self, other):
        rest = copy.copy(self)
        rest.seconds -= other.seconds
        return rest


def run(command, environment, stdin=None):
    """CPU seconds, wall seconds and peak memory of one process."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL, env={**os.environ, **environment})
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss / 1024


def costs(tasks):
    """The cost of each task, by name; `tasks` are commands and what they need in the environment."""
    rounds = {name: [] for name in tasks}
    for _ in range(ROUNDS):
        for name, (command, environment) in tasks.items():
            rounds[name].append(run(command, environment))
    return {name: Cost(measured) for name, measured in rounds.items()}


def memory_of_many(command, trace, times):
    """Peak memory in MiB of reading the trace so many times over, from a pipe."""
    cat = subprocess.Popen(["cat", *[trace] * times], stdout=subprocess.PIPE)
    measured = run(command, {}, cat.stdout)
    cat.stdout.close()
    cat.wait()
    return measured[2]


def native():
    """The path of the bench that does one task a run."""
    built = subprocess.run(
        ["cargo", "bench", "--bench", "trace_once", "--no-run", "--message-format=json"],
        stdout=subprocess.PIPE, check=True, text=True,
    ).stdout
    messages = [json.loads(line) for line in built.splitlines() if line.startswith("{")]
    return next(m["executable"] for m in messages if m.get("target", {}).get("name") == "trace_once" and m.get("executable"))


def table(title, rows, costs, ours):
    """Prints the costs; the one named `ours` is what the others are compared with."""
    print(f"\n{title}, {rows:,} rows\n{'':<28}{'CPU s':>8}{'M rows/s':>10}{'wall s':>8}{'MiB':>7}{'skyfall is':>13}")
    for name, cost in costs.items():
        ratio = f"{cost.seconds / costs[ours].seconds:>12.1f}x"
        print(f"{name:<28}{cost.seconds:>8.2f}{rows / cost.seconds / 1e6:>10.2f}{cost.wall:>8.2f}{cost.memory:>7.0f}{ratio}")


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    bench = native()
    peers = [peer for peer in ("orjson", "polars", "duckdb") if importlib.util.find_spec(peer)]
    for peer in {"orjson", "polars", "duckdb"} - set(peers):
        print(f"{peer} is not installed: left out")
    with tempfile.TemporaryDirectory() as directory:
        trace, pool, out = (os.path.join(directory, name) for name in ("trace.jsonl", "pool.jsonl", "out.jsonl"))
        generate(trace, rows)
        with open(trace, "rb") as lines, open(pool, "wb") as first:
            first.writelines(line for _, line in zip(range(POOL), lines))
        me = [sys.executable, __file__, "--task"]
        read(bench, me, trace, rows, peers)
        write(bench, me, pool, out, rows, peers)
        check_parquet(bench, trace, os.path.join(directory, "trace.parquet"), peers)


def read(bench, me, trace, rows, peers):
    one, two = {"RAYON_NUM_THREADS": "1"}, {"RAYON_NUM_THREADS": "2"}
    tasks = {"limit: read and find lines": ([bench, "limit", trace], one)}
    tasks["skyfall, 1 thread"] = ([bench, "segments", trace], one)
    tasks["skyfall, 2 threads"] = ([bench, "segments", trace], two)
    tasks["skyfall, all columns kept"] = ([bench, "columns", trace], one)
    tasks |= {peer: ([*me, f"read {peer}", trace], {}) for peer in ["json", *peers]}
    measured = costs(tasks)
    table("Reading, grouping, segment means", rows, measured, "skyfall, 1 thread")
    alone, limit = measured["skyfall, 1 thread"], measured["limit: read and find lines"]
    print(f"of the limit's rows a second: {limit.seconds / alone.seconds:.0%}")
    print(f"two threads: {alone.wall / measured['skyfall, 2 threads'].wall:.2f}x (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)")
    peak = memory_of_many([bench, "segments", "-"], trace, 4)
    print(f"peak memory over four times the rows, from a pipe: {peak:.0f} MiB")


def write(bench, me, pool, out, rows, peers):
    # Starting up and loading the rows to write are not the task: the difference of two counts is.
    few, many = 1, 1 + max(1, rows // POOL)
    written = (many - few) * POOL
    commands = {"skyfall, Rust": ([bench, "write", pool, out], 1), "limit: formatting alone": ([bench, "write", pool, os.devnull], 1)}
    commands |= {peer: ([*me, f"write {peer}", pool, out], 1) for peer in ["json", "orjson"] if peer in ["json", *peers]}
    commands |= {f"skyfall, Lua {how}": ([bench, task, out], POOL) for how, task in (("scalars", "push"), ("tables", "tables"))}
    tasks = {}
    for name, (command, unit) in commands.items():
        for count in (few, many):
            tasks[name, count] = ([*command, str(count * unit)], {})
    measured = costs(tasks)
    taken = {name: measured[name, many] - measured[name, few] for name in commands}
    table("Writing", written, {name: cost for name, cost in taken.items() if "Lua" not in name}, "skyfall, Rust")
    table("Writing from a script", written, {name: taken[name] for name in ("skyfall, Lua scalars", "skyfall, Lua tables", "json")}, "skyfall, Lua scalars")


def check_parquet(bench, trace, out, peers):
    """What `skyfall trace cat --format parquet` writes is what others read."""
    subprocess.run([bench, "parquet", trace, out], check=True, stdout=subprocess.DEVNULL)
    with open(trace, "rb") as lines:
        rewards = [json.loads(line)["reward"] for line in lines]
    if "polars" in peers:
        import polars as pl

        assert pl.read_parquet(out)["reward"].to_list() == rewards
    if "duckdb" in peers:
        import duckdb

        assert [reward for (reward,) in duckdb.execute("select reward from read_parquet(?)", [out]).fetchall()] == rewards
    named = " and ".join(peer for peer in ("polars", "duckdb") if peer in peers) or "no peer"
    print(f"\nParquet: {named} read the same {len(rewards):,} rewards")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--task"]:
        task(*sys.argv[2:])
    else:
        main()
