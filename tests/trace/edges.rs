//! Where an answer could hang on where a buffer, a block or the row before happens to end.

use std::io::Write;

use skyfall::trace::{ReadOptions, Writer, WriterOptions, load};
use skyfall::value::Map;

use super::{directory, read, read_all, told};

/// The size of the reader's buffer of stored bytes.
const BUFFER: usize = 32 * 1024;

fn row(step: i64) -> String {
    format!("{{\"step\": {step}, \"reward\": 1}}\n")
}

/// Gzip members of `text` and of nothing, padded to `length` bytes by comments in their headers.
fn gzip_of_length(text: &str, length: usize) -> Vec<u8> {
    let member = |text: &str, padding: usize| {
        let header = flate2::GzBuilder::new().comment(vec![b'-'; padding]);
        let mut encoder = header.write(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let mut padded = member(text, 0);
    while length - padded.len() > 60_000 {
        padded.extend(member("", 50_000));
    }
    padded.extend(member("", length - padded.len() - member("", 0).len()));
    assert_eq!(padded.len(), length);
    padded
}

#[test]
fn p8_a_member_is_seen_wherever_its_first_bytes_fall() {
    let zstd_frame = |text: &str| zstd::encode_all(text.as_bytes(), 1).unwrap();
    for length in BUFFER - 5..=BUFFER + 1 {
        let gzip = [gzip_of_length(&row(0), length), super::streams::gzip(row(1).as_bytes())].concat();
        let frame = zstd_frame(&row(0));
        let skipped = u32::try_from(length - frame.len() - 8).unwrap();
        let mut zstd = vec![0x50, 0x2a, 0x4d, 0x18];
        zstd.extend(skipped.to_le_bytes());
        zstd.resize(zstd.len() + skipped as usize, 0);
        zstd.extend(frame);
        assert_eq!(zstd.len(), length);
        zstd.extend(zstd_frame(&row(1)));
        for (bytes, name) in [(gzip, "gzip"), (zstd, "zstd")] {
            let columns = read(bytes);
            let steps: Vec<_> = columns.runs.iter().flat_map(|run| run.step.clone()).collect();
            assert_eq!((steps, told(&columns)), (vec![0, 1], vec![]), "{name}, {length} bytes");
        }
    }
}

#[test]
fn what_is_odd_is_told_in_the_order_of_lines_whatever_the_blocks() {
    let text = format!("{}x\n{}{{\"step\": 1}}\n{}", row(7), row(7), row(7));
    let files = directory([("t.jsonl", text.into_bytes())]);
    for block_bytes in [1, 30, 40, 1000] {
        let columns = read_all(&files, &ReadOptions { block_bytes, ..ReadOptions::default() }).unwrap();
        let codes: Vec<_> = columns.warnings.iter().map(|warning| (warning.code, warning.line)).collect();
        let expected =
            [("bad_line", Some(2)), ("repeated_rows", Some(3)), ("bad_line", Some(4)), ("repeated_steps", None)];
        assert_eq!(codes, expected, "{block_bytes}");
    }
}

#[test]
fn p6_a_duplicate_key_is_told_of_its_own_row_only() {
    let plain = "{\"step\": 1, \"x\": 1, \"reward\": 1}\n";
    let other = "{\"step\": 1, \"y\": 1, \"reward\": 1}\n";
    let twice = "{\"step\": 1, \"x\": 1, \"reward\": 1, \"x\": 1}\n";
    for (lines, duplicates) in [
        ([twice, plain, plain], "duplicate_key 1 1"),
        ([twice, other, twice], "duplicate_key 1 2"),
        ([plain, twice, plain], "duplicate_key 2 1"),
        ([plain, twice, twice], "duplicate_key 2 2"),
    ] {
        let files = directory([("t.jsonl", lines.concat().into_bytes())]);
        for block_bytes in [1, 1000] {
            let columns = read_all(&files, &ReadOptions { block_bytes, ..ReadOptions::default() }).unwrap();
            assert!(told(&columns).contains(&duplicates.to_owned()), "{lines:?}: {:?}", told(&columns));
        }
    }
    // The last of two values holds, even where it is of no use.
    let columns = read("{\"step\": 1, \"reward\": 1, \"effective_rank\": 5, \"effective_rank\": -1}\n");
    assert!(columns.runs[0].effective_rank[0].is_nan());
}

#[test]
fn p7_a_whole_last_row_is_not_called_cut_off() {
    for (last, message) in [
        ("{\"step\": \"1\", \"reward\": 1}", "`step` is text"),
        ("{\"step\": 1}", "without `reward`"),
        ("17", "not a JSON object"),
    ] {
        for end in ["", "\n"] {
            let columns = read(format!("{}{last}{end}", row(0)));
            assert_eq!(told(&columns), ["bad_line 2 1"], "{last}");
            assert!(columns.warnings[0].message.contains(message), "{}", columns.warnings[0].message);
        }
    }
    for torn in ["{\"step\": 1, \"reward\": Na", "{\"step\": 1, \"reward\": -Inf", "{\"step\": -"] {
        assert_eq!(told(&read(format!("{}{torn}\n\n", row(0)))), ["truncated_tail 2 1"], "{torn}");
    }
}

#[test]
fn p4_an_integral_step_may_have_any_number_of_zeros() {
    let zeros = "0".repeat(40);
    let columns = read(format!(
        "{{\"step\": 0.{zeros}, \"reward\": 1}}\n{{\"step\": 3.{zeros}, \"reward\": 1}}\n{{\"step\": 4{zeros}e-40, \"reward\": 1}}\n{{\"step\": 1e400, \"reward\": 1}}\n{}",
        row(5)
    ));
    assert_eq!(columns.runs[0].step, [0, 3, 4, 5]);
    assert!(columns.warnings[0].message.contains("beyond 64 bits"), "{}", columns.warnings[0].message);
}

#[test]
fn many_small_files_are_read_in_bounded_depth() {
    let names: Vec<String> = (0..3000).map(|number| format!("{}/{number:04}.jsonl", number % 7)).collect();
    let text = |seed: usize| format!("{{\"seed\": {seed}, \"step\": 0, \"reward\": 1}}\n").into_bytes();
    let files = directory(names.iter().enumerate().map(|(seed, name)| (name.as_str(), text(seed))));
    let columns = read_all(&files, &ReadOptions::default()).unwrap();
    assert_eq!(columns.runs.len(), names.len());
    assert_eq!(load(&[files.path().to_owned()]).unwrap().len(), names.len());
}

#[test]
fn spaces_may_change_from_row_to_row() {
    let compact =
        "{\"run_id\":\"a\",\"step\":0,\"regime_id\":\"r\",\"reward\":1,\"reward_components\":{\"c\":1,\"d\":2}}\n";
    let spaced = compact.replace(':', ": ").replace(',', ", ");
    let wide = compact.replace(':', "\t :  ").replace(',', " ,  ").replace('{', "{ ").replace('}', " }");
    for lines in [[compact, &spaced, &wide], [&wide, &spaced, compact], [compact, &wide, &spaced]] {
        let columns = read(lines.concat());
        assert_eq!((columns.runs.len(), columns.inputs[0].rows, columns.inputs[0].skipped), (1, 3, 0), "{lines:?}");
        assert_eq!(columns.runs[0].components["d"], [2.0; 3]);
        assert_eq!(columns.runs[0].labels, ["r"]);
    }
}

#[test]
fn appending_leaves_a_file_alone_that_its_name_belies() {
    for (name, bytes) in [("t.jsonl", super::streams::gzip(row(0).as_bytes())), ("t.jsonl.gz", row(0).into_bytes())] {
        let files = directory([(name, bytes.clone())]);
        let path = files.path().join(name);
        let error = Writer::append(&path, &Map::new(), WriterOptions::default()).unwrap_err();
        assert!(error.to_string().contains("which its name does not say"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn no_row_goes_beyond_its_line() {
    let line = |step: i64, action: &str, end: &str| {
        format!("{{\"run_id\": \"a\", \"step\": {step}, \"reward\": 1.5, \"action\": {action}, \"note\": \"n\"}}{end}")
    };
    for (action, end, lost) in [
        ("{\n\"index\": 1}", "\n", 2),
        ("{\"index\":\n1}", "\n", 2),
        ("\"up\ndown\"", "\n", 2),
        ("[1,\n2]", "\n", 2),
        ("{\"index\": 1}", "\r\n", 0),
        ("{\"index\": 1}", " \t\n", 0),
        ("{\"index\": 1}", "\r\r\n", 0),
        ("{\"index\": 1}", "x\n", 1),
        ("{\"index\": 1}", "\n\n \n", 0),
    ] {
        // The rows before and after are alike, so that the odd one is first read by what differs.
        let text = [line(0, "{\"index\": 0}", "\n"), line(1, action, end), line(2, "{\"index\": 0}", "\n")].concat();
        let columns = read(&text);
        let kept: &[i64] = if lost == 0 { &[0, 1, 2] } else { &[0, 2] };
        assert_eq!((columns.runs[0].step.as_slice(), columns.inputs[0].skipped), (kept, lost), "{text}");
    }
}
