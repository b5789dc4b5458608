//! `skyfall trace check`, `stats` and `cat`.

use crate::command::Scratch;

const ODD: &str = concat!(
    "{\"run_id\": \"a\", \"seed\": 3, \"host\": \"h\", \"step\": 0, \"regime_id\": \"calm\", \"reward\": 1.0, \"reward_components\": {\"up\": 0.5, \"mid\": 0.5}, \"action\": {\"index\": 1}, \"invalid_action\": true}\n",
    "{\"run_id\": \"a\", \"seed\": 3, \"host\": \"h\", \"step\": 1, \"regime_id\": \"windy\", \"reward\": NaN, \"effective_rank\": 4, \"reward_components\": {\"up\": 0.25}}\n",
    "not a row\n",
    "{\"run_id\": \"a\", \"seed\": 3, \"host\": \"h\", \"step\": 2, \"regime_id\": \"calm\", \"reward\": 3.0, \"note\": \"x, \\\"y\\\"\"}\n",
    "{\"run_id\": \"b\", \"step\": 0, \"reward\": -1, \"effective_rank\": 0}\n",
    "{\"run_id\": \"b\", \"step\": 1, \"rew",
);

fn odd() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("t.jsonl", ODD);
    scratch
}

#[test]
fn check_tells_every_fault_with_its_place_and_fails_where_rows_are_lost() {
    let ran = odd().skyfall(&["trace", "check", "t.jsonl"]);
    assert_eq!(ran.code, 1);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[0].starts_with("t.jsonl:2: `reward` is not a finite number; the row counts"), "{}", ran.stdout);
    assert!(lines[1].starts_with("t.jsonl:3: not JSON") && lines[1].ends_with("[bad_line]"), "{}", ran.stdout);
    assert!(lines[2].starts_with("t.jsonl:5: ") && lines[2].ends_with("it is left out [bad_rank]"), "{}", ran.stdout);
    assert!(lines[3].starts_with("t.jsonl:6: ") && lines[3].ends_with("[truncated_tail]"), "{}", ran.stdout);
    assert_eq!(lines[4], "1 file(s), 2 run(s), 4 row(s), 2 line(s) lost");

    let json = odd().skyfall(&["trace", "check", "--json", "t.jsonl"]).stdout;
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    let counts = ["files", "runs", "rows", "skipped"].map(|key| found[key].as_i64());
    assert_eq!(counts, [Some(1), Some(2), Some(4), Some(2)], "{found}");
    let faults = found["warnings"].as_array().unwrap();
    assert_eq!((faults.len(), &faults[1]["line"], &faults[1]["code"]), (4, &3.into(), &"bad_line".into()));
}

#[test]
fn check_is_content_with_what_loses_nothing_and_strict_is_not_with_lost_values() {
    let scratch = Scratch::new();
    scratch.write("rank.jsonl", "{\"step\": 0, \"reward\": NaN, \"effective_rank\": 0}\n");
    scratch.skyfall(&["trace", "check", "rank.jsonl"]).ok();
    assert_eq!(scratch.skyfall(&["trace", "check", "--strict", "rank.jsonl"]).code, 1);
    scratch.write("nan.jsonl", "{\"step\": 0, \"reward\": NaN}\n");
    scratch.skyfall(&["trace", "check", "--strict", "nan.jsonl"]).ok();
    scratch.write("empty.jsonl", "\n");
    assert_eq!(scratch.skyfall(&["trace", "check", "empty.jsonl"]).code, 1);
    scratch.skyfall(&["trace", "check", "none.jsonl"]).failed(3, &["none.jsonl"]);
}

#[test]
fn stats_sum_up_runs_regimes_and_components() {
    let scratch = odd();
    let ran = scratch.skyfall(&["trace", "stats", "t.jsonl"]).ok();
    for line in [
        "1 file(s), 2 run(s), 4 row(s)",
        "run_id=a seed=3",
        "  rows 3, steps 0 to 2, segments 3",
        "  reward mean 2.0000, 1.0000 to 3.0000",
        "  rewards that are not finite 1",
        "  invalid actions 1 (33.3%)",
        "  effective rank mean 4.0000, 4.0000 to 4.0000, measured in 1 row(s)",
        "  metadata host=\"h\"",
        "  further keys note",
        "  calm    2         2     mean 2.0000, 1.0000 to 3.0000",
        "  up         2     mean 0.3750, 0.2500 to 0.5000",
        "  (unlabelled)  1         1     mean -1.0000, -1.0000 to -1.0000",
    ] {
        assert!(ran.stdout.lines().any(|printed| printed == line), "{line}\n{}", ran.stdout);
    }
    assert!(ran.stderr.contains("t.jsonl:3: "), "{}", ran.stderr);
    let json: serde_json::Value =
        serde_json::from_str(&scratch.skyfall(&["trace", "stats", "--json", "t.jsonl"]).ok().stdout).unwrap();
    let run = &json["runs"][0];
    assert_eq!((&run["n_segments"], &run["segments"][1]["regime_id"]), (&3.into(), &"windy".into()));
    assert_eq!((&run["components"]["mid"]["n"], &run["regimes"][0]["reward"]["mean"]), (&1.into(), &2.0.into()));
    scratch.skyfall(&["trace", "stats", "--strict", "t.jsonl"]).failed(3, &["t.jsonl:3: not JSON"]);
}

