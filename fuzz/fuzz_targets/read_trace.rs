//! A trace, plain or compressed: any bytes are read without a panic, and alike by every reader and
//! in every cut; they are evaluated, or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skyfall::trace::{ReadOptions, read_columns, rows, stats};
use skyfall_fuzz::place;

fuzz_target!(|bytes: &[u8]| {
    let paths = [place("t.jsonl", bytes)];
    let read = |block_bytes| {
        let options = ReadOptions { block_bytes, every_fault: true, ..ReadOptions::default() };
        read_columns(&paths, &options).map_err(|error| error.to_string())
    };
    let whole = read(1 << 20);
    // Small blocks of a large text take long, and find nothing that larger ones do not.
    let block_bytes = 1 + bytes.len() / 64;
    assert_eq!(format!("{whole:?}"), format!("{:?}", read(block_bytes)));
    let counted = stats(&paths, &ReadOptions { every_fault: true, ..ReadOptions::default() });
    match (&whole, counted) {
        (Ok(columns), Ok(counted)) => {
            assert_eq!(columns.warnings, counted.warnings);
            let streamed = rows(&paths[0]).expect("opened before").filter(|row| row.is_ok()).count() as u64;
            assert_eq!(columns.inputs.iter().map(|input| input.rows).sum::<u64>(), streamed);
        }
        (Err(_), Err(_)) => {}
        (columns, counted) => panic!("{columns:?} but {counted:?}"),
    }
});
