"""An evaluation with all metrics beside the bare parse of the same file: speed, memory, page size.

    cargo build --release --benches
    python3 benches/peers/eval_peers.py EVAL_ONCE [ROWS]     (10,000,000 unless told)

EVAL_ONCE is the built bench (target/release/deps/eval_once-*). Every task runs in a process of its
own, three times, in turn; the median of the CPU times counts, which other work on the machine
hardly moves, and the greatest peak of memory.
"""

import os
import statistics
import sys
import tempfile

ROUNDS = 3


def cost(command):
    """CPU seconds and peak resident bytes of a command."""
    child = os.fork()
    if child == 0:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.execv(command[0], command)
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        sys.exit(f"{command} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    bench = sys.argv[1]
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    with tempfile.TemporaryDirectory() as scratch:
        trace, page = os.path.join(scratch, "trace.jsonl"), os.path.join(scratch, "report.html")
        cost([bench, "generate", trace, str(rows)])
        size = os.path.getsize(trace)
        print(f"{rows} rows, {size / rows:.0f} bytes a row, {os.cpu_count()} cores")
        tasks = {
            "bare parse": [bench, "parse", trace],
            "columns": [bench, "columns", trace],
            "eval, JSON": [bench, "eval", trace, "json", os.path.join(scratch, "report.json")],
            "eval, HTML with figures": [bench, "eval", trace, "html", page],
        }
        runs = {name: [] for name in tasks}
        for _ in range(ROUNDS):
            for name, command in tasks.items():
                runs[name].append(cost(command))
        bare = statistics.median(cpu for cpu, _ in runs["bare parse"])
        for name, measured in runs.items():
            cpu = statistics.median(cpu for cpu, _ in measured)
            peak = max(peak for _, peak in measured)
            print(
                f"{name:24} {rows / cpu:12,.0f} rows per CPU second, {100 * bare / cpu:4.0f} % of the bare parse, "
                f"peak {peak / 1e6:6.0f} MB = {(peak - 100e6) / rows:5.1f} bytes a row beyond 100 MB"
            )
        print(f"HTML report: {os.path.getsize(page) / 1e6:.2f} MB")


main()
