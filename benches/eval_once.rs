//! One evaluation of one large trace, for `benches/peers/eval_peers.py` to time from outside:
//! `generate FILE ROWS`, `parse FILE`, `columns FILE`, `eval FILE FORMAT OUT`.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, missing_docs, reason = "a bench")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use skyfall::eval::output::{self, Format};
use skyfall::eval::{Material, Paths, Settings, evaluate};
use skyfall::trace::{ReadOptions, read_columns, stats};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let options = ReadOptions { digest: false, ..ReadOptions::default() };
    match arguments.as_slice() {
        ["generate", file, rows] => generate(Path::new(file), rows.parse().unwrap()),
        ["parse", file] => println!("{}", stats(&[PathBuf::from(file)], &options).unwrap().runs.len()),
        ["columns", file] => println!("{}", read_columns(&[PathBuf::from(file)], &options).unwrap().runs.len()),
        ["eval", file, format, out] => eval(file, format, Path::new(out)),
        // `cargo bench` and `cargo test` start it without a task.
        [] => {}
        other => panic!("no such task: {other:?}"),
    }
}

/// Every metric of `file`, and the report in `format`.
fn eval(file: &str, format: &str, out: &Path) {
    let format = Format::ALL.into_iter().find(|known| known.name() == format).unwrap();
    let mut settings = Settings { plots: format == Format::Html, ..Settings::default() };
    settings.reading.digest = false;
    let paths = Paths { traces: vec![PathBuf::from(file)], ..Paths::default() };
    let report = evaluate(Material::read(&paths, &settings).unwrap(), &settings).unwrap();
    output::write(&report, format, out).unwrap();
    println!("{}", report.runs.len());
}

/// Four runs of forty encounters with twelve regimes, three components, times, refused actions and
/// a rank now and then: about 350 bytes a row.
fn generate(file: &Path, rows: usize) {
    let mut out = std::io::BufWriter::with_capacity(1 << 20, std::fs::File::create(file).unwrap());
    let mut draws: u64 = 11;
    let mut draw = || {
        draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draws >> 40) as f64 / (1_u64 << 24) as f64
    };
    let each = rows / 4;
    let mut line = String::new();
    for run in 0..4 {
        for step in 0..each {
            let phase = step * 40 / each.max(1);
            let regime = (phase * 7 + run) % 12;
            let visit = phase / 12;
            line.clear();
            let (balance, effort, centre) = (draw(), -draw() / 50.0, (draw() * 100.0).round() / 100.0);
            let label = if visit == 0 { format!("\"wind-{regime}\"") } else { format!("\"wind-{regime}-{visit}\"") };
            let origin = if visit == 0 { "null".to_owned() } else { format!("\"wind-{regime}\"") };
            let rank = if step % 16 == 0 { format!("{:.6}", draw() * 64.0) } else { "null".to_owned() };
            let seconds = step / 50;
            let (hours, minutes, seconds) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
            writeln!(
                line,
                "{{\"run_id\": \"bench-{run}\", \"seed\": {run}, \"policy_id\": \"steady\", \"step\": {step}, \
                 \"regime_id\": {label}, \"regime_origin\": {origin}, \
                 \"observed_at\": \"2026-01-01T{hours:02}:{minutes:02}:{seconds:02}.{:03}Z\", \
                 \"action\": {{\"index\": {}}}, \"reward\": {}, \"reward_components\": {{\"balance\": {balance}, \
                 \"effort\": {effort}, \"centre\": {centre}}}, \"invalid_action\": {}, \"effective_rank\": {rank}}}",
                step % 50 * 20,
                step % 2,
                balance + effort + centre,
                draw() < 0.02,
            )
            .unwrap();
            out.write_all(line.as_bytes()).unwrap();
        }
    }
}
