//! How rows are read into columns: P1-P7 and P9.

use skyfall::diagnostic::{Exit, Problem};
use skyfall::trace::columns::{Moment, NO_REGIME};
use skyfall::trace::{ReadOptions, TraceError, read_columns};
use skyfall::value::Value;

use super::{data, directory, read, read_all, told};

/// NaN made comparable.
fn seen(column: &[f64]) -> Vec<Option<f64>> {
    column.iter().map(|value| (!value.is_nan()).then_some(*value)).collect()
}

#[test]
fn every_column_of_the_golden_trace() {
    let columns = read_columns(&[data("gold.jsonl")], &ReadOptions::default()).unwrap();
    let [run] = columns.runs.as_slice() else { panic!("{columns:?}") };
    assert_eq!(columns.warnings, []);
    assert_eq!(columns.inputs[0].rows, 18);
    assert_eq!(columns.inputs[0].sha256, crate::digest::sha256_hex(&std::fs::read(data("gold.jsonl")).unwrap()));
    assert_eq!(run.identity.fields.keys().copied().collect::<Vec<_>>(), ["run_id", "seed", "algorithm_id"]);
    assert_eq!(run.identity.fields["seed"], Value::Int(3));
    assert_eq!(run.step, (0..18).collect::<Vec<i64>>());
    assert_eq!(run.labels, ["calm", "windy", "calm-again"]);
    assert_eq!(run.origins, [None, None, Some("calm".to_owned())]);
    assert_eq!(run.regime, [[0; 6], [1; 6], [2; 6]].concat());
    assert_eq!(run.reward[..3], [0.2, 0.4, 0.6]);
    assert_eq!(run.components.keys().collect::<Vec<_>>(), ["upright", "energy"]);
    assert_eq!(run.components["energy"], [-0.1; 18]);
    assert_eq!(run.invalid_action.iter().filter(|invalid| **invalid).count(), 3);
    assert_eq!(seen(&run.effective_rank)[..2], [Some(12.0), None]);
    assert!(run.meta.is_empty() && run.per_step.is_empty() && run.observed_at.is_empty());
}

#[test]
fn p1_the_least_row_and_rows_that_are_none() {
    let columns =
        read("{\"step\": 0, \"reward\": 0.0}\n{\"step\": 1}\n{\"reward\": 1}\n[1]\n7\n{}\n{\"step\":2,\"reward\":1}\n");
    let run = &columns.runs[0];
    assert_eq!(
        (run.step.clone(), run.reward.clone(), run.regime.clone()),
        (vec![0, 2], vec![0.0, 1.0], vec![NO_REGIME; 2])
    );
    assert_eq!((columns.inputs[0].rows, columns.inputs[0].skipped), (2, 5));
    assert_eq!(told(&columns), ["bad_line 2 3", "bad_line 4 2"]);
    assert!(columns.warnings[0].message.contains("`reward`"), "{}", columns.warnings[0].message);
}

#[test]
fn p2_marks_line_ends_blank_lines_and_long_lines() {
    let row = "{\"step\": 0, \"reward\": 1}";
    let long = format!("{{\"step\": 1, \"reward\": 2, \"note\": \"{}\"}}", "x".repeat(3_000_000));
    let columns = read(format!("\u{feff}{row}\r\n\r\n  \n\t{long} \r\n\n"));
    assert_eq!(columns.runs[0].reward, [1.0, 2.0]);
    assert_eq!(told(&columns), [""; 0]);
    for (bytes, encoding) in
        [(&b"\xff\xfe{\0"[..], "UTF-16LE"), (b"\xfe\xff\0{", "UTF-16BE"), (b"\xff\xfe\0\0{", "UTF-32LE")]
    {
        let error = read_all(&directory([("t.jsonl", bytes.to_vec())]), &ReadOptions::default()).unwrap_err();
        assert_eq!((error.code(), error.exit()), ("trace/encoding", Exit::Input));
        assert!(error.to_string().contains(encoding), "{error}");
    }
}

