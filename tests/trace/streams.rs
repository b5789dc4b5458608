//! The same rows in any wrapping and cut give the same columns (P8, threads, blocks).

use std::io::Write;

use proptest::prelude::*;
use skyfall::trace::columns::TraceColumns;
use skyfall::trace::{ReadOptions, read_columns};

use super::{data, directory, read, read_all, told};

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

fn gold() -> Vec<u8> {
    std::fs::read(data("gold.jsonl")).unwrap()
}

/// What must not depend on the wrapping.
fn essence(columns: &TraceColumns) -> String {
    format!("{:?}", columns.runs)
}

#[test]
fn p8_compression_is_seen_by_its_first_bytes() {
    let text = gold();
    let plain = essence(&read(&text));
    let (head, tail) = text.split_at(777);
    let crlf = String::from_utf8(text.clone()).unwrap().replace('\n', "\r\n");
    for wrapped in [
        gzip(&text),
        zstd(&text),
        [gzip(head), gzip(tail)].concat(),
        [zstd(head), zstd(tail)].concat(),
        [&b"\xef\xbb\xbf"[..], crlf.as_bytes()].concat(),
        gzip(&[&b"\xef\xbb\xbf"[..], crlf.as_bytes()].concat()),
    ] {
        let columns = read(&wrapped);
        assert_eq!((essence(&columns), told(&columns)), (plain.clone(), vec![]));
        assert_eq!(columns.inputs[0].bytes, wrapped.len() as u64);
        assert_eq!(columns.inputs[0].sha256, crate::digest::sha256_hex(&wrapped));
    }
}

#[test]
fn p8_compressed_files_that_end_badly() {
    let text = gold();
    for (whole, name) in [(gzip(&text), "gzip"), (zstd(&text), "zstd")] {
        for padding in [&b"\0\0\0\0\0\0"[..], b"garbage"] {
            let columns = read([&whole, padding].concat());
            assert_eq!(
                (essence(&columns), told(&columns)),
                (essence(&read(&text)), vec!["trailing_garbage - 1".to_owned()])
            );
        }
        // Rows that a later producer appended without compressing them.
        let columns = read([&whole, &text[..]].concat());
        assert_eq!(
            (columns.runs[0].step.len(), told(&columns).len()),
            (36, told(&read([&text[..], &text[..]].concat())).len())
        );
        // A second member that is cut off; the first is whole.
        let cut = [&whole[..], &whole[..whole.len() / 2]].concat();
        let columns = read(cut);
        assert!(columns.runs[0].step.len() >= 18 && columns.runs[0].step.len() < 36);
        assert!(told(&columns).contains(&format!("truncated_{name} - 1")), "{:?}", told(&columns));
        assert!(!told(&columns).iter().any(|told| told.starts_with("truncated_tail")), "told twice");
    }
    let mut damaged = [gzip(&text), gzip(&text)].concat();
    let last = damaged.len() - 6;
    damaged[last] ^= 0x55;
    let columns = read(damaged);
    assert!(told(&columns).contains(&"corrupt_gzip - 1".to_owned()), "{:?}", told(&columns));
    assert_eq!(columns.runs[0].step.len(), 36, "what was decoded counts");
}

/// Rows of two runs with everything that could depend on where a chunk is cut.
fn odd_trace() -> Vec<u8> {
    let mut text = Vec::new();
    for step in 0..120_i64 {
        let run = if step % 7 < 4 { "a" } else { "\u{e9}" };
        let origin = match step % 31 {
            30 => "\"z\"",
            29 => "\"y\"",
            _ => "null",
        };
        let reward = if step % 17 == 0 { "NaN".to_owned() } else { format!("{}.25", step % 5) };
        let component = step % 11;
        let line = format!(
            "{{\"run_id\": \"{run}\", \"host\": \"h\", \"loss\": {}, \"step\": {}, \"regime_id\": \"r{}\", \"regime_origin\": {origin}, \"reward\": {reward}, \"reward_components\": {{\"c{component}\": 1.5, \"all\": {step}}}, \"effective_rank\": {}}}",
            step / 50,
            step % 90,
            step / 20,
            step % 3,
        );
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
        match step % 13 {
            3 => text.extend_from_slice(b"\n\r\n"),
            5 => text.extend_from_slice(b"{\"step\": 1}\n"),
            7 => text.extend_from_slice(format!("{line}\n{line}{line}\n").as_bytes()),
            9 => text.extend_from_slice(b"{\"step\": 5, \"reward\": 1, \"observed_at\": \"t\", \"step\": 6}\n"),
            _ => {}
        }
    }
    text.extend_from_slice(b"{\"step\": 1\n\n");
    text
}

