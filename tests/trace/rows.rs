//! Whole rows: what is written comes back, and what comes back may be written again.

use proptest::prelude::*;
use skyfall::text::json;
use skyfall::trace::{ReadOptions, Row, Run, TraceError, Writer, WriterOptions, load, load_with, rows};
use skyfall::value::{Map, Value};

use super::{data, directory};

/// Writes a run as it was loaded.
fn rewrite(run: &Run) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.jsonl");
    let mut meta = run.meta.clone();
    meta.extend(run.identity.as_written().map(|(key, value)| (key.to_owned(), value.clone())));
    let mut writer = Writer::create(&path, &meta, WriterOptions::default()).unwrap();
    run.steps.iter().for_each(|row| writer.write(row).unwrap());
    writer.close().unwrap();
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_sample_row_comes_back_byte_for_byte() {
    let runs = load(&[data("sample.jsonl")]).unwrap();
    let [run] = runs.as_slice() else { panic!("{runs:?}") };
    assert_eq!((&run.identity.fields["run_id"], &run.identity.fields["seed"]), (&"example".into(), &Value::Int(3)));
    assert_eq!((run.steps.len(), run.steps[0].step, run.steps[0].reward), (1, 17, 0.62));
    assert_eq!(rewrite(run), std::fs::read_to_string(data("sample.jsonl")).unwrap());
}

#[test]
fn unknown_fields_survive() {
    let text = concat!(
        r#"{"seed": 18446744073709551616, "host": "h\u00e9", "step": 0, "regime_id": null, "regime_origin": null, "#,
        r#""observed_at": null, "action": {"index": 1}, "reward": NaN, "reward_components": {}, "#,
        r#""reward_detail": {"a": {"b": -Infinity}}, "invalid_action": true, "effective_rank": 3.5, "#,
        r#""ticket_snapshot": {"t": []}, "verifier_snapshot": {}, "observation": [1, 2.0], "terminated": false}"#,
        "\n",
        r#"{"seed": 18446744073709551616, "host": "h\u00e9", "step": 1, "regime_id": "\ud83d\ude00", "regime_origin": "", "#,
        r#""observed_at": "now", "action": null, "reward": -0.0, "reward_components": {"z": 1e-05, "a": 2.0}, "#,
        r#""reward_detail": {}, "invalid_action": false, "effective_rank": null, "#,
        r#""ticket_snapshot": {}, "verifier_snapshot": {"v": {"x": null}}, "observation": [2, 2.0], "terminated": true}"#,
        "\n",
    );
    let runs = load(&[directory([("t.jsonl", text.into())]).path().to_owned()]).unwrap();
    assert_eq!(runs[0].meta.keys().collect::<Vec<_>>(), ["host"]);
    assert_eq!(rewrite(&runs[0]), text);
}

#[test]
fn identity_numbers_keep_their_text() {
    for seed in ["3.0", "3", "-0.0", "1e+22", "18446744073709551616", "0.1", "\"3.0\""] {
        let row = Row { step: 1, reward: 0.5, ..Row::default() };
        let plain = rewrite(&Run { steps: vec![row], ..Run::default() });
        let text = plain.replacen('{', &format!("{{\"seed\": {seed}, "), 1);
        let files = directory([("t.jsonl", text.clone().into())]);
        assert_eq!(rewrite(&load(&[files.path().to_owned()]).unwrap()[0]), text);
        let entry = rows(files.path().join("t.jsonl")).unwrap().next().unwrap().unwrap();
        assert_eq!(entry.identity.as_written().map(|(_, value)| json::to_string(value)).collect::<Vec<_>>(), [seed]);
    }
}

#[test]
fn a_key_that_changes_late_is_no_metadata() {
    let text = "{\"k\": 1, \"step\": 0, \"reward\": 1, \"e\": 1}\n{\"k\": 1, \"step\": 1, \"reward\": 1}\n{\"k\": 2, \"step\": 2, \"reward\": 1}\n";
    let runs = load(&[directory([("t.jsonl", text.into())]).path().to_owned()]).unwrap();
    assert!(runs[0].meta.is_empty());
    let column = |key: &str| runs[0].steps.iter().map(|row| row.extra.get(key).cloned()).collect::<Vec<_>>();
    assert_eq!(column("k"), [Some(1.into()), Some(1.into()), Some(2.into())]);
    assert_eq!(column("e"), [Some(1.into()), None, None]);
}