#[test]
fn p3_rewards_that_are_not_finite_stay_rows() {
    let values =
        ["NaN", "Infinity", "-Infinity", "null", "\"NaN\"", "\"inf\"", "\"-inf\"", "\"Infinity\"", "1e400", "-1e400"];
    let text: String =
        values.iter().enumerate().map(|(step, value)| format!("{{\"step\": {step}, \"reward\": {value}}}\n")).collect();
    let columns = read(format!("{{\"step\": -1, \"reward\": 1}}\n{text}"));
    assert_eq!(columns.runs[0].reward.len(), 11);
    assert!(columns.runs[0].reward[1..].iter().all(|reward| reward.is_nan()));
    assert_eq!(told(&columns), ["nonfinite_reward 2 10"]);
    assert_eq!(columns.warnings[0].step, Some(0));
}

#[test]
fn p4_steps_in_any_spelling_and_types_that_are_wrong() {
    let columns = read(concat!(
        "{\"step\": -0, \"reward\": 1}\n{\"step\": 3.0, \"reward\": 12345678901234567890}\n{\"step\": 1e3, \"reward\": 1}\n",
        "{\"step\": 9007199254740993, \"reward\": 1}\n",
        "{\"step\": 1.5, \"reward\": 1}\n{\"step\": true, \"reward\": 1}\n{\"step\": \"4\", \"reward\": 1}\n",
        "{\"step\": 9223372036854775808, \"reward\": 1}\n{\"step\": 1e400, \"reward\": 1}\n{\"step\": NaN, \"reward\": 1}\n",
        "{\"step\": 5, \"reward\": \"0.5\"}\n{\"step\": 6, \"reward\": false}\n{\"step\": 7, \"reward\": []}\n",
    ));
    assert_eq!(columns.runs[0].step, [0, 3, 1000, 9_007_199_254_740_993]);
    assert_eq!(columns.runs[0].reward[1], 12_345_678_901_234_567_890.0);
    assert_eq!(told(&columns), ["large_step 4 1", "bad_line 5 6", "bad_line 11 3"]);
    assert!(columns.warnings[2].message.contains("`reward` is text"), "{}", columns.warnings[2].message);
}

#[test]
fn p5_other_fields_cost_only_themselves() {
    let columns = read(concat!(
        "{\"step\": 0, \"reward\": 1, \"invalid_action\": 1, \"effective_rank\": 0, \"reward_components\": []}\n",
        "{\"step\": 1, \"reward\": 1, \"invalid_action\": null, \"effective_rank\": null, \"reward_components\": {\"a\": 1, \"b\": null}}\n",
        "{\"step\": 2, \"reward\": 1, \"invalid_action\": true, \"effective_rank\": -1, \"reward_components\": {\"b\": \"x\", \"a\": 2}}\n",
        "{\"step\": 3, \"reward\": 1, \"invalid_action\": \"no\", \"effective_rank\": 3, \"reward_components\": 7, \"regime_id\": [1]}\n",
        "{\"step\": 4, \"reward\": 1, \"invalid_action\": 0, \"effective_rank\": NaN, \"reward_components\": null, \"regime_id\": 3}\n",
    ));
    let run = &columns.runs[0];
    assert_eq!(run.invalid_action, [true, false, true, false, false]);
    assert_eq!(seen(&run.effective_rank), [None, None, None, Some(3.0), None]);
    assert_eq!(run.components.keys().collect::<Vec<_>>(), ["a"]);
    assert_eq!(seen(&run.components["a"]), [None, Some(1.0), Some(2.0), None, None]);
    assert_eq!((&run.labels, run.regime[4]), (&vec!["3".to_owned()], 0));
    assert_eq!(
        told(&columns),
        ["bad_rank 1 3", "null_invalid_action 2 1", "bad_component 2 3", "bad_field 4 1", "bad_field 4 1"]
    );
}