#[test]
fn neither_blocks_nor_threads_change_anything() {
    let files = directory([("a.jsonl", odd_trace()), ("b.jsonl.gz", gzip(&odd_trace()[40..])), ("c.jsonl", gold())]);
    let read_with = |block_bytes: usize, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = ReadOptions { block_bytes, ..ReadOptions::default() };
        format!("{:?}", pool.install(|| read_all(&files, &options)).unwrap())
    };
    let whole = read_with(1 << 20, 1);
    assert!(
        whole.contains("conflicting_origin") && whole.contains("repeated_rows") && whole.contains("truncated_tail")
    );
    for block_bytes in [1, 7, 64, 333, 1000, 5000] {
        for threads in [1, 2, 5] {
            assert_eq!(read_with(block_bytes, threads), whole, "{block_bytes} bytes, {threads} threads");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn arbitrary_bytes_are_read_without_panic(bytes: Vec<u8>) {
        let files = directory([("t.jsonl", bytes)]);
        let _ = read_all(&files, &ReadOptions::default());
    }

    #[test]
    fn damaged_traces_are_read_alike_whole_and_in_blocks(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in any::<prop::sample::Index>(),
        block_bytes in 1_usize..2000,
        wrap in 0..3,
    ) {
        let mut text = odd_trace();
        for (place, byte) in damage {
            let place = place.index(text.len());
            text[place] = byte;
        }
        text.truncate(cut.index(text.len()));
        let bytes = match wrap { 0 => text, 1 => gzip(&text), _ => zstd(&text) };
        let files = directory([("t.jsonl", bytes)]);
        let whole = read_all(&files, &ReadOptions::default()).map_err(|error| error.to_string());
        let blocks = read_all(&files, &ReadOptions { block_bytes, ..ReadOptions::default() }).map_err(|error| error.to_string());
        let strip = |text: String| text.replace(&files.path().display().to_string(), "");
        prop_assert_eq!(strip(format!("{whole:?}")), strip(format!("{blocks:?}")));
    }

    #[test]
    fn damaged_compressed_files_are_read_without_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        use_zstd: bool,
    ) {
        let mut bytes = if use_zstd { zstd(&odd_trace()) } else { gzip(&odd_trace()) };
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let files = directory([("t.jsonl", bytes)]);
        let _ = read_all(&files, &ReadOptions::default());
    }
}

#[test]
fn paths_are_read_in_the_order_given() {
    let files = directory([("a.jsonl", gold()), ("b.jsonl", b"{\"step\": 0, \"reward\": 1}\n".to_vec())]);
    let paths = [files.path().join("b.jsonl"), files.path().to_owned()];
    let columns = read_columns(&paths, &ReadOptions::default()).unwrap();
    assert_eq!(columns.runs.iter().map(|run| run.step.len()).collect::<Vec<_>>(), [1, 18]);
    assert_eq!(columns.warnings[0].code, "duplicate_file");
}

/// `skyfall eval` on a directory of these files; what names a file is left out.
fn evaluated<'a>(files: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> String {
    let scratch = crate::command::Scratch::new();
    for (name, bytes) in files {
        std::fs::create_dir_all(scratch.file("t")).unwrap();
        std::fs::write(scratch.file("t").join(name), bytes).unwrap();
    }
    let json = scratch.skyfall(&["eval", "--traces", "t", "--window", "2", "--format", "json"]).ok().stdout;
    let mut report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mut walk = vec![&mut report];
    while let Some(value) = walk.pop() {
        match value {
            serde_json::Value::Object(map) => {
                for key in ["inputs", "files", "file"] {
                    map.remove(key);
                }
                walk.extend(map.values_mut());
            }
            serde_json::Value::Array(items) => walk.extend(items),
            _ => {}
        }
    }
    report.to_string()
}