#[test]
fn cat_hands_on_rows_byte_for_byte() {
    let scratch = odd();
    let whole = scratch.skyfall(&["trace", "cat", "t.jsonl"]).ok();
    let rows: Vec<&str> = ODD.lines().filter(|line| line.contains("reward")).collect();
    assert_eq!(whole.stdout.lines().collect::<Vec<_>>(), rows);
    assert!(whole.stderr.contains("t.jsonl:3: ") && whole.stderr.contains("t.jsonl:6: "), "{}", whole.stderr);
    for (arguments, wanted) in [
        (&["--run", "run_id=b"][..], &[3][..]),
        (&["--run", "seed=3", "--run", "host=h"], &[0, 1, 2]),
        (&["--run", "note=x, \"y\""], &[2]),
        (&["--regime", "windy", "--regime", "calm"], &[0, 1, 2]),
        (&["--from-step", "1", "--until-step", "2"], &[1]),
        (&["--regime", "none"], &[]),
    ] {
        let ran = scratch.skyfall(&[&["trace", "cat", "t.jsonl"], arguments].concat()).ok();
        let expected: Vec<&str> = wanted.iter().map(|row: &usize| rows[*row]).collect();
        assert_eq!(ran.stdout.lines().collect::<Vec<_>>(), expected, "{arguments:?}");
    }
    scratch.skyfall(&["trace", "cat", "t.jsonl", "--run", "seed"]).failed(2, &["KEY=VALUE"]);
    let piped = scratch.skyfall_with_input(&["trace", "cat", "-", "--from-step", "2"], ODD).ok();
    assert_eq!(piped.stdout.lines().collect::<Vec<_>>(), [rows[2]]);
}

#[test]
fn cat_writes_csv_with_a_column_for_each_scalar() {
    let scratch = odd();
    let ran = scratch.skyfall(&["trace", "cat", "t.jsonl", "--format", "csv", "-o", "deep/t.csv"]).ok();
    assert_eq!(ran.stdout, "");
    assert_eq!(
        scratch.read("deep/t.csv").lines().collect::<Vec<_>>(),
        [
            "run_id,seed,host,note,step,regime_id,action.index,reward,reward_components.up,reward_components.mid,invalid_action,effective_rank",
            "a,3,h,,0,calm,1,1.0,0.5,0.5,true,",
            "a,3,h,,1,windy,,NaN,0.25,,false,4.0",
            "a,3,h,\"x, \"\"y\"\"\",2,calm,,3.0,,,false,",
            "b,,,,0,,,-1.0,,,false,0.0",
        ]
    );
    scratch.skyfall_with_input(&["trace", "cat", "-", "--format", "csv"], "").failed(3, &["only once", "save it"]);
    scratch.skyfall(&["trace", "cat", "none.jsonl", "-o", "n.jsonl"]).failed(3, &["none.jsonl"]);
    assert!(!scratch.file("n.jsonl").exists(), "nothing half-written");
}

/// A limit on memory that the system holds the process to, which only Linux counts mappings into.
#[test]
#[cfg(target_os = "linux")]
fn stats_of_any_size_take_less_than_100_mb() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let note = "n".repeat(1500);
    let row = |step: u32| {
        format!(
            "{{\"run_id\": \"a\", \"step\": {step}, \"regime_id\": \"r{}\", \"action\": \"{note}\", \"reward\": {}.5, \"reward_components\": {{\"up\": 0.25}}}}\n",
            step / 20_000 % 3,
            step % 2
        )
    };
    let mut child = Command::new("sh")
        .args([
            "-c",
            "ulimit -d 100000; exec \"$@\"",
            "sh",
            env!("CARGO_BIN_EXE_skyfall"),
            "trace",
            "stats",
            "-",
            "--json",
        ])
        .env("RAYON_NUM_THREADS", "4")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = std::io::BufWriter::with_capacity(1 << 20, child.stdin.take().unwrap());
    let rows = 150_000;
    (0..rows).for_each(|step| input.write_all(row(step).as_bytes()).unwrap());
    drop(input);
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "{:?}", out.status);
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let run = &told["runs"][0];
    assert_eq!((&run["rows"], &run["n_segments"]), (&rows.into(), &8.into()));
    assert_eq!((&run["reward"]["mean"], &run["components"]["up"]["n"]), (&1.0.into(), &rows.into()));
}

#[test]
fn a_key_that_is_nearly_a_fields_name_is_told() {
    let scratch = Scratch::new();
    scratch.write("t.jsonl", "{\"step\": 0, \"reward\": 1, \"runId\": \"a\", \"regime\": \"calm\", \"lr\": 0.1}\n");
    let told = scratch.skyfall(&["trace", "check", "t.jsonl"]).ok().stdout;
    assert!(told.contains("`runId` is no field") && told.contains("did you mean `run_id`?"), "{told}");
    assert!(told.contains("`regime` is no field") && told.contains("did you mean `regime_id`?"), "{told}");
    assert_eq!(told.matches("no field").count(), 2, "{told}");
    // What stands beside the field is the producer's own.
    scratch.write("t.jsonl", "{\"step\": 0, \"reward\": 1, \"regime_id\": \"calm\", \"regime\": 3}\n");
    assert!(!scratch.skyfall(&["trace", "check", "t.jsonl"]).ok().stdout.contains("no field"));
}
