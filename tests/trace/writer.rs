//! What a writer leaves in its file, whatever happens.

use std::path::Path;

use skyfall::diagnostic::{Exit, Problem};
use skyfall::trace::{ReadOptions, Row, TraceError, Writer, WriterOptions, read_columns};
use skyfall::value::{Map, Value};

const SAMPLE: &str = include_str!("../data/trace/sample.jsonl");

fn map<const N: usize>(entries: [(&str, Value); N]) -> Map {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn sample_meta() -> Map {
    map([("algorithm_id", "steady".into()), ("run_id", "example".into()), ("seed", 3.into())])
}

fn sample_row() -> Row {
    Row {
        step: 17,
        regime_id: Some("windy".into()),
        reward: 0.62,
        reward_components: [("upright".to_owned(), 0.62)].into_iter().collect(),
        ..Row::default()
    }
}

fn row(step: i64, reward: f64) -> Row {
    Row { step, reward, ..Row::default() }
}

fn written(meta: &Map, options: WriterOptions, rows: &[Row]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("deep/er/traces.jsonl");
    let mut writer = Writer::create(&path, meta, options).unwrap();
    for row in rows {
        writer.write(row).unwrap();
    }
    assert_eq!(writer.close().unwrap().rows, rows.len() as u64);
    std::fs::read_to_string(path).unwrap()
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn the_sample_row_has_the_format_document_s_bytes() {
    assert_eq!(written(&sample_meta(), WriterOptions::default(), &[sample_row()]), SAMPLE);
}

#[test]
fn metadata_stands_in_order_and_maps_inside_a_row_are_sorted() {
    let meta = map([
        ("zeta", map([("b", 1.into()), ("a", Value::Null)]).into()),
        ("task", "t".into()),
        ("alpha", 1.5.into()),
        ("policy_id", "p".into()),
        ("seed", 1.into()),
    ]);
    let full = Row {
        action: Some(map([("z", vec![Value::from(1), Value::from(f64::NAN)].into()), ("index", 1.into())]).into()),
        reward_components: [("z".to_owned(), 1.0), ("a\"".to_owned(), 1e-5)].into_iter().collect(),
        reward_detail: map([("z", map([("k", 0.5.into())]).into())]),
        invalid_action: true,
        effective_rank: Some(12.0),
        observed_at: Some("2026-01-01T00:00:00Z".into()),
        regime_origin: Some("\u{e9}".into()),
        extra: map([("terminated", true.into())]),
        ..row(-1, 1e16)
    };
    assert_eq!(
        written(&meta, WriterOptions::default(), &[full]),
        concat!(
            r#"{"seed": 1, "policy_id": "p", "task": "t", "alpha": 1.5, "zeta": {"a": null, "b": 1}, "#,
            r#""step": -1, "regime_id": null, "regime_origin": "\u00e9", "observed_at": "2026-01-01T00:00:00Z", "#,
            r#""action": {"index": 1, "z": [1, NaN]}, "reward": 1e+16, "reward_components": {"z": 1.0, "a\"": 1e-05}, "#,
            r#""reward_detail": {"z": {"k": 0.5}}, "invalid_action": true, "effective_rank": 12.0, "#,
            r#""ticket_snapshot": {}, "verifier_snapshot": {}, "terminated": true}"#,
            "\n"
        )
    );
}

#[test]
fn rewards_that_are_not_finite_are_written_as_python_does_and_counted() {
    let rows = [row(0, 1.0), row(1, f64::NAN), row(2, f64::NEG_INFINITY)];
    let text = written(&Map::new(), WriterOptions::default(), &rows);
    assert!(text.contains(r#""reward": NaN, "#) && text.contains(r#""reward": -Infinity, "#), "{text}");
    let strict = written(&Map::new(), WriterOptions { strict_json: true, ..Default::default() }, &rows);
    assert_eq!(strict.matches(r#""reward": null, "#).count(), 2, "{strict}");

    let directory = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(directory.path().join("t.jsonl"), &Map::new(), WriterOptions::default()).unwrap();
    rows.iter().for_each(|row| writer.write(row).unwrap());
    let summary = writer.close().unwrap();
    assert_eq!((summary.rows, summary.non_finite, summary.first_non_finite_step), (3, 2, Some(1)));
    assert_eq!(writer.close().unwrap(), summary, "closing again changes nothing");
    assert!(matches!(writer.write(&rows[0]), Err(TraceError::Closed { .. })));
}

#[test]
fn component_names_may_change_from_row_to_row() {
    let with = |names: &[&str]| Row {
        reward_components: names.iter().map(|name| ((*name).to_owned(), 1.0)).collect(),
        ..Row::default()
    };
    let text = written(&Map::new(), WriterOptions::default(), &[with(&["a", "b"]), with(&["b"]), with(&["b", "a"])]);
    let components: Vec<_> =
        text.lines().map(|line| line.split("components\": ").nth(1).unwrap().split('}').next().unwrap()).collect();
    assert_eq!(components, [r#"{"a": 1.0, "b": 1.0"#, r#"{"b": 1.0"#, r#"{"b": 1.0, "a": 1.0"#]);
}

#[test]
fn a_key_is_never_written_twice() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.jsonl");
    let error = Writer::create(&path, &map([("reward", 1.into())]), WriterOptions::default()).unwrap_err();
    assert_eq!((error.code(), error.exit()), ("trace/taken-key", Exit::Failure));
    assert!(error.to_string().contains("`reward`"), "{error}");
    assert!(!path.exists(), "a refused writer leaves no file");

    let mut writer = Writer::create(&path, &map([("note", 1.into())]), WriterOptions::default()).unwrap();
    for key in ["note", "step"] {
        let bad = Row { extra: map([(key, 1.into())]), ..Row::default() };
        assert!(matches!(writer.write(&bad), Err(TraceError::TakenKey { .. })), "{key}");
    }
    writer.write(&row(0, 0.0)).unwrap();
    assert_eq!(writer.close().unwrap().rows, 1);
    assert_eq!(lines(&path).len(), 1);
}

#[test]
fn a_second_writer_is_kept_out_until_the_first_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.jsonl");
    let mut first = Writer::create(&path, &Map::new(), WriterOptions::default()).unwrap();
    first.write(&row(0, 0.0)).unwrap();
    first.flush().unwrap();
    for open in [Writer::create, Writer::append] {
        let error = open(path.clone(), &Map::new(), WriterOptions::default()).unwrap_err();
        assert!(matches!(error, TraceError::Locked { .. }), "{error}");
    }
    assert_eq!(lines(&path).len(), 1, "the second writer has not emptied the file");
    drop(first);
    Writer::append(&path, &Map::new(), WriterOptions::default()).unwrap();
}

#[test]
fn append_mends_the_last_row() {
    let whole = "{\"step\": 0, \"reward\": 1.0}";
    for (before, kept, cut) in [
        (String::new(), vec![], 0),
        (format!("{whole}\n"), vec![whole], 0),
        (whole.to_owned(), vec![whole], 0),
        (format!("{whole}\n{{\"step\": 1, \"rew"), vec![whole], 16),
        ("{\"step\"".to_owned(), vec![], 7),
        (format!("{whole}\n\0\0\0"), vec![whole], 3),
        (format!("{whole}\n{{\"x\": \"{}", "y".repeat(200_000)), vec![whole], 200_007),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.jsonl");
        std::fs::write(&path, &before).unwrap();
        let mut writer = Writer::append(&path, &Map::new(), WriterOptions::default()).unwrap();
        writer.write(&row(9, 0.0)).unwrap();
        assert_eq!(writer.close().unwrap().repaired_bytes, cut);
        let lines = lines(&path);
        assert_eq!(&lines[..lines.len() - 1], kept);
        assert!(lines.last().unwrap().starts_with("{\"step\": 9, "));
    }
}

#[test]
fn append_mends_compressed_files() {
    let row_text = |step: i64| format!("{{\"step\": {step}, \"reward\": 1.0}}\n");
    let noise = |step: i64| {
        format!("{{\"step\": {step}, \"reward\": 1.0, \"x\": {}}}\n", step.wrapping_mul(0x1e37_79b9_7f4a_7c15))
    };
    let many: String = (0..20_000).map(noise).collect();
    let gzip = |text: &str| super::streams::gzip(text.as_bytes());
    let zstd = |text: &str| zstd::encode_all(text.as_bytes(), 1).unwrap();
    for (name, whole, long) in
        [("t.jsonl.gz", gzip(&row_text(0)), gzip(&many)), ("t.jsonl.zst", zstd(&row_text(0)), zstd(&many))]
    {
        let encode = |text: &str| if name.ends_with("gz") { gzip(text) } else { zstd(text) };
        for (before, torn, fewest) in [
            (whole.clone(), false, 1),
            (encode(row_text(0).trim_end()), false, 1),
            (encode(&(row_text(0) + "{\"step\"")), true, 1),
            ([&whole[..], &long[..long.len() * 2 / 3]].concat(), true, 2),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join(name);
            std::fs::write(&path, before).unwrap();
            let mut writer = Writer::append(&path, &Map::new(), WriterOptions::default()).unwrap();
            let again = Writer::append(&path, &Map::new(), WriterOptions::default());
            assert!(matches!(again, Err(TraceError::Locked { .. })));
            writer.write(&row(-9, 0.0)).unwrap();
            assert_eq!(writer.close().unwrap().repaired_bytes > 0, torn);
            let columns = read_columns(&[path], &ReadOptions::default()).unwrap();
            let codes: Vec<_> = columns.warnings.iter().map(|warning| warning.code).collect();
            assert!(codes.iter().all(|code| ["non_monotonic", "repeated_steps"].contains(code)), "{codes:?}");
            let steps = &columns.runs[0].step;
            assert!(steps.len() > fewest && steps.last() == Some(&-9), "{} rows", steps.len());
            assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left beside it");
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        let damaged = [&whole[..], b"something else"].concat();
        std::fs::write(&path, &damaged).unwrap();
        let error = Writer::append(&path, &Map::new(), WriterOptions::default()).unwrap_err();
        assert_eq!((error.code(), error.exit()), ("trace/damaged", Exit::Failure));
        assert_eq!(std::fs::read(&path).unwrap(), damaged, "what was there is untouched");
    }
}

#[test]
fn a_killed_writer_leaves_whole_rows() {
    // What a kill leaves behind is what the file holds at that moment.
    let directory = tempfile::tempdir().unwrap();
    for name in ["t.jsonl.gz", "t.jsonl.zst"] {
        let path = directory.path().join(name);
        let mut writer = Writer::create(&path, &Map::new(), WriterOptions::default()).unwrap();
        for step in 0..100 {
            writer.write(&row(step, 0.5)).unwrap();
        }
        writer.flush().unwrap();
        writer.write(&row(100, 0.5)).unwrap();
        let left = directory.path().join(format!("left-{name}"));
        std::fs::copy(&path, &left).unwrap();
        let columns = read_columns(&[left], &ReadOptions::default()).unwrap();
        assert_eq!(columns.runs[0].step, (0..100).collect::<Vec<i64>>());
    }
}

#[test]
fn rows_reach_the_file_whole_at_flush_at_every_nth_row_and_at_drop() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.jsonl");
    let options = WriterOptions { flush_every: std::num::NonZeroU64::new(3), ..Default::default() };
    let mut writer = Writer::create(&path, &Map::new(), options).unwrap();
    for (step, seen) in [(0, 0), (1, 0), (2, 3), (3, 3)] {
        writer.write(&row(step, 0.0)).unwrap();
        assert_eq!(lines(&path).len(), seen);
    }
    writer.flush().unwrap();
    assert_eq!(lines(&path).len(), 4);
    // Blocks that fill up on the way hold whole rows, too.
    let mut writer = Writer::create(directory.path().join("u.jsonl"), &Map::new(), WriterOptions::default()).unwrap();
    for step in 0..1000 {
        writer.write(&row(step, 0.1)).unwrap();
        let so_far = std::fs::read(directory.path().join("u.jsonl")).unwrap();
        assert!(so_far.last().is_none_or(|byte| *byte == b'\n'));
    }
    drop(writer);
    assert_eq!(lines(&directory.path().join("u.jsonl")).len(), 1000);
}

#[test]
fn a_place_that_cannot_be_written_is_named_with_its_cause() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [file.join("t.jsonl"), directory.path().to_owned()] {
        let error = Writer::create(&path, &Map::new(), WriterOptions::default()).unwrap_err();
        assert_eq!((error.code(), error.exit()), ("trace/write", Exit::Failure));
        let line = error.to_string();
        assert!(line.contains(&path.display().to_string()) && line.contains("directory"), "{line}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_once() {
    let mut writer = Writer::create("/dev/full", &Map::new(), WriterOptions::default()).unwrap();
    writer.write(&row(0, 0.0)).unwrap();
    assert!(matches!(writer.flush(), Err(TraceError::Write { .. })));
    assert!(matches!(writer.write(&row(1, 0.0)), Err(TraceError::Closed { .. })));
}
