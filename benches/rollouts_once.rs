//! One pass of one task over a rollout store, for `benches/peers/store_peers.py` to time: each
//! prints the CPU seconds and the seconds it took, the peak of its memory in MiB, and the CPU
//! seconds of the threads that encode and write, those of the one that checks records left out.
//! `write DIR CANDIDATES [HEIGHT WIDTH [c-blosc]]`, `validate DIR`, `view DIR`. And what nobody goes
//! below, on the same elements: `zstd DIR GROUP LEVEL` compresses them and `unzstd DIR GROUP LEVEL`
//! brings them back, in blocks of 64 KiB, in memory, on one thread.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a bench"
)]

#[path = "support/rooms.rs"]
mod rooms;

use std::path::Path;
use std::time::Instant;

use skyfall::array::npy;
use skyfall::rollouts::{Encoder, RolloutZarrStoreConfig, Store, Writer, validate};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["write", directory, candidates] => write(directory, candidates.parse().unwrap(), None, Encoder::Fast),
        ["write", directory, candidates, height, width, rest @ ..] => {
            let encoder = if rest == ["c-blosc"] { Encoder::CBlosc } else { Encoder::Fast };
            let raster = (height.parse().unwrap(), width.parse().unwrap());
            write(directory, candidates.parse().unwrap(), Some(raster), encoder);
        }
        ["validate", directory] => timed(|| {
            let validation = validate(Path::new(directory)).unwrap();
            assert!(validation.ok(), "{:?}", validation.errors);
        }),
        ["view", directory] => timed(|| {
            Store::open(Path::new(directory)).unwrap().q_h_view(None).unwrap();
        }),
        [how @ ("zstd" | "unzstd"), directory, group, level] => {
            zstandard(directory, group, level.parse().unwrap(), *how == "unzstd");
        }
        // `cargo bench` and `cargo test` start it without a task.
        [] => {}
        other => panic!("no such task: {other:?}"),
    }
}

/// Writes a store of so many candidates, 60 a shell; the records are made beforehand and used
/// again and again, each time as another root.
fn write(directory: &str, candidates: usize, raster: Option<(usize, usize)>, encoder: Encoder) {
    let mut config = RolloutZarrStoreConfig {
        split_manifest_hash: "bench".to_owned(),
        selected_depth_enabled: raster.is_some(),
        selected_depth_encoder: encoder,
        ..RolloutZarrStoreConfig::new(directory, "2026-11-30T00:00:00Z")
    };
    if let Some((height, width)) = raster {
        config.selected_depth_height_px = u32::try_from(height).unwrap();
        config.selected_depth_width_px = u32::try_from(width).unwrap();
    }
    let mut pool = rooms::records(candidates.div_ceil(rooms::PER_RECORD).min(64), raster);
    timed(|| {
        let mut writer = Writer::new(config).unwrap();
        for root in 0..candidates.div_ceil(rooms::PER_RECORD) {
            let at = root % pool.len();
            rooms::rename(&mut pool[at], root);
            writer.add(&pool[at]).unwrap();
        }
        writer.finish().unwrap();
    });
}

/// Zstandard alone on the elements of a group's arrays, or of all groups' (`.`).
fn zstandard(directory: &str, group: &str, level: i32, back: bool) {
    let store = Store::open(Path::new(directory)).unwrap();
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    for path in arrays(Path::new(directory), &Path::new(directory).join(group)) {
        let mut bytes = Vec::new();
        npy::write(&mut bytes, &store.array(&path).unwrap()).unwrap();
        blocks.extend(bytes.chunks(1 << 16).map(<[u8]>::to_vec));
    }
    let mut compressor = zstd::bulk::Compressor::new(level).unwrap();
    if back {
        let packed: Vec<Vec<u8>> = blocks.iter().map(|block| compressor.compress(block).unwrap()).collect();
        let mut decompressor = zstd::bulk::Decompressor::new().unwrap();
        timed(|| packed.iter().for_each(|block| drop(decompressor.decompress(block, 1 << 16).unwrap())));
    } else {
        timed(|| blocks.iter().for_each(|block| drop(compressor.compress(block).unwrap())));
    }
}

/// The arrays below `place`, as paths in the store at `root`, those without elements left out.
fn arrays(root: &Path, place: &Path) -> Vec<String> {
    let document = std::fs::read(place.join("zarr.json")).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
    if document["node_type"] == "array" {
        let path = place.strip_prefix(root).unwrap().components().map(|part| part.as_os_str().to_str().unwrap());
        let is_empty = document["shape"].as_array().unwrap().iter().any(|length| length == 0);
        return if is_empty {
            Vec::new()
        } else {
            vec![path.filter(|part| *part != ".").collect::<Vec<_>>().join("/")]
        };
    }
    let mut within: Vec<_> = std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).collect();
    within.sort();
    within.iter().filter(|path| path.join("zarr.json").is_file()).flat_map(|path| arrays(root, path)).collect()
}

/// Runs `task` and prints its CPU seconds, its seconds, and the process's peak in MiB.
fn timed(task: impl FnOnce()) {
    let before = (cpu_seconds("self"), cpu_seconds("thread-self"), Instant::now());
    task();
    let (all, own) = (cpu_seconds("self") - before.0, cpu_seconds("thread-self") - before.1);
    println!("{all:.3} {:.3} {:.0} {:.3}", before.2.elapsed().as_secs_f64(), peak_mib(), all - own);
}

/// The CPU seconds of this process (`self`) or thread (`thread-self`) so far.
fn cpu_seconds(whose: &str) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{whose}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    ticks as f64 / 100.0
}

fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}
