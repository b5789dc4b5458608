//! Selected depth: one frame a state, its camera, and pixels within the clip planes.

use half::f16;
use rayon::prelude::*;

use super::findings::Findings;
use super::root::Root;
use super::tables::{Columns, Table, Tables};
use crate::array::DType;
use crate::rollouts::zarr::StoreReader;
use crate::value::Value;

/// About how many bytes of frames are looked at at once.
const BYTES: usize = 1 << 24;

/// What is wrong with a frame's pixels.
#[derive(Clone, Copy, Debug, Default)]
struct Pixels {
    not_finite: bool,
    outside: bool,
    not_fill: bool,
}

/// The planes between which a valid pixel lies, and what others hold.
#[derive(Clone, Copy, Debug)]
struct Clip {
    near: f32,
    far: f32,
    fill: f16,
}

pub(super) fn check(reader: &StoreReader, root: &Root, tables: &Tables, payload: bool, findings: &mut Findings) {
    if !root.flag("selected_depth_enabled") {
        return;
    }
    let length = |key: &str| {
        let length = root.attributes.get(key).and_then(Value::as_int).and_then(|length| usize::try_from(length).ok());
        length.filter(|length| *length > 0)
    };
    let (Some(height), Some(width)) = (length("selected_depth_height_px"), length("selected_depth_width_px")) else {
        return findings.add("root attributes selected_depth_height_px and _width_px: are not positive integers");
    };
    let states = tables.steps.rows;
    let mut table = Table::of_rows(states);
    for (name, dtype, shape) in [
        ("step_row_id", DType::I64, vec![states]),
        ("candidate_row_id", DType::I64, vec![states]),
        ("focal_px", DType::F32, vec![states, 2]),
        ("principal_point_px", DType::F32, vec![states, 2]),
        ("image_size_hw", DType::I32, vec![states, 2]),
        ("depth_m", DType::F16, vec![states, height, width]),
        ("valid_mask", DType::Bool, vec![states, height, width]),
    ] {
        table.expect(reader, "selected_depth", (name, dtype), &shape, findings);
    }
    root.counts("num_selected_depths", "selected_depths", states, findings);
    let number = |key: &str| root.attributes.get(key).and_then(Value::as_float).unwrap_or(f64::NAN);
    let (near, far) = (number("selected_depth_znear_m"), number("selected_depth_zfar_m"));
    if !(near.is_finite() && far.is_finite() && 0.0 < near && near < far) {
        return findings.add(format!(
            "root attributes selected_depth_znear_m and _zfar_m: {near:?} and {far:?} are no clip planes"
        ));
    }
    if table.is_missing(7) || !payload {
        return;
    }
    #[expect(clippy::cast_possible_truncation, reason = "pixels are compared as float32")]
    let (near, far) = (near as f32, far as f32);
    let fill = root.attributes.get("selected_depth_invalid_fill_value").and_then(Value::as_float).unwrap_or(0.0);
    let clip = Clip { near, far, fill: f16::from_f64(fill) };
    let pixels = height * width;
    let frames = (BYTES / (pixels * 3).max(1)).max(1);
    let chunk = table.column("depth_m").and_then(|column| column.chunk().first().copied()).unwrap_or(1);
    let frames = if frames > chunk { frames - frames % chunk } else { frames };
    for start in (0..states).step_by(frames) {
        let rows = start..states.min(start + frames);
        let mut damage = Findings::default();
        let block = table.read(rows.clone(), &mut damage);
        if damage.is_empty() {
            let mut found = Findings::from(start);
            cameras(tables, &block, rows, (height, width), &mut found);
            frames_of(&block, pixels, clip, &mut found);
            findings.merge(found);
        }
        findings.merge(damage);
    }
}

