//! Arbitrary bytes: never a panic, never out of proportion, and the same for every reader and in
//! every cut. The fuzz target `read_trace` checks the same with inputs that coverage finds.

use proptest::prelude::*;
use skyfall::trace::{ReadOptions, read_columns, rows, stats};

use super::directory;

/// Reads `bytes` in every way there is, which must agree.
fn all_readers_agree(bytes: &[u8], block_bytes: usize) {
    let files = directory([("t.jsonl", bytes.to_vec())]);
    let paths = [files.path().join("t.jsonl")];
    let options = |block_bytes| ReadOptions { block_bytes, every_fault: true, ..ReadOptions::default() };
    let read = |block_bytes| read_columns(&paths, &options(block_bytes)).map_err(|error| error.to_string());
    let whole = read(1 << 20);
    assert_eq!(format!("{whole:?}"), format!("{:?}", read(block_bytes)));
    let counted = stats(&paths, &options(block_bytes)).map_err(|error| error.to_string());
    match (whole, counted) {
        (Ok(columns), Ok(counted)) => {
            assert_eq!(columns.warnings, counted.warnings);
            assert_eq!(columns.inputs, counted.inputs);
            let mut stream = rows(&paths[0]).unwrap();
            let steps: Vec<i64> = (&mut stream).map(|entry| entry.unwrap().row.step).collect();
            assert_eq!(columns.inputs[0].rows, steps.len() as u64);
            let mut of_columns: Vec<i64> = columns.runs.iter().flat_map(|run| run.step.clone()).collect();
            of_columns.sort_unstable();
            let mut steps = steps;
            steps.sort_unstable();
            assert_eq!(of_columns, steps);
        }
        (whole, counted) => assert_eq!(whole.unwrap_err(), counted.unwrap_err()),
    }
}

/// Text that is nearly a trace: rows of a few shapes, glued with what goes wrong between them.
fn nearly_rows() -> impl Strategy<Value = Vec<u8>> {
    let scalar = prop_oneof![
        "-?[0-9]{1,20}(\\.[0-9]{1,20})?([eE][-+]?[0-9]{1,3})?",
        "(null|true|false|NaN|-?Infinity|nul|-|01|\\.5)",
        "\"[a-z\\\\u0-9é]{0,5}\"",
        "[\\[{]{1,3}",
        "(\\{\\}|\\[\\]|\\{\"a\": 1\\}|\\[1, [0-9]\\]|\\{\"a\": [0-9], \"b\": [0-9]\\})",
    ];
    let key = prop_oneof![
        Just("step"),
        Just("reward"),
        Just("regime_id"),
        Just("reward_components"),
        Just("invalid_action"),
        Just("effective_rank"),
        Just("observed_at"),
        Just("run_id"),
        Just("seed"),
        Just("action"),
        Just("other"),
    ];
    let field = (key, scalar, "[ \t]{0,2}").prop_map(|(key, value, space)| format!("\"{key}\":{space}{value}"));
    let row = (0..20_u8, "[0-9]{1,2}", prop::collection::vec(field, 0..5)).prop_map(|(step, reward, fields)| {
        let fields: String = fields.iter().map(|field| format!(", {field}")).collect();
        format!("{{\"step\": {step}, \"reward\": {reward}{fields}}}")
    });
    let between = prop_oneof![
        8 => Just("\n".to_owned()), 1 => Just("\r\n".to_owned()), 1 => Just("\n \n".to_owned()),
        1 => Just(String::new()), 1 => Just("\n{\"st".to_owned()), 1 => Just("\u{feff}".to_owned()),
    ];
    prop::collection::vec((row, between, 1..3_usize), 0..12).prop_map(|rows| {
        let text: String = rows.iter().map(|(row, between, times)| format!("{row}{between}").repeat(*times)).collect();
        text.into_bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn bytes_without_sense(bytes in prop::collection::vec(any::<u8>(), 0..400), block_bytes in 1_usize..50) {
        all_readers_agree(&bytes, block_bytes);
    }

    #[test]
    fn bytes_that_look_compressed(
        head in prop::sample::select(vec![&[0x1f_u8, 0x8b, 8, 0][..], &[0x28, 0xb5, 0x2f, 0xfd], &[0x50, 0x2a, 0x4d, 0x18], &[0xef, 0xbb, 0xbf], &[0xff, 0xfe]]),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        all_readers_agree(&[head, &bytes].concat(), 16);
    }

    #[test]
    fn text_that_is_nearly_a_trace(text in nearly_rows(), block_bytes in 1_usize..200, wrap in 0..3) {
        let bytes = match wrap { 0 => text, 1 => super::streams::gzip(&text), _ => zstd::encode_all(&text[..], 1).unwrap() };
        all_readers_agree(&bytes, block_bytes);
    }

    #[test]
    fn rows_that_change_from_one_to_the_next(
        lines in prop::collection::vec((0..4_usize, "[0-9]{1,3}", "(null|\"[ab]{1,2}\"|\"é\")", "-?[0-9]\\.[0-9]{1,17}"), 1..30),
        block_bytes in 1_usize..400,
    ) {
        let text: String = lines.iter().map(|(shape, step, label, reward)| match shape {
            0 => format!("{{\"run_id\": {label}, \"step\": {step}, \"regime_id\": {label}, \"reward\": {reward}, \"reward_components\": {{\"x\": {reward}, \"y\": {step}}}}}\n"),
            1 => format!("{{\"run_id\": {label}, \"step\": {step}, \"regime_id\": {label}, \"reward\": {reward}, \"reward_components\": {{}}}}\n"),
            2 => format!("{{\"run_id\":{label},\"step\":{step},\"reward\":{reward},\"other\":{{\"k\":{step}}}}}\n"),
            _ => format!("{{\"run_id\": {label}, \"step\": {step}, \"regime_id\": {label}, \"reward\": {reward}, \"reward_components\": {{\"x\": null}}, \"invalid_action\": null}}\n"),
        }).collect();
        // A cut after each line has no row before to compare with: what is read alike is read the same.
        all_readers_agree(text.as_bytes(), block_bytes.min(40));
    }
}

#[test]
fn faults_without_number_are_counted_in_bounded_memory() {
    let text = format!("{}{{\"step\": 0, \"reward\": 1}}\n", "x\n".repeat(100_000));
    let files = directory([("t.jsonl", text.into_bytes())]);
    let options = ReadOptions { every_fault: true, block_bytes: 1000, ..ReadOptions::default() };
    let counted = stats(&[files.path().to_owned()], &options).unwrap();
    assert_eq!(counted.warnings.iter().map(|warning| warning.count).sum::<u64>(), 100_000);
    assert_eq!(counted.warnings.last().map(|warning| warning.line), Some(Some(10_000)));
    assert_eq!(counted.warnings.len(), 10_000, "the last stands for all that follow");
}
