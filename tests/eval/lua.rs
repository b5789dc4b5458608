//! `skyfall.eval` from Lua: the same tree, reports, metrics of the user's own.

use super::data;
use crate::command::Scratch;

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    std::fs::copy(data("gold1.jsonl"), scratch.file("gold.jsonl")).unwrap();
    scratch
}

#[test]
fn options_are_the_flags() {
    let ran = scratch().script(
        r#"
        local eval = require "skyfall.eval"
        local tree = eval.traces("gold.jsonl", {
          window = 2, threshold = 0.5, regime = "calm", skip_null = true, group_by = { "run_id" },
          bounds = { calm = { min = 0, max = 1 } }, metric = { "forgetting", "rem", "time_to_threshold" },
        })
        local metrics = tree.runs[1].metrics
        print(metrics.forgetting.value, metrics.rem.value, metrics.time_to_threshold.value, metrics.bwt)
        print(tree.groups[1].key.run_id, tree.settings.bounds.calm.max)
        "#,
    );
    assert_eq!(ran.ok().stdout, "0.3\t0.7\t2.5\tnil\ng1\t1.0\n");
}

#[test]
fn what_is_wrong_is_named() {
    for (call, words) in [
        ("eval.traces('gold.jsonl', { windw = 2 })", "unknown option `windw`"),
        ("eval.traces('gold.jsonl', { until_frac = 2 })", "`until_frac` must be a fraction of the run"),
        ("eval.traces('gold.jsonl', { also = 3 })", "`also` must be a list of metrics"),
        ("eval.traces('gold.jsonl', { also = { { name = 'x' } } })", "`also[1].fn` must be a function"),
        ("eval.traces('gold.jsonl', { bounds = 'none.json' })", "none.json"),
        ("eval.traces('gold.jsonl', { baseline = '/etc' })", "/etc"),
        ("eval.report('gold.jsonl', 'report')", "`format`, or else the ending of `file`"),
        ("eval.traces('gold.jsonl', { also = { eval.metric('bwt', print) } })", "there is a metric `bwt` already"),
        ("eval.traces('gold.jsonl', { also = { eval.metric('a b', print) } })", "letters, digits and _"),
        (
            "eval.traces('gold.jsonl', { also = { eval.metric('x', function() error('no') end) } })",
            "metric `x` on g1 seed=3 steady",
        ),
        ("eval.traces('gold.jsonl', { also = { eval.metric('x', function() return 'y' end) } })", "must be a number"),
    ] {
        scratch().script(&format!("local eval = require 'skyfall.eval'\n{call}")).failed(1, &["script.lua:2", words]);
    }
}

#[test]
fn metrics_of_ones_own_stand_beside_the_others() {
    let scratch = scratch();
    let ran = scratch.script(
        r#"
        local eval = require "skyfall.eval"
        local peak = eval.metric("peak", function(run)
          local best
          for _, visit in ipairs(run.encounters) do
            for i = 1, #visit.rewards do
              if not best or visit.rewards[i] > best then best = visit.rewards[i] end
            end
          end
          return best, #run.encounters
        end, { unit = "reward", direction = "higher", about = "The greatest reward." })
        local never = eval.metric("never", function(run) return nil, "too_early" end)
        local twice = eval.metric("twice", function(run) return 2 * run.metrics.forgetting end)
        local also = { peak, never, twice }
        local tree = eval.traces("gold.jsonl", { window = 2, also = also, fail_if = "peak>0.5" })
        local own = tree.runs[1].metrics
        print(own.peak.value, own.peak.n, own.peak.unit, own.peak.direction)
        print(own.never.value, own.never.reason, own.twice.value, own.twice.n)
        print(tree.groups[1].metrics.peak.mean, tree.conditions[1].holds)
        for _, file in ipairs { "r.html", "r.md", "r.json", "r.csv", "r.txt" } do
          eval.report("gold.jsonl", file, { window = 2, also = also })
        end
        eval.report("gold.jsonl", "tables", { format = "csv", also = also })
        "#,
    );
    assert_eq!(ran.ok().stdout, "0.9\t3\treward\thigher\nnil\ttoo_early\t0.6\t3\n0.9\ttrue\n");
    for file in ["r.html", "r.md", "r.json", "r.csv", "r.txt", "tables/groups.csv"] {
        assert!(scratch.read(file).contains("peak"), "{file}");
    }
}

#[test]
fn the_command_takes_metrics_from_a_file() {
    let scratch = scratch();
    scratch.write(
        "mine.lua",
        r#"
        local eval = require "skyfall.eval"
        return {
          eval.metric("visits", function(run) return #run.encounters end, { unit = "count", direction = "higher" }),
          eval.metric("never", function(run) return nil, "too_early" end),
        }
        "#,
    );
    let eval =
        |more: &[&str]| scratch.skyfall(&[&["eval", "--traces", "gold.jsonl", "--metrics", "mine.lua"], more].concat());
    let text = eval(&[]).ok().stdout;
    assert!(text.contains("visits") && text.contains("too_early"), "{text}");
    let json = eval(&["--format", "json"]).ok().stdout;
    assert!(json.contains(r#""visits": {"value": 3.0, "n": 3, "unit": "count", "direction": "higher"}"#), "{json}");
    eval(&["--fail-if", "visits>2"]).failed(1, &["fail-if visits>2 holds"]);
    eval(&["--metric", "vists"]).failed(2, &["vists", "visits"]);
}

#[test]
fn a_file_of_metrics_is_a_sandboxed_script() {
    let scratch = scratch();
    for (code, words) in [
        ("return 3", "`return` must be a list of metrics, got"),
        ("return { { name = 'x' } }", "`return[1].fn` must be a function"),
        ("error('no')", "no\n  --> mine.lua:1"),
        ("io.open('/etc/passwd')", "/etc/passwd"),
        ("os.exit(4)", "the script ended with code 4"),
        ("return { { name = 'x', fn = function() error('why') end } }", "why"),
    ] {
        scratch.write("mine.lua", code);
        let ran = scratch.skyfall(&["eval", "--traces", "gold.jsonl", "--metrics", "mine.lua"]);
        assert!(ran.code != 0 && ran.code != 70, "{code}: {}", ran.code);
        assert!(ran.stderr.contains(words), "{code}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{code}");
    }
    scratch.skyfall(&["eval", "--traces", "gold.jsonl", "--metrics", "none.lua"]).failed(3, &["none.lua"]);
}