/// Every frame is its state's, with a camera of the frame's size.
fn cameras(
    tables: &Tables,
    block: &Columns,
    rows: std::ops::Range<usize>,
    (height, width): (usize, usize),
    findings: &mut Findings,
) {
    for (name, column) in [("step_row_id", "step_row_id"), ("candidate_row_id", "selected_candidate_row_id")] {
        let of = tables.steps.get::<i64>(column).get(rows.clone()).unwrap_or_default();
        let wrong = block.get::<i64>(name).iter().zip(of).map(|(own, id)| own != id);
        findings.flagged(&format!("selected_depth/{name}"), wrong, &format!("is not steps/{column}"));
    }
    let pairs = |name: &str| block.get::<f32>(name).as_chunks::<2>().0.iter();
    let wrong = pairs("focal_px").map(|pair| !pair.iter().all(|length| length.is_finite() && *length > 0.0));
    findings.flagged("selected_depth/focal_px", wrong, "is not finite and positive");
    let wrong = pairs("principal_point_px").map(|pair| !pair.iter().all(|place| place.is_finite()));
    findings.flagged("selected_depth/principal_point_px", wrong, "is not finite");
    let sizes = block.get::<i32>("image_size_hw").as_chunks::<2>().0.iter();
    let wrong = sizes.map(|[h, w]| usize::try_from(*h) != Ok(height) || usize::try_from(*w) != Ok(width));
    findings.flagged("selected_depth/image_size_hw", wrong, "is not the frames' height and width");
}

fn frames_of(block: &Columns, pixels: usize, clip: Clip, findings: &mut Findings) {
    let depth = block.get::<f16>("depth_m").par_chunks(pixels.max(1));
    let mask = block.get::<bool>("valid_mask").par_chunks(pixels.max(1));
    let wrong: Vec<Pixels> = depth.zip(mask).map(|(depth, mask)| clip.look(depth, mask)).collect();
    let path = "selected_depth/depth_m";
    let flags = |of: fn(&Pixels) -> bool| wrong.iter().map(of).collect::<Vec<_>>();
    findings.flagged(path, flags(|wrong| wrong.not_finite), "a valid pixel is not finite");
    findings.flagged(path, flags(|wrong| wrong.outside), "a valid pixel lies outside the clip planes");
    findings.flagged(path, flags(|wrong| wrong.not_fill), "an invalid pixel is not the fill value");
}

impl Clip {
    fn look(&self, depth: &[f16], mask: &[bool]) -> Pixels {
        if self.is_sound(depth, mask) {
            return Pixels::default();
        }
        let mut wrong = Pixels::default();
        for (depth, valid) in depth.iter().zip(mask) {
            let metres = depth.to_f32();
            if !valid {
                wrong.not_fill |= *depth != self.fill;
            } else if metres.is_finite() {
                wrong.outside |= metres < self.near || metres > self.far;
            } else {
                wrong.not_finite = true;
            }
        }
        wrong
    }

    /// The same by bits, which many pixels at once can be compared by: those of positive numbers
    /// are in the numbers' order.
    fn is_sound(&self, depth: &[f16], mask: &[bool]) -> bool {
        // The least and greatest numbers between the planes.
        let mut least = f16::from_f32(self.near).to_bits();
        if f16::from_bits(least).to_f32() < self.near {
            least += 1;
        }
        let mut greatest = f16::from_f32(self.far).min(f16::MAX).to_bits();
        if f16::from_bits(greatest).to_f32() > self.far {
            greatest = greatest.saturating_sub(1);
        }
        let fill = self.fill.to_bits();
        depth.iter().zip(mask).all(|(depth, valid)| {
            let bits = depth.to_bits();
            let within = (least <= bits) & (bits <= greatest);
            (*valid & within) | (!*valid & (bits == fill))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_and_numbers_agree() {
        let clip = Clip { near: 0.001, far: 20.0, fill: f16::ZERO };
        for bits in 0..=u16::MAX {
            let depth = f16::from_bits(bits);
            let metres = depth.to_f32();
            let sound = metres >= clip.near && metres <= clip.far;
            assert_eq!(clip.is_sound(&[depth], &[true]), sound, "{metres}");
            let wrong = clip.look(&[depth], &[true]);
            assert_eq!(wrong.not_finite || wrong.outside, !sound, "{metres}");
            assert_eq!(clip.look(&[depth], &[false]).not_fill, metres != 0.0, "{metres}");
        }
    }
}
