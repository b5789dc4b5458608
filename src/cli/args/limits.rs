//! `--time-limit`, `--memory-limit`, `--max-instructions`.

use std::time::Duration;

use clap::Args;

use crate::script::{Deadline, Limits};

/// A script needs this much to begin.
const LEAST_MEMORY: usize = 4 << 20;

/// What bounds a whole command.
#[derive(Args, Debug)]
pub(in crate::cli) struct WholeLimitArguments {
    /// Stop after so long: seconds, or with a unit as in 500ms, 90s, 15m, 2h
    #[arg(long, value_name = "TIME", value_parser = span)]
    time_limit: Option<Duration>,
    /// Stop scripts whose values take more, and the process soon after: bytes, or as in 512M, 2G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory_limit: Option<usize>,
}

/// What bounds a script.
#[derive(Args, Debug)]
pub(in crate::cli) struct LimitArguments {
    #[command(flatten)]
    whole: WholeLimitArguments,
    /// Stop the script after N instructions of Lua
    #[arg(long, value_name = "N")]
    max_instructions: Option<u64>,
}

impl WholeLimitArguments {
    /// The limits; time counts from now.
    pub(in crate::cli) fn limits(&self) -> Limits {
        Limits { time: self.time_limit.map(Deadline::after), memory: self.memory_limit, instructions: None }
    }
}

impl LimitArguments {
    /// The limits; time counts from now.
    pub(in crate::cli) fn limits(&self) -> Limits {
        Limits { instructions: self.max_instructions, ..self.whole.limits() }
    }
}

fn span(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|last: char| last.is_ascii_alphabetic());
    let unit = match text.get(digits.len()..) {
        Some("ms") => 0.001,
        Some("" | "s") => 1.0,
        Some("m") => 60.0,
        Some("h") => 3600.0,
        _ => return Err("units are ms, s, m, h".to_owned()),
    };
    let number: f64 = digits.parse().map_err(|_| "expected a number, with or without a unit".to_owned())?;
    match Duration::try_from_secs_f64(number * unit) {
        Ok(span) if !span.is_zero() => Ok(span),
        _ => Err("it must be positive".to_owned()),
    }
}

fn size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|last: char| last.is_ascii_alphabetic());
    let shift = match text.get(digits.len()..).map(str::to_ascii_uppercase).as_deref() {
        Some("") => 0,
        Some("K" | "KIB" | "KB") => 10,
        Some("M" | "MIB" | "MB") => 20,
        Some("G" | "GIB" | "GB") => 30,
        _ => return Err("units are K, M, G".to_owned()),
    };
    let number: usize = digits.parse().map_err(|_| "expected a whole number, with or without a unit".to_owned())?;
    let bytes = number.checked_mul(1 << shift).filter(|bytes| *bytes >= LEAST_MEMORY);
    bytes.ok_or_else(|| "a script needs at least 4M".to_owned())
}