#[test]
fn p6_the_last_of_duplicate_keys_and_deep_nesting() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let columns = read(format!(
        "{}\n{}\n{{\"step\": 2, \"reward\": 1, \"x\": {}}}\n{{\"step\": 3, \"reward\": 1, \"x\": {}}}\n",
        "{\"step\": \"no\", \"reward\": 1, \"step\": 0, \"k\": 1, \"k\": 2}",
        "{\"step\": 1, \"reward\": 1, \"reward_components\": {\"a\": 1, \"\\u0061\": 5}}",
        deep(128),
        deep(129),
    ));
    assert_eq!(columns.runs[0].step, [0, 1, 2]);
    assert_eq!(seen(&columns.runs[0].components["a"]), [None, Some(5.0), None]);
    assert_eq!(told(&columns), ["duplicate_key 1 2", "bad_line 4 1"]);
    assert!(columns.warnings[1].message.contains("128 levels"), "{}", columns.warnings[1].message);
}

#[test]
fn p7_torn_fused_and_bad_lines() {
    let row = |step: i64| format!("{{\"run_id\": \"a\", \"step\": {step}, \"reward\": 1}}");
    let torn = "{\"run_id\": \"a\", \"step\": 9, \"rew";
    for tail in [torn.to_owned(), format!("{torn}\n\n \n"), "\0\0\0".to_owned(), "{".to_owned(), format!("{torn}\n")] {
        let columns = read(format!("{}\n{tail}", row(0)));
        assert_eq!(
            (told(&columns), columns.runs[0].step.len()),
            (vec!["truncated_tail 2 1".to_owned()], 1),
            "{tail:?}"
        );
    }
    let columns = read(row(0));
    assert_eq!((told(&columns).len(), columns.runs[0].step.len()), (0, 1), "a whole row needs no newline");
    for fused in [format!("{}{}", row(1), row(2)), format!("{torn}{}", row(2))] {
        let columns = read(format!("{}\n{fused}\n{}\n", row(0), row(3)));
        assert_eq!(told(&columns), ["bad_line 2 1"]);
        assert!(columns.warnings[0].message.contains("fused"), "{}", columns.warnings[0].message);
        assert_eq!(columns.runs[0].step, [0, 3]);
    }
    let columns = read(format!("{}\n{{\"step\": 01, \"reward\": 1}}\nx\n", row(0)));
    assert_eq!(told(&columns), ["bad_line 2 2"]);
    let mut bytes = row(0).into_bytes();
    bytes.extend(b"\n{\"step\": 1, \"reward\": 1, \"regime_id\": \"\xff\"}\n");
    let columns = read(bytes);
    assert_eq!((told(&columns), columns.runs[0].labels.len()), (vec!["bad_line 2 1".to_owned()], 0));
}

#[test]
fn a_strict_reader_stops_with_file_and_line() {
    let strict = ReadOptions { strict: true, ..ReadOptions::default() };
    let files = directory([("t.jsonl", b"{\"step\": 0, \"reward\": 1}\n{\"step\": 1}\n".to_vec())]);
    let error = read_all(&files, &strict).unwrap_err();
    assert_eq!(error.exit(), Exit::Input);
    assert!(error.to_string().contains("t.jsonl:2: a row without `reward`"), "{error}");
    let fine = directory([("t.jsonl", b"{\"step\": 1, \"reward\": NaN}\n{\"step\": 0, \"reward\": 1}\n".to_vec())]);
    assert!(read_all(&fine, &strict).is_ok(), "nothing is lost");
}

#[test]
fn every_fault_may_be_told() {
    let files = directory([("t.jsonl", b"x\n{\"step\": 0, \"reward\": 1}\nx\ny\n".to_vec())]);
    let columns = read_all(&files, &ReadOptions { every_fault: true, ..ReadOptions::default() }).unwrap();
    assert_eq!(told(&columns), ["bad_line 1 1", "bad_line 3 1", "bad_line 4 1"]);
}

#[test]
fn files_without_rows_are_named_once() {
    let files = directory([("a.jsonl", b"\n\n".to_vec()), ("b.jsonl", b"x\n{}\n{\"st".to_vec())]);
    let columns = read_all(&files, &ReadOptions::default()).unwrap();
    assert_eq!(told(&columns), ["empty - 1", "not_a_trace - 1"]);
    assert!(columns.runs.is_empty() && columns.inputs.len() == 2);
}

