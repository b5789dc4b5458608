//! How rows group into runs: G1-G6.

use skyfall::trace::{ReadOptions, Restart};
use skyfall::value::Value;

use super::{directory, read, read_all, told};

fn rows(identity: &str, steps: impl IntoIterator<Item = i64>) -> Vec<u8> {
    steps
        .into_iter()
        .map(|step| format!("{{{identity}\"step\": {step}, \"reward\": {step}.5}}\n"))
        .collect::<String>()
        .into_bytes()
}

#[test]
fn g1_numbers_by_value_and_apart_from_text() {
    let columns = read(concat!(
        "{\"seed\": 3, \"step\": 0, \"reward\": 1}\n{\"seed\": 3.0, \"step\": 1, \"reward\": 1, \"task\": null}\n",
        "{\"seed\": \"3\", \"step\": 0, \"reward\": 1}\n{\"seed\": 18446744073709551617, \"step\": 0, \"reward\": 1}\n",
        "{\"seed\": 18446744073709551616, \"step\": 0, \"reward\": 1}\n{\"task\": \"3\", \"step\": 0, \"reward\": 1}\n",
    ));
    let seeds: Vec<_> =
        columns.runs.iter().map(|run| (run.identity.fields.get("seed").cloned(), run.step.len())).collect();
    assert_eq!(
        seeds,
        [
            (Some(Value::Int(3)), 2),
            (Some("3".into()), 1),
            (Some(Value::BigInt("18446744073709551617".into())), 1),
            (Some(Value::BigInt("18446744073709551616".into())), 1),
            (None, 1),
        ]
    );
    assert_eq!(told(&columns), ["mixed_identity - 1"]);
}

#[test]
fn g2_anonymous_rows_are_one_run_a_file_and_runs_may_interleave() {
    let mixed = "{\"step\": 0, \"reward\": 1}\n{\"run_id\": \"a\", \"step\": 0, \"reward\": 2}\n{\"step\": 1, \"reward\": 3}\n{\"run_id\": \"a\", \"step\": 1, \"reward\": 4}\n";
    let files = directory([("a.jsonl", mixed.into()), ("b.jsonl", rows("", 5..7))]);
    let columns = read_all(&files, &ReadOptions::default()).unwrap();
    let runs: Vec<_> = columns.runs.iter().map(|run| (run.identity.file.as_deref(), run.reward.clone())).collect();
    assert_eq!(runs, [(Some("a.jsonl"), vec![1.0, 3.0]), (None, vec![2.0, 4.0]), (Some("b.jsonl"), vec![5.5, 6.5])]);
    assert_eq!(told(&columns), [""; 0]);
}

#[test]
fn g3_continuations_join_and_namesakes_stay_apart() {
    let files = directory([
        ("1.jsonl", rows("\"run_id\": \"a\", ", 10..13)),
        ("2.jsonl", rows("\"run_id\": \"a\", ", 0..10)),
        ("3.jsonl", rows("\"run_id\": \"b\", ", 0..5)),
        ("4.jsonl", rows("\"run_id\": \"b\", \"x\": 1, ", 4..6)),
    ]);
    let columns = read_all(&files, &ReadOptions::default()).unwrap();
    let runs: Vec<_> =
        columns.runs.iter().map(|run| (run.identity.file.as_deref(), run.files.clone(), run.step.len())).collect();
    assert_eq!(
        runs,
        [
            (None, vec!["2.jsonl".to_owned(), "1.jsonl".to_owned()], 13),
            (Some("3.jsonl"), vec!["3.jsonl".to_owned()], 5),
            (Some("4.jsonl"), vec!["4.jsonl".to_owned()], 2),
        ]
    );
    assert_eq!(columns.runs[0].step, (0..13).collect::<Vec<i64>>());
    assert_eq!(told(&columns), ["identity_collision - 1"]);
    let message = &columns.warnings[0].message;
    assert!(message.contains("3.jsonl") && message.contains("4.jsonl") && message.contains("--frozen"), "{message}");
}

#[test]
#[cfg(unix)]
fn g4_a_file_is_read_once() {
    let text = rows("\"run_id\": \"a\", ", 0..3);
    let mut gzip = flate2_bytes(&text);
    gzip.extend(flate2_bytes(b""));
    let files = directory([("a.jsonl", text.clone()), ("a.jsonl.gz", gzip), ("deep/copy.jsonl", text)]);
    std::os::unix::fs::symlink(files.path().join("a.jsonl"), files.path().join("link.jsonl")).unwrap();
    std::os::unix::fs::symlink(files.path(), files.path().join("deep/round")).unwrap();
    let columns = read_all(&files, &ReadOptions::default()).unwrap();
    assert_eq!(columns.runs.len(), 1);
    assert_eq!(columns.runs[0].step.len(), 3);
    assert_eq!(columns.inputs.iter().map(|input| input.path.as_str()).collect::<Vec<_>>(), ["a.jsonl"]);
    let named: Vec<_> =
        columns.warnings.iter().map(|warning| (warning.code, warning.file.as_deref().unwrap())).collect();
    assert_eq!(
        named,
        [("duplicate_file", "link.jsonl"), ("duplicate_file", "a.jsonl.gz"), ("duplicate_file", "deep/copy.jsonl")]
    );
}

fn flate2_bytes(bytes: &[u8]) -> Vec<u8> {
    super::streams::gzip(bytes)
}

#[test]
fn g5_steps_that_go_back_or_repeat() {
    let text = rows("", [0, 1, 2, 3, 2, 3, 4, 4, 1, 2]);
    let columns = read(&text);
    assert_eq!(columns.runs[0].step, [0, 1, 2, 3, 2, 3, 4, 4, 1, 2]);
    assert_eq!(told(&columns), ["repeated_rows 8 1", "non_monotonic - 2", "repeated_steps - 1"]);
    assert!(columns.warnings[1].message.contains("step 2 follows step 3"), "{}", columns.warnings[1].message);

    let supersede = ReadOptions { on_restart: Restart::Supersede, ..ReadOptions::default() };
    let columns = read_all(&directory([("t.jsonl", text)]), &supersede).unwrap();
    assert_eq!(columns.runs[0].step, [0, 1, 2]);
    assert_eq!(columns.runs[0].reward, [0.5, 1.5, 2.5]);
    assert!(told(&columns).contains(&"superseded - 1".to_owned()), "{:?}", told(&columns));
}

#[test]
fn g6_gaps_are_legal() {
    assert_eq!(told(&read(rows("", [0, 10, 20, 1000]))), [""; 0]);
}

#[test]
fn directories_are_walked_in_order_and_hidden_names_skipped() {
    let files = directory([
        ("b/x.jsonl", rows("\"run_id\": 1, ", 0..1)),
        ("a.jsonl", rows("\"run_id\": 2, ", 0..1)),
        (".hidden.jsonl", rows("\"run_id\": 3, ", 0..1)),
        (".d/x.jsonl", rows("\"run_id\": 4, ", 0..1)),
        ("notes.json", b"{}".to_vec()),
    ]);
    let columns = read_all(&files, &ReadOptions::default()).unwrap();
    assert_eq!(columns.inputs.iter().map(|input| input.path.as_str()).collect::<Vec<_>>(), ["a.jsonl", "b/x.jsonl"]);
    assert_eq!(columns.runs.len(), 2);
}
