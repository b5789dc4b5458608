"""The metrics of one trace file, computed independently of skyfall, in plain Python.

    eval_reference.py TRACE [--window W] [--threshold X]        prints the runs' metrics as JSON
    eval_reference.py --compare TRACE REPORT.json               exits 1 at the first difference

W is a number of rows or a share such as 10%. Written from the definitions, without regard for
speed: sums are exact (`math.fsum`), every window is summed afresh. Reads well-formed traces; odd
lines are the business of the reader's own tests. With --compare every setting is the one that the
report names. --baseline FILE and --frozen FILE... are traces of runs from scratch and served
ones.
"""

import argparse
import datetime
import json
import math
import statistics
import sys

IDENTITY = ("run_id", "seed", "policy_id", "task", "algorithm_id")
# Bootstrapping every metric would take long and tell nothing new.
BOOTSTRAPPED = ("mean_reward", "forgetting")


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values) if values else None


def less(a, b):
    return None if a is None or b is None else a - b


def theil_sen(points):
    points = points[:: max(1, math.ceil(len(points) / 2000))]
    slopes = [(y2 - y1) / (x2 - x1) for i, (x1, y1) in enumerate(points) for x2, y2 in points[i + 1 :] if x1 != x2]
    return statistics.median(slopes) if slopes else None


def trailing(rewards, w):
    return [mean(rewards[k - w : k]) for k in range(w, len(rewards) + 1)]


