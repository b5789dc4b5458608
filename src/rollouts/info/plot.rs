//! Pictures of a step: its shell, each candidate by its gain, and the frames that its chain
//! selected, side by side.

use std::path::{Path, PathBuf};

use half::f16;
use tiny_skia::{Color, Pixmap, PremultipliedColorU8};

use crate::array::Array;
use crate::atomic::{self, AtomicError};
use crate::diagnostic::{Exit, Problem};
use crate::eval::plot::Theme;
use crate::eval::plot::scatter::{Series, Sign, figure};
use crate::rollouts::{Store, StoreError};

/// Frames beyond this many are not drawn.
const MOST_FRAMES: usize = 12;
/// Pixels between frames.
const GAP: usize = 4;

/// Why a step could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A picture cannot be written.
    #[error(transparent)]
    Write(#[from] AtomicError),
    /// There is no such step.
    #[error("there is no step {step}: there are {count}, counted from 0")]
    NoStep {
        /// What was asked for.
        step: usize,
        /// How many there are.
        count: usize,
    },
    /// A picture is too large to be held in memory.
    #[error("the picture of step {step} is too large")]
    TooLarge {
        /// The step.
        step: usize,
    },
}

impl Problem for PlotError {
    fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::Write(_) => "rollouts/plot-write",
            Self::NoStep { .. } => "rollouts/no-such-step",
            Self::TooLarge { .. } => "rollouts/plot-size",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Store(error) => error.exit(),
            Self::NoStep { .. } => Exit::Usage,
            Self::Write(_) | Self::TooLarge { .. } => Exit::Failure,
        }
    }
}

/// Draws the step at row `step` into the directory `out` and says which files that made:
/// `step-000000-shell.png` and, where the store has selected depth, `step-000000-depth.png`, the
/// frames of its chain from its first step on, near surfaces light.
///
/// # Errors
/// When there is no such step, the store cannot be read, or a picture cannot be written.
pub fn plot(store: &Store, step: usize, out: &Path) -> Result<Vec<PathBuf>, PlotError> {
    let steps = store.table("steps", &["num_candidates", "rollout_row_id", "step_index"], 0..usize::MAX)?;
    let widths = steps.get("num_candidates").and_then(Array::as_i32).unwrap_or_default();
    let Some(width) = widths.get(step) else { return Err(PlotError::NoStep { step, count: widths.len() }) };
    let length = |width: &i32| usize::try_from(*width).unwrap_or(0);
    let start: usize = widths.iter().take(step).map(length).sum();
    let mut files = Vec::new();
    let mut put = |name: &str, bytes: Option<Vec<u8>>| -> Result<(), PlotError> {
        let path = out.join(format!("step-{step:06}-{name}.png"));
        atomic::write_file(&path, &bytes.ok_or(PlotError::TooLarge { step })?)?;
        files.push(path);
        Ok(())
    };
    put("shell", shell(store, step, start..start + length(width))?)?;
    if store.attribute("selected_depth_enabled").and_then(crate::value::Value::as_bool) == Some(true) {
        let owners = steps.get("rollout_row_id").and_then(Array::as_i64).unwrap_or_default();
        let same = |owner: &&i64| Some(*owner) == owners.get(step);
        let before = owners.get(..step).unwrap_or_default().iter().rev().take_while(same).count();
        let after = owners.get(step..).unwrap_or_default().iter().take_while(same).count();
        let first = step - before;
        put("depth", frames(store, first..first + (before + after).min(MOST_FRAMES))?)?;
    }
    Ok(files)
}