#[test]
fn evaluation_prints_the_same_numbers_whatever_the_wrapping() {
    let text = gold();
    let whole = evaluated([("a.jsonl", text.clone())]);
    let crlf = String::from_utf8(text.clone()).unwrap().replace('\n', "\r\n");
    let marked = [&b"\xef\xbb\xbf"[..], crlf.as_bytes()].concat();
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let chunk = |range: std::ops::Range<usize>| lines[range].concat();
    let chunks = [("c.jsonl", chunk(0..5)), ("a.jsonl.gz", gzip(&chunk(5..11))), ("b.jsonl.zst", zstd(&chunk(11..18)))];
    for (wrapping, files) in [
        ("gzip", vec![("a.jsonl.gz", gzip(&text))]),
        ("zstd", vec![("a.jsonl.zst", zstd(&text))]),
        ("CRLF and a mark", vec![("a.jsonl", marked.clone())]),
        ("gzip of CRLF and a mark", vec![("a.jsonl.gz", gzip(&marked))]),
        ("chunks, shuffled", chunks.to_vec()),
    ] {
        assert_eq!(evaluated(files), whole, "{wrapping}");
    }
}

#[test]
fn counts_agree_with_columns_whatever_the_blocks_and_threads() {
    let cut = 40;
    let files = directory([
        ("a.jsonl", odd_trace()),
        ("b.jsonl.gz", gzip(&odd_trace()[cut..])),
        ("c.jsonl", gold()),
        ("d.jsonl", String::from_utf8(gold()).unwrap().replace("\"step\": ", "\"step\": 10").into_bytes()),
    ]);
    let paths = [files.path().to_owned()];
    let columns = read_columns(&paths, &ReadOptions::default()).unwrap();
    let stats_with = |block_bytes: usize, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = ReadOptions { block_bytes, ..ReadOptions::default() };
        pool.install(|| skyfall::trace::stats(&paths, &options)).unwrap()
    };
    let whole = stats_with(1 << 20, 1);
    assert_eq!(whole.warnings, columns.warnings);
    assert_eq!(whole.inputs, columns.inputs);
    assert_eq!(whole.runs.len(), columns.runs.len());
    for (run, columns) in whole.runs.iter().zip(&columns.runs) {
        assert_eq!((&run.identity, &run.files, &run.meta), (&columns.identity, &columns.files, &columns.meta));
        assert_eq!(run.rows, columns.step.len() as u64);
        let finite: Vec<f64> = columns.reward.iter().copied().filter(|reward| !reward.is_nan()).collect();
        assert_eq!(run.reward.count(), finite.len() as u64);
        let mean = finite.iter().sum::<f64>() / finite.len() as f64;
        assert!((run.reward.mean().unwrap() - mean).abs() < 1e-12);
        let changes = 1 + columns.regime.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert_eq!((run.n_segments, run.segments.len()), (changes as u64, changes));
        assert_eq!(run.segments.iter().map(|segment| segment.rows).sum::<u64>(), run.rows);
        for (regime, label) in run.regimes.iter().zip(&columns.labels) {
            let place = columns.labels.iter().position(|known| known == label).unwrap() as u32;
            assert_eq!(regime.label.as_ref(), Some(label));
            assert_eq!(regime.rows, columns.regime.iter().filter(|known| **known == place).count() as u64);
        }
        assert_eq!(run.components.keys().collect::<Vec<_>>(), columns.components.keys().collect::<Vec<_>>());
        for (name, tally) in &run.components {
            assert_eq!(tally.count(), columns.components[name].iter().filter(|value| !value.is_nan()).count() as u64);
        }
    }
    for (block_bytes, threads) in [(1, 1), (333, 2), (5000, 5)] {
        assert_eq!(format!("{:?}", stats_with(block_bytes, threads)), format!("{whole:?}"), "{block_bytes} {threads}");
    }
}