def window_of(n, window):
    asked = math.ceil(n * float(window[:-1]) / 100) if window.endswith("%") else int(window)
    return min(max(asked, 1), max(1, n // 2))


class Span:
    """A stretch of rows and its levels."""

    def __init__(self, rows, window):
        self.rows = rows
        self.r = [row["reward"] for row in rows if math.isfinite(row["reward"])]
        self.n = len(self.r)
        self.w = window_of(self.n, window)
        self.entry, self.exit = mean(self.r[: self.w]), mean(self.r[-self.w :])
        self.gain = less(self.exit, self.entry)

    def trailing(self):
        return trailing(self.r, self.w)

    def rows_to(self, level):
        return next((k + self.w for k, m in enumerate(self.trailing()) if m >= level), None)

    def adaptation(self, share):
        if self.gain is None:
            return None
        if self.gain <= 0:
            return 0
        reached = self.rows_to(self.entry + share * self.gain)
        return self.n if reached is None else reached


def canonical_of(rows):
    """label -> canonical regime; labels whose origins form a circle share its earliest label."""
    order, origin = [], {}
    for row in rows:
        label = row["regime_id"]
        if label is None:
            continue
        if label not in order:
            order.append(label)
        if row["regime_origin"] is not None:
            origin.setdefault(label, row["regime_origin"])

    def resolve(label):
        path = [label]
        while origin.get(path[-1], path[-1]) != path[-1]:
            following = origin[path[-1]]
            if following in path:
                return min(path[path.index(following) :], key=order.index)
            path.append(following)
        return path[-1]

    return {label: resolve(label) for label in order}


def stretches(rows, key):
    found = []
    for row in rows:
        if found and key(found[-1][-1]) == key(row):
            found[-1].append(row)
        else:
            found.append([row])
    return found


class Run:
    def __init__(self, identity, rows, window):
        self.identity, self.rows = identity, rows
        canonical = canonical_of(rows)
        regime = lambda row: canonical.get(row["regime_id"])
        self.segments = stretches(rows, lambda row: row["regime_id"])
        self.visits = []
        for part in stretches(rows, regime):
            visit = Span(part, window)
            visit.regime = regime(part[0])
            self.visits.append(visit)
        self.regimes = list(dict.fromkeys(v.regime for v in self.visits if v.regime is not None))
        self.pairs = []
        for k, after in enumerate(self.visits):
            earlier = [v for v in self.visits[:k] if v.regime == after.regime]
            if after.regime is not None and earlier:
                self.pairs.append((earlier, after))

    def of(self, regime):
        return [v for v in self.visits if v.regime == regime]


def read(path, window):
    runs = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.strip():
                continue
            row = json.loads(line)
            reward = row["reward"]
            row["reward"] = float(reward) if reward is not None else math.nan
            for key in ("regime_id", "regime_origin", "effective_rank", "observed_at"):
                row.setdefault(key, None)
            row["invalid_action"] = bool(row.get("invalid_action"))
            row["reward_components"] = row.get("reward_components") or {}
            identity = {key: row[key] for key in IDENTITY if row.get(key) is not None}
            runs.setdefault(json.dumps(identity, sort_keys=True), (identity, []))[1].append(row)
    return [Run(identity, rows, window) for identity, rows in runs.values()]


def read_all(paths, window):
    return [run for path in paths for run in read(path, window)]


def recovery(before, after, share):
    """(rows, None) or (None, rows at which the revisit ended), or None."""
    if before.exit is None or after.entry is None:
        return None
    if after.entry >= before.exit:
        return 0, None
    reached = after.rows_to(before.exit - (1 - share) * (before.exit - after.entry))
    return (reached, None) if reached is not None else (None, after.n)


def defined(values):
    return [value for value in values if value is not None]


def metrics(run, runs, asked, baseline, served):
    rewards = [row["reward"] for row in run.rows if math.isfinite(row["reward"])]
    out = {
        "n_steps": len(run.rows),
        "n_segments": len(run.segments),
        "n_encounters": len(run.visits),
        "n_shifts": len(run.visits) - 1,
        "n_regimes": len(run.regimes),
        "n_nonfinite": len(run.rows) - len(rewards),
        "mean_reward": mean(rewards),
        "total_reward": math.fsum(rewards) if rewards else None,
    }
    by_regime = defined(mean(r for v in run.of(regime) for r in v.r) for regime in run.regimes)
    out["macro_reward"] = mean(by_regime)
    out["final_performance"] = mean(defined(run.of(regime)[-1].exit for regime in run.regimes))
    out.update(revisits(run, runs, asked))
    out.update(adaptation(run, asked))
    out.update(levels(run, runs, rewards, by_regime, asked))
    out.update(plasticity(run, asked))
    out.update(scratch(run, baseline, asked))
    out.update(frozen(run, runs, served))
    out.update(rank(run))
    out["invalid_action_rate"] = mean(float(row["invalid_action"]) for row in run.rows)
    out.update(residuals(run))
    out.update(times(run))
    return out


def revisits(run, runs, asked):
    bounds, given = {}, asked["bounds"]
    for visit in (v for other in runs for v in other.visits):
        bounds.setdefault(visit.regime, []).extend(visit.r)
    drop = lambda pair: less(pair[0][-1].exit, pair[1].entry)
    drops = defined(map(drop, run.pairs))
    forgetting = mean(drops)
    own = [mean(defined(drop(pair) for pair in run.pairs if pair[1].regime == regime)) for regime in run.regimes]
    normed, kept, best, bounded = [], [], [], []
    for earlier, after in run.pairs:
        if (f := drop((earlier, after))) is not None:
            known = given.get(after.regime, {"min": None, "max": None})
            low = min(bounds[after.regime]) if known["min"] is None else known["min"]
            high = max(bounds[after.regime]) if known["max"] is None else known["max"]
            if known["min"] is not None and known["max"] is not None:
                bounded.append(-f / (known["max"] - known["min"]))
            normed += [f / (high - low)] if high > low else []
            kept += [after.entry / earlier[-1].exit] if after.entry > 0 and earlier[-1].exit > 0 else []
        exits = defined(v.exit for v in earlier)
        best.append(less(max(exits, default=None), after.entry))
    trends = []
    for regime in run.regimes:
        done = [recovery(e[-1], a, asked["recover"]) for e, a in run.pairs if a.regime == regime]
        slope = theil_sen([(k, d[0]) for k, d in enumerate(done) if d and d[0] is not None])
        trends += [-slope] if slope is not None else []
    recoveries = defined(recovery(e[-1], a, asked["recover"]) for e, a in run.pairs)
    reached = [rows for rows, _ in recoveries if rows is not None]
    gaps = []
    for earlier, after in run.pairs:
        early = trailing(after.r[: max(after.w, math.ceil(after.n / 5))], after.w)
        gaps.append(less(earlier[-1].exit, min(early, default=None)))
    return {
        "forgetting": forgetting,
        "forgetting_macro": mean(defined(own)),
        "bwt": None if forgetting is None else -forgetting,
        "rem": 1 - abs(min(mean(bounded), 0.0)) if bounded else None,
        "bwt_plus": None if forgetting is None else max(-forgetting, 0.0),
        "forgetting_max": mean(defined(best)),
        "forgetting_norm": mean(normed),
        "retention": mean(kept),
        "recovery_rows": statistics.median(reached) if reached else None,
        "recovery_trend": mean(trends),
        "jumpstart": mean(defined(less(a.entry, e[0].entry) for e, a in run.pairs)),
        "asymptote_gain": mean(defined(less(a.exit, e[-1].exit) for e, a in run.pairs)),
        "stability_gap": mean(defined(gaps)),
    }


def adaptation(run, asked):
    threshold = asked["threshold"]
    drops = [less(before.exit, after.entry) for before, after in zip(run.visits, run.visits[1:])]
    reached = [] if threshold is None else defined(v.rows_to(threshold) for v in run.visits)
    return {
        "shift_drop": mean(defined(drops)),
        "adaptation_rows": mean(defined(v.adaptation(asked["adapt"]) for v in run.visits[1:])),
        "time_to_threshold": statistics.median(reached) if reached else None,
    }


def levels(run, runs, rewards, by_regime, asked):
    windows = [v.trailing() for v in run.visits if v.n]
    rises, falls = [], []
    for visit in run.visits:
        m = visit.trailing() if visit.n >= 2 * visit.w else []
        if m:
            falls.append(max(max(m[: k + 1]) - m[k] for k in range(len(m))))
            rises.append(max(m[k] - min(m[: k + 1]) for k in range(len(m))))
    reference, best = asked["regret_ref"], {}
    for visit in (v for other in ([run] if reference == "run" else runs) for v in other.visits if v.exit is not None):
        best[visit.regime] = max(best.get(visit.regime, -math.inf), visit.exit)
    best = reference if isinstance(reference, dict) else best
    regrets = [best[v.regime] - r for v in run.visits if v.regime is not None and v.regime in best for r in v.r]
    tail = math.ceil(len(rewards) / 20)
    none = None if not rewards else 0.0
    return {
        "worst_regime": min(by_regime, default=None),
        "worst_window": min((min(m) for m in windows), default=None),
        "cvar05": mean(sorted(rewards)[:tail]),
        "max_drawdown": max(falls, default=none),
        "max_rise": max(rises, default=none),
        "empirical_regret": math.fsum(regrets) if regrets else None,
        "empirical_regret_per_step": mean(regrets),
    }


def plasticity(run, asked):
    firsts = [(order, run.of(regime)[0]) for order, regime in enumerate(run.regimes)]
    slope = lambda points: theil_sen(points) if len(points) >= 3 else None
    return {
        "plasticity_exit_slope": slope([(k, v.exit) for k, v in firsts if v.exit is not None]),
        "plasticity_adapt_slope": slope([(k, v.adaptation(asked["adapt"])) for k, v in firsts if v.exit is not None]),
    }


def scratch(run, baseline, asked):
    """First encounters against learning from scratch, over the common length."""
    out = {name: [] for name in ("auc_diff", "ft_norm", "transfer_ratio", "rel_perf", "sample_eff",
                                 "jumpstart_baseline")}
    for regime in run.regimes:
        first = run.of(regime)[0]
        bases = [next((v for v in other.of(regime) if v.n), None) for other in baseline]
        bases = defined(bases)
        if not bases or not first.n:
            continue
        length = min([first.n] + [base.n for base in bases])
        own = first.r[:length]
        base = [mean(b.r[k] for b in bases) for k in range(length)]
        a, b = mean(own), mean(base)
        out["auc_diff"].append(a - b)
        out["jumpstart_baseline"].append(first.entry - mean(base.entry for base in bases))
        top = asked["bounds"].get(regime, {"max": None})["max"]
        if top is not None and top - b > 0:
            out["ft_norm"].append((a - b) / (top - b))
        if b > 0:
            out["transfer_ratio"].append((a - b) / b)
            out["rel_perf"].append(a / b)
        w = window_of(length, str(asked["window"]))
        tops = []
        for curve in (own, base):
            m = trailing(curve, w)
            tops.append((max(m), m.index(max(m)) + w))
        (sat, at), (sat_base, at_base) = tops
        if sat_base > 0:
            rise = math.fsum((k - (length - 1) / 2) * r for k, r in enumerate(own))
            out["sample_eff"].append(0.0 if rise < 0 or sat < 0.2 * sat_base else sat / sat_base * at_base / at)
    return {name: mean(values) for name, values in out.items()}


def matrix(run, served):
    """R as {checkpoint step: {regime: mean reward}}, in the order of steps; the final bundle last."""
    found = {}
    for other in served:
        if other.identity == run.identity:
            steps = {row.get("checkpoint_step") for row in other.rows}
            step = steps.pop()
            for regime in other.regimes:
                rewards = [r for v in other.of(regime) for r in v.r]
                found.setdefault(math.inf if step is None else step, {}).setdefault(regime, []).extend(rewards)
    rows = {step: {regime: mean(r) for regime, r in found[step].items() if r} for step in sorted(found)}
    return {step: row for step, row in rows.items() if row}


def frozen(run, runs, served):
    names = ("average_performance", "forgetting_frozen", "bwt_frozen", "isolated_forgetting", "zero_shot_transfer")
    r = matrix(run, served)
    if not r:
        return dict.fromkeys(names)
    steps, end = list(r), r[max(r)]
    labelled = [v for v in run.visits if v.regime is not None]
    drops, changes, falls, rises = [], [], [], []
    for regime in run.regimes:
        exit = run.of(regime)[-1].exit
        if regime != labelled[-1].regime and regime in end and exit is not None:
            drops.append(exit - end[regime])
        begin, learned = (run.of(regime)[0].rows[k]["step"] for k in (0, -1))
        after = [step for step in steps if step >= learned]
        if after and after[0] != steps[-1] and regime in r[after[0]] and regime in end:
            changes.append(end[regime] - r[after[0]][regime])
        scale = max((abs(row[regime]) for other in runs for row in matrix(other, served).values() if regime in row),
                    default=0)
        for one, two in zip(steps, steps[1:]):
            if regime in r[one] and regime in r[two] and scale > 0:
                if after and two > after[0]:
                    falls.append((r[one][regime] - r[two][regime]) / scale)
                if two < begin:
                    rises.append((r[two][regime] - r[one][regime]) / scale)
    return dict(zip(names, (mean(end.values()), mean(drops), mean(changes), mean(falls), mean(rises))))


def rank(run):
    measured = [(row["step"], row["effective_rank"]) for row in run.rows if row["effective_rank"] is not None]
    w = math.ceil(len(measured) / 10)
    first, last = mean(r for _, r in measured[:w]), mean(r for _, r in measured[len(measured) - w :])
    return {
        "erank_first": first,
        "erank_last": last,
        "erank_change": None if first is None else last / first - 1,
        "erank_slope": theil_sen(measured),
        "erank_coverage": len(measured) / len(run.rows),
    }


def residuals(run):
    rows = [row for row in run.rows if row["reward_components"] and math.isfinite(row["reward"])]
    off = [(row["reward"], abs(row["reward"] - math.fsum(row["reward_components"].values()))) for row in rows]
    far = [residual > 1e-6 * max(1.0, abs(reward)) for reward, residual in off]
    return {
        "residual_max": max((residual for _, residual in off), default=None),
        "residual_frac": mean(map(float, far)),
    }


def times(run):
    at = [datetime.datetime.fromisoformat(row["observed_at"]) for row in run.rows if row["observed_at"] is not None]
    if not at or len({time.tzinfo is None for time in at}) > 1:
        return {"span_s": None, "steps_per_s": None}
    span = (max(at) - min(at)).total_seconds()
    return {"span_s": span, "steps_per_s": (len(at) - 1) / span if span > 0 else None}


def components(run):
    names = list(dict.fromkeys(name for row in run.rows for name in row["reward_components"]))
    total = math.fsum(abs(x) for row in run.rows for x in row["reward_components"].values())
    out = {}
    for name in names:
        values = [row["reward_components"].get(name, 0.0) for row in run.rows]
        level = lambda visit: mean(row["reward_components"].get(name, 0.0) for row in visit.rows)
        out[name] = {
            "mean": mean(values),
            "share": math.fsum(map(abs, values)) / total if total > 0 else None,
            "coverage": mean(float(name in row["reward_components"]) for row in run.rows),
            "delta": [level(after) - level(before) for before, after in zip(run.visits, run.visits[1:])],
            "pair_delta": [level(after) - level(earlier[-1]) for earlier, after in run.pairs],
        }
    return out


def summary(values):
    """Across runs, all but the bootstrap interval."""
    values = sorted(values)
    trim = len(values) // 4
    return {
        "mean": mean(values),
        "sd": statistics.stdev(values) if len(values) > 1 else None,
        "median": statistics.median(values) if values else None,
        "iqm": mean(values[trim : len(values) - trim]),
        "min": min(values, default=None),
        "max": max(values, default=None),
        "n": len(values),
    }


def interval(values, reps=2000, confidence=0.95):
    """Percentile bootstrap of the mean of sorted values (so that the order of files tells
    nothing); SplitMix64 from state 0, index by multiply-shift."""
    if len(values) < 2:
        return None
    if values[0] == values[-1]:
        return [values[0], values[0]]
    mask, state, means = (1 << 64) - 1, 0, []
    for _ in range(reps):
        sample = []
        for _ in values:
            state = (state + 0x9E3779B97F4A7C15) & mask
            z = state
            z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
            z ^= z >> 31
            sample.append(values[(z * len(values)) >> 64])
        means.append(mean(sample))
    means.sort()
    ends = []
    for share in ((1 - confidence) / 2, 1 - (1 - confidence) / 2):
        position = share * (reps - 1)
        below = math.floor(position)
        above = min(below + 1, reps - 1)
        ends.append(means[below] + (position - below) * (means[above] - means[below]))
    return ends


class Differs(Exception):
    pass


def check(where, found, expected, scale):
    if isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        for index, (a, b) in enumerate(zip(found, expected)):
            check(f"{where}[{index}]", a, b, scale)
        return
    numbers = all(isinstance(x, (int, float)) for x in (found, expected))
    if not (math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12 * scale) if numbers else found == expected):
        raise Differs(f"{where}: the report says {found!r}, the reference {expected!r}")


def compare(runs, report, baseline, served):
    """Differences of levels cancel, so values are compared relative to the trace's scale too."""
    asked = report["settings"]
    check("runs", len(report["runs"]), len(runs), 0)
    groups = {}
    for theirs in report["runs"]:
        run = next(run for run in runs if run.identity == theirs["identity"])
        where = json.dumps(run.identity)
        sizes = [abs(row["reward"]) for row in run.rows if math.isfinite(row["reward"])]
        scale = max(sizes, default=1.0)
        own = metrics(run, runs, asked, baseline, served)
        check(f"{where} metrics", sorted(theirs["metrics"]), sorted(own), 0)
        for name, value in own.items():
            entry = theirs["metrics"][name]
            total = name in ("total_reward", "empirical_regret")
            check(f"{where} {name}", entry["value"], value, scale * (len(run.rows) if total else 1))
            if value is None and not entry.get("reason"):
                raise Differs(f"{where} {name}: null without a reason")
        parts = {part["name"]: part for part in theirs["components"]}
        ours = components(run)
        check(f"{where} components", sorted(parts), sorted(ours), 0)
        for name, values in ours.items():
            for field, value in values.items():
                check(f"{where} component {name} {field}", parts[name][field], value, scale)
        for visit, entry in zip(run.visits, theirs["encounters"], strict=True):
            place = f"{where} encounter at {entry['first_step']}"
            for field, value in (("regime", visit.regime), ("n", visit.n), ("w", visit.w), ("entry", visit.entry),
                                 ("exit", visit.exit), ("mean", mean(visit.r)),
                                 ("adaptation_rows", visit.adaptation(asked["adapt"]))):
                check(f"{place} {field}", entry[field], value, scale)
        for (earlier, after), entry in zip(run.pairs, theirs["pairs"], strict=True):
            rows, censored = recovery(earlier[-1], after, asked["recover"]) or (None, None)
            for field, value in (("forgetting", less(earlier[-1].exit, after.entry)),
                                 ("recovery_rows", rows), ("censored_at", censored)):
                check(f"{where} pair of {after.regime} {field}", entry[field], value, scale)
        key = {name: run.identity[name] for name in ("policy_id", "task", "algorithm_id") if name in run.identity}
        groups.setdefault(json.dumps(key, sort_keys=True), []).append(theirs)
    check("groups", len(report["groups"]), len(groups), 0)
    for theirs, members in zip(report["groups"], groups.values()):
        for name, found in theirs["metrics"].items():
            values = defined(member["metrics"][name]["value"] for member in members)
            scale = max(map(abs, values), default=0.0)
            for field, value in summary(values).items():
                check(f"group {theirs['key']} {name} {field}", found[field], value, scale)
            if name in BOOTSTRAPPED:
                check(f"group {theirs['key']} {name} ci", found["ci"], interval(sorted(values)), scale)
            check(f"group {theirs['key']} {name} n_missing", found["n_missing"], len(members) - len(values), 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compare", action="store_true", help="check REPORT against the reference")
    parser.add_argument("trace")
    parser.add_argument("report", nargs="?")
    parser.add_argument("--window", default="10%")
    parser.add_argument("--threshold", type=float)
    parser.add_argument("--baseline", nargs="+", default=[])
    parser.add_argument("--frozen", nargs="+", default=[])
    options = parser.parse_args()
    if options.compare != (options.report is not None):
        parser.error("--compare needs TRACE and REPORT.json; without it there is TRACE only")
    asked = {"window": options.window, "threshold": options.threshold, "recover": 0.95, "adapt": 0.9, "bounds": {},
             "regret_ref": "set"}
    if options.compare:
        def refuse(token):
            raise Differs(f"{token} is not strict JSON")
        with open(options.report, encoding="utf-8") as file:
            try:
                report = json.load(file, parse_constant=refuse)
            except Differs as differs:
                sys.exit(str(differs))
        asked = report["settings"]
    window = str(asked["window"])
    runs, baseline = read(options.trace, window), read_all(options.baseline, window)
    served = read_all(options.frozen, window)
    if not options.compare:
        tree = [{"identity": run.identity, "metrics": metrics(run, runs, asked, baseline, served),
                 "components": components(run)} for run in runs]
        print(json.dumps({"runs": tree}, indent=1))
        return
    try:
        compare(runs, report, baseline, served)
    except Differs as differs:
        sys.exit(str(differs))


if __name__ == "__main__":
    main()