/// A shell's candidates by gain.
fn shell(store: &Store, step: usize, rows: std::ops::Range<usize>) -> Result<Option<Vec<u8>>, StoreError> {
    let columns = ["target_root_gain", "actor_action_mask", "selected_mask"];
    let table = store.table("candidates", &columns, rows)?;
    let flags = |name: &str| table.get(name).and_then(Array::as_bool).unwrap_or_default();
    let gains = table.get("target_root_gain").and_then(Array::as_f32).unwrap_or_default();
    let series = |name: &str, colour, sign| Series { name: name.to_owned(), colour, sign, points: Vec::new() };
    let mut kinds = [
        series("valid", 0, Sign::Disc),
        series("valid, without a gain", 0, Sign::Ring),
        series("invalid", 7, Sign::Ring),
        series("selected", 1, Sign::Square),
    ];
    // What has no gain stands where the least one does.
    let least = gains.iter().copied().filter(|gain| gain.is_finite()).fold(f32::INFINITY, f32::min);
    let least = if least.is_finite() { least.min(0.0) } else { 0.0 };
    let cells = gains.iter().zip(flags("actor_action_mask")).zip(flags("selected_mask")).enumerate();
    for (slot, ((gain, valid), selected)) in cells {
        let kind = match (valid, selected, gain.is_finite()) {
            (_, true, _) => 3,
            (false, ..) => 2,
            (true, _, false) => 1,
            (true, _, true) => 0,
        };
        #[expect(clippy::cast_precision_loss, reason = "pixels")]
        let place = (slot as f64, f64::from(if gain.is_finite() { *gain } else { least }));
        if let Some(kind) = kinds.get_mut(kind) {
            kind.points.push(place);
        }
    }
    let kinds: Vec<Series> = kinds.into_iter().filter(|kind| !kind.points.is_empty()).collect();
    let caption = "Candidates by shell index; those without a gain stand at the bottom.".to_owned();
    let picture = figure(&format!("Step {step}"), caption, ("shell index", "target root gain"), &kinds);
    Ok(picture.png(Theme::Light))
}

/// Frames side by side: light is near, invalid pixels are of another colour.
fn frames(store: &Store, states: std::ops::Range<usize>) -> Result<Option<Vec<u8>>, StoreError> {
    let table = store.table("selected_depth", &["depth_m", "valid_mask"], states)?;
    let (Some(depth), Some(mask)) = (table.get("depth_m"), table.get("valid_mask")) else { return Ok(None) };
    let [count, height, width] = *depth.shape() else { return Ok(None) };
    let metres = depth.as_f16().unwrap_or_default();
    let valid = mask.as_bool().unwrap_or_default();
    let seen = || metres.iter().zip(valid).filter(|(_, valid)| **valid).map(|(metres, _)| metres.to_f32());
    let (near, far) = (seen().fold(f32::INFINITY, f32::min), seen().fold(0.0, f32::max));
    let columns = count * (width + GAP) + GAP;
    let pixels = |length: usize| u32::try_from(length).ok();
    let (Some(across), Some(down)) = (pixels(columns), pixels(height + 2 * GAP)) else { return Ok(None) };
    let Some(mut picture) = Pixmap::new(across, down) else { return Ok(None) };
    picture.fill(Color::WHITE);
    let cells = metres.chunks(width.max(1)).zip(valid.chunks(width.max(1))).enumerate();
    for (line, (metres, valid)) in cells {
        let (frame, row) = (line / height.max(1), line % height.max(1));
        let start = (row + GAP) * columns + GAP + frame * (width + GAP);
        let Some(target) = picture.pixels_mut().get_mut(start..start + width) else { continue };
        for ((pixel, metres), valid) in target.iter_mut().zip(metres).zip(valid) {
            *pixel = colour(*metres, *valid, (near, far)).unwrap_or(*pixel);
        }
    }
    Ok(picture.encode_png().ok())
}

fn colour(metres: f16, valid: bool, (near, far): (f32, f32)) -> Option<PremultipliedColorU8> {
    if !valid {
        return PremultipliedColorU8::from_rgba(213, 94, 0, 255);
    }
    let share = (far - metres.to_f32()) / (far - near).max(f32::EPSILON);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a shade of grey")]
    let shade = 30 + (share.clamp(0.0, 1.0) * 225.0) as u8;
    PremultipliedColorU8::from_rgba(shade, shade, shade, 255)
}