#[test]
fn p9_observation_times_are_numbers_of_one_clock() {
    let columns = read(
        "{\"step\": 0, \"reward\": 1}\n{\"step\": 1, \"reward\": 1, \"observed_at\": \"2026-01-01T00:00:00+0100\"}\n{\"step\": 2, \"reward\": 1, \"observed_at\": null}\n",
    );
    let run = &columns.runs[0];
    assert_eq!(run.observed_at, [Moment::NONE, Moment::new(1_767_222_000_000_000_000, false), Moment::NONE]);
    let mixed = read(concat!(
        "{\"step\": 0, \"reward\": 1, \"observed_at\": \"1970-01-01T00:00:01\"}\n",
        "{\"step\": 1, \"reward\": 1, \"observed_at\": \"1970-01-01T00:00:02Z\"}\n",
        "{\"step\": 2, \"reward\": 1, \"observed_at\": \"noon\"}\n",
    ));
    assert_eq!(
        mixed.runs[0].observed_at,
        [Moment::new(1_000_000_000, true), Moment::new(2_000_000_000, false), Moment::NONE]
    );
    let [first, second, none] = mixed.runs[0].observed_at[..] else { panic!("three rows") };
    assert_eq!((first.nanoseconds(), second.nanoseconds()), (Some(1_000_000_000), Some(2_000_000_000)));
    assert!(first.is_naive() && !second.is_naive() && none.nanoseconds().is_none());
    assert_eq!(Moment::new(-3, true).nanoseconds(), Some(-3));
    assert_eq!(Moment::new(i64::MAX, false), Moment::NONE);
}

#[test]
fn other_keys_are_metadata_where_constant() {
    let columns = read(concat!(
        "{\"step\": 0, \"reward\": 1, \"host\": \"a\", \"x\": [1, 2], \"loss\": 1, \"late\": 1}\n",
        "{\"step\": 1, \"reward\": 1, \"host\": \"\\u0061\", \"x\": [1,2], \"loss\": 2}\n"
    ));
    let run = &columns.runs[0];
    assert_eq!(run.meta.keys().collect::<Vec<_>>(), ["host", "x"]);
    assert_eq!(run.meta["x"], Value::List(vec![1.into(), 2.into()]));
    assert_eq!(run.per_step, ["loss", "late"]);
}

#[test]
fn labels_are_compared_as_text_and_odd_origins_told() {
    let row = |label: &str, origin: &str| {
        format!("{{\"step\": 0, \"reward\": 1, \"regime_id\": {label}, \"regime_origin\": {origin}}}\n")
    };
    let text = [
        row("\"\\u00e9\"", "null"),
        row("\"é\"", "\"a\""),
        row("\"\"", "null"),
        row("\"É\"", "null"),
        row("null", "\"a\""),
        row("\"é\"", "\"b\""),
        row("\"\\ud800\"", "null"),
    ];
    let columns = read(text.concat());
    let run = &columns.runs[0];
    assert_eq!(run.labels, ["é", "", "É", "\u{fffd}"]);
    assert_eq!(run.regime, [0, 0, 1, 2, NO_REGIME, 0, 3]);
    assert_eq!(run.origins[0].as_deref(), Some("a"));
    assert_eq!(told(&columns), ["origin_without_label 5 1", "repeated_steps - 6", "conflicting_origin 6 1"]);
}

#[test]
fn names_made_from_data_do_not_eat_the_memory() {
    let text: String = (0..3000)
        .map(|step| format!("{{\"step\":{step},\"reward\":1,\"reward_components\":{{\"c{step}\":1}}}}\n"))
        .collect();
    let columns = read(text);
    assert_eq!(columns.runs[0].components.len(), 256);
    assert_eq!((told(&columns), columns.warnings[0].step), (vec!["too_many_components - 2744".to_owned()], Some(256)));
}

#[test]
fn a_missing_file_is_named() {
    let error = read_columns(&["no/such.jsonl".into()], &ReadOptions::default()).unwrap_err();
    assert!(matches!(&error, TraceError::Read { path, .. } if path == "no/such.jsonl"), "{error}");
    assert_eq!(error.exit(), Exit::Input);
    let empty = directory([("x.txt", Vec::new())]);
    assert!(matches!(read_all(&empty, &ReadOptions::default()), Err(TraceError::EmptyDirectory { .. })));
}