#[test]
fn rows_stream_with_their_run_and_line() {
    let text = "\u{feff}{\"run_id\": \"a\", \"note\": 1, \"step\": 0, \"reward\": 1}\r\n\nx\n{\"run_id\": \"b\", \"step\": 0, \"reward\": null, \"extra\": 2}\n{\"step";
    let directory = directory([("t.jsonl", text.into())]);
    let mut stream = rows(directory.path().join("t.jsonl")).unwrap();
    let entries: Vec<_> = (&mut stream).map(Result::unwrap).collect();
    let seen: Vec<_> = entries
        .iter()
        .map(|entry| {
            (entry.line, entry.identity.fields["run_id"].as_text().unwrap(), entry.meta.len(), entry.row.extra.len())
        })
        .collect();
    assert_eq!(seen, [(1, "a", 1, 0), (4, "b", 0, 1)]);
    assert!(entries[1].row.reward.is_nan());
    let warnings: Vec<_> = stream.warnings().into_iter().map(|warning| (warning.code, warning.line)).collect();
    assert_eq!(warnings, [("bad_line", Some(3)), ("truncated_tail", Some(5))]);
    assert!(matches!(rows("no/such.jsonl"), Err(TraceError::Read { .. })));
}

#[test]
fn loading_groups_like_columns_and_tells_what_is_odd() {
    let row =
        |run: &str, step: i64| format!("{{\"run_id\": \"{run}\", \"host\": 1, \"step\": {step}, \"reward\": 1}}\n");
    let files = directory([
        ("1.jsonl", (row("a", 5) + &row("b", 0)).into()),
        ("2.jsonl", (row("a", 0) + &row("b", 0) + "x\n{}\n").into()),
        ("3.jsonl", (row("a", 5) + &row("b", 0)).into()),
    ]);
    let loaded = load_with(&[files.path().to_owned()], &ReadOptions::default()).unwrap();
    let steps: Vec<Vec<i64>> = loaded.runs.iter().map(|run| run.steps.iter().map(|row| row.step).collect()).collect();
    assert_eq!(steps, [vec![0, 5], vec![0], vec![0]]);
    assert_eq!(loaded.runs[0].meta["host"], Value::Int(1));
    let codes: Vec<_> = loaded.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, ["bad_line", "bad_line", "duplicate_file", "identity_collision"]);
    let strict = ReadOptions { strict: true, ..ReadOptions::default() };
    assert!(matches!(load_with(&[files.path().to_owned()], &strict), Err(TraceError::Strict { .. })));
}

fn plain_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<f64>().prop_filter("NaN is not equal to itself", |value| !value.is_nan()).prop_map(Value::Float),
        ".{0,6}".prop_map(Value::Text),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            plain_map(inner).prop_map(Value::Map),
        ]
    })
}

fn plain_map(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map> {
    prop::collection::btree_map(".{0,4}", value, 0..4).prop_map(Map::from_iter)
}

prop_compose! {
    fn any_row()(
        (step, reward, invalid_action) in (any::<i64>(), any::<f64>().prop_filter("not NaN", |value| !value.is_nan()), any::<bool>()),
        texts in prop::collection::vec(prop::option::of(".{0,8}"), 3),
        action in prop::option::of(plain_map(plain_value())),
        components in prop::collection::vec((".{0,4}", -1e9..1e9), 0..4),
        rank in prop::option::of(any::<f64>().prop_filter("not NaN", |value| !value.is_nan())),
        (detail, ticket, verifier) in (plain_map(plain_value()), plain_map(plain_value()), plain_map(plain_value())),
        extra in prop::collection::btree_map("x[a-z]{0,3}", plain_value(), 0..3),
    ) -> Row {
        let [regime_id, regime_origin, observed_at] = texts.try_into().unwrap();
        Row {
            step, regime_id, regime_origin, observed_at, action: action.map(Value::Map), reward,
            reward_components: components.into_iter().collect(), reward_detail: detail, invalid_action,
            effective_rank: rank, ticket_snapshot: ticket, verifier_snapshot: verifier, extra: extra.into_iter().collect(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_row_is_read_as_it_was_written(row in any_row()) {
        let directory = tempfile::tempdir().unwrap();
        for name in ["t.jsonl", "t.jsonl.gz", "t.jsonl.zst"] {
            let path = directory.path().join(name);
            let mut writer = Writer::create(&path, &Map::new(), WriterOptions::default()).unwrap();
            writer.write(&row).unwrap();
            writer.close().unwrap();
            let read: Vec<_> = rows(&path).unwrap().map(|entry| entry.unwrap().row).collect();
            prop_assert_eq!(&read, std::slice::from_ref(&row), "{}", name);
        }
    }

    #[test]
    fn arbitrary_lines_are_rows_for_both_readers_or_for_none(line in "[{}\\[\\]:, \"a-z0-9.\\-\\\\]{0,40}") {
        for text in [line.clone(), format!("{{\"step\": 1, \"reward\": 2, {line}}}"), format!("{{\"step\": 1, \"reward\": {line}}}")] {
            let files = directory([("t.jsonl", text.clone().into_bytes())]);
            let columns = super::read_all(&files, &ReadOptions::default()).unwrap();
            let whole = rows(files.path().join("t.jsonl")).unwrap().count() as u64;
            prop_assert_eq!(columns.inputs[0].rows, whole, "{}", text);
        }
    }
}
